"""Sessions on record: the questions of a method in a trial."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from poise.arrays import Ints
from poise.experiments.efficiency.records import Lines
from poise.experiments.efficiency.sets import POOLS
from poise.experiments.efficiency.trials import Trial, make_trial


@dataclass(frozen=True)
class Asked:
    """The first questions of a method in a trial.

    Attributes
    ----------
    pool, grouping, trial : what was labelled
    method : the method that asked
    queries : nodes in the order of the questions
    """

    pool: str
    grouping: int
    trial: int
    method: str
    queries: tuple[int, ...]

    @property
    def set(self) -> str:
        return POOLS[self.pool].name(self.grouping)

    def load(self) -> tuple[Trial, Ints]:
        """The trial and the (n,) class codes of its points."""
        trial = make_trial(self.pool, self.trial)
        return trial, trial.classes[self.grouping]


def all_sessions(questions: Lines) -> Iterator[Asked]:
    """Every session on record, trial by trial, so that a process builds each graph once."""
    pools = {p.name(g): (p.dataset, g) for p in POOLS.values() for g in p.groupings}
    for row in sorted(questions, key=lambda row: (row["trial"], pools[row["set"]][0])):
        yield Asked(*pools[row["set"]], row["trial"], row["method"], tuple(row["queries"]))


def asked_sessions(
    questions: Lines,
    pools: Collection[str],
    methods: Collection[str],
    trials: int,
    length: int,
) -> Iterator[Asked]:
    """Sessions on record with `length` questions, trial by trial; longer ones are cut."""
    for trial in range(trials):
        for name in pools:
            for grouping in POOLS[name].groupings:
                for method in methods:
                    key = (POOLS[name].name(grouping), trial, method)
                    queries = questions.rows.get(key, {}).get("queries", ())
                    if len(queries) >= length:
                        yield Asked(name, grouping, trial, method, tuple(queries[:length]))
