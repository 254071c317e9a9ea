"""Preconditioners, number of groups, compiled kernel: tables for two decisions.

    POISE_DATA=folder python benchmarks/preconditioners.py
    python benchmarks/preconditioners.py --parts methods groups --graphs digits grid ring

The tables are in docs/decisions/preconditioner.md and docs/decisions/compiled-kernel.md. Every time
is the median of five runs (`--runs`), in which the candidates take turns. Graphs that need
POISE_DATA are left out without it. Parts:

    methods    steps and milliseconds of every preconditioner, and of the SciPy path
    groups     the two-level preconditioner with at most 128, 256, 512 and 1,024 groups
    rule       Jacobi and two-level as the diagonal grows with tau
    accuracy   largest error of the scores by relative tolerance
    kernel     the product with W, compiled in several ways and by SciPy
    waiting    a solve while other programs use the cores, with idle threads spinning or asleep
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import poise
from poise.linalg import PreparedLaplacian, aggregates, choose_preconditioner, prepare, solve
from poise.linalg.lanes import WIDTHS
from poise.linalg.simultaneous import is_stiff

PARTS = ("methods", "groups", "rule", "accuracy", "kernel", "waiting")
GRAPHS = ("digits", "mnist_imb_vae", "mnist_vae", "square", "grid", "curve", "ring")
#: A ring has no short cut: Jacobi needs more steps than the solver allows by default.
MAX_STEPS = 100_000
#: Thousands of steps: the SciPy path is left out.
LONG = ("curve", "ring")
N_LABELLED, N_CLASSES = 30, 3
RUNS = 5


# The graphs and the problems ----------------------------------------------------------------------


def weights_of(name: str) -> sparse.csr_array | None:
    """Weights of a graph by name; None if its data are not here."""
    if name == "digits":
        from sklearn.datasets import load_digits

        return poise.knn_graph(load_digits().data, k=10).weights
    if name == "square":  # 40,000 random points in the plane
        return poise.knn_graph(np.random.default_rng(0).random((40_000, 2)), k=10).weights
    if name == "curve":  # 20,000 random points on a line
        return poise.knn_graph(np.random.default_rng(0).random((20_000, 1)), k=10).weights
    if name == "grid":  # 200 x 200, four neighbours each
        line = sparse.diags_array([np.ones(199), np.ones(199)], offsets=[-1, 1])
        return sparse.csr_array(sparse.kronsum(line, line, format="csr"))
    if name == "ring":  # 20,000 nodes, two neighbours each
        ends = np.arange(20_000)
        half = sparse.csr_array((np.ones(20_000), (ends, np.roll(ends, 1))))
        return sparse.csr_array(half + half.T)
    path = Path(os.environ.get("POISE_DATA", ".")) / f"{name}.npz"
    if not path.is_file():
        return None
    with np.load(path) as file:
        return poise.knn_graph(file["X"], k=20).weights


class Problem:
    """Thirty labelled nodes in three classes, the last one with a column of its own."""

    def __init__(self, weights: sparse.csr_array) -> None:
        self.prepared = prepare(weights)
        n = self.prepared.n
        rng = np.random.default_rng(0)
        self.labelled = rng.choice(n, N_LABELLED, replace=False)
        codes = np.append(rng.integers(N_CLASSES, size=N_LABELLED - 1), N_CLASSES)
        components = self.prepared.components
        sizes = np.bincount(components)
        share = np.bincount(components[self.labelled], minlength=len(sizes)) / sizes
        self.source = -share[components]
        self.source[self.labelled] += 1.0
        self.indicator = np.zeros((n, N_CLASSES + 1))
        self.indicator[self.labelled, codes] = 1.0
        self.free = (share > 0)[components]
        self.free[self.labelled] = False

    def poisson(self, **options: Any) -> Any:
        """Solve the Poisson equation."""
        return solve(self.prepared, self.source, singular=True, max_steps=MAX_STEPS, **options)

    def weighting(self, **options: Any) -> np.ndarray:
        g = self.poisson(**options).require().value
        smallest = np.full(self.prepared.components.max() + 1, np.inf)
        np.minimum.at(smallest, self.prepared.components, g)
        return g - smallest[self.prepared.components] + 1e-5

    def diagonal(self, gamma: np.ndarray, tau: float) -> np.ndarray:
        q = -self.prepared.product(gamma) / gamma + tau / gamma**2
        return np.where(self.free, q, 0.0)

    def columns(self, gamma: np.ndarray, q: np.ndarray, **options: Any) -> Any:
        """Solve for the four columns of the PWLL-tau model in its ground-state form."""
        rhs = self.prepared.weights @ (gamma[:, None] * self.indicator)
        options = {"max_steps": MAX_STEPS} | options
        return solve(self.prepared, rhs, diagonals=q, free=self.free, **options)


# Measuring and printing ---------------------------------------------------------------------------


def race(runners: Sequence[Callable[[], Any]], runs: int = 0) -> list[tuple[Any, float]]:
    """Each one's result and median time in milliseconds.

    They take turns, so that whatever else the machine does slows all of them alike. The first round
    is not counted.
    """
    results = [run() for run in runners]
    times = np.empty((runs or RUNS, len(runners)))
    for turn in range(len(times)):
        for position, run in enumerate(runners):
            before = time.perf_counter()
            run()
            times[turn, position] = 1e3 * (time.perf_counter() - before)
    return list(zip(results, np.median(times, axis=0).tolist(), strict=True))


def timed(run: Callable[[], Any], runs: int = 0) -> tuple[Any, float]:
    return race([run], runs)[0]


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table in Markdown, row by row as they come."""
    print(f"\n{title}\n")
    print("| " + " | ".join(header) + " |")
    print("|---|" + "--:|" * (len(header) - 1))
    for row in rows:
        print("| " + " | ".join(map(shown, row)) + " |", flush=True)


def shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 100 else f"{value:.2g}" if value < 1 else f"{value:.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def taken(solution: Any) -> int | str:
    """Steps of the slowest column; marked if the tolerance was not reached."""
    steps = int(solution.steps.max())
    return steps if solution.converged else f"{steps:,} (not reached)"


# The parts ----------------------------------------------------------------------------------------

METHODS = {
    "Jacobi": {"preconditioner": "jacobi"},
    "two-level": {"preconditioner": "two-level"},
    "approx-chol": {"preconditioner": "approx-chol"},
    "two-level, SciPy": {"preconditioner": "two-level", "backend": "scipy"},
}


def methods(graphs: dict[str, sparse.csr_array]) -> None:
    rows: dict[str, list[list[Any]]] = {"Poisson": [], "1e-3": [], "0": []}
    once: list[list[Any]] = []
    for name, weights in graphs.items():
        problem = Problem(weights)
        once.append([name, weights.shape[0], *set_up(problem)])
        used = {
            title: options
            for title, options in METHODS.items()
            if not (name in LONG and "SciPy" in title)
        }
        runners = [partial(problem.poisson, **options) for options in used.values()]
        for title, (solution, ms) in zip(used, race(runners), strict=True):
            rows["Poisson"].append([name, title, taken(solution), ms])
        gamma = problem.weighting(preconditioner="approx-chol", rtol=1e-10)
        for tau in ("1e-3", "0"):
            q = problem.diagonal(gamma, float(tau))
            runners = [partial(problem.columns, gamma, q, **options) for options in used.values()]
            for title, (solution, ms) in zip(used, race(runners), strict=True):
                rows[tau].append([name, title, taken(solution), ms])
    header = ("graph", "method", "steps", "ms")
    table("The Poisson equation, one column", header, rows["Poisson"])
    table("Four columns at tau = 1e-3", header, rows["1e-3"])
    table("Four columns at tau = 0", header, rows["0"])
    table(
        "Done once per graph (ms), and one application of the factor to one column (ms)",
        ("graph", "nodes", "layout and groups", "coarse inverse", "factor of L", "application"),
        once,
    )


def set_up(problem: Problem) -> list[float]:
    """Milliseconds of `prepare`, the coarse inverse, the factor of L, one use of the factor."""
    weights, components = problem.prepared.weights, problem.prepared.components

    def again(what: str) -> Callable[[], Any]:
        def run() -> Any:
            problem.prepared.__dict__.pop(what, None)  # a cached property
            return getattr(problem.prepared, what)

        return run

    prepared, layout = timed(lambda: prepare(weights, components))
    prepared.coarse  # noqa: B018  the inverse alone is timed
    _, inverse = timed(again("coarse_inverse"))
    factor, factorise = timed(again("factor"))
    _, application = timed(lambda: factor.solve(problem.source))
    return [layout, inverse, factorise, application]


