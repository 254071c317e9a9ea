"""Keeps the predictions of a project current while people label there.

Everything that has to last is in Label Studio: answers are its annotations, and what was sent are
its predictions. So whatever interrupts a session, the next one continues where it stopped.
"""

import math
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from poise.errors import DataError
from poise.integrations.label_studio.api import BATCH_PREDICTIONS, About, Api
from poise.integrations.label_studio.client import NotFoundError, RefusedError, UnreachableError
from poise.integrations.label_studio.config import Question, read_config
from poise.integrations.label_studio.items import Pool
from poise.integrations.label_studio.planning import Plan, differs, make_plan
from poise.integrations.label_studio.tasks import Predicted, Task, read
from poise.integrations.label_studio_json import MODEL_VERSION, choice
from poise.progress import Begin, no_steps

#: Predictions changed in a round that must not take long: each is a request of its own.
UPDATES_OF_A_ROUND = 200
#: All tasks are read again after this time, in case Label Studio did not report a change.
FULL_READ_SECONDS = 600.0
#: Changes up to this long before the newest one are read again: they may have been saved later.
OVERLAP = timedelta(seconds=10)
#: Longest pause while the server is away.
LONGEST_PAUSE_SECONDS = 300.0
#: Rounds after which predictions that the server took must appear in its tasks.
ROUNDS_TO_APPEAR = 3


class Round(NamedTuple):
    """What a round found and did.

    Attributes
    ----------
    tasks : number of tasks of the project
    left_out : those that cannot be compared with others
    labelled, skipped : by people
    sent : predictions created, changed or deleted
    waiting : changes left for the next round
    next : ids of the tasks to label next, in order
    """

    tasks: int
    left_out: int
    labelled: int
    skipped: int
    sent: int
    waiting: int
    next: tuple[int, ...]


class Change(NamedTuple):
    """A prediction to send: the id of its task, what it says, and the same as the API takes it."""

    number: int
    wanted: Predicted
    body: dict[str, Any]


