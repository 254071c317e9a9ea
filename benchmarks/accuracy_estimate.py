"""Coverage and width of the estimated accuracy's interval, for docs/decisions/accuracy-estimate.md.

    POISE_DATA=folder python benchmarks/accuracy_estimate.py [SET ...]

Sessions of 100 questions by the default acquisition on the tuning sets, with an audit of 20, 40 or
60 items after the last question or halfway. The answers of the audit become labels; their
predictions are held out. The same is measured with wrong confidences; there the model stays that of
the 100 questions.
"""

import argparse
from collections import defaultdict

import numpy as np

from poise import Graph, Learner, knn_graph
from poise.active.accuracy import draw_audit
from poise.experiments.efficiency.estimation import (
    AUDITS,
    Estimation,
    measure,
    summarise,
    wrong_confidences,
)
from poise.experiments.efficiency.fits import pwll_fit
from poise.experiments.efficiency.sets import POOLS, Pool

TUNING = [name for name, pool in POOLS.items() if pool.role == "tuning"]
TRIALS, QUESTIONS = 6, 100
#: Points of a trial at most, so that hundreds of sessions with their refits take minutes.
POINTS = 6_000
#: Trials, the first ones, that are judged with wrong confidences too.
WRONG_TRIALS = 2
WHEN = {"at the end": QUESTIONS, "halfway": QUESTIONS // 2}


def trial(pool: Pool, number: int) -> tuple[Graph, np.ndarray]:
    """The graph of 80% of a set, and the classes."""
    data = pool.load()
    size = min(int(0.8 * data.n_points), POINTS)
    rng = np.random.default_rng([number, 7])
    chosen = np.sort(rng.choice(data.n_points, size, replace=False))
    X = np.asarray(data.X[chosen], dtype=np.float32)
    codes = np.unique(data.classes[chosen], return_inverse=True)[1]
    return knn_graph(X, 10, metric=pool.metric), codes.astype(np.int64)


def ask(graph: Graph, codes: np.ndarray, given: np.ndarray, n: int, seed: int) -> np.ndarray:
    """The next `n` questions when the nodes `given` are labelled."""
    known = {int(node): int(codes[node]) for node in given}
    learner = Learner(graph, known, seed=seed, anticipate=False)
    asked = []
    while len(asked) < n:
        (node,) = learner.ask().tolist()
        learner.tell(node, int(codes[node]))
        asked.append(node)
    return np.array(asked, dtype=np.int64)


def session(graph: Graph, codes: np.ndarray, first: np.ndarray, n: int, seed: int) -> Estimation:
    """Audit `n` items when those in `first` are labelled, then ask the rest of the questions."""
    fit = pwll_fit(graph, int(codes.max()) + 1)
    audited = draw_audit(np.setdiff1d(np.arange(len(codes)), first), n, [seed, n, len(first)])
    given = np.concatenate([first, audited])
    later = ask(graph, codes, given, QUESTIONS - len(first), seed)
    return measure(fit, codes, np.concatenate([first, later]), audited)


def line(name: str, rows: list[Estimation]) -> str:
    s = summarise(rows)
    return (
        f"{name:28s} {s.n_sessions:4d} sessions, accuracy {np.mean([r.truth for r in rows]):.3f}: "
        f"covers {s.coverage:.3f} width {s.width:.3f} error {s.error:.3f}; "
        f"exact covers {s.exact_coverage:.3f} width {s.exact_width:.3f}; "
        f"ratio of widths {s.width / s.exact_width:.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", metavar="SET", default=TUNING)
    rows: dict[str, list[Estimation]] = defaultdict(list)
    for name in parser.parse_args().sets:
        for number in range(TRIALS):
            graph, codes = trial(POOLS[name], number)
            asked = ask(graph, codes, np.array([], dtype=np.int64), QUESTIONS, number)
            for when, before in WHEN.items():
                for n in AUDITS:
                    found = session(graph, codes, asked[:before], n, number)
                    for key in ("all", name, f"{n} audited", when, f"{n} audited, {when}"):
                        rows[key].append(found)
            if number < WRONG_TRIALS:
                for key, _, found in wrong_confidences(graph, codes, asked, number):
                    rows[f"confidences {key}"].append(found)
        print(line(name, rows[name]), flush=True)
    for key, found_rows in rows.items():
        print(line(key, found_rows))


if __name__ == "__main__":
    main()
