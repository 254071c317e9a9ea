"""Bounds and true values, in one dimension and on balls in d dimensions."""

import math
from functools import partial

import numpy as np

from poise.arrays import Floats
from poise.experiments.drawing.plots import Axis, Series, Style
from poise.experiments.theory.chapter import Chapter, chart, point, powers
from poise.theory import (
    explore_labels,
    explore_new_cluster,
    low_density,
    opposite_lower_bound,
    similar_upper_bound,
    simplified,
    solve_radial,
    symmetric_density,
)

TRUTH, BOUND, WRONG = Style(0, "", "circle"), Style(1, "7 4", "square"), Style(3, "2 3", "diamond")
LENGTHS = 4.0, 0.4
DELTA = 0.1


def interval() -> Chapter:
    """The corrected bounds for a symmetric density, over tau."""
    R_s, R_o = LENGTHS

    def similar(x: Floats) -> Floats:
        return np.asarray(0.05 + 0.45 * np.cos(np.pi * x / R_s) ** 8)

    def opposite(x: Floats) -> Floats:
        return np.asarray(1.0 + 0.3 * np.sin(2 * x / R_o))

    taus = np.logspace(-2, 2, 41)
    low = low_density(R_s, similar, DELTA)
    pieces = ((R_s, similar), (R_o, opposite))
    full = [symmetric_density(*pieces, t, DELTA, cells=800) for t in taus]
    simple = [simplified(*pieces, t, DELTA, cells=100).holds for t in taus]
    A_s, A_o = [statement.smaller for statement in full], [statement.larger for statement in full]
    upper = [similar_upper_bound(low, t) for t in taus]
    lower = [opposite_lower_bound(R_o, opposite, t) for t in taus]

    def first(holds: list[bool]) -> str:
        return f"τ = {taus[holds.index(True)]:.2g}" if any(holds) else "no τ shown"

    x = np.log10(taus)
    lines = [
        Series("min $A_s$", x, A_s, style=TRUTH),
        Series("its upper bound", x, upper, style=BOUND),
        Series("min $A_o$", x, A_o, style=Style(2, "", "circle")),
        Series("its lower bound", x, lower, style=Style(4, "9 3 2 3", "plus")),
    ]
    for name, holds, values, marker in (
        ("explores", [statement.concluded for statement in full], A_o, "circle"),
        ("proved to explore", [statement.holds for statement in full], lower, "square"),
    ):
        at = holds.index(True)
        lines.append(point(f"{name} from here", x[at], values[at], Style(7, "", marker)))
    return Chapter(
        "A varying density",
        "Between points of one class $A_s$ decays with √$τ$; between points of different classes "
        "$A_o$ decays much less. The bounds are those of the corrected statement. Where the lower "
        "bound is above the upper bound, exploration is proved.",
        [
            chart(
                "bounds-interval",
                lines,
                title="Smallest values of $A$, and their bounds",
                x=powers("$τ$", -2, 2),
                y=Axis("smallest $A$", 0, 1),
                caption=f"$R_s$ = {R_s:g}, $R_o$ = {R_o:g}; density at most {DELTA:g} on "
                f"{100 * low.alpha:.0f}% of the long interval.",
            )
        ],
        {
            "questions explore from": first([statement.concluded for statement in full]),
            "proved by the corrected statement from": first(
                [statement.holds for statement in full]
            ),
            "proved by its simplified form from": first(simple),
        },
    )


