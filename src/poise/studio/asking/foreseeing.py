"""The question that follows each possible answer, computed while somebody looks at a question."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from poise import Learner
from poise.models.calibration import Calibration
from poise.studio.asking.pace import Load, Pace
from poise.studio.asking.question import NEW_CLASS, Features, Question, ask

#: Stands for no answer at all.
NO_ANSWER = "\N{NULL}skip"


def possible_answers(
    used: Iterable[str], likely: Sequence[str], first_classes: int
) -> tuple[str, ...]:
    """What may be answered, in the order in which the following questions are computed.

    Parameters
    ----------
    used : classes with a label. All the others lead to the same question
    likely : classes, the most likely first
    first_classes : see `Pace`
    """
    rank = {name: i for i, name in enumerate(likely)}
    classes = sorted(used, key=lambda name: (rank.get(name, len(rank)), name))
    return (*classes[:first_classes], NEW_CLASS, NO_ANSWER, *classes[first_classes:])


@dataclass(frozen=True, eq=False)
class Foresight:
    """Thinks answers through, with copies of a learner."""

    learner: Learner
    features: Features
    calibration: Calibration | None
    pace: Pace
    load: Load

    def following(
        self, node: int, duplicates: Sequence[int], answers: Iterable[str]
    ) -> Iterator[tuple[str, Question | None]]:
        """Answers to the question about a node, each with the question that would follow it.

        One after the other, so that the caller may stop. None where nothing follows, or where the
        pace leaves it out.

        Parameters
        ----------
        duplicates : nodes that get the same answer
        """
        together: Learner | None = None  # with the duplicates' columns, solved once for all answers
        for answer in answers:
            question = None
            if answer == NO_ANSWER:
                if self.pace.foresees_skip(self.load):
                    question = self._after(self.learner, [node], answer)
            elif not duplicates:
                question = self._after(self.learner, [node], answer)
            elif self.pace.foresees_duplicates(len(duplicates)):
                if together is None:
                    together = self.learner.copy()
                    together.pend(duplicates)
                    together.prepare()
                question = self._after(together, [node, *duplicates], answer)
            yield answer, question

    def _after(self, learner: Learner, nodes: list[int], answer: str) -> Question | None:
        """The question that would follow an answer."""
        twin = learner.copy()
        if answer == NO_ANSWER:
            twin.skip(nodes)
        else:
            twin.tell(nodes, [answer] * len(nodes))
        return next(iter(ask(twin, self.features, 1, self.calibration)), None)


class Foreseen:
    """What is known to follow each answer to the open question."""

    def __init__(self) -> None:
        self._questions: dict[int, dict[str, Question | None]] = {}
        self._duplicates: dict[int, tuple[int, ...]] = {}

    def begin(self, node: int, duplicates: tuple[int, ...]) -> dict[str, Question | None]:
        """Answer -> following question, to be filled; interrupted work goes on."""
        self._duplicates = {node: duplicates}
        return self._questions.setdefault(node, {})

    def clear(self) -> None:
        """Forget everything: something has changed."""
        self._questions.clear()

    def after(self, node: int, answer: str, others: Sequence[int]) -> Question | None:
        """The question that follows an answer to a node and `others`, if it is known."""
        expected = () if answer == NO_ANSWER else self._duplicates.get(node, ())
        return self._questions.get(node, {}).get(answer) if set(others) == set(expected) else None

    def likely(self, node: int) -> dict[str, Question | None] | None:
        """Answer -> following question, once the likely answers are thought through."""
        known = self._questions.get(node, {})
        return dict(known) if NEW_CLASS in known else None

    def has_all(self, node: int, answers: Iterable[str]) -> bool:
        """Whether all these answers are thought through."""
        known = self._questions.get(node, {})
        return all(answer in known for answer in answers)
