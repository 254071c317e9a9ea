"""How far the answers of assistants can be believed, measured by the people who judge some of them.

An assistant is asked about unlabelled items in random order, and people judge a random sample of
its answers without seeing them. Only then do the others count, as doubtful labels whose weight
follows from the measured accuracy (docs/decisions/assistants.md).
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from poise.active.accuracy import exact_interval
from poise.studio.log.state import State

#: The lower end of the interval of its accuracy that an assistant needs for its answers to count.
MIN_ACCURACY = 0.5


@dataclass(frozen=True)
class Standing:
    """What is known about one assistant.

    Attributes
    ----------
    answered : answers that name a class and stand, judged or not; `passed` those that name none
    open : answers about items that have no label
    audit : answers that people judge before the others count
    judged : answers judged so far: `right` of them right, `unknown` skipped or set aside
    interval : exact 95% interval of the share of right answers; None before the audit is done
    spreads : whether its answers count
    weight : of each of its answers in the model; 0 while they do not count
    """

    name: str
    answered: int
    passed: int
    open: int
    audit: int
    judged: int
    right: int
    unknown: int
    interval: tuple[float, float] | None
    spreads: bool
    weight: float

    @property
    def sentence(self) -> str:
        """Where it stands, in words."""
        answers = "1 answer" if self.answered == 1 else f"{self.answered:,} answers"
        begin = f"{self.name}: {answers}"
        if self.interval is None:
            left = self.audit - self.judged
            return f"{begin}, which do not count yet: people have {left} more to judge."
        low, high = self.interval
        measured = f"{self.right} of {self.judged} judged answers were right"
        unknown = f", {self.unknown} unknown" if self.unknown else ""
        count = "its answers count" if self.spreads else "its answers do not count"
        needed = "" if self.spreads else f"; they would from {MIN_ACCURACY:.0%} at the lower end"
        return f"{begin}; {measured}{unknown} ({low:.0%} to {high:.0%}), so {count}{needed}."

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self) | {"sentence": self.sentence}


def standings(state: State) -> list[Standing]:
    """Every assistant of a project, in the order in which they came."""
    return [standing(state, name) for name in state.assistants.audits]


def standing(state: State, name: str) -> Standing:
    """What is known about one assistant.

    Judged answers that were skipped or set aside, or whose item has lost its label since, are
    unknown: the interval extends from all of them wrong to all of them right.
    """
    audit = state.assistants.audits[name]
    own = {item: each for item, each in state.assistants.answers.items() if each.by == name}
    now = state.known.now
    classes = {
        item: number
        for item, each in own.items()
        if each.number is not None and (number := now(each.number)) is not None
    }
    judged = judged_items(state, name) & classes.keys()
    known = [item for item in judged if item in state.labels]
    right = sum(now(state.labels[item].number) == classes[item] for item in known)
    n, unknown = len(judged), len(judged) - len(known)
    interval = None
    if n >= audit:
        interval = exact_interval(right, n)[0], exact_interval(right + unknown, n)[1]
    spreads = interval is not None and interval[0] >= MIN_ACCURACY
    return Standing(
        name,
        len(classes),
        len(own) - len(classes),
        len(classes.keys() - state.labels.keys()),
        audit,
        n,
        right,
        unknown,
        interval,
        spreads,
        # The odds that an answer is right, by Laplace's rule of succession: never infinite.
        (right + 1) / (n - right + 1) if spreads else 0.0,
    )


def counts_now(state: State, name: str) -> bool:
    """Whether the answers of an assistant count; quick while too few of them are judged."""
    judged = judged_items(state, name)
    return len(judged) >= state.assistants.audits[name] and standing(state, name).spreads


def judged_items(state: State, name: str) -> set[str]:
    """Items whose answer by an assistant people have judged, or were to judge and set aside."""
    return {item for e in state.done if e.data.get("of") == name for item in e.items}


def counted_answers(state: State, nodes: Mapping[str, int]) -> dict[int, tuple[str, float]]:
    """Node -> class and weight of the assistants' answers that count; a person's label wins.

    Parameters
    ----------
    nodes : item -> its node
    """
    weights = {each.name: each.weight for each in standings(state) if each.spreads}
    if not weights:
        return {}
    counted = {}
    for item, answer in state.assistants.answers.items():
        label = state.known.name(answer.number)
        if answer.by in weights and label is not None and item in nodes and is_open(state, item):
            counted[nodes[item]] = label, weights[answer.by]
    return counted


def items_to_answer(state: State, name: str, items: Iterable[str]) -> list[str]:
    """Items that an assistant may be asked about, in an order that looks random and never changes.

    So those answered so far, and the judged ones among them, stand for those answered later.
    """
    wanted = (
        item
        for item in items
        if is_open(state, item) and not state.assistants.has_answer(item, name)
    )
    return sorted(wanted, key=lambda item: _digest(f"{name} {item}"))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def is_open(state: State, item: str) -> bool:
    """Whether no person has labelled an item or set it aside as unsure."""
    return item not in state.labels and item not in state.unsure
