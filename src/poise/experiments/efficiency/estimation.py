"""Coverage and width of the interval of the estimated accuracy."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from poise.active.accuracy import Fit, confidence, draw_audit, estimate_accuracy, held_out_scores
from poise.arrays import Floats, Ints
from poise.experiments.efficiency.compare import Verdict
from poise.experiments.efficiency.fits import pwll_fit
from poise.experiments.efficiency.methods import AUTO, METHODS
from poise.experiments.efficiency.records import Lines, Row
from poise.experiments.efficiency.sessions import Asked, asked_sessions
from poise.experiments.efficiency.sets import set_names
from poise.experiments.efficiency.tables import Table, goal_table, marked, per_cent
from poise.experiments.efficiency.trials import Trial
from poise.graph import Graph

KEYS = ("set", "trial", "kind", "audited", "draw")
QUESTIONS = 100
#: Audited items in the measured sessions.
AUDITS = (20, 40, 60)
#: In trials with more points, only one audit size is measured, and another one in the next trial.
ALL_SIZES_MAX_POINTS = 6_000
#: Kind of audit -> number of questions before it.
WHEN = {"audit at the end": QUESTIONS, "audit halfway": QUESTIONS // 2}
#: Kind of a unit with wrong confidences.
WRONG = "wrong confidences"
#: Audits of each size with wrong confidences, per trial.
DRAWS = 10
#: Goal for the share of intervals that contain the true accuracy.
COVERAGE = 0.93
DIGITS = 5
#: Fields of `Estimation` that are counts.
COUNTS = ("n_labels", "n_audited")


@dataclass(frozen=True)
class Estimation:
    """An estimated accuracy and the true one, in one session.

    Attributes
    ----------
    n_labels, n_audited : number of chosen labels, and of random ones
    truth : accuracy on the unlabelled items
    value, low, high : the estimate and its interval
    exact_low, exact_high : Clopper and Pearson's interval from the same audit
    """

    n_labels: int
    n_audited: int
    truth: float
    value: float
    low: float
    high: float
    exact_low: float
    exact_high: float

    @property
    def covers(self) -> bool:
        return self.low <= self.truth <= self.high

    @property
    def width(self) -> float:
        return self.high - self.low

    @property
    def exact_covers(self) -> bool:
        return self.exact_low <= self.truth <= self.exact_high

    @property
    def exact_width(self) -> float:
        return self.exact_high - self.exact_low


@dataclass(frozen=True)
class EstimationSummary:
    """Means over sessions: coverage and width of the intervals, error of the estimates."""

    n_sessions: int
    coverage: float
    width: float
    error: float
    exact_coverage: float
    exact_width: float


def measure_audit(fit: Fit, truth: Ints, asked: Ints, n: int, seed: int | list[int]) -> Estimation:
    """Audit `n` random items after those `asked` are labelled, and evaluate the estimate.

    The answers of the audit become labels, as in the app, so the evaluated model uses them. See
    `measure`.
    """
    unlabelled = np.setdiff1d(np.arange(len(truth)), asked)
    return measure(fit, truth, asked, draw_audit(unlabelled, n, seed))


def measure(fit: Fit, truth: Ints, asked: Ints, audited: Ints) -> Estimation:
    """Evaluate the estimate of a session, whose audit may lie anywhere between its questions.

    Parameters
    ----------
    fit : ``fit(nodes, codes) -> (n, C)`` scores of all nodes
    truth : (n,) class codes
    asked : (m,) nodes that were chosen and labelled
    audited : (a,) nodes that were drawn at random and labelled, different from those asked
    """
    nodes = np.concatenate([asked, audited])
    scores = fit(nodes, truth[nodes])
    alone = held_out_scores(fit, nodes, truth[nodes], audited)
    unlabelled = np.setdiff1d(np.arange(len(truth)), nodes)
    estimate = estimate_accuracy(
        alone.argmax(axis=1) == truth[audited], confidence(alone), confidence(scores[unlabelled])
    )
    return Estimation(
        n_labels=len(asked),
        n_audited=len(audited),
        truth=float((scores[unlabelled].argmax(axis=1) == truth[unlabelled]).mean()),
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        exact_low=estimate.exact[0],
        exact_high=estimate.exact[1],
    )


def summarise(sessions: Sequence[Estimation]) -> EstimationSummary:
    """Means over `sessions`, at least one."""
    table = np.array(
        [
            (s.covers, s.width, abs(s.value - s.truth), s.exact_covers, s.exact_width)
            for s in sessions
        ],
        dtype=np.float64,
    )
    return EstimationSummary(len(sessions), *(float(mean) for mean in table.mean(axis=0)))


@dataclass(frozen=True)
class Unit:
    """A session, and the missing kind of audits: a key of `WHEN`, or `WRONG`."""

    asked: Asked
    kind: str


def estimation_lines(folder: Path) -> Lines:
    """The records of estimated accuracies in a folder."""
    return Lines(folder / "estimation.jsonl", KEYS)


def missing_units(
    questions: Lines, lines: Lines, pools: Collection[str], trials: int
) -> Iterator[Unit]:
    """Audits of the sessions of `auto` that are not on record, kind by kind."""
    done = {(row["set"], row["trial"], row["kind"]) for row in lines}
    for asked in asked_sessions(questions, pools, (AUTO,), trials, QUESTIONS):
        for kind, recorded in (*((w, w) for w in WHEN), (WRONG, _wrong("real"))):
            if (asked.set, asked.trial, recorded) not in done:
                yield Unit(asked, kind)


def measure_unit(unit: Unit) -> list[Row]:
    """A row for each audit."""
    trial, codes = unit.asked.load()
    asked = np.array(unit.asked.queries, dtype=np.int64)
    if unit.kind == WRONG:
        return [
            _row(unit, _wrong(name), estimate, draw)
            for name, draw, estimate in wrong_confidences(
                trial.graph, codes, asked, [trial.number, 17]
            )
        ]
    first = asked[: WHEN[unit.kind]]
    return [
        _row(unit, unit.kind, audit_session(trial, codes, first, n))
        for n in sizes(trial, later=len(first) < len(asked))
    ]


def _row(unit: Unit, kind: str, estimation: Estimation, draw: int = 0) -> Row:
    row: Row = {
        "set": unit.asked.set,
        "trial": unit.asked.trial,
        "kind": kind,
        "audited": estimation.n_audited,
        "draw": draw,
    }
    figures = {k: round(v, DIGITS) for k, v in asdict(estimation).items() if k not in COUNTS}
    return row | {"labels": estimation.n_labels} | figures


def sizes(trial: Trial, later: bool) -> tuple[int, ...]:
    """Sizes of the audits of a trial: all if that is cheap, else one, in turn over the trials.

    With questions `later`, each size needs its own session.
    """
    if trial.n_points <= ALL_SIZES_MAX_POINTS and not later:
        return AUDITS
    return (AUDITS[trial.number % len(AUDITS)],)


def audit_session(trial: Trial, codes: Ints, first: Ints, n: int) -> Estimation:
    """Audit `n` items after those in `first` are labelled, then ask the other questions."""
    unlabelled = np.setdiff1d(np.arange(trial.n_points), first)
    audited = draw_audit(unlabelled, n, [trial.number, n, len(first)])
    later = _ask(trial, codes, np.concatenate([first, audited]), QUESTIONS - len(first))
    fit = pwll_fit(trial.graph, int(codes.max()) + 1)
    return measure(fit, codes, np.concatenate([first, later]), audited)


def _ask(trial: Trial, codes: Ints, labelled: Ints, n: int) -> Ints:
    """The next `n` questions of `auto` after the nodes `labelled` are labelled."""
    asked: list[int] = []
    if n:
        learner = METHODS[AUTO].learner(trial)
        learner.tell(labelled, codes[labelled])
        while len(asked) < n:
            (node,) = learner.ask().tolist()
            learner.tell(node, int(codes[node]))
            asked.append(node)
    return np.array(asked, dtype=np.int64)


def _wrong(name: str) -> str:
    return f"confidences {name}"


def wrong_confidences(
    graph: Graph, codes: Ints, asked: Ints, seed: int | list[int]
) -> Iterator[tuple[str, int, Estimation]]:
    """Audits of one model, evaluated with its confidences, without any, and with misleading ones.

    The model stays that of the questions `asked`: audits are not labels. Yields the change of the
    confidences, the number of the draw, and the estimate.
    """
    scores = pwll_fit(graph, int(codes.max()) + 1)(asked, codes[asked])
    pool = np.setdiff1d(np.arange(len(codes)), asked)
    right, real = (scores.argmax(axis=1) == codes)[pool], confidence(scores)[pool]
    rng = np.random.default_rng(seed)
    ranks = np.argsort(np.argsort(real))
    confidences: dict[str, Floats] = {
        "real": real,
        "constant": np.full(len(pool), 0.5),
        "shuffled": rng.permutation(real),
        "reversed": np.sort(real)[::-1][ranks],
    }
    for n in AUDITS:
        for draw in range(DRAWS):
            drawn = rng.choice(len(pool), n, replace=False)
            rest = np.setdiff1d(np.arange(len(pool)), drawn)
            truth = float(right[rest].mean())
            for name, c in confidences.items():
                estimate = estimate_accuracy(right[drawn], c[drawn], c[rest])
                figures = (estimate.value, estimate.low, estimate.high, *estimate.exact)
                yield name, draw, Estimation(len(asked), n, truth, *figures)


def estimation_of(row: Row) -> Estimation:
    """The estimate in a row."""
    figures = [row[field.name] for field in fields(Estimation) if field.name not in COUNTS]
    return Estimation(row["labels"], row["audited"], *figures)


def verdicts(summary: EstimationSummary) -> list[Verdict]:
    """The goals over all sessions."""
    return [
        Verdict(
            f"interval contains the accuracy in {COVERAGE:.0%} of sessions",
            f"{per_cent(summary.coverage)} of {summary.n_sessions}",
            summary.coverage >= COVERAGE,
        ),
        Verdict(
            "mean width below that of Clopper and Pearson's interval",
            f"{per_cent(summary.width)} instead of {per_cent(summary.exact_width)}",
            summary.width < summary.exact_width,
        ),
    ]


def tables(folder: Path, sets: Collection[str]) -> list[Table]:
    """Coverage and width by size, by time and by set, with wrong confidences, and the goals."""
    rows = [row for row in estimation_lines(folder) if row["set"] in sets]
    real = [row for row in rows if row["kind"] in WHEN]
    groups: dict[str, list[Row]] = {"all": real}
    groups |= {f"{n} audited": [r for r in real if r["audited"] == n] for n in AUDITS}
    groups |= {kind: [r for r in real if r["kind"] == kind] for kind in WHEN}
    groups |= {marked(s): [r for r in real if r["set"] == s] for s in set_names()}
    kinds = dict.fromkeys(row["kind"] for row in rows if row["kind"] not in WHEN)
    wrong = {k.removeprefix(_wrong("")): [r for r in rows if r["kind"] == k] for k in kinds}
    shown = []
    if real:
        note = (
            f"{QUESTIONS} questions by auto, and an audit whose answers become labels. Exact: "
            "Clopper and Pearson's interval from the same audit."
        )
        shown.append(_table("estimation", "Estimated accuracy", groups, note))
    if wrong:
        note = (
            f"{DRAWS} audits of each size in each trial; the model stays that of the "
            f"{QUESTIONS} questions."
        )
        title = "Estimated accuracy, by confidences"
        shown.append(_table("wrong_confidences", title, wrong, note))
    if real:
        shown.append(goal_table("Goals: estimation", verdicts(_summary(real))))
    return shown


def _summary(rows: Iterable[Row]) -> EstimationSummary:
    return summarise([estimation_of(row) for row in rows])


def _table(key: str, title: str, groups: dict[str, list[Row]], note: str) -> Table:
    cells, records = [], []
    for name, rows in groups.items():
        if rows:
            s = _summary(rows)
            truth = float(np.mean([row["truth"] for row in rows]))
            shares = (truth, s.coverage, s.exact_coverage, s.width, s.exact_width, s.error)
            cells.append((name, str(s.n_sessions), *map(per_cent, shares)))
            record: dict[str, Any] = {"rows": name, "accuracy": truth}
            records.append(record | asdict(s))
    head = ("sessions", "accuracy", "covers", "exact covers", "width", "exact width", "mean error")
    return Table(key, title, head, tuple(cells), tuple(records), note)
