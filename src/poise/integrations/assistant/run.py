"""Ask an assistant about one item after the other, until its budget or the items are used up."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from poise.data.text import parse_json
from poise.errors import InputError, RunError
from poise.integrations.assistant.desks import Desk
from poise.integrations.assistant.protocol import Assistant, Failure, check_class, understood

#: Endings of picture files by their media types.
ENDINGS = {"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp"}


@dataclass(frozen=True)
class Job:
    """What an assistant is to do.

    Attributes
    ----------
    name : under which its answers are kept
    audit : answers that people judge before the others count
    budget : most answers; None for all items
    may_name : whether it may name classes that do not exist
    failures : after more failures than these, the run ends with an error
    """

    name: str
    audit: int = 20
    budget: int | None = None
    may_name: bool = False
    failures: int = 10


@dataclass
class Done:
    """What came of it: answers with a class, items that it did not know, and failures."""

    answered: int = 0
    passed: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        return self.answered + self.passed


class Run:
    """A run of an assistant. Every answer is on disk before the next question."""

    def __init__(self, desk: Desk, assistant: Assistant, job: Job) -> None:
        self.desk, self.assistant, self.job = desk, assistant, job
        self.done = Done()
        self._failed: set[str] = set()

    def all(self, progress: Callable[[int, int], None]) -> Done:
        """Ask until the budget or the items are used up."""
        self.desk.introduce(self.job.name, self.job.audit)
        with TemporaryDirectory(prefix="poise-assist-") as folder:
            while batch := self._batch():
                left = min(batch["left"], self._budget_left(batch["left"]))
                total, classes = self.done.total + left, batch["classes"]
                for each in batch["questions"]:
                    self._ask(each, batch["kind"], classes, Path(folder))
                    progress(self.done.total, total)
        return self.done

    def _budget_left(self, otherwise: int) -> int:
        budget = self.job.budget
        return otherwise if budget is None else budget - self.done.total

    def _batch(self) -> dict[str, Any] | None:
        """Some questions that this run has not failed at; None if there are no more."""
        if self._budget_left(1) < 1:
            return None
        batch = self.desk.questions(self.job.name)
        if not batch["classes"] and not self.job.may_name:
            raise InputError(
                "the project has no classes yet: label a few items first, or add --new-classes"
            )
        todo = [each for each in batch["questions"] if each["id"] not in self._failed]
        todo = todo[: self._budget_left(len(todo))]
        return batch | {"questions": todo} if todo else None

    def _ask(self, each: dict[str, str], kind: str, classes: list[str], folder: Path) -> None:
        try:
            question = self._question(each, kind, classes, folder)
            reply = understood(self.assistant.ask(question), each["id"])
            if not self.job.may_name:
                check_class(reply, classes)
        except Failure as failure:
            # What it says next may belong to this question.
            self.assistant.reset()
            self._failed.add(each["id"])
            self.done.failed += 1
            if self.done.failed > self.job.failures:
                raise RunError(
                    f"{self.job.name} failed {self.done.failed} times; the last time it {failure}. "
                    f"{self.done.total:,} answers are kept"
                ) from None
            return
        given = reply.label, reply.confidence, self.job.may_name
        if not self.desk.take(self.job.name, each["id"], *given):
            return  # a person was quicker
        if reply.label is None:
            self.done.passed += 1
            return
        self.done.answered += 1
        if reply.label not in classes:
            classes.append(reply.label)

    def _question(
        self, each: dict[str, str], kind: str, classes: list[str], folder: Path
    ) -> dict[str, Any]:
        found = self.desk.content(each["id"])
        if found is None:
            raise Failure(f"was not asked about {each['source']}, which is gone")
        media_type, content = found
        question: dict[str, Any] = {"id": each["id"], "kind": kind, "source": each["source"]}
        if kind == "image":
            path = folder / f"item{ENDINGS.get(media_type, '.img')}"
            path.write_bytes(content)
            question["path"] = str(path)
        elif kind == "text":
            question["text"] = content.decode("utf-8", "replace")
        else:
            question["vector"] = parse_json(content)
        return question | {"classes": classes}