def groups(graphs: dict[str, sparse.csr_array]) -> None:
    rows = []
    most = aggregates.MAX_GROUPS
    for name, weights in graphs.items():
        if name == "digits":
            continue  # 1,797 nodes make 56 groups, whatever is allowed
        problems = []
        for aggregates.MAX_GROUPS in (128, 256, 512, 1024):
            problems.append(Problem(weights))
        aggregates.MAX_GROUPS = most
        gamma = problems[0].weighting(preconditioner="approx-chol", rtol=1e-10)
        outcomes = [race([partial(p.poisson, preconditioner="two-level") for p in problems])]
        for tau in (1e-3, 0.0):
            q = problems[0].diagonal(gamma, tau)
            runners = [partial(p.columns, gamma, q, preconditioner="two-level") for p in problems]
            outcomes.append(race(runners))
        for position, problem in enumerate(problems):
            row: list[Any] = [name, problem.prepared.n_groups]
            for outcome in outcomes:
                solution, ms = outcome[position]
                row += [taken(solution), ms]
            rows.append(row)
    table(
        "Two-level with different numbers of groups: steps and ms of the Poisson equation, "
        "of four columns at tau = 1e-3, of four columns at tau = 0",
        ("graph", "groups", "Poisson", "ms", "1e-3", "ms", "0", "ms"),
        rows,
    )


def rule(graphs: dict[str, sparse.csr_array]) -> None:
    rows = []
    for name, weights in graphs.items():
        problem = Problem(weights)
        gamma = problem.weighting(preconditioner="approx-chol", rtol=1e-10)
        for tau in ("0", "1e-7", "1e-5", "1e-4", "1e-3", "1e-2", "1e-1"):
            q = problem.diagonal(gamma, float(tau))
            free = problem.free
            strength = q[free] / (problem.prepared.degrees[free] + q[free])
            row: list[Any] = [name, tau, float(np.median(strength))]
            runners = [
                partial(problem.columns, gamma, q, preconditioner=method)
                for method in ("jacobi", "two-level")
            ]
            for solution, ms in race(runners):
                row += [taken(solution), ms]
            row.append(choose_preconditioner(problem.prepared, q, free, is_stiff(problem.prepared)))
            rows.append(row)
    table(
        "Four columns as tau grows: Jacobi and two-level, steps and ms",
        ("graph", "tau", "median q/(d+q)", "Jacobi", "ms", "two-level", "ms", "the rule's choice"),
        rows,
    )


def accuracy(graphs: dict[str, sparse.csr_array]) -> None:
    rows = []
    cholesky = "approx-chol"
    for name, weights in graphs.items():
        problem = Problem(weights)
        for tau in ("1e-3", "0"):
            row: list[Any] = [name, tau]
            exact = scores(problem, float(tau), rtol=1e-12, preconditioner=cholesky)
            # Named, not left to the rule, which takes approx-chol on stiff graphs.
            for method, rtol in (
                ("two-level", 1e-6),
                ("two-level", 1e-7),
                ("two-level", 1e-8),
                (cholesky, 1e-7),
            ):
                options = {"preconditioner": method, "rtol": rtol}
                error = np.abs(scores(problem, float(tau), **options) - exact).max()
                row.append(f"{error:.1e}")
            rows.append(row)
    table(
        "Largest error of the scores by relative tolerance, against approx-chol at 1e-12",
        ("graph", "tau", "1e-6", "1e-7", "1e-8", "approx-chol at 1e-7"),
        rows,
    )


def scores(problem: Problem, tau: float, **options: Any) -> np.ndarray:
    gamma = problem.weighting(**options)
    v = problem.columns(gamma, problem.diagonal(gamma, tau), **options).require().value
    return np.asarray(np.clip(v / gamma[:, None], 0.0, 1.0))


