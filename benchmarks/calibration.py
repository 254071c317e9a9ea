"""Ways to calibrate probabilities, for docs/decisions/calibration.md.

``POISE_DATA=folder python benchmarks/calibration.py [SETS] [--trials N]``: sessions of 100 labels
on the tuning sets, chosen by `auto` or at random; the expected calibration error at 20, 50 and 100
labels of each candidate, and how often guesses shown at 90% or more are right. ``NAME%K`` groups
the classes of a set modulo K, ``NAME/K`` takes K of its classes at random. "questions" are those of
banking77 by tf-idf.
"""

import argparse
import sys
from collections import defaultdict
from functools import cache

import numpy as np

import poise
from poise.experiments.efficiency.calibration import CalibrationRow, measure
from poise.models import calibration
from poise.models.balance import balance_factors
from poise.models.calibration import Calibration, to_power
from poise.models.combined import held_out_combined, linear_power
from poise.models.harmonic import Model
from poise.models.held_out import held_out_scores
from poise.models.labels import Labels
from poise.models.pwll import pwll

SETS = (
    "blobs box digits digits%2 isolet isolet%5 cifar10 cifar10%2 banking77/20 questions/20 "
    "questions/10 mnist-imb mnist-imb%3"
)
EMBEDDINGS = {"cifar10": "eff", "banking77": "use", "mnist-imb": "vae"}
COSINE = ("cifar10", "banking77", "questions")
MOST = {"mnist-imb": 6_000, "isolet": 5_000}
BUDGETS = (20, 50, 100)


@cache
def features(base: str) -> tuple[np.ndarray, np.ndarray]:
    """All rows of a set, and the codes of their classes."""
    if base == "questions":
        data = poise.load_dataset("banking77", embedding="tfidf")
    else:
        data = poise.load_dataset(base, embedding=EMBEDDINGS.get(base, "raw"))
    # The classes of mnist-imb are digits modulo 3: the digits themselves are grouped here.
    classes = data.clusters if base == "mnist-imb" else data.classes
    return np.asarray(data.X), np.unique(classes, return_inverse=True)[1]


def trial(name: str, number: int) -> tuple[poise.Graph, np.ndarray]:
    """The graph of 80% of a set, and the classes."""
    part, _, modulus = name.partition("%")
    base, _, some = part.partition("/")
    X, codes = features(base)
    rng = np.random.default_rng([number, 7])
    if some:
        kept = np.isin(codes, rng.choice(codes.max() + 1, int(some), replace=False))
        X, codes = X[kept], codes[kept]
    size = min(int(0.8 * len(X)), MOST.get(base, 20_000))
    chosen = np.sort(rng.choice(len(X), size, replace=False))
    codes = codes[chosen] % int(modulus) if modulus else codes[chosen]
    metric = "cosine" if base in COSINE else "euclidean"
    graph = poise.knn_graph(np.asarray(X[chosen], dtype=np.float32), 10, metric=metric)
    return graph, np.unique(codes, return_inverse=True)[1]


def chosen_by_auto(graph: poise.Graph, codes: np.ndarray, seed: int) -> list[int]:
    """Labels by the default way of asking: in regions that are uncertain."""
    learner = poise.Learner(graph, seed=seed, anticipate=False)
    while len(learner.labels) < max(BUDGETS):
        (node,) = learner.ask().tolist()
        learner.tell(node, int(codes[node]))
    return list(learner.labels)


