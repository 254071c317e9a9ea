"""Figures in one dimension: the paper's, the phases of tau and beta, the order of the scheme."""

import math

import numpy as np
from scipy.optimize import brentq

from poise.arrays import Floats
from poise.experiments.drawing.plots import Axis, Series, Style
from poise.experiments.theory.chapter import GROUND, Chapter, chart, point, powers
from poise.theory import (
    Interval,
    constant_density,
    exploitation_default,
    exploration_requirement,
    exploration_root,
    solve_interval,
    solve_line,
)

#: Positions and classes of the labels in the set-up.
POINTS, LABELS = (0.0, 4.0, 5.2, 9.0), (0, 0, 1, 1)
TAUS = (0.02, 2.0)
CELLS = 400
CROSS, DOT, LOWEST = Style(1, "", "cross"), Style(0, "", "circle"), Style(7, "", "diamond")


def hills(x: Floats) -> Floats:
    """A density with hills at the labels and a valley in each long interval."""
    centres, widths = np.array([0.0, 4.0, 5.2, 9.0]), np.array([0.9, 0.7, 0.7, 0.9])
    bumps = np.exp(-(((np.asarray(x)[..., None] - centres) / widths) ** 2))
    return np.asarray(0.12 + bumps.sum(axis=-1))


def set_up() -> Chapter:
    """Four labels on a line; the question with a small tau, and with a larger one."""
    x = np.linspace(POINTS[0], POINTS[-1], 400)
    rho = hills(x) / hills(x).max()
    series = [Series("density", x, rho, np.zeros_like(rho), rho, style=GROUND)]
    numbers = {}
    for row, tau in enumerate(TAUS):
        pieces = solve_line(POINTS, LABELS, hills, tau, cells=CELLS)
        at = np.concatenate([piece.x[::4] for piece in pieces])
        A = np.concatenate([piece.acquisition[::4] for piece in pieces])
        style = Style(2 + row, ("7 4", "")[row], "diamond")
        lowest = min((piece.minimum for piece in pieces), key=lambda minimum: minimum[1])
        series += [Series(f"$A$, $τ$ = {tau:g}", at, A, style=style)]
        series += [point("asked next", *lowest, style)]
        between = "one class" if not POINTS[1] < lowest[0] < POINTS[2] else "different classes"
        numbers[f"asked with τ = {tau:g}"] = (
            f"x = {lowest[0]:.2f}, between points of {between}, where A = {lowest[1]:.3f}"
        )
    for position, label in zip(POINTS, LABELS, strict=True):
        series.append(point(("class ×", "class ●")[label], position, 1.0, (CROSS, DOT)[label]))
    notes = []
    for name, left, right in (("$R_s$", *POINTS[:2]), ("$R_o$", *POINTS[1:3])):
        ends = [left + 0.06, right - 0.06]
        series.append(Series(name, ends, [1.08, 1.08], style=Style(5, "2 3", "circle")))
        notes.append(((left + right) / 2, 1.11, name))
    return Chapter(
        "Four labels on a line",
        "A question explores in the long intervals between points of one class, and exploits in "
        "the short interval between points of different classes. A small $τ$ asks in the short "
        "interval, a larger $τ$ in a long one.",
        [
            chart(
                "set-up",
                series,
                title="Labels, density and the acquisition function",
                x=Axis("$x$", POINTS[0], POINTS[-1]),
                y=Axis("$A$, and the density over its maximum", 0, 1.2),
                caption="The dotted lines mark $R_s$, the length of an interval between points of "
                "one class, and $R_o$, that of the interval between points of different classes. "
                "Diamonds mark the smallest values, which are asked next.",
                shown=["density", *(f"$A$, $τ$ = {tau:g}" for tau in TAUS), "class ×", "class ●"],
                notes=notes,
            )
        ],
        numbers,
    )


def solutions() -> Chapter:
    """Both classes' solutions between opposite and between equal labels."""
    tau = 2.0
    figures, numbers = [], {}
    for name, labels, title, length, depth in (
        ("solutions-opposite", (0, 1), "Between points of different classes", 1.0, 0.2),
        ("solutions-similar", (0, 0), "Between points of one class", 3.0, 0.8),
    ):

        def valley(x: Floats, length: float = length, depth: float = depth) -> Floats:
            return np.asarray(0.95 - depth * np.sin(np.pi * x / length) ** 2)

        interval = solve_interval(length, valley, tau, labels, cells=CELLS)
        lowest = interval.minimum
        rho = valley(interval.x)
        letter = "u" if labels == (0, 1) else "v"
        series = [
            Series("density", interval.x, rho, np.zeros_like(rho), rho, style=GROUND),
            Series(f"${letter}_0$", interval.x, interval.u[0], style=Style(0, "", "circle")),
            Series(f"${letter}_1$", interval.x, interval.u[1], style=Style(2, "7 4", "square")),
            Series("$A$", interval.x, interval.acquisition, style=Style(1, "2 3", "diamond")),
            point("smallest $A$", *lowest, Style(7, "", "circle")),
        ]
        figures.append(
            chart(
                name,
                series,
                title=title,
                x=Axis("$x$", 0, length),
                y=Axis("solution", 0, 1),
                caption=f"$τ$ = {tau:g}. The smallest value of $A$ is {lowest[1]:.3f}, at "
                f"$x$ = {lowest[0]:.3f}: the middle, because the density is symmetric.",
                shown=["density", f"${letter}_0$", f"${letter}_1$", "$A$"],
            )
        )
        numbers[title.lower()] = f"min A = {lowest[1]:.4f}"
    return Chapter(
        "Solutions on an interval",
        "Between points of different classes one solution falls where the other rises, for every "
        "$τ$. Between points of one class there is a valley only if $τ$ > 0; it is deeper if the "
        "interval is longer or the density lower.",
        figures,
        numbers,
    )


