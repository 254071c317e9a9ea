"""Where the rules of `poise.active.stopping` stop, and the accuracy lost by stopping there."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from poise.active.accuracy import Fit
from poise.active.stopping import RULES, Checkpoint, Rule, checkpoint, first_half
from poise.arrays import Floats, Ints
from poise.experiments.efficiency.compare import Verdict
from poise.experiments.efficiency.fits import pwll_fit
from poise.experiments.efficiency.methods import AUTO
from poise.experiments.efficiency.records import Lines, Row
from poise.experiments.efficiency.sessions import Asked, asked_sessions
from poise.experiments.efficiency.sets import set_names
from poise.experiments.efficiency.tables import Table, counts, goal_table, marked, points
from poise.models.result import normalise_scores

KEYS = ("set", "trial")
OURS = "settled"
#: Answers in a session, and between checkpoints.
BUDGET, STEP = 300, 10
#: A session is flat if it gains less accuracy than this after this number of answers.
FLAT_MAX_GAIN, ENOUGH_ANSWERS = 0.01, 100
#: Accuracy that a stop may lose.
MAX_LOSS = 0.015
#: Goals: share of the sessions that lose no more, and answers before which flat sessions stop.
CLOSE_SHARE, FLAT_STOP_ANSWERS = 0.8, 210
DIGITS = 5


@dataclass(frozen=True, eq=False)
class Session:
    """A session: what the rules see, and the true accuracy.

    Attributes
    ----------
    history : checkpoints after `STEP`, 2 `STEP`, ... answers
    accuracy : (len(history),) accuracy on the unlabelled nodes at each checkpoint
    """

    history: tuple[Checkpoint, ...]
    accuracy: Floats


def record(fit: Fit, truth: Ints, asked: Sequence[int], step: int = STEP) -> Session:
    """Replay a session: fit the model after every answer, with a checkpoint every `step` answers.

    Parameters
    ----------
    fit : ``fit(nodes, codes) -> (n, C)`` scores of all nodes, not negative
    truth : (n,) class codes
    asked : nodes in the order of their answers, which are right
    """
    nodes = np.asarray(asked, dtype=np.int64)
    n = len(truth)
    predictions = [np.full(n, -1, dtype=np.int64)]
    surprising = [True]  # there is no prediction of the first answer
    history, accuracy = [], []
    before = np.zeros(n, dtype=np.int64)
    for done in range(1, len(nodes) + 1):
        known = nodes[:done]
        scores = fit(known, truth[known])
        codes = scores.argmax(axis=1)
        predictions.append(codes)
        if done % step == 0:
            shares = np.bincount(truth[known], minlength=scores.shape[1]) / done
            history.append(
                checkpoint(
                    normalise_scores(scores, np.ones(n, dtype=bool), shares),
                    before,
                    predictions[first_half(done)],
                    surprising,
                    known,
                )
            )
            rest = np.ones(n, dtype=bool)
            rest[known] = False
            accuracy.append(float((codes == truth)[rest].mean()))
            before = codes
        if done < len(nodes):
            surprising.append(bool(codes[nodes[done]] != truth[nodes[done]]))
    return Session(tuple(history), np.array(accuracy))


def stop_of(rule: Rule, session: Session) -> int:
    """Index of the first checkpoint at which a rule stops; the last one if it never stops."""
    positions = range(len(session.history))
    return next((i for i in positions if rule(session.history[: i + 1])), len(positions) - 1)


def stopping_lines(folder: Path) -> Lines:
    """The records of stops in a folder."""
    return Lines(folder / "stopping.jsonl", KEYS)


def missing_units(
    questions: Lines, lines: Lines, pools: Collection[str], trials: int
) -> Iterator[Asked]:
    """Sessions of `auto` that are not on record."""
    for asked in asked_sessions(questions, pools, (AUTO,), trials, BUDGET):
        if (asked.set, asked.trial) not in lines:
            yield asked


def measure_unit(asked: Asked) -> list[Row]:
    """One row: answers and accuracy at each rule's stop, at `ENOUGH_ANSWERS` and at the end."""
    trial, codes = asked.load()
    session = record(pwll_fit(trial.graph, int(codes.max()) + 1), codes, asked.queries)
    answers = [point.n_answers for point in session.history]
    accuracy = [round(float(value), DIGITS) for value in session.accuracy]
    stops = {name: stop_of(rule, session) for name, rule in RULES.items()}
    return [
        {
            "set": asked.set,
            "trial": asked.trial,
            "answers": answers[-1],
            "enough": accuracy[answers.index(ENOUGH_ANSWERS)]
            if ENOUGH_ANSWERS in answers
            else None,
            "end": accuracy[-1],
            "stops": {
                name: {"answers": answers[position], "accuracy": accuracy[position]}
                for name, position in stops.items()
            },
        }
    ]


