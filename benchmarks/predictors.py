"""Accuracy of PWLL, of a model of the features, and of both together, with the same labels.

    POISE_DATA=folder python benchmarks/predictors.py [SET ...] [--trials 3] [--points 4000]

Mean accuracy on the rest over 20, 50 and 100 labels, asked by `auto` or random, on tuning sets of
`poise bench accuracy`. The tables are in docs/decisions/predictor.md.
"""

import argparse

import numpy as np

from poise import Learner, knn_graph
from poise.experiments.efficiency.predictors import logistic, share_right
from poise.experiments.efficiency.sets import POOLS
from poise.experiments.efficiency.trials import NEIGHBOURS, Trial
from poise.models import Labels, models
from poise.models.balance import balance_factors, balanced
from poise.models.combined import ADDED_PROBABILITY, averaged

LABELS = (20, 50, 100)
SETS = ("cifar10", "digits", "banking77", "mnist-imb", "isolet")


def trial_of(name: str, number: int, points: int) -> tuple[Trial, np.ndarray]:
    """A part of a pool, and the clusters of its points."""
    pool = POOLS[name]
    data = pool.load()
    rng = np.random.default_rng([number, 13])
    size = min(int(0.8 * data.n_points), points)
    chosen = np.sort(rng.choice(data.n_points, size, replace=False))
    codes = np.unique(data.clusters[chosen], return_inverse=True)[1]
    X = np.ascontiguousarray(data.X[chosen], np.float32)
    return Trial(pool, number, knn_graph(X, NEIGHBOURS, metric=pool.metric), {0: codes}), codes


def asked(trial: Trial, codes: np.ndarray) -> np.ndarray:
    """The nodes that `auto` asks for."""
    learner = Learner(trial.graph, seed=trial.number, anticipate=False)
    nodes = []
    while len(nodes) < LABELS[-1]:
        (node,) = learner.ask().tolist()
        learner.tell(node, int(codes[node]))
        nodes.append(node)
    return np.array(nodes)


def candidates(trial: Trial, codes: np.ndarray, nodes: np.ndarray) -> dict[str, float]:
    """Accuracy of every predictor with these labels."""
    n, n_classes = trial.n_points, int(codes.max()) + 1
    known = {int(i): int(codes[i]) for i in nodes}
    labels = Labels.of(known, n, range(n_classes))

    plain = models.factory("pwll")(trial.graph, labels)
    alone = balanced(plain)
    regression = logistic(trial, nodes, codes, n_classes)
    product = regression * (alone.probabilities + ADDED_PROBABILITY)

    def walked(values: np.ndarray) -> np.ndarray:
        return averaged(trial.graph, labels, values)

    found = {
        "PWLL": plain.probabilities,
        "PWLL, classes of equal mass": plain.scores * balance_factors(plain.scores) ** 2,
        "PWLL, balanced": alone.probabilities,
        "balanced PWLL, averaged": walked(alone.probabilities + ADDED_PROBABILITY),
        "logistic regression on the features": regression,
        "logistic regression, averaged": walked(regression + ADDED_PROBABILITY),
        "balanced PWLL x logistic regression": product,
        "balanced PWLL x logistic regression, averaged": walked(product),
        "balanced PWLL, averaged x logistic regression, balanced": walked(
            alone.probabilities + ADDED_PROBABILITY
        )
        * (regression * balance_factors(regression)),
        "the same with a power that held-out labels choose (poise)": Learner(
            trial.graph, known, classes=range(n_classes)
        ).result.probabilities,
    }
    return {name: share_right(p, codes, nodes) for name, p in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--points", type=int, default=4_000)
    options = parser.parse_args()
    tables: dict[str, dict[str, dict[str, list[float]]]] = {"auto": {}, "random": {}}
    for name in options.sets:
        for number in range(options.trials):
            trial, codes = trial_of(name, number, options.points)
            order = np.random.default_rng(number).permutation(trial.n_points)
            for which, nodes in (("auto", asked(trial, codes)), ("random", order)):
                for m in LABELS:
                    for predictor, value in candidates(trial, codes, nodes[:m]).items():
                        rows = tables[which].setdefault(predictor, {})
                        rows.setdefault(name, []).append(value)
    for which, rows in tables.items():
        print(f"\n| {which} labels | " + " | ".join(options.sets) + " |")
        print("|---|" + "---|" * len(options.sets))
        for predictor, by_set in rows.items():
            cells = [f"{np.mean(by_set[name]):.3f}" for name in options.sets]
            print(f"| {predictor} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
