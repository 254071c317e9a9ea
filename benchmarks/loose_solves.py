"""How loose solves may be that choose questions or predict: docs/decisions/single-precision.md.

    POISE_DATA=folder python benchmarks/loose_solves.py
    POISE_DATA=folder python benchmarks/loose_solves.py --parts questions --sets mnist_vae isolet

Sets are files in POISE_DATA (arrays X and y). Parts:

    questions    how many questions agree with those of tight solves, by acquisition and tolerance
    predictions  how many predictions differ from those of tight solves, by tolerance
    warm         steps from zero, and from the solution with one label fewer
"""

import argparse
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise.active.acquisition import Auto, Margin
from poise.active.acquisition.entropy import Entropy
from poise.active.acquisition.least_confidence import LeastConfidence
from poise.linalg.packets import PACKET_COLUMNS
from poise.linalg.simultaneous import RTOL
from poise.models import harmonic, poisson_weights

PARTS = ("questions", "predictions", "warm")
SETS = ("mnist_vae", "fashionmnist_vae", "emnist_vae", "cifar10_eff", "isolet")
TOLERANCES = (1e-3, 3e-4, 1e-4, 1e-5, 1e-6)
#: Name, kind and tau; None for its own.
ACQUISITIONS = (
    ("auto", Auto, None),
    ("margin", Margin, 0.0),
    ("margin", Margin, 1e-3),
    ("entropy", Entropy, 1e-3),
    ("least-confidence", LeastConfidence, 1e-3),
)
LABELS = (10, 50, 100)

Codes = np.ndarray[Any, np.dtype[np.int64]]


