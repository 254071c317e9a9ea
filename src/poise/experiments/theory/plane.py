"""The theorems in the plane, and graphs of increasing size compared with the continuum."""

import math
from dataclasses import replace
from functools import partial

import numpy as np

from poise.arrays import Floats
from poise.experiments.drawing.figure_files import Figure, panel_figure
from poise.experiments.drawing.planes import EDGE, SIDE, Panel, values_panel
from poise.experiments.drawing.plots import Series
from poise.experiments.theory.chapter import Chapter, chart, powers
from poise.theory import (
    Plane,
    clustered,
    compare,
    explore_labels,
    explore_new_cluster,
    explored_before,
    packing_number_bound,
    solve_plane,
)
from poise.theory.clustered import RESOLVED

#: Centres of four clusters; the last one has no label.
CENTRES = np.array([[0.2, 0.2], [0.8, 0.2], [0.2, 0.8], [0.68, 0.68]])
CLASSES = (0, 1, 1)
#: Density 1 up to `CORE` from a centre, falling to `BACKGROUND` at `RIM`.
CORE, RIM, BACKGROUND = 0.12, 0.16, 1e-4
ALPHA, RADIUS, SHELL = 2.0, 0.05, 0.07
CELLS = 160
#: Number of random densities on which the tightness of the bounds is measured, and cells per side.
FAMILY, FAMILY_CELLS = 5, 100


def clusters_density(x: Floats) -> Floats:
    """Four round clusters on a flat background."""
    away = np.sqrt(((x[..., None, :] - CENTRES) ** 2).sum(axis=-1)).min(axis=-1)
    share = np.clip((RIM - away) / (RIM - CORE), 0, 1)
    smooth = share**2 * (3 - 2 * share)
    return np.asarray(np.exp((1 - smooth) * math.log(BACKGROUND)))


def clusters() -> Chapter:
    """Both theorems on one picture, with conditions that hold."""
    apart = float(np.linalg.norm(CENTRES[:3] - CENTRES[3], axis=1).min())
    new_cluster = partial(
        explore_new_cluster,
        delta=BACKGROUND,
        s=SHELL,
        R=apart - RIM - 2 * SHELL,
        alpha=ALPHA,
        d=2,
        classes=2,
    )
    tau = 1.02 * BACKGROUND * new_cluster(tau=1.0).right ** 2
    new = new_cluster(tau=tau)
    # A class is what lies within 0.02 of its labels: with 2r around it, the density is 1.
    near = explore_labels(tau=tau, r=RADIUS, density=1.0, alpha=ALPHA, d=2, separation=0.5)
    before = explored_before(tau=tau, **new_cluster.keywords)
    plane = solve_plane(
        [(float(x), float(y)) for x, y in CENTRES[:3]],
        CLASSES,
        clusters_density,
        tau,
        ALPHA,
        cells=CELLS,
    )
    A = plane.acquisition
    unexplored = np.linalg.norm(plane.points - CENTRES[3], axis=-1) <= RIM
    around = plane.distance <= RADIUS
    all_hold = new.holds and before.holds and all(bound.holds for bound in near)
    return Chapter(
        "Clusters in the plane",
        "Every condition of both theorems holds here, so the question after these three labels "
        "cannot lie in a blue ball. In the empty background $A$ is small too, but there are no "
        "data: the question is the best point of the clusters.",
        _cluster_figures(plane),
        {
            "all conditions hold": "yes" if all_hold else "no",
            "new cluster: √(τ/δ), and what is needed": f"{new.left:.0f} ≥ {new.right:.0f}",
            "largest A on the new cluster, and its bound": (
                f"{max(float(A[unexplored].max()), RESOLVED):.0e} or less ≤ {new.bound:.3f}"
            ),
            "smallest A within r of a label, and its bound": (
                f"{A[around].min():.3f} ≥ {near[0].bound:.3f}"
            ),
            "questions in a cluster before the new one, at most": (
                f"{packing_number_bound(2 * RIM, RADIUS, 2)}, by its packing number"
            ),
            **_looseness(),
        },
    )