def cluster() -> Chapter:
    """The bounds on an unexplored cluster, corrected and the paper's, and the worst case."""
    s, R, alpha, delta, d = 1.0, 0.5, 2.0, 1.0, 2
    new_cluster = partial(explore_new_cluster, delta=delta, s=s, R=R, alpha=alpha, d=d)
    figures, numbers = [], {}
    needed = new_cluster(tau=1.0).right
    roots = needed * np.linspace(1.0, 3.0, 25)
    truth, bound = [], []
    for root in roots:
        tau = delta * float(root) ** 2
        x, u = solve_radial(
            d, s, np.ones_like, tau, gamma=lambda x: 1 + (R + s - x) ** -alpha, cells=1_500
        )
        truth.append(math.log10(np.interp(s / 2, x, u)))
        bound.append(math.log10(new_cluster(tau=tau).bound))
    ratio = np.array(truth) / np.array(bound)
    figures.append(
        chart(
            "bounds-cluster",
            [
                Series("computed, labels all around", roots, truth, style=TRUTH),
                Series("corrected bound", roots, bound, style=BOUND),
            ],
            title="$A$ in an unexplored cluster",
            x=Axis("√($τ/δ$)", float(roots[0]), float(roots[-1])),
            y=powers("$A$ in the cluster", math.floor(min(truth)), 0),
            caption=f"$d$ = {d}, $s$ = {s:g}, $R$ = {R:g}, $α$ = {alpha:g}: the value is 1 all "
            "around a ball of low density; shown is $A$ in its inner half.",
        )
    )
    numbers["exponent, true over bound"] = f"{ratio.min():.2f} to {ratio.max():.2f}"
    # The paper's own example: one dimension, constant gamma.
    Gamma = 16.0
    roots = np.linspace(48.0, 144.0, 25)
    truth = [
        math.log10(math.cosh(r / (2 * math.sqrt(Gamma))))
        - (r / math.sqrt(Gamma) - math.log(2)) / math.log(10)
        for r in roots
    ]
    wrong = [-r / 4 / math.log(10) for r in roots]
    right = [-r / (4 * math.sqrt(Gamma)) / math.log(10) for r in roots]
    figures.append(
        chart(
            "bounds-lost-factor",
            [
                Series("solution", roots, truth, style=TRUTH),
                Series("corrected bound", roots, right, style=BOUND),
                Series("the paper's bound", roots, wrong, style=WRONG),
            ],
            title="A missing factor",
            x=Axis("√($τ/δ$)", 48, 144),
            y=powers("$A$ in the inner half", -16, 0),
            caption="$d$ = 1, $s$ = 1, constant $γ$ = 16, where the paper's condition holds: its "
            "bound lies below the solution.",
        )
    )
    numbers["at √(τ/δ) = 48: solution, paper's bound"] = (
        f"{10 ** truth[0]:.1e}, {10 ** wrong[0]:.1e}"
    )
    return Chapter(
        "An unexplored cluster",
        "The first theorem: a cluster without a label that is surrounded by low density has small "
        "$A$. The paper's exponent omits the weight $γ$; with it, the statement is true.",
        figures,
        numbers,
    )


def labels() -> Chapter:
    """The bound around labels, and the worst case on a ball."""
    figures, numbers = [], {}
    series = []
    for position, d in enumerate((1, 2, 3)):
        alphas = max(d - 2, 0) + np.linspace(0.1, 3.0, 30)
        truth = []
        for alpha in alphas:
            r = _largest_radius(float(alpha), d)
            tau = (float(alpha) + 2 - d) ** 2 / (9 * 2**d) / r**d
            x, u = solve_radial(
                d, 2 * r, np.ones_like, tau, alpha=float(alpha), outer=0.0, cells=600
            )
            truth.append(float(np.interp(r, x, u)))
        excess = alphas + 2 - d
        series.append(
            Series(f"computed, $d$ = {d}", excess, truth, style=Style(position, "", "circle"))
        )
        floor = 1 - 2 ** (-excess / 2)
        numbers[f"smallest distance above the bound, d = {d}"] = (
            f"{(np.array(truth) - floor).min():.3f}"
        )
    at = np.linspace(0.1, 4.0, 60)
    series.append(Series("bound", at, 1 - 2 ** (-at / 2), style=Style(7, "7 4", "square")))
    figures.append(
        chart(
            "bounds-labels",
            series,
            title="$A$ around a label",
            x=Axis("$α + 2 − d$", 0, 4),
            y=Axis("$A$ at distance $r$", 0, 1),
            caption="A label of value 1, zero at distance $2r$, constant density, the largest $τ$ "
            "and $r$ that the theorem allows.",
        )
    )
    return Chapter(
        "Around labels",
        "The second theorem: near its labels a well-explored cluster has large $A$, so that no "
        "question falls there.",
        figures,
        numbers,
    )


def _largest_radius(alpha: float, d: int) -> float:
    """The largest r that the condition without tau allows, for a constant density."""
    r = 1.0
    while not all(c.holds for c in explore_labels(tau=0.0, r=r, density=1.0, alpha=alpha, d=d)):
        r *= 0.95
    return r