class Sync:
    """The predictions of one project.

    Parameters
    ----------
    embedding : its name; None: what suits the items
    control : name of the tag Choices, where there are several
    clock : seconds
    """

    def __init__(
        self,
        api: Api,
        *,
        embedding: str | None = None,
        control: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._api, self._control, self._clock = api, control, clock
        self.pool = Pool(api.client, embedding)
        self.about: About | None = None
        self.question: Question | None = None
        self.tasks: dict[int, Task] = {}
        self._since: datetime | None = None
        self._full_at: float | None = None
        self._plan: tuple[Any, Plan] | None = None
        self._refused = 0
        self._created: set[int] = set()
        self._unseen_rounds = 0

    def round(self, begin: Begin = no_steps, *, most_updates: int | None = None) -> Round:
        """Read what changed, and send the predictions that this changes.

        Parameters
        ----------
        begin : begins a step of the work
        most_updates : changes of existing predictions; the most urgent come first
        """
        question = self._read(begin)
        shown = {number: task.shown for number, task in self.tasks.items()}
        self.pool.update(shown, question.shows_images, begin)
        plan = self._planned(question, begin)
        sent, waiting = 0, 0
        if plan is not None:
            sent, waiting = self._send(plan, question, begin, most_updates)
        return Round(
            tasks=len(self.tasks),
            left_out=len(self.pool.left_out),
            labelled=sum(task.label is not None for task in self.tasks.values()),
            skipped=sum(task.skipped for task in self.tasks.values()),
            sent=sent,
            waiting=waiting,
            next=() if plan is None else tuple(self.pool.ids[node] for node in plan.questions),
        )

    def forget(self) -> None:
        """Read all tasks again in the next round."""
        self._full_at = None

    # Reading ----------------------------------------------------------------------------------

    def _read(self, begin: Begin) -> Question:
        """Bring the tasks up to date; all of them are read if any may have come or gone."""
        before, now = self.about, self._clock()
        about = self._api.about()
        question = self.question
        if question is None or before is None or before.config != about.config:
            question = read_config(about.config, self._control)
        whole = (
            self._full_at is None
            or now - self._full_at >= FULL_READ_SECONDS
            or self.question != question
            or before is None
            or before.n_tasks != about.n_tasks
        )
        progress = begin("reading tasks")
        found = self._api.tasks(None if whole else self._since, progress)
        tasks = {int(task["id"]): read(task, question) for task in found}
        if whole:
            self.tasks, self._full_at = tasks, now
        else:
            self.tasks = self.tasks | tasks
        times = [task.updated for task in self.tasks.values() if task.updated is not None]
        # Without times, nothing is known about changes: all tasks are read in every round.
        self._since = max(times) - OVERLAP if times else None
        self.about, self.question = about, question
        return question

    def _planned(self, question: Question, begin: Begin) -> Plan | None:
        """The plan for the tasks as they are; made only if answers or items have changed."""
        graph = self.pool.graph
        if graph is None:
            return None
        nodes = {task: node for node, task in enumerate(self.pool.ids)}
        known = {nodes[number]: task for number, task in self.tasks.items() if number in nodes}
        labels = {node: task.label for node, task in known.items() if task.label is not None}
        skipped = frozenset(node for node, task in known.items() if task.skipped)
        made_of = (graph.fingerprint, self.pool.ids, labels, skipped, question.classes)
        if self._plan is None or self._plan[0] != made_of:
            begin("predicting")
            self._plan = made_of, make_plan(graph, labels, skipped, question.classes)
        return self._plan[1]

    # Sending ----------------------------------------------------------------------------------

    def _send(
        self, plan: Plan, question: Question, begin: Begin, most: int | None
    ) -> tuple[int, int]:
        """Send what differs from the plan; returns how many were sent, and how many wait."""
        new: list[Change] = []
        changed: list[Change] = []
        surplus: list[tuple[int, int]] = []
        for node, number in enumerate(self.pool.ids):
            wanted, predictions = plan.predictions[node], self.tasks[number].predictions
            last = max(predictions, default=None)
            surplus += [(number, one) for one in predictions if one != last or wanted is None]
            if wanted is None:
                continue
            if last is None or differs(predictions[last], wanted):
                change = Change(number, wanted, _body(plan, node, number, wanted, question))
                (new if last is None else changed).append(change)
        n_created = self._create(self._unsent(new), begin)
        batch = sorted(changed, key=self._urgency)[:most]
        progress = begin("sending predictions")
        for done, change in enumerate(batch, 1):
            self._update(change)
            progress(done, len(batch))
        for number, one in surplus[:most]:
            self._api.delete(one)
            kept = {key: kept for key, kept in self.tasks[number].predictions.items() if key != one}
            self.tasks[number] = self.tasks[number]._replace(predictions=kept)
        n_sent = n_created + len(batch) + len(surplus[:most])
        return n_sent, len(new) + len(changed) + len(surplus) - n_sent

    def _urgency(self, change: Change) -> float:
        """Least for what is to be asked next, and for what must no longer be asked."""
        predictions = self.tasks[change.number].predictions
        now = predictions[max(predictions)].score
        return 0.0 if math.isnan(now) else min(now, change.wanted.score)

    def _unsent(self, new: list[Change]) -> list[Change]:
        """Those of the new predictions that were not sent in the round before, in order."""
        missing = self._created & {change.number for change in new}
        self._unseen_rounds = self._unseen_rounds + 1 if missing else 0
        if self._unseen_rounds >= ROUNDS_TO_APPEAR:
            raise DataError(
                f"Label Studio took {len(missing)} predictions but does not show them: check that "
                "the token's owner may see predictions"
            )
        if missing:
            self.forget()
        self._created = missing
        unsent = [change for change in new if change.number not in missing]
        return sorted(unsent, key=lambda change: change.wanted.score)

    def _create(self, new: list[Change], begin: Begin) -> int:
        """Create predictions in batches; the answer holds no ids, so tasks are read again."""
        progress = begin("sending new predictions")
        for start in range(0, len(new), BATCH_PREDICTIONS):
            batch = new[start : start + BATCH_PREDICTIONS]
            self.forget()  # before: whether it arrived shows only in the tasks
            try:
                self._api.create([{"task": change.number, **change.body} for change in batch])
            except RefusedError:
                # A task was deleted meanwhile, which the tasks will show; else it is an error.
                self._refused += 1
                if self._refused > 1:
                    raise
                return start
            self._refused = 0
            self._created |= {change.number for change in batch}
            progress(start + len(batch), len(new))
        return len(new)

    def _update(self, change: Change) -> None:
        task = self.tasks[change.number]
        last = max(task.predictions)
        try:
            self._api.update(last, change.body)
        except NotFoundError:  # somebody deleted it, or its task
            self.forget()
            return
        predictions = task.predictions | {last: change.wanted}
        self.tasks[change.number] = task._replace(predictions=predictions)


def _body(
    plan: Plan, node: int, number: int, wanted: Predicted, question: Question
) -> dict[str, Any]:
    """A prediction as the API takes it; the score of its result is the class's probability."""
    results = []
    if wanted.label is not None:
        results.append(choice(wanted.label, question.tags, f"{number}\nprediction"))
        if plan.probabilities is not None:
            results[0]["score"] = plan.probabilities[node]
    return {"model_version": MODEL_VERSION, "result": results, "score": wanted.score}


def keep_current(
    step: Callable[[], Round],
    forget: Callable[[], None],
    tell: Callable[[str], None],
    interval: float,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Repeat rounds until interrupted; while the server is away, ever longer pauses.

    Parameters
    ----------
    step : a round
    forget : called when it is unknown what arrived
    tell : gets a line about each failure
    interval : seconds between rounds that left nothing to send
    """
    pause, has_worked = interval, False
    while True:
        try:
            done = step()
        except UnreachableError as error:
            if not has_worked:
                raise
            tell(f"{error}; trying again in {pause:.0f} s")
            forget()
            sleep(pause)
            pause = max(interval, min(2 * pause, LONGEST_PAUSE_SECONDS))
            continue
        pause, has_worked = interval, True
        if not done.waiting:
            sleep(pause)