def candidates(graph: poise.Graph, nodes: list[int], codes: np.ndarray) -> dict[str, np.ndarray]:
    """The probabilities of all points by each candidate."""
    known = {node: int(codes[node]) for node in nodes}
    labels = Labels.of(known, len(codes), range(codes.max() + 1))
    raw = poise.Learner(graph, known, classes=labels.classes).result.probabilities
    rest = np.ones(len(codes), dtype=bool)
    rest[labels.nodes] = False
    alone = held_out_scores(graph, labels) * balance_factors(pwll(graph, labels).scores)
    power = linear_power(graph.features, labels, alone, np.arange(len(labels)))
    held_out = held_out_combined(graph, labels, Model(), power)

    def fitted(rows: slice = slice(None), flattered: float = power) -> np.ndarray:
        few = held_out[rows], labels.codes[rows]
        return Calibration.fit(raw[rest], *few, linear_power=flattered).apply(raw)

    found = {"scores as they are": raw}
    for fixed in (1.4, 1.8, 2.2):
        found[f"power {fixed}"] = to_power(raw, fixed)
    found["power by likelihood"] = to_power(raw, likeliest(held_out, labels.codes))
    found["chosen"] = fitted()
    found["power of the linear model ignored"] = fitted(flattered=0.0)
    found["prior alone"] = fitted(slice(0))
    for name, constant, value in (("no floor", "FLOOR", 0.0), ("wide prior", "SPREAD", 5.0)):
        usual = getattr(calibration, constant)
        setattr(calibration, constant, value)
        found[name] = fitted()
        setattr(calibration, constant, usual)
    return found


def likeliest(held_out: np.ndarray, codes: np.ndarray) -> float:
    """The power with the largest likelihood of held-out labels whose class is seen."""
    row = np.arange(len(codes))
    known = held_out[row, codes] > 0
    powers = np.exp(np.linspace(np.log(0.1), np.log(30.0), 60))
    rows, answers = held_out[known], codes[known]
    at = np.arange(len(answers))
    return float(
        max(powers, key=lambda b: np.log(0.999 * to_power(rows, b)[at, answers] + 1e-4).sum())
    )


def report(rows: dict[tuple[str, str, int, str], list[CalibrationRow]]) -> None:
    """A line for each candidate and way of choosing labels, then one for each set."""
    limit = {20: 0.10, 50: 0.06, 100: 0.06}
    for how in ("auto", "random"):
        for name in dict.fromkeys(key[3] for key in rows):
            cells = []
            for budget in BUDGETS:
                of = [r for k, r in rows.items() if k[1:] == (how, budget, name)]
                errors = np.array([np.mean([r.error for r in trials]) for trials in of])
                sure = [sum(r.sure for r in trials) for trials in of]
                right = [sum(r.sure_and_right for r in trials) for trials in of]
                kept = [b >= 0.85 * a for a, b in zip(sure, right, strict=True) if a]
                met = int((errors <= limit[budget]).sum())
                cells.append(
                    f"{errors.mean():.3f} (worst {errors.max():.2f}, met {met}/{len(of)}, "
                    f"sure {sum(kept)}/{len(kept)})"
                )
            print(f"{how:10s} {name:34s} " + " | ".join(cells))
    for (name, how, budget, candidate), trials in rows.items():
        if candidate == "chosen":
            sure = sum(r.sure for r in trials)
            print(
                f"{name:13s} {how:10s} {budget:4d} error {np.mean([r.error for r in trials]):.3f} "
                f"confidence {np.mean([r.confidence for r in trials]):.2f} "
                f"accuracy {np.mean([r.accuracy for r in trials]):.2f} "
                f"right when sure {sum(r.sure_and_right for r in trials) / max(sure, 1):.2f} "
                f"of {sure}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=SETS.split())
    parser.add_argument("--trials", type=int, default=3)
    options = parser.parse_args()
    rows: dict[tuple[str, str, int, str], list[CalibrationRow]] = defaultdict(list)
    for name in options.sets:
        for number in range(options.trials):
            graph, codes = trial(name, number)
            orders = {
                "auto": chosen_by_auto(graph, codes, number),
                "random": np.random.default_rng([number, 99]).permutation(len(codes)).tolist(),
            }
            for how, order in orders.items():
                for budget in BUDGETS:
                    if budget < 2 * (codes.max() + 1):
                        continue  # fewer than two labels per class
                    nodes = order[:budget]
                    labelled = np.zeros(len(codes), dtype=bool)
                    labelled[nodes] = True
                    for candidate, p in candidates(graph, nodes, codes).items():
                        rows[name, how, budget, candidate].append(measure(p, codes, labelled))
            print(f"{name}, trial {number}: done", file=sys.stderr, flush=True)
    report(rows)


if __name__ == "__main__":
    main()
