"""Parts of the state: labels, open questions and audits."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Labelled:
    """The label of an item, who gave it, when, and how.

    `number` is that of the class, which keeps it whatever its name: see `classes.py`.
    """

    label: str
    annotator: str
    time: str
    via: str = "question"
    number: int = -1

    @property
    def by(self) -> str:
        """Who gave it, in words: a name, "person" if there is only one, or "source"."""
        return "source" if self.via == "source" else self.annotator or "person"


@dataclass(frozen=True)
class Open:
    """A question that waits for somebody's answer."""

    item: str
    purpose: str
    time: str


@dataclass(frozen=True)
class Audit:
    """What is left of an audit: items drawn at random that one person judges.

    Attributes
    ----------
    left : answers still to come
    drawn : items that were shown and have no answer yet, the oldest first
    of : the assistant whose answers are judged; empty for the model's predictions
    """

    left: int
    drawn: tuple[str, ...] = ()
    of: str = ""
