"""Time saved by single precision and a loose tolerance for predictions.

    POISE_DATA=folder python benchmarks/single_precision.py

For docs/decisions/single-precision.md: the columns and weights of 16 label sets at once, half of
them spread out and half crowded, in one thread. Prints times, and how many predictions differ from
those at the solver's own tolerance. benchmarks/loose_solves.py measures the questions.
"""

import argparse
import time

import numba
import numpy as np

import poise
from poise.linalg import simultaneous
from poise.models.harmonic import Columns, Problem, solve_problems

SETS = (("mnist-mod3", {"embedding": "vae"}, 20, True), ("isolet", {}, 5, False))
LABELS = (10, 30, 100)


def problem(X: np.ndarray, codes: np.ndarray, m: int, reweighted: bool, seed: int) -> Problem:
    """M labels: spread out at random, or crowded around one point."""
    rng = np.random.default_rng(seed)
    nodes = rng.choice(len(codes), m, replace=False)
    if seed % 2:
        nodes = np.argsort(((X - X[nodes[0]]) ** 2).sum(axis=1))[: 50 * m : 50]
    classes = np.unique(codes[nodes])
    return Problem(
        tuple(tuple(nodes[codes[nodes] == c].tolist()) for c in classes), 0.0, reweighted=reweighted
    )


def timed(
    graph: poise.Graph, problems: list[Problem], rtol: float | None, single: bool
) -> tuple[float, list[Columns]]:
    """The best of three, so that a neighbour's work does not count."""
    simultaneous.RTOL_SINGLE = 1e-5 if single else 1.0
    times = []
    for _ in range(3):
        before = time.perf_counter()
        found = solve_problems(graph, problems, rtol=rtol)
        times.append(time.perf_counter() - before)
    return min(times), found


def main() -> None:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    numba.set_num_threads(1)
    for name, options, k, reweighted in SETS:
        data = poise.load_dataset(name, **options)
        graph = poise.knn_graph(data.X, k=k)
        codes = np.unique(data.classes, return_inverse=True)[1]
        for m in LABELS:
            problems = [problem(data.X, codes, m, reweighted, seed) for seed in range(16)]
            exact_time, exact = timed(graph, problems, None, False)
            for rtol, single in ((1e-5, False), (1e-5, True)):
                seconds, found = timed(graph, problems, rtol, single)
                changed = [
                    int((a.values.argmax(axis=1) != b.values.argmax(axis=1)).sum())
                    for a, b in zip(found, exact, strict=True)
                ]
                print(
                    f"{name}, {m} labels, {rtol:g} {'single' if single else 'double'}: "
                    f"{seconds / exact_time:.2f} of {exact_time:.2f} s; "
                    f"predictions changed: {max(changed)} of {len(codes):,} at most, "
                    f"{np.mean(changed):.1f} on average"
                )


if __name__ == "__main__":
    main()
