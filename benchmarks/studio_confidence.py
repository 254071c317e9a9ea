"""Calibration error of the confidence that the app shows under a question.

    POISE_DATA=folder python benchmarks/studio_confidence.py

Labels are chosen by `auto`. The error in ten bins is measured on the unlabelled items: for the
model that predicts; for the model that decides, as a question shows it, with the calibration of the
other model and without any. Mean confidence and accuracy are those of the second. `alone` is the
share of labels that are the only one of their class; above a limit the app shows no number. The
table is in docs/decisions/studio.md.
"""

import argparse
import os
from pathlib import Path

import numpy as np

import poise
from poise.models.balance import balance_factors
from poise.models.result import normalise_scores
from poise.studio.asking.predictions import MAX_UNSEEN_SHARE, unseen

BINS = 10
#: File, metric, number of labels at which to look.
SETS = (
    ("mnist_vae", "euclidean", (30, 60, 120)),
    ("fashionmnist_vae", "euclidean", (30, 60, 120)),
    ("banking77_use", "cosine", (30, 60, 120, 300)),
)


def calibration_error(probabilities: np.ndarray, codes: np.ndarray) -> tuple[float, float, float]:
    """Expected calibration error, mean confidence, accuracy."""
    confidence = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == codes
    places = np.minimum((BINS * confidence).astype(int), BINS - 1)
    gaps = [
        (places == b).mean() * abs(confidence[places == b].mean() - right[places == b].mean())
        for b in np.unique(places)
    ]
    return float(sum(gaps)), float(confidence.mean()), float(right.mean())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=6_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    print("| | labels | predicting | question | not calibrated | says | right | alone | shown |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|---|")
    for name, metric, moments in SETS:
        with np.load(Path(os.environ["POISE_DATA"]) / f"{name}.npz") as stored:
            X, y = stored["X"].astype(np.float32), stored["y"]
        some = np.random.default_rng(asked.seed).permutation(len(X))[: asked.items]
        X, y = X[some], y[some]
        learner = poise.Learner(poise.knn_graph(X, k=10, metric=metric), anticipate=False)
        for m in range(1, max(moments) + 1):
            (node,) = learner.ask()
            learner.tell(node, int(y[node]))
            if m in moments:
                print(row(name, learner, y), flush=True)


def row(name: str, learner: poise.Learner, y: np.ndarray) -> str:
    """What a table says of one moment."""
    place = {label: code for code, label in enumerate(learner.classes)}
    codes = np.array([place.get(int(label), -1) for label in y])
    rest = learner.reached.copy()
    rest[list(learner.labels)] = False
    plain = learner.copy(predictor="balanced")
    shares = np.bincount(list(map(place.get, learner.labels.values()))) / len(learner.labels)
    scores = learner.scores * balance_factors(learner.scores)
    raw = normalise_scores(scores, learner.reached, shares)
    predicting = calibration_error(learner.probabilities[rest], codes[rest])
    question = calibration_error(plain.calibration.apply(raw)[rest], codes[rest])
    before = calibration_error(raw[rest], codes[rest])
    alone = unseen(learner.labels)
    return (
        f"| {name} | {len(learner.labels)} | {predicting[0]:.3f} | {question[0]:.3f} "
        f"| {before[0]:.3f} | {question[1]:.0%} | {question[2]:.0%} | {alone:.0%} "
        f"| {'yes' if alone <= MAX_UNSEEN_SHARE and plain.calibration.has_evidence else 'no'} |"
    )


if __name__ == "__main__":
    main()