def phase() -> Chapter:
    """Where the question falls for every tau and beta, computed and by the propositions."""
    length = rho = 1.0
    taus = np.logspace(-1, 3, 321)
    computed = np.array([_boundary(length, rho, float(tau)) for tau in taus])
    betas = np.linspace(0.0, 1 / math.sqrt(2), 60)
    proposition = np.array([4 * rho * exploration_root(float(b)) ** 2 / length**2 for b in betas])
    inside = computed > 0
    by_formula = np.interp(np.log(taus[inside]), np.log(proposition), betas, right=np.nan)
    both = np.isfinite(by_formula) & (computed[inside] <= betas[-1])
    apart = np.abs(by_formula - computed[inside])[both].max()
    x = np.log10(taus)
    always = math.log10(2 * rho / length**2)
    right = math.log10(float(proposition[0]))
    series = [
        Series("explores", x, computed, np.zeros_like(x), computed, style=Style(2, "", "circle")),
        Series("exploits", x, computed, computed, np.ones_like(x), style=Style(1, "", "circle")),
        Series(
            "exploration requirement",
            np.log10(proposition),
            betas,
            style=Style(7, "7 4", "circle"),
        ),
        Series("exploitation default", [always, always], [0, 1], style=Style(3, "2 3", "square")),
    ]
    example = exploration_requirement(length, 0.5, rho, 20.0)
    default = exploitation_default(length, 0.5, rho, 2.0)
    return Chapter(
        "When a question explores",
        "For a constant density, lengths $R_s$ = 1 and $R_o$ = $βR_s$. Below the solid line a "
        "question falls between points of one class: it explores. The solid line comes from the "
        "numerical solver, the dashed line from the proposition's root $t$*. Left of the dotted "
        "line, $τ$ = $2ρ/R_s²$, a question never explores.",
        [
            chart(
                "phase",
                series,
                title="Exploration and exploitation over $τ$ and $β$",
                x=powers("$τR_s²/ρ$", -1, 3),
                y=Axis("$β = R_o/R_s$", 0, 1),
                caption="The proposition and its proof end at $β$ = 1/√2. The computed line "
                "continues.",
            )
        ],
        {
            "largest difference of the two lines in β": f"{apart:.1e}",
            "smallest τ that explores at all (β = 0)": f"{10**right:.4f} = 4 arcosh(√2)²",
            "exploration requirement at τ = 20, β = 0.5": (
                f"{example.left:.3f} > {example.right:.3f}, slack {example.slack:.3f}"
            ),
            "exploitation default at τ = 2, β = 0.5": (
                f"{default.left:.3f} ≥ {default.right:.3f}, slack {default.slack:.3f}"
            ),
        },
    )


def _boundary(length: float, rho: float, tau: float) -> float:
    """The beta at which both minima are equal, by the numerical solver; 0 if there is none."""

    def density(x: Floats) -> Floats:
        return np.full_like(x, rho)

    def lowest(R: float, labels: tuple[int, int]) -> float:
        return solve_interval(R, density, tau, labels, cells=100).minimum[1]

    similar = lowest(length, (0, 0))

    def difference(beta: float) -> float:
        return math.log(lowest(beta * length, (0, 1)) / similar)

    if difference(1e-3) <= 0:
        return 0.0
    return float(brentq(difference, 1e-3, 1.0, xtol=1e-6)) if difference(1.0) < 0 else 1.0


def convergence() -> Chapter:
    """Errors of the finite volumes as the cells get smaller."""
    sizes = np.array([25, 50, 100, 200, 400, 800, 1600])
    length, tau = 2.0, 6.0

    def skewed(x: Floats) -> Floats:
        return np.asarray(np.exp(np.sin(3 * x) - 0.5 * x))

    exact = solve_interval(length, skewed, tau, cells=64 * int(sizes[-1]))
    varying, constant = [], []
    for cells in sizes:
        solution = solve_interval(length, skewed, tau, cells=int(cells))
        varying.append(_apart(solution, exact))
        flat = solve_interval(length, np.ones_like, tau, cells=int(cells))
        closed = constant_density(length, 1.0, tau, cells=int(cells))
        constant.append(float(np.abs(flat.u - closed.u).max()))
    slope = float(np.polyfit(np.log(sizes), np.log(varying), 1)[0])
    floor = np.maximum(constant, 1e-16)
    x = np.log10(sizes)
    return Chapter(
        "Accuracy of the scheme",
        "Finite volumes whose reaction term is fitted to the constant density. They are exact at "
        "the nodes for a constant density, and of second order for other densities.",
        [
            chart(
                "convergence",
                [
                    Series("varying density", x, np.log10(varying), marked=x),
                    Series("constant density", x, np.log10(floor), marked=x),
                ],
                title="Largest error at the nodes",
                x=powers("cells", 1, 4),
                y=powers("error", -16, 0),
                caption="Compared with 64 times as many cells, and with the closed form. The slope "
                f"is {slope:.2f}.",
            )
        ],
        {
            "slope for a varying density": f"{slope:.3f}",
            "largest error for a constant density": f"{max(constant):.1e}",
        },
    )


def _apart(solution: Interval, exact: Interval) -> float:
    step = (len(exact.x) - 1) // (len(solution.x) - 1)
    return float(np.abs(solution.u - exact.u[:, ::step]).max())
