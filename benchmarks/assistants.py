"""What answers of assistants are worth, by their accuracy and their weight.

    POISE_DATA=folder python benchmarks/assistants.py [SET ...] [--trials N] [--shares]

For docs/decisions/assistants.md: simulated assistants of a given accuracy, whose wrong answers are
any other class, answer random items. People have labelled some items that `auto` asked about and
have judged 20 answers. Accuracies are those of the predictions on items that nobody answered, and
on items that the assistant answered; "passes" is the probability that the lower end of the interval
of 20 judged answers reaches the floor. Every accuracy is measured with the weight that
such an assistant would get, also below the floor.
"""

import argparse

import numpy as np
from scipy.stats import binom

import poise
from poise.active.accuracy import exact_interval
from poise.models.labels import Labels
from poise.studio.asking import assisted
from poise.studio.asking.assistants import MIN_ACCURACY

#: Data set -> its embedding, metric, labels of people and answers of the assistant.
SETS = {
    "digits": ("raw", "euclidean", 30, (200, 1000)),
    "banking77": ("use", "cosine", 100, (500, 2000)),
}
ACCURACIES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
#: Shares of the odds that `--shares` compares.
SHARES = (0.25, 0.5, 1.0)
MAX_ITEMS, JUDGED = 4_000, 20


class Pool:
    """A data set of at most `MAX_ITEMS` items, its graph, and labels by people."""

    def __init__(self, name: str, trial: int, n_answers: int) -> None:
        embedding, metric, n_labels, _ = SETS[name]
        data = poise.load_dataset(name, embedding=embedding)
        X, y = data.X, data.classes
        if len(X) > MAX_ITEMS:
            some = np.sort(np.random.default_rng(0).choice(len(X), MAX_ITEMS, replace=False))
            X, y = X[some], y[some]
        self.y, rng = y, np.random.default_rng(trial)
        self.n_classes = int(y.max()) + 1
        self.graph = poise.knn_graph(X, k=10, metric=metric)
        learner = poise.Learner(self.graph, seed=trial, classes=range(self.n_classes))
        for _ in range(n_labels):
            (node,) = learner.ask()
            learner.tell(node, int(y[node]))
        free = np.setdiff1d(np.arange(len(y)), list(learner.labels))
        answered = rng.choice(free, n_answers + JUDGED, replace=False)
        for node in answered[:JUDGED]:
            learner.tell(int(node), int(y[node]))
        self.answered, self.people = answered[JUDGED:], np.array(sorted(learner.labels))
        self.rest = np.setdiff1d(free, answered)
        self.labels = Labels(self.people, y[self.people], tuple(range(self.n_classes)))
        self.alone = learner.predictions.astype(int)

    def correct(self, codes: np.ndarray) -> tuple[float, float]:
        """Accuracy in per cent on items that nobody answered, and on those of the assistant."""
        right = 100 * (codes == self.y)
        return float(right[self.rest].mean()), float(right[self.answered].mean())

    def with_answers(self, accuracy: float, trial: int) -> np.ndarray:
        """Predictions with an assistant's answers."""
        rng = np.random.default_rng([trial, round(100 * accuracy)])
        given = self.y[self.answered].copy()
        wrong = rng.random(len(given)) >= accuracy
        given[wrong] = (
            given[wrong] + rng.integers(1, self.n_classes, wrong.sum())
        ) % self.n_classes
        right = int(rng.binomial(JUDGED, accuracy))
        odds = (right + 1) / (JUDGED - right + 1)
        counted = {
            int(node): (str(code), odds) for node, code in zip(self.answered, given, strict=True)
        }
        found = assisted.assisted_probabilities(self.graph, self.labels, counted)
        return np.asarray(found.argmax(axis=1))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", default=SETS, metavar="SET")
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--shares", action="store_true", help="compare shares of the odds")
    options = parser.parse_args()
    shares = SHARES if options.shares else (assisted.SHARE_OF_ODDS,)
    headings = ["set", "answers", "right", "without: others", "without: answered"]
    for share in shares:
        at = f" ({share:g})" if options.shares else ""
        headings += [f"others{at}", f"answered{at}"]
    headings.append("passes")
    print(f"| {' | '.join(headings)} |\n|---|{'--:|' * (len(headings) - 1)}", flush=True)
    for name in options.sets:
        for n_answers in SETS[name][3]:
            pools = [Pool(name, trial, n_answers) for trial in range(options.trials)]
            for accuracy in ACCURACIES:
                rows = [measured(pool, accuracy, trial, shares) for trial, pool in enumerate(pools)]
                means = " | ".join(f"{mean:.1f}" for mean in np.mean(rows, axis=0))
                print(f"| {name} | {n_answers} | {accuracy:.0%} | {means} |", flush=True)


def measured(pool: Pool, accuracy: float, trial: int, shares: tuple[float, ...]) -> list[float]:
    """A row of the table for one trial."""
    row = [*pool.correct(pool.alone)]
    for share in shares:
        assisted.SHARE_OF_ODDS = share
        row += pool.correct(pool.with_answers(accuracy, trial))
    return [*row, 100 * passing(accuracy)]


def passing(accuracy: float) -> float:
    """Probability that enough of the judged answers are right."""
    needed = next(n for n in range(JUDGED) if exact_interval(n, JUDGED)[0] >= MIN_ACCURACY)
    return float(binom.sf(needed - 1, JUDGED, accuracy))


if __name__ == "__main__":
    main()