def kernel(graphs: dict[str, sparse.csr_array]) -> None:
    """The product alone: it is where a solve spends its time."""
    import numba

    from poise.linalg import compiled

    def variant(**options: Any) -> Any:
        options = {"parallel": True, "error_model": "numpy"} | options
        return numba.njit(**options)(compiled.product.py_func)

    # Function, type of the indices, whether straight-line code is vectorised.
    variants = {
        "as it is: unsigned indices, vectorised, strict": (variant(), np.uint32, True),
        "not vectorised": (variant(), np.uint32, False),
        "signed indices": (variant(), np.int32, True),
        "fast-math": (variant(fastmath=True), np.uint32, True),
        "one thread": (variant(parallel=False), np.uint32, True),
    }
    rows = []
    for name, weights in graphs.items():
        prepared = prepare(weights)
        columns = []
        for n_columns in WIDTHS:
            X = np.random.default_rng(0).normal(size=(prepared.n, n_columns))
            runners = [product(prepared, *chosen, X) for chosen in variants.values()]
            runners.append(partial(prepared.product, X))
            # Many in a row, as in a solve: the weights are then where the cache can hold them.
            columns.append([ms / 20 for _, ms in race([repeated(run, 20) for run in runners])])
        for title, times in zip([*variants, "SciPy"], zip(*columns, strict=True), strict=True):
            rows.append([name, title, *times])
    table(
        "One product with L by the number of columns, ms",
        ("graph", "variant", *map(str, WIDTHS)),
        rows,
    )


def repeated(run: Callable[[], Any], times: int) -> Callable[[], None]:
    def all_of_them() -> None:
        for _ in range(times):
            run()

    return all_of_them


def product(
    prepared: PreparedLaplacian, function: Any, index: Any, vectorised: bool, X: np.ndarray
) -> Callable[[], Any]:
    """The compiled product on the columns of `X`, ready to be called."""
    import numba

    from poise.linalg.compiled import PacketOperators

    diagonal = prepared.degrees[prepared.order]
    sums = np.zeros((len(prepared.ranges) - 1, X.shape[1]))
    operators = PacketOperators(
        prepared.indptr.astype(index),
        prepared.indices.astype(index),
        prepared.data,
        prepared.ranges,
        diagonal,
        1 / diagonal,
        np.zeros((1, 0, 0)),
        np.zeros(0, dtype=np.int64),
        False,
    )
    zero = (0.0,) * X.shape[1]
    arguments = (operators, X, np.zeros_like(X), sums, zero)
    numba.config.SLP_VECTORIZE = int(vectorised)  # read when the first call compiles
    try:
        function(*arguments)
    finally:
        numba.config.SLP_VECTORIZE = 0
    return lambda: function(*arguments)


#: How idle threads wait: turns of the loop in which GNU OpenMP looks for work before it sleeps.
WAITING = {
    "300,000 turns (the default)": {"GOMP_SPINCOUNT": "300000"},
    "10,000 (ours)": {"GOMP_SPINCOUNT": "10000"},
    "none": {"GOMP_SPINCOUNT": "0"},
    "one thread": {"NUMBA_NUM_THREADS": "1"},
}


def waiting(graphs: dict[str, sparse.csr_array]) -> None:
    """Idle threads that spin against threads that sleep, alone and beside other programs."""
    rows = []
    for name in graphs:
        for n_others in (0, os.cpu_count() or 1):
            busy = [sys.executable, "-c", "while True: pass"]
            others = [subprocess.Popen(busy) for _ in range(n_others)]
            try:
                rows.append([name, n_others, *(one_solve_with(name, e) for e in WAITING.values())])
            finally:
                for other in others:
                    other.kill()
                    other.wait()
    table(
        "The Poisson equation, ms, by how long idle threads spin",
        ("graph", "busy programs beside it", *WAITING),
        rows,
    )


def one_solve_with(name: str, environment: dict[str, str]) -> float:
    """Median of `one_solve` in a process of its own: threads are set up once per process."""
    done = subprocess.run(
        [sys.executable, __file__, "--one-solve", name],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout.split()[-1])


def one_solve(name: str) -> None:
    from poise.linalg import packets

    packets._busy = lambda threads: False  # the solver would go down to one thread by itself
    weights = weights_of(name)
    assert weights is not None
    problem = Problem(weights)
    print(timed(partial(problem.poisson, preconditioner="two-level"), 4 * RUNS)[1])


def main() -> None:
    global RUNS
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--graphs", nargs="+", choices=GRAPHS, default=GRAPHS)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--one-solve", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    RUNS = arguments.runs
    if arguments.one_solve:
        one_solve(arguments.one_solve)
        return
    built = {name: weights_of(name) for name in arguments.graphs}
    for name in [name for name, weights in built.items() if weights is None]:
        print(f"{name} is left out: POISE_DATA does not name a folder that holds it")
    here = {name: weights for name, weights in built.items() if weights is not None}
    for part in arguments.parts:
        before = os.getloadavg()[0]
        globals()[part](here)
        print(f"\nLoad of the machine: {before:.1f} before, {os.getloadavg()[0]:.1f} after.")


if __name__ == "__main__":
    main()
