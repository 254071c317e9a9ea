"""What wrong answers cost, with hard and with soft labels, and whether they are found."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from poise.arrays import Floats, Ints
from poise.experiments.efficiency.compare import Verdict
from poise.experiments.efficiency.methods import AUTO
from poise.experiments.efficiency.records import Lines, Row
from poise.experiments.efficiency.sessions import Asked, asked_sessions
from poise.experiments.efficiency.sets import set_names
from poise.experiments.efficiency.tables import (
    Table,
    counts,
    goal_table,
    marked,
    per_cent,
    points,
)
from poise.graph import Graph
from poise.models.harmonic import spread
from poise.models.label_walk import label_walk, soft_targets
from poise.models.labels import Labels
from poise.models.poisson_weights import poisson_weights
from poise.models.suspicion import doubt

KEYS = ("set", "trial", "method")
#: Who chose the labels, and what the tables say about them.
CHOSEN = {AUTO: "labels asked by auto", "random": "random labels"}
LABELS = 100
#: Share of wrong answers, and times that answers are flipped in a trial.
SHARE, FLIPS = 0.1, 4
#: Part of PWLL's loss that soft PWLL may have. Precision of the suspicious labels where PWLL is
#: right in `ACCURATE` or more with the right answers; elsewhere, that many times the base rate.
PART, PRECISION, ACCURATE, TIMES = 0.5, 0.6, 0.85, 3
DIGITS = 5
#: Relative residual of the fits: only predictions are compared.
RTOL = 1e-5


@dataclass(frozen=True)
class NoiseRow:
    """Accuracies on the unlabelled nodes, in one session with some answers flipped.

    Attributes
    ----------
    clean, clean_soft : PWLL and soft PWLL with the right answers
    hard, soft : the same with the flipped ones
    known : PWLL that leaves out exactly the flipped answers, as if somebody had told
    precision : share of flipped answers among as many that are trusted least
    """

    clean: float
    clean_soft: float
    hard: float
    soft: float
    known: float
    precision: float


def flip(
    codes: Ints, n_classes: int, rng: np.random.Generator, share: float = SHARE
) -> tuple[Ints, Ints]:
    """Codes of which a share, drawn at random, are another class, drawn at random; and which."""
    wrong = rng.choice(len(codes), round(share * len(codes)), replace=False)
    flipped = codes.copy()
    flipped[wrong] = (codes[wrong] + rng.integers(1, n_classes, len(wrong))) % n_classes
    return flipped, wrong


def measure(
    graph: Graph, truth: Ints, asked: Sequence[int], seeds: Sequence[Sequence[int]]
) -> list[NoiseRow]:
    """Flip the answers of a session once for each seed.

    Parameters
    ----------
    truth : (n,) class codes
    asked : nodes that were labelled
    """
    nodes = np.sort(np.asarray(asked, dtype=np.int64))
    n_classes = int(truth.max()) + 1
    gamma = poisson_weights(graph, [nodes], rtol=RTOL)
    walk = label_walk(graph, nodes, gamma[:, 0])
    rest = np.ones(len(truth), dtype=bool)
    rest[nodes] = False

    def softened(codes: Ints) -> tuple[Floats, Floats]:
        labels = Labels(nodes, codes, tuple(range(n_classes)))
        weights, trust = doubt(walk, labels)
        return soft_targets(walk, labels.one_hot, weights), trust

    right = truth[nodes]
    hot = np.eye(n_classes)
    targets = [hot[right], softened(right)[0]]
    precision = []
    for seed in seeds:
        codes, wrong = flip(right, n_classes, np.random.default_rng(list(seed)))
        soft, trust = softened(codes)
        least = np.argsort(trust, kind="stable")[: len(wrong)]
        precision.append(float(np.isin(least, wrong).mean()) if len(wrong) else 1.0)
        weights = np.full(len(nodes), np.inf)
        weights[wrong] = 1e-6
        targets += [hot[codes], soft, soft_targets(walk, hot[codes], weights)]
    found = spread(
        graph,
        np.repeat(gamma, len(targets), axis=1),
        [0.0] * len(targets),
        [[nodes] * n_classes] * len(targets),
        [np.clip(z, 0.0, 1.0).T.tolist() for z in targets],
        rtol=RTOL,
    )
    clean, clean_soft, *others = [
        float((scores.argmax(axis=1) == truth)[rest].mean()) for scores in found
    ]
    noisy = zip(others[0::3], others[1::3], others[2::3], precision, strict=True)
    return [
        NoiseRow(clean, clean_soft, hard, soft, known, share) for hard, soft, known, share in noisy
    ]


def noise_lines(folder: Path) -> Lines:
    """The records of noisy sessions in a folder."""
    return Lines(folder / "noise.jsonl", KEYS)


def missing_units(
    questions: Lines, lines: Lines, pools: Collection[str], trials: int
) -> Iterator[Asked]:
    """Sessions whose answers have not been flipped yet."""
    for asked in asked_sessions(questions, pools, CHOSEN, trials, LABELS):
        if (asked.set, asked.trial, asked.method) not in lines:
            yield asked


def measure_unit(asked: Asked) -> list[Row]:
    """One row: means over `FLIPS` times of flipping a session's answers."""
    trial, codes = asked.load()
    seeds = [(asked.trial, time) for time in range(FLIPS)]
    found = mean_of(measure(trial.graph, codes, asked.queries, seeds))
    row: Row = {"set": asked.set, "trial": asked.trial, "method": asked.method}
    return [row | {name: round(value, DIGITS) for name, value in asdict(found).items()}]