def _cluster_figures(plane: Plane) -> list[Figure]:
    """The density and the acquisition function of `clusters`, with what the theorems name."""
    A = plane.acquisition
    crowded = np.where(plane.density > 0.5, A, np.inf)
    asked_x, asked_y = plane.points.reshape(-1, 2)[int(np.argmin(crowded))]
    balls = "".join(
        _circle(x, y, RADIUS, 'stroke="#4da3ff" stroke-width="6"') for x, y in plane.labels
    )
    rims = "".join(
        _circle(x, y, RIM, 'stroke="#ffffff" stroke-width="3" stroke-dasharray="12 10"')
        for x, y in CENTRES
    )
    question = _circle(asked_x, asked_y, 0.012, 'stroke="#ff3b30" stroke-width="8"')
    density = _drawn(plane, np.log(plane.density), "Four clusters, three with a label")
    norm = _drawn(plane, -np.log(np.maximum(A, 1e-6)), "What is asked first")
    return [
        panel_figure(
            "clusters-density",
            replace(density, content=density.content + rims + balls),
            heading=density.title,
            caption="Bright is dense. Stars are labels, blue balls have the radius $r$ around "
            "them, dashed circles are the clusters.",
        ),
        panel_figure(
            "clusters-norm",
            replace(norm, content=norm.content + rims + balls + question),
            heading=norm.title,
            caption="Brightness is −log $A$, down to $A$ = 10⁻⁶: bright is asked first. The red "
            "ring is the next question among the points of the clusters: it lies in the cluster "
            "without a label.",
        ),
    ]


def _looseness() -> dict[str, str]:
    """How far the bounds of both theorems are from the true values on random densities."""
    rng = np.random.default_rng(0)
    family = [clustered(rng, cells=FAMILY_CELLS) for _ in range(FAMILY)]
    exponents = [drawn.exponents for drawn in family]
    surplus = [drawn.smallest - drawn.labels.bound for drawn in family]
    return {
        f"on {FAMILY} random densities: true exponent over the bound's, at least": (
            f"{min(exponents):.1f} to {max(exponents):.1f}"
        ),
        f"on {FAMILY} random densities: smallest A around labels above its bound by": (
            f"{min(surplus):.2f} to {max(surplus):.2f}"
        ),
    }


def limit() -> Chapter:
    """Errors of graph solutions from the continuum's, with the weight and without."""

    def wavy(x: Floats) -> Floats:
        return np.asarray(1 + 0.5 * np.sin(3 * x[..., 0]) * np.cos(2 * x[..., 1]))

    comparison = compare(
        wavy,
        [(0.25, 0.3), (0.75, 0.7)],
        [0, 1],
        tau=20.0,
        alpha=1.0,
        sizes=(500, 1_000, 2_000, 4_000, 8_000),
        trials=3,
        cells=120,
    )
    x = np.log10(comparison.sizes)
    with_gamma, without = comparison.slopes
    series = [
        Series(
            name,
            x,
            np.log10(errors.mean(axis=1)),
            np.log10(errors.min(axis=1)),
            np.log10(errors.max(axis=1)),
            marked=x,
        )
        for name, errors in (
            ("reweighted (PWLL)", comparison.reweighted),
            ("plain Laplace learning", comparison.plain),
        )
    ]
    return Chapter(
        "From graphs to the continuum",
        "Random geometric graphs with an increasing number of points and two labels. With the "
        "weight, their solution converges to that of the equation. Without it, a label is one "
        "point of many, and its influence vanishes. This is why the weight is needed.",
        [
            chart(
                "limit",
                series,
                title="Distance to the continuum",
                x=powers("points", 2, 4),
                y=powers("root mean square error", -3, 0),
                caption=f"Three graphs of each size. Slopes: {with_gamma:.2f} reweighted, "
                f"{without:.2f} plain.",
            )
        ],
        {
            "slope, reweighted": f"{with_gamma:.3f}",
            "slope, plain": f"{without:.3f}",
            f"error at {comparison.sizes[-1]:,} points": (
                f"{comparison.reweighted[-1].mean():.4f} reweighted, "
                f"{comparison.plain[-1].mean():.4f} plain"
            ),
        },
    )


def _drawn(plane: Plane, values: Floats, title: str) -> Panel:
    m = len(plane.points)
    nodes = np.rint(plane.labels * (m - 1)).astype(np.int64)
    return values_panel(
        plane.points.reshape(-1, 2),
        values.ravel(),
        nodes[:, 0] * m + nodes[:, 1],
        title=title,
        description="The unit square.",
    )


def _circle(x: float, y: float, radius: float, looks: str) -> str:
    scale = SIDE - 2 * EDGE
    return (
        f'<circle cx="{EDGE + x * scale:.0f}" cy="{EDGE + (1 - y) * scale:.0f}" '
        f'r="{radius * scale:.0f}" fill="none" {looks}/>'
    )
