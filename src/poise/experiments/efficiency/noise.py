"""What wrong answers cost, with hard and with soft labels, and whether they are found.

``POISE_DATA=folder python -m poise.experiments.efficiency.noise [--trials N] [--labels M]
[--random] [SETS]`` flips a tenth of the answers of sessions on the tuning sets, or those named, and
prints the table of docs/decisions/noisy-answers.md.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from poise.experiments.efficiency.methods import METHODS, ask_all
from poise.experiments.efficiency.sets import POOLS
from poise.experiments.efficiency.trials import make_trial
from poise.graph import Graph
from poise.linalg.status import Floats, Ints
from poise.models.harmonic import spread
from poise.models.label_walk import label_walk, soft_targets
from poise.models.labels import Labels
from poise.models.poisson_weights import poisson_weights
from poise.models.suspicion import doubt

#: Share of wrong answers, and times that answers are flipped in a trial.
SHARE, FLIPS = 0.1, 4
#: Relative residual of the fits: only predictions are compared.
RTOL = 1e-5


@dataclass(frozen=True)
class NoiseRow:
    """Accuracies on the unlabelled nodes, in one session with some answers flipped.

    Attributes
    ----------
    clean, clean_soft : PWLL and soft PWLL with the right answers
    hard, soft : the same with the flipped ones
    known : PWLL that leaves out exactly the flipped answers, as if somebody had told
    precision : share of flipped answers among as many that are trusted least
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
    """Codes of which a share, drawn at random, are another class, drawn at random; and which."""
    wrong = rng.choice(len(codes), round(share * len(codes)), replace=False)
    flipped = codes.copy()
    flipped[wrong] = (codes[wrong] + rng.integers(1, n_classes, len(wrong))) % n_classes
    return flipped, wrong


def measure(
    graph: Graph, truth: Ints, asked: Sequence[int], seeds: Sequence[Sequence[int]]
) -> list[NoiseRow]:
    """Flip the answers of a session once for each seed.

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
    found = spread(
        graph,
        np.repeat(gamma, len(targets), axis=1),
        [0.0] * len(targets),
        [[nodes] * n_classes] * len(targets),
        [np.clip(z, 0.0, 1.0).T.tolist() for z in targets],
        rtol=RTOL,
    )
    clean, clean_soft, *others = [
        float((scores.argmax(axis=1) == truth)[rest].mean()) for scores in found
    ]
    noisy = zip(others[0::3], others[1::3], others[2::3], precision, strict=True)
    return [
        NoiseRow(clean, clean_soft, hard, soft, known, share) for hard, soft, known, share in noisy
    ]


def table(rows: Mapping[str, Sequence[NoiseRow]]) -> str:
    """Markdown: accuracy lost, in points, and precision, in per cent, set by set and on average."""
    means = {
        name: {
            field: 100 * float(np.mean([getattr(r, field) for r in several])) for field in FIELDS
        }
        for name, several in rows.items()
    }
    lines = [
        "| | " + " | ".join([*rows, "mean"]) + " |",
        "|---|" + "---|" * (len(rows) + 1),
    ]
    for title, value in ROWS.items():
        cells = [value(mean) for mean in means.values()]
        lines.append(
            f"| {title} | " + " | ".join(f"{c:.1f}" for c in [*cells, np.mean(cells)]) + " |"
        )
    return "\n".join(lines) + "\n"


FIELDS = ("clean", "clean_soft", "hard", "soft", "known", "precision")
ROWS: dict[str, Callable[[Mapping[str, float]], float]] = {
    "accuracy of PWLL, right answers": lambda mean: mean["clean"],
    "lost by PWLL": lambda mean: mean["clean"] - mean["hard"],
    "lost by soft PWLL": lambda mean: mean["clean"] - mean["soft"],
    "lost by soft PWLL, right answers": lambda mean: mean["clean"] - mean["clean_soft"],
    "lost if the wrong answers were known": lambda mean: mean["clean"] - mean["known"],
    "precision of the suspicious labels, %": lambda mean: mean["precision"],
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, once after every trial of all sets."""
    parser = argparse.ArgumentParser(description=__doc__)
    tuning = [name for name, pool in POOLS.items() if pool.role == "tuning"]
    parser.add_argument("sets", nargs="*", default=tuning)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--labels", type=int, default=100)
    parser.add_argument("--random", action="store_true", help="labels drawn at random")
    chosen = parser.parse_args(arguments)
    method = METHODS["random" if chosen.random else "auto"]
    rows: dict[str, list[NoiseRow]] = {name: [] for name in chosen.sets}
    for number in range(chosen.trials):
        for name in chosen.sets:
            trial = make_trial(name, number)
            truth = trial.classes[trial.pool.groupings[0]]
            asked = ask_all(trial, method, truth, chosen.labels)
            rows[name] += measure(trial.graph, truth, asked, [(number, i) for i in range(FLIPS)])
        sys.stdout.write(f"{number + 1} trials\n{table(rows)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