def gain(row: Row) -> float:
    """Accuracy gained after `ENOUGH_ANSWERS` answers; NaN in a session that is too short."""
    return float("nan") if row["enough"] is None else float(row["end"] - row["enough"])


def lost(row: Row, rule: str) -> float:
    """Accuracy at the end minus accuracy at a rule's stop."""
    return float(row["end"] - row["stops"][rule]["accuracy"])


@dataclass(frozen=True)
class StopSummary:
    """A rule over the sessions of one set, or of all.

    Attributes
    ----------
    rule, sets, sessions : what is summarised
    close : share of the sessions in which stopping lost at most `MAX_LOSS`
    worst : largest loss
    median : median number of answers at the stop
    gain : median of the accuracy gained after `ENOUGH_ANSWERS` answers
    flat : number of sessions that gained less than `FLAT_MAX_GAIN` after `ENOUGH_ANSWERS` answers
    flat_median : median number of answers at the stop in those; None if there are none
    """

    rule: str
    sets: str
    sessions: int
    close: float
    worst: float
    median: float
    gain: float
    flat: int
    flat_median: float | None


def summarise(rule: str, sets: str, rows: Sequence[Row]) -> StopSummary:
    """Results of a rule in some sessions, at least one."""
    costs = [lost(row, rule) for row in rows]
    answers = [row["stops"][rule]["answers"] for row in rows]
    flat = [n for n, row in zip(answers, rows, strict=True) if gain(row) < FLAT_MAX_GAIN]
    return StopSummary(
        rule,
        sets,
        len(rows),
        float(np.mean([cost <= MAX_LOSS + 1e-9 for cost in costs])),
        max(costs),
        float(np.median(answers)),
        float(np.median([gain(row) for row in rows])),
        len(flat),
        float(np.median(flat)) if flat else None,
    )


def verdicts(summary: StopSummary) -> list[Verdict]:
    """The goals of our rule over all sessions."""
    goals = [
        Verdict(
            f"stop at most {100 * MAX_LOSS:g} points below {BUDGET} answers in "
            f"{CLOSE_SHARE:.0%} of sessions",
            f"{summary.close:.0%} of {summary.sessions}",
            summary.close >= CLOSE_SHARE,
        )
    ]
    if summary.flat_median is not None:
        goals.append(
            Verdict(
                f"median stop before {FLAT_STOP_ANSWERS} where answers {ENOUGH_ANSWERS} to "
                f"{BUDGET} gain less than {100 * FLAT_MAX_GAIN:g} point",
                f"{summary.flat_median:g} in {summary.flat} of {summary.sessions} sessions",
                summary.flat_median < FLAT_STOP_ANSWERS,
            )
        )
    return goals


def tables(folder: Path, sets: Collection[str]) -> list[Table]:
    """Every rule over all sessions and set by set, and the goals of our rule."""
    lines = stopping_lines(folder)
    by_set = {
        name: [row for row in lines if row["set"] == name] for name in set_names() if name in sets
    }
    by_set = {name: rows for name, rows in by_set.items() if rows}
    if not by_set:
        return []
    everything = [row for rows in by_set.values() for row in rows]
    cells: list[tuple[str, ...]] = []
    records: list[StopSummary] = []
    for rule in RULES:
        total = summarise(rule, "all", everything)
        each = [summarise(rule, name, rows) for name, rows in by_set.items()]
        records += [total, *each]
        cells.append(
            (
                f"{rule} (ours)" if rule == OURS else rule,
                f"{total.close:.0%}",
                "" if total.flat_median is None else f"{total.flat_median:g}",
                *(f"{summary.median:g} ({points(summary.worst)})" for summary in each),
            )
        )
    gains = [points(summarise(OURS, name, rows).gain) for name, rows in by_set.items()]
    cells.append((f"gain from {ENOUGH_ANSWERS} to {BUDGET}", "", "", *gains))
    ours = next(summary for summary in records if (summary.rule, summary.sets) == (OURS, "all"))
    return [
        Table(
            "stopping",
            "Where rules stop",
            (f"within {100 * MAX_LOSS:g} points", "flat sessions stop at", *map(marked, by_set)),
            tuple(cells),
            tuple(records),
            f"Median answers at the stop and, in brackets, the largest loss compared with "
            f"{BUDGET} answers, in points; {BUDGET} means no stop. "
            f"{counts(map(len, by_set.values()), 'session')} of each set; {ours.flat} of all "
            f"{ours.sessions} are flat: they gain less than {100 * FLAT_MAX_GAIN:g} point after "
            f"{ENOUGH_ANSWERS} answers.",
        ),
        goal_table("Goals: stopping", verdicts(ours)),
    ]
