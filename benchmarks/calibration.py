"""Ways to calibrate probabilities, for docs/decisions/calibration.md.

    POISE_DATA=folder python benchmarks/calibration.py [SET ...]

Sessions of 100 labels on the tuning sets, chosen by `auto` or at random. For each candidate: the
expected calibration error at 20, 50 and 100 labels, and the share of right guesses among those
shown at 90% or more. ``NAME%K`` groups the classes of a set modulo K.
"""

import argparse
import sys
from collections import defaultdict

import numpy as np

import poise
from poise.experiments.efficiency.calibration import CalibrationRow, measure
from poise.models import calibration
from poise.models.balance import balance_factors
from poise.models.calibration import Calibration, to_power
from poise.models.harmonic import Problem, solve_problems
from poise.models.held_out import held_out_by_refits, held_out_scores
from poise.models.labels import Labels
from poise.models.result import normalise_scores

SETS = (
    "blobs box digits digits%2 isolet isolet%5 cifar10 cifar10%2 cifar10%4 "
    "banking77%5 banking77%11 mnist-imb mnist-imb%2"
)
EMBEDDINGS = {"cifar10": "eff", "banking77": "use", "mnist-imb": "vae"}
COSINE = ("cifar10", "banking77")
MOST = {"mnist-imb": 6_000, "isolet": 5_000}
BUDGETS = (20, 50, 100)
TRIALS = 3
#: The rule without one of its parts: the constant that is set to zero.
PARTS = {"no background": "BACKGROUND", "no floor": "FLOOR", "no correction": "HARDER"}


def trial(name: str, number: int) -> tuple[poise.Graph, np.ndarray]:
    """The graph of 80% of a set, and the classes."""
    base, _, modulus = name.partition("%")
    data = poise.load_dataset(base, embedding=EMBEDDINGS.get(base, "raw"))
    size = min(int(0.8 * data.n_points), MOST.get(base, 20_000))
    rng = np.random.default_rng([number, 7])
    chosen = np.sort(rng.choice(data.n_points, size, replace=False))
    # The classes of mnist-imb are digits modulo 3: the digits themselves are grouped here.
    classes = data.clusters if base == "mnist-imb" else data.classes
    codes = np.unique(classes, return_inverse=True)[1][chosen]
    codes = codes % int(modulus) if modulus else codes
    X = np.asarray(data.X[chosen], dtype=np.float32)
    metric = "cosine" if base in COSINE else "euclidean"
    return poise.knn_graph(X, 10, metric=metric), np.unique(codes, return_inverse=True)[1]


def labels_of(nodes: list[int], codes: np.ndarray) -> Labels:
    known = {node: int(codes[node]) for node in nodes}
    return Labels.of(known, len(codes), range(codes.max() + 1))


def plain_scores(graph: poise.Graph, labels: Labels) -> np.ndarray:
    sources = tuple(tuple(nodes.tolist()) for nodes in labels.by_class)
    (columns,) = solve_problems(graph, [Problem(sources, 0.0)], rtol=1e-5)
    return columns.values


def balanced_scores(graph: poise.Graph, labels: Labels) -> np.ndarray:
    """What poise predicts with."""
    scores = plain_scores(graph, labels)
    return scores * balance_factors(scores)


def chosen_by_auto(graph: poise.Graph, codes: np.ndarray, seed: int) -> list[int]:
    """Labels by the default way of asking: in regions that are uncertain."""
    learner = poise.Learner(graph, seed=seed, anticipate=False)
    while len(learner.labels) < max(BUDGETS):
        (node,) = learner.ask().tolist()
        learner.tell(node, int(codes[node]))
    return list(learner.labels)


def candidates(graph: poise.Graph, labels: Labels, codes: np.ndarray) -> dict[str, np.ndarray]:
    """The probabilities of all points by each candidate."""
    scores = plain_scores(graph, labels)
    factors = balance_factors(scores)
    rest = np.ones(len(codes), dtype=bool)
    rest[labels.nodes] = False
    share = labels.counts / len(labels)
    raw = normalise_scores(scores * factors, np.ones(len(codes), dtype=bool), share)
    held_out = held_out_scores(graph, labels) * factors
    refits = held_out_by_refits(lambda fewer: balanced_scores(graph, fewer), labels)
    found = {"scores as they are": raw}
    for power in (1.4, 1.8, 2.2):
        found[f"power {power}"] = to_power(raw, power)
    found["power by likelihood"] = to_power(raw, likeliest(held_out, labels.codes))
    found["chosen"] = Calibration.fit(raw[rest], held_out, labels.codes).apply(raw)
    for name, constant in PARTS.items():
        value = getattr(calibration, constant)
        setattr(calibration, constant, 0.0)
        found[name] = Calibration.fit(raw[rest], held_out, labels.codes).apply(raw)
        setattr(calibration, constant, value)
    found["chosen, ten refits"] = Calibration.fit(raw[rest], refits, labels.codes).apply(raw)
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
            print(f"{how:10s} {name:20s} " + " | ".join(cells))
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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", metavar="SET", default=SETS.split())
    rows: dict[tuple[str, str, int, str], list[CalibrationRow]] = defaultdict(list)
    for name in parser.parse_args().sets:
        for number in range(TRIALS):
            graph, codes = trial(name, number)
            orders = {
                "auto": chosen_by_auto(graph, codes, number),
                "random": np.random.default_rng([number, 99]).permutation(len(codes)).tolist(),
            }
            for how, order in orders.items():
                for budget in BUDGETS:
                    if budget < 2 * (codes.max() + 1):
                        continue  # fewer than two labels per class
                    labels = labels_of(order[:budget], codes)
                    labelled = np.zeros(len(codes), dtype=bool)
                    labelled[labels.nodes] = True
                    for candidate, p in candidates(graph, labels, codes).items():
                        rows[name, how, budget, candidate].append(measure(p, codes, labelled))
            print(f"{name}, trial {number}: done", file=sys.stderr, flush=True)
    report(rows)


if __name__ == "__main__":
    main()
