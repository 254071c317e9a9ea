"""What an assistant is asked and may answer: one JSON object each."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Protocol

from poise.data.text import parse_json

#: Longest answer, and longest part of a foreign text in a message.
MAX_ANSWER_BYTES, MAX_SHOWN = 1_000_000, 200


class Failure(Exception):
    """An assistant did not answer a question as it should; the message says what it did."""


class Assistant(Protocol):
    """What answers questions."""

    def ask(self, question: dict[str, Any]) -> bytes:
        """The answer to one question, as it was sent; or a `Failure`."""

    def reset(self) -> None:
        """Begin anew after an answer that cannot be understood."""

    def close(self) -> None: ...


@dataclass(frozen=True)
class Reply:
    """An answer; `label` is None if the assistant does not know."""

    label: str | None
    confidence: float | None = None


def understood(answer: bytes, item: str) -> Reply:
    """The answer about an item."""
    try:
        said = parse_json(answer.decode("utf-8"))
    except UnicodeDecodeError:
        raise Failure("answered with bytes that are not UTF-8") from None
    except ValueError:
        raise Failure(f"answered with {shown(answer)!r}, which is not JSON") from None
    if not isinstance(said, dict):
        raise Failure(f"answered with {shown(answer)!r}: expected a JSON object")
    if said.get("id") != item:
        raise Failure(f"answered about the id {_shown(said.get('id'))}, not that of the question")
    if said.get("skip") is True:
        return Reply(None)
    label, confidence = said.get("class"), said.get("confidence")
    if not isinstance(label, str) or not label:
        raise Failure('gave neither "class" with a name nor "skip": true')
    is_number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
    if confidence is not None and not (is_number and 0 <= confidence <= 1):
        raise Failure(f"gave the confidence {_shown(confidence)}: expected a number from 0 to 1")
    return Reply(label, None if confidence is None else float(confidence))


def check_class(reply: Reply, classes: Collection[str]) -> None:
    """Refuse a class that does not exist."""
    if reply.label is not None and reply.label not in classes:
        raise Failure(
            f"named the class {_shown(reply.label)}, which does not exist: expected one of "
            f"{shown(', '.join(classes).encode('utf-8', 'replace'))}, or --new-classes"
        )


def shown(text: bytes) -> str:
    """A foreign text in a message: one line, not too long."""
    line = " ".join(text[: 4 * MAX_SHOWN].decode("utf-8", "replace").split())
    return line if len(line) <= MAX_SHOWN else f"{line[:MAX_SHOWN]}..."


def _shown(value: Any) -> str:
    return shown(json.dumps(value).encode())
