"""Where the rules of `poise.active.stopping` stop, and what is lost by stopping there.

``POISE_DATA=folder python -m poise.experiments.efficiency.stopping [--trials N] [SETS]`` simulates
sessions of 300 answers by the default acquisition on the tuning sets, or those named, and prints
the table of docs/decisions/stopping.md.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from poise.active.accuracy import Fit
from poise.active.stopping import RULES, Checkpoint, Rule, checkpoint, first_half
from poise.experiments.efficiency.methods import AUTO, METHODS, ask_all
from poise.experiments.efficiency.sets import POOLS
from poise.experiments.efficiency.trials import make_trial
from poise.graph import Graph
from poise.linalg.status import Floats, Ints
from poise.models.harmonic import Problem, solve_problems
from poise.models.result import normalise_scores

#: Answers of a session, and between checkpoints.
BUDGET, STEP = 300, 10
#: Answers from which on a session that gains less than `FLAT` has no need to go on.
ENOUGH, FLAT = 100, 0.01
#: Accuracy that a stop may cost.
COST = 0.015
#: Relative residual of the fits: only predictions are compared.
RTOL = 1e-5


@dataclass(frozen=True, eq=False)
class Session:
    """What the rules see of a session, and what they do not.

    Attributes
    ----------
    history : checkpoints after `STEP`, 2 `STEP`, ... answers
    accuracy : (len(history),) on the unlabelled nodes, at each
    """

    history: tuple[Checkpoint, ...]
    accuracy: Floats

    @property
    def gain(self) -> float:
        """Accuracy gained after `ENOUGH` answers."""
        at = [point.n_answers for point in self.history]
        return float(self.accuracy[-1] - self.accuracy[at.index(ENOUGH)]) if ENOUGH in at else 1.0


@dataclass(frozen=True)
class Stop:
    """Where a rule stopped in one session.

    Attributes
    ----------
    n_answers : answers by then; all of them if it did not stop
    lost : accuracy at the end minus accuracy there
    """

    n_answers: int
    lost: float


def record(fit: Fit, truth: Ints, asked: Sequence[int], step: int = STEP) -> Session:
    """Replay a session: fit the model after every answer and look at it every `step` answers.

    Parameters
    ----------
    fit : ``fit(nodes, codes) -> (n, C)`` scores of all nodes, not negative
    truth : (n,) class codes
    asked : the nodes in the order of their answers, which are right
    """
    nodes = np.asarray(asked, dtype=np.int64)
    n = len(truth)
    predictions = [np.full(n, -1, dtype=np.int64)]
    surprising = [True]  # nothing is expected of the first answer
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


def stop_of(rule: Rule, session: Session) -> Stop:
    """The first checkpoint at which a rule stops."""
    points = range(len(session.history))
    place = next((i for i in points if rule(session.history[: i + 1])), len(session.history) - 1)
    lost = float(session.accuracy[-1] - session.accuracy[place])
    return Stop(session.history[place].n_answers, lost)


@dataclass(frozen=True)
class Summary:
    """A rule over many sessions.

    Attributes
    ----------
    close : share of the sessions in which stopping cost at most `COST`
    worst : largest cost
    flat : median of the answers at the stop where the session gained less than `FLAT` after
        `ENOUGH` answers; NaN if none is like that
    median : median of the answers at the stop
    """

    close: float
    worst: float
    flat: float
    median: float


def summarise(rule: Rule, sessions: Sequence[Session]) -> Summary:
    """How a rule does in some sessions."""
    stops = [stop_of(rule, session) for session in sessions]
    flat = [s.n_answers for s, session in zip(stops, sessions, strict=True) if session.gain < FLAT]
    return Summary(
        close=float(np.mean([s.lost <= COST for s in stops])),
        worst=max(s.lost for s in stops),
        flat=float(np.median(flat)) if flat else float("nan"),
        median=float(np.median([s.n_answers for s in stops])),
    )


def table(sessions: Mapping[str, Sequence[Session]]) -> str:
    """Markdown: a row for each rule, over all sessions and set by set."""
    everything = [session for several in sessions.values() for session in several]
    lines = [
        "| rule | within 1.5 points | flat sessions stop at | " + " | ".join(sessions) + " |",
        "|---|---|---|" + "---|" * len(sessions),
    ]
    for name, rule in RULES.items():
        total = summarise(rule, everything)
        cells = [f"{100 * total.close:.0f}%", f"{total.flat:.0f}"]
        for several in sessions.values():
            one = summarise(rule, several)
            cells.append(f"{one.median:.0f} ({100 * one.worst:.1f})")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    gains = [f"{100 * np.median([s.gain for s in several]):.1f}" for several in sessions.values()]
    lines.append("| gain from 100 to 300 | | | " + " | ".join(gains) + " |")
    return "\n".join(lines) + "\n"


def pwll_fit(graph: Graph, n_classes: int) -> Fit:
    """PWLL as a function of nodes and class codes."""

    def fit(nodes: Ints, codes: Ints) -> Floats:
        present = np.unique(codes)
        sources = tuple(tuple(nodes[codes == c].tolist()) for c in present)
        (columns,) = solve_problems(graph, [Problem(sources)], rtol=RTOL)
        scores = np.zeros((graph.n_nodes, n_classes))
        scores[:, present] = columns.values
        return scores

    return fit


def simulate(name: str, number: int, budget: int = BUDGET) -> Session:
    """A session on trial `number` of the pool called `name`."""
    trial = make_trial(name, number)
    truth = trial.classes[trial.pool.groupings[0]]
    asked = ask_all(trial, METHODS[AUTO], truth, budget)
    return record(pwll_fit(trial.graph, int(truth.max()) + 1), truth, asked)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, once after every trial of all sets."""
    parser = argparse.ArgumentParser(description=__doc__)
    tuning = [name for name, pool in POOLS.items() if pool.role == "tuning"]
    parser.add_argument("sets", nargs="*", default=tuning)
    parser.add_argument("--trials", type=int, default=5)
    chosen = parser.parse_args(arguments)
    sessions: dict[str, list[Session]] = {name: [] for name in chosen.sets}
    for number in range(chosen.trials):
        for name in chosen.sets:
            sessions[name].append(simulate(name, number))
        sys.stdout.write(f"{number + 1} trials\n{table(sessions)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