def data(name: str, most: int) -> tuple[poise.Graph, Codes]:
    """Graph of at most so many random points with ten neighbours, and the classes."""
    with np.load(Path(os.environ["POISE_DATA"]) / f"{name}.npz") as file:
        X, y = file["X"], file["y"]
    chosen = np.random.default_rng(0).permutation(len(X))[:most]
    points = X.reshape(len(X), -1)[chosen].astype(np.float32)
    return poise.knn_graph(points, k=10), np.unique(y, return_inverse=True)[1][chosen]


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table in Markdown, row by row as they come."""
    print(f"\n{title}\n\n| " + " | ".join(header) + " |")
    print("|---|" + "--:|" * (len(header) - 1))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


def to(rtol: float, kind: type) -> Any:
    """An acquisition that is solved for to this tolerance."""
    return type(kind.__name__, (kind,), {"rtol": rtol})()


def questions(names: Sequence[str], most: int, budget: int) -> None:
    """Learners that know the same labels and have solved nothing, each asked once."""

    def rows() -> Iterator[Sequence[Any]]:
        for name in names:
            graph, y = data(name, most)
            for title, kind, tau in ACQUISITIONS:
                # Margins and entropies need every class; `auto` begins with nothing.
                first = [] if kind is Auto else np.unique(y, return_index=True)[1].tolist()
                known = {int(node): int(y[node]) for node in first}
                same = dict.fromkeys(TOLERANCES, 0)
                for _ in range(budget):
                    tight = question(graph, known, to(RTOL, kind), tau)
                    for rtol in TOLERANCES:
                        same[rtol] += question(graph, known, to(rtol, kind), tau) == tight
                    known[tight] = int(y[tight])
                shown = title if tau is None else f"{title}, tau {tau:g}"
                yield name, shown, *(f"{count} of {budget}" for count in same.values())

    header = ("set", "acquisition", *(f"{rtol:g}" for rtol in TOLERANCES))
    table(f"Questions that are those of solves to {RTOL:g}", header, rows())


def question(graph: poise.Graph, known: dict[int, int], acquisition: Any, tau: Any) -> int:
    learner = poise.Learner(graph, known, acquisition=acquisition, tau=tau, anticipate=False)
    return int(learner.ask()[0])


def predictions(names: Sequence[str], most: int, budget: int) -> None:
    def rows() -> Iterator[Sequence[Any]]:
        for name in names:
            graph, y = data(name, most)
            for m in LABELS:
                nodes = np.random.default_rng(m).permutation(len(y))[:m]
                known = {int(node): int(y[node]) for node in nodes}
                for predictor in ("pwll", "auto"):
                    found = [
                        poise.Learner(
                            graph, known, acquisition=to(rtol, Auto), predictor=predictor
                        ).predictions
                        for rtol in (RTOL, *TOLERANCES)
                    ]
                    right = [float((each == y).mean()) for each in found]
                    cells = [
                        f"{np.count_nonzero(each != found[0])} ({accuracy - right[0]:+.4f})"
                        for each, accuracy in zip(found[1:], right[1:], strict=True)
                    ]
                    yield name, len(y), m, predictor, f"{right[0]:.4f}", *cells

    tolerances = (f"{rtol:g}" for rtol in TOLERANCES)
    header = ("set", "points", "labels", "predictor", "accuracy", *tolerances)
    table(
        f"Predictions that differ from those of solves to {RTOL:g} (change of accuracy)",
        header,
        rows(),
    )


@contextmanager
def started(module: Any, start: np.ndarray[Any, Any] | None) -> Iterator[list[Codes]]:
    """Solves of a module begin there; gives the steps of every column."""
    steps: list[Codes] = []
    before: Callable[..., Any] = module.solve

    def recorded(*arguments: Any, **options: Any) -> Any:
        solution = before(*arguments, **options, start=start)
        steps.append(solution.steps)
        return solution

    module.solve = recorded
    try:
        yield steps
    finally:
        module.solve = before


def warm(names: Sequence[str], most: int, budget: int) -> None:
    """Steps to 1e-4: of the Poisson equation, and of the columns that decide for `auto`."""

    def solved(
        graph: poise.Graph, sources: list[Codes], start: tuple[Any, Any] = (None, None)
    ) -> tuple[Any, Any, Codes, Codes]:
        """Potential and columns; steps of the equation and of the columns."""
        nodes = np.sort(np.concatenate(sources))
        with started(poisson_weights, start[0]) as equation:
            g = poisson_weights.potentials(graph, [nodes], rtol=1e-4)
        gamma = poisson_weights.shifted(graph, g, relative=True)
        with started(harmonic, None if start[1] is None else start[1] * gamma) as columns:
            (values,) = harmonic.spread(graph, gamma, 0.01, [sources], relative=[True], rtol=1e-4)
        return g, values, equation[0], columns[0]

    def rows() -> Iterator[Sequence[Any]]:
        for name in names:
            graph, y = data(name, most)
            for m in LABELS[1:]:
                nodes = np.random.default_rng(m).permutation(len(y))[:m]
                classes = np.unique(y[nodes[:-1]])[:PACKET_COLUMNS]
                nodes = nodes[np.isin(y[nodes], classes)]
                now = [np.sort(nodes[y[nodes] == c]) for c in classes]
                fewer = nodes[:-1]
                earlier = [np.sort(fewer[y[fewer] == c]) for c in classes]
                if not all(len(each) for each in earlier):
                    continue
                g, values, _, _ = solved(graph, earlier)
                *_, cold_equation, cold = solved(graph, now)
                *_, warm_equation, warmed = solved(graph, now, (g, values))
                changed = int(np.flatnonzero(classes == y[nodes[-1]])[0])
                rest = np.delete(warmed, changed)
                yield (
                    name,
                    len(nodes),
                    f"{cold_equation[0]} → {warm_equation[0]}",
                    f"{cold.max()} → {warmed.max()}",
                    f"{np.median(np.delete(cold, changed)):g} → {np.median(rest):g}",
                    f"{cold[changed]} → {warmed[changed]}",
                )

    header = (
        "set",
        "labels",
        "Poisson equation",
        "slowest column",
        "median of the other columns",
        "the new label's column",
    )
    table("Steps to 1e-4: from zero → from the solution with a label fewer", header, rows())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--points", type=int, default=20_000, help="points of a set, at most")
    parser.add_argument("--questions", type=int, default=40, help="by set and acquisition")
    arguments = parser.parse_args()
    if "POISE_DATA" not in os.environ:
        parser.error("set POISE_DATA to the folder that holds the sets")
    for part in arguments.parts:
        globals()[part](arguments.sets, arguments.points, arguments.questions)
        print(f"\nLoad of the machine: {os.getloadavg()[0]:.1f}.", flush=True)


if __name__ == "__main__":
    main()
