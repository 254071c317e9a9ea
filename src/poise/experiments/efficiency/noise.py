"""The accuracy lost by wrong answers, with hard and soft labels, and how many are found."""

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
#: Who chose the labels -> their description in tables.
CHOSEN = {AUTO: "labels asked by auto", "random": "random labels"}
LABELS = 100
#: Share of wrong answers, and number of times that answers are flipped in a trial.
SHARE, FLIPS = 0.1, 4
#: Goal: share of PWLL's loss that soft PWLL may have.
MAX_LOSS_SHARE = 0.5
#: Goal: precision of the suspicious labels on sets on which PWLL reaches this accuracy with right
#: answers; on other sets, this factor times the share of wrong answers.
PRECISION, MIN_ACCURACY, BASE_RATE_FACTOR = 0.6, 0.85, 3
DIGITS = 5
#: Relative residual of the fits; loose, because only predictions are compared.
RTOL = 1e-5


@dataclass(frozen=True)
class NoiseRow:
    """Accuracies on the unlabelled nodes, in a session with some answers flipped.

    Attributes
    ----------
    clean, clean_soft : PWLL and soft PWLL with the right answers
    hard, soft : the same with the flipped ones
    known : PWLL without exactly the flipped answers
    precision : share of flipped answers among the same number of least trusted answers
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
    """Codes with a random share changed to another random class, and the changed positions."""
    wrong = rng.choice(len(codes), round(share * len(codes)), replace=False)
    flipped = codes.copy()
    flipped[wrong] = (codes[wrong] + rng.integers(1, n_classes, len(wrong))) % n_classes
    return flipped, wrong


def measure(
    graph: Graph, truth: Ints, asked: Sequence[int], seeds: Sequence[Sequence[int]]
) -> list[NoiseRow]:
    """Flip answers of a session, once for each seed.

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
    solutions = spread(
        graph,
        np.repeat(gamma, len(targets), axis=1),
        [0.0] * len(targets),
        [[nodes] * n_classes] * len(targets),
        [np.clip(z, 0.0, 1.0).T.tolist() for z in targets],
        rtol=RTOL,
    )
    clean, clean_soft, *others = [
        float((scores.argmax(axis=1) == truth)[rest].mean()) for scores in solutions
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
    """Sessions without a record of flipped answers."""
    for asked in asked_sessions(questions, pools, CHOSEN, trials, LABELS):
        if (asked.set, asked.trial, asked.method) not in lines:
            yield asked


def measure_unit(asked: Asked) -> list[Row]:
    """One row: means over `FLIPS` repetitions of flipping a session's answers."""
    trial, codes = asked.load()
    seeds = [(asked.trial, time) for time in range(FLIPS)]
    means = mean_of(measure(trial.graph, codes, asked.queries, seeds))
    row: Row = {"set": asked.set, "trial": asked.trial, "method": asked.method}
    return [row | {name: round(value, DIGITS) for name, value in asdict(means).items()}]


def mean_of(rows: Sequence[NoiseRow]) -> NoiseRow:
    """The mean of each figure."""
    return NoiseRow(
        *(float(np.mean([getattr(row, field.name) for row in rows])) for field in fields(NoiseRow))
    )


@dataclass(frozen=True)
class NoiseMean:
    """Accuracy lost by wrong answers on one set, over its trials.

    Attributes
    ----------
    set, method, trials : the set, who chose the labels, and the number of trials
    accuracy : accuracy of PWLL with the right answers
    hard, soft : lost by PWLL and soft PWLL with the wrong answers
    soft_clean : lost by soft PWLL with the right answers
    known : lost by PWLL if the wrong answers were known
    precision : share of flipped answers among the same number of least trusted answers
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
        """The goal for the precision."""
        return PRECISION if self.accuracy >= MIN_ACCURACY else BASE_RATE_FACTOR * SHARE

    @property
    def met(self) -> bool:
        return self.precision >= self.wanted


def summarise(name: str, method: str, rows: Sequence[Row]) -> NoiseMean:
    """Means over the rows of one set, at least one."""
    mean = mean_of([NoiseRow(*(row[field.name] for field in fields(NoiseRow))) for row in rows])
    return NoiseMean(
        name,
        method,
        len(rows),
        mean.clean,
        mean.clean - mean.hard,
        mean.clean - mean.soft,
        mean.clean - mean.clean_soft,
        mean.clean - mean.known,
        mean.precision,
    )


def verdicts(means: Sequence[NoiseMean]) -> list[Verdict]:
    """The goals over the sets, with labels that were chosen in one way."""
    how_chosen = CHOSEN[means[0].method]
    hard, soft = (
        float(np.mean([getattr(mean, name) for mean in means])) for name in ("hard", "soft")
    )
    missed = [f"{mean.precision:.0%} on {mean.set}" for mean in means if not mean.met]
    return [
        Verdict(
            f"{how_chosen}: soft PWLL loses at most {MAX_LOSS_SHARE:.0%} of what PWLL loses, "
            "on average",
            f"{points(soft)} of {points(hard)} points",
            soft <= MAX_LOSS_SHARE * hard,
        ),
        Verdict(
            f"{how_chosen}: precision {PRECISION:.0%} where PWLL is at least {MIN_ACCURACY:.0%} "
            f"right, {BASE_RATE_FACTOR * SHARE:.0%} elsewhere",
            ", ".join(missed) if missed else f"on {counts([len(means)], 'set')}",
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
        (marked(mean.set), *(show(getattr(mean, name)) for name, show in columns.values()))
        for mean in means
    ]
    average = (
        show(float(np.mean([getattr(mean, name) for mean in means])))
        for name, show in columns.values()
    )
    return Table(
        "noise",
        f"{SHARE:.0%} wrong answers, {chosen}",
        tuple(columns),
        (*rows, ("mean", *average)),
        tuple(means),
        f"{LABELS} labels, {SHARE:.0%} of them flipped to another class, {FLIPS} times in each of "
        f"{counts((mean.trials for mean in means), 'trial')}. Losses are points below PWLL with "
        "the right answers.",
    )