def mean_of(rows: Sequence[NoiseRow]) -> NoiseRow:
    """The mean of each figure."""
    return NoiseRow(
        *(float(np.mean([getattr(row, field.name) for row in rows])) for field in fields(NoiseRow))
    )


@dataclass(frozen=True)
class NoiseMean:
    """What wrong answers cost on one set, over its trials.

    Attributes
    ----------
    set, method, trials : where, who chose the labels, and how often it was measured
    accuracy : of PWLL with the right answers
    hard, soft : lost by PWLL and soft PWLL with the wrong answers
    soft_clean : lost by soft PWLL with the right answers
    known : lost by PWLL if somebody told which answers are wrong
    precision : share of flipped answers among as many that are trusted least
    """

    set: str
    method: str
    trials: int
    accuracy: float
    hard: float
    soft: float
    soft_clean: float
    known: float
    precision: float

    @property
    def wanted(self) -> float:
        """Precision that is the goal."""
        return PRECISION if self.accuracy >= ACCURATE else TIMES * SHARE

    @property
    def found(self) -> bool:
        return self.precision >= self.wanted


def summarise(name: str, method: str, rows: Sequence[Row]) -> NoiseMean:
    """Means over the rows of one set, of which there is at least one."""
    one = mean_of([NoiseRow(*(row[field.name] for field in fields(NoiseRow))) for row in rows])
    return NoiseMean(
        name,
        method,
        len(rows),
        one.clean,
        one.clean - one.hard,
        one.clean - one.soft,
        one.clean - one.clean_soft,
        one.clean - one.known,
        one.precision,
    )


def verdicts(found: Sequence[NoiseMean]) -> list[Verdict]:
    """What must hold over the sets, with labels that were chosen in one way."""
    chosen = CHOSEN[found[0].method]
    hard, soft = (
        float(np.mean([getattr(one, name) for one in found])) for name in ("hard", "soft")
    )
    missed = [f"{one.precision:.0%} on {one.set}" for one in found if not one.found]
    return [
        Verdict(
            f"{chosen}: soft PWLL loses at most {PART:.0%} of what PWLL loses, on average",
            f"{points(soft)} of {points(hard)} points",
            soft <= PART * hard,
        ),
        Verdict(
            f"{chosen}: precision {PRECISION:.0%} where PWLL is at least {ACCURATE:.0%} right, "
            f"{TIMES * SHARE:.0%} elsewhere",
            ", ".join(missed) if missed else f"on {counts([len(found)], 'set')}",
            not missed,
        ),
    ]


def tables(folder: Path, sets: Collection[str]) -> list[Table]:
    """Losses and precision set by set and on average, for each way to choose labels."""
    lines = noise_lines(folder)
    shown: list[Table] = []
    goals: list[Verdict] = []
    for method, chosen in CHOSEN.items():
        means = []
        for name in (name for name in set_names() if name in sets):
            rows = [row for row in lines if (row["set"], row["method"]) == (name, method)]
            if rows:
                means.append(summarise(name, method, rows))
        if means:
            shown.append(_table(chosen, means))
            goals += verdicts(means)
    return [*shown, goal_table("Goals: wrong answers", goals)] if shown else []


def _table(chosen: str, means: Sequence[NoiseMean]) -> Table:
    columns = {
        "accuracy of PWLL, right answers": ("accuracy", per_cent),
        "lost by PWLL": ("hard", points),
        "lost by soft PWLL": ("soft", points),
        "lost by soft PWLL, right answers": ("soft_clean", points),
        "lost if the wrong ones were known": ("known", points),
        "precision of suspicious labels": ("precision", per_cent),
    }
    rows = [
        (marked(one.set), *(show(getattr(one, name)) for name, show in columns.values()))
        for one in means
    ]
    average = (
        show(float(np.mean([getattr(one, name) for one in means])))
        for name, show in columns.values()
    )
    return Table(
        "noise",
        f"{SHARE:.0%} wrong answers, {chosen}",
        tuple(columns),
        (*rows, ("mean", *average)),
        tuple(means),
        f"{LABELS} labels, {SHARE:.0%} of them flipped to another class, {FLIPS} times in each of "
        f"{counts((one.trials for one in means), 'trial')}. Losses are points below PWLL with the "
        "right answers.",
    )
