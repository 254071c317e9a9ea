"""Draw the first questions of each acquisition on a small set in the plane: ``make picture``.

Writes acquisitions-*.svg, a file per family with a panel per acquisition, and prints the captions
of the panels. A single set proves little: ``python docs/images/acquisitions.py 10`` draws nothing
and prints the means over ten sets. Add names of families, with or without the number, to select
families. With ``agreement`` it compares `coverage` with `norm`.

The colours are mid-tones, because one file must serve light and dark pages.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import poise
from poise.experiments.bench.coverage import blobs

HERE = Path(__file__).parent
#: The first seed whose graph is connected; the panels played no part in the choice.
SEED = 0
QUESTIONS = 15
K = 10

#: Centre, standard deviation and size of each cluster, in the units of a panel; classes alternate.
CLUSTERS = (
    ((92, 88), 27, 420),
    ((202, 92), 24, 260),
    ((268, 178), 17, 110),
    ((166, 198), 11, 50),
    ((276, 56), 7, 26),
)
OUTLIERS = 16

WIDTH, HEIGHT, TITLE, GAP, ACROSS = 330, 236, 26, 14, 2
#: Okabe and Ito's blue and vermilion: the dots brightened, so that they show on dark pages too.
DOTS = ("#3d94cc", "#e27d3a")
SOLID = ("#0072b2", "#c85500")
TEXT = "#7b7b7b"
FRAME = "#8a8a8a"


@dataclass(frozen=True)
class Panel:
    """The title of a panel, its acquisition and tau, and whether it starts from two labels."""

    title: str
    acquisition: Any
    tau: Any
    start: bool


def of(name: str, title: str = "", *, tau: Any = 1e-3, start: bool = True, **options: Any) -> Panel:
    return Panel(title or name, poise.acquisitions.factory(name)(**options), tau, start)


FAMILIES = {
    "auto": (
        of("auto", tau=None),
        of("auto", "auto, from no label", tau=None, start=False),
        of("diffused", "diffused margin"),
        of("diffused", "diffused norm", acquisition="norm"),
    ),
    "norm": (
        of("norm", "norm, τ = 0.001"),
        of("norm", "norm, falling τ", tau=poise.Geometric(K=len(CLUSTERS))),
        of("norm", "norm, τ = 0", tau=0.0),
        of("coverage"),
    ),
    "uncertainty": (
        of("margin", "margin, τ = 0", tau=0.0),
        of("margin", "margin, τ = 0.001"),
        of("s2"),
        of("random"),
    ),
    "variance": (
        of("vopt"),
        of("sigmaopt"),
        of("mc"),
        of("mc", "mc, τ = 0", tau=0.0),
        of("mcvopt"),
        of("mcvopt", "mcvopt, τ = 0", tau=0.0),
        of("vopt-truncated"),
        of("sigmaopt-truncated"),
    ),
    "geometry": (of("coreset"), of("probcover"), of("typiclust"), of("cal")),
    "seeding": tuple(of(name, start=False) for name in ("dac", "typicality", "kmeans++", "land")),
}


def points(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(n, 2) positions in a panel and (n,) clusters; the outliers come last, numbered -1."""
    rng = np.random.default_rng(seed)
    parts = [
        np.array(centre) + spread * rng.normal(size=(size, 2)) for centre, spread, size in CLUSTERS
    ]
    scattered = rng.uniform((8, 8), (WIDTH - 8, HEIGHT - 8), size=(OUTLIERS, 2))
    X = np.clip(np.concatenate([*parts, scattered]), 4, (WIDTH - 4, HEIGHT - 4))
    sizes = [size for *_, size in CLUSTERS]
    return X, np.repeat([*range(len(CLUSTERS)), -1], [*sizes, OUTLIERS])


def questions(panel: Panel, graph: poise.Graph, codes: np.ndarray, start: list[int]) -> list[int]:
    """The first nodes that a learner asks about, each answered before the next."""
    labels = {i: int(codes[i]) for i in start} if panel.start else {}
    learner = poise.Learner(graph, labels, acquisition=panel.acquisition, tau=panel.tau)
    asked = []
    for _ in range(QUESTIONS):
        (i,) = learner.ask().tolist()
        learner.tell(i, int(codes[i]))
        asked.append(i)
    return asked


def dots(X: np.ndarray, codes: np.ndarray) -> str:
    """All points, a path per class: strokes of no length with round ends."""
    paths = []
    for code, colour in enumerate(DOTS):
        moves = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in X[codes == code])
        paths.append(f'<path stroke="{colour}" d="{moves}"/>')
    return f'<g id="points" stroke-width="2.6" stroke-linecap="round">{"".join(paths)}</g>'


def circle(number: int, x: float, y: float, code: int) -> str:
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7.5" fill="{SOLID[code]}" stroke="#fff"/>'
        f'<text x="{x:.1f}" y="{y + 3.7:.1f}">{number}</text>'
    )


def square(x: float, y: float, code: int) -> str:
    return f'<rect x="{x - 7:.1f}" y="{y - 7:.1f}" width="14" height="14" fill="{SOLID[code]}"/>'


def scene(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, poise.Graph, list[int]]:
    """Positions, clusters, classes, the graph, and the two labels at the start."""
    X, cluster = points(seed)
    nearest = np.argmin(
        [np.linalg.norm(X - centre, axis=1) / spread for centre, spread, _ in CLUSTERS], axis=0
    )
    codes = np.where(cluster >= 0, cluster, nearest) % 2
    # One label in each of the two largest clusters, near its centre.
    start = [
        int(np.argmin(np.where(cluster == c, np.linalg.norm(X - CLUSTERS[c][0], axis=1), np.inf)))
        for c in (0, 1)
    ]
    return X, cluster, codes, poise.knn_graph(X, k=K), start


def counts(panel: Panel, asked: list[int], cluster: np.ndarray, start: list[int]) -> list[int]:
    """The number of clusters that contain a label, and of outliers asked about."""
    known = asked + (start if panel.start else [])
    return [len(set(cluster[known].tolist()) - {-1}), int(np.count_nonzero(cluster[asked] < 0))]


def draw(family: str) -> None:
    """Write the picture of a family."""
    X, cluster, codes, graph, start = scene(SEED)
    panels = FAMILIES[family]
    rows = -(-len(panels) // ACROSS)
    width = ACROSS * WIDTH + (ACROSS - 1) * GAP
    height = rows * (TITLE + HEIGHT) + (rows - 1) * GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 0 {width + 2} {height + 1}" '
        f'width="{width + 2}" height="{height + 1}" font-family="sans-serif">',
        f"<defs>{dots(X, codes)}</defs>",
    ]
    for position, panel in enumerate(panels):
        asked = questions(panel, graph, codes, start)
        clusters, outliers = counts(panel, asked, cluster, start)
        caption = f"{clusters} of {len(CLUSTERS)} clusters"
        if outliers:
            caption += f", {outliers} outlier{'s' * (outliers > 1)}"
        sys.stdout.write(f"{family:<12} {panel.title:<24} {caption}\n")
        left = (position % ACROSS) * (WIDTH + GAP)
        top = (position // ACROSS) * (TITLE + HEIGHT + GAP)
        parts.append(
            f'<g transform="translate({left} {top + TITLE})">'
            f'<g fill="{TEXT}"><text y="-8" font-size="16" font-weight="bold">'
            f'{escape(panel.title)}</text><text x="{WIDTH}" y="-8" font-size="13" '
            f'text-anchor="end">{caption}</text></g>'
            f'<rect width="{WIDTH}" height="{HEIGHT}" rx="3" fill="none" stroke="{FRAME}" '
            'stroke-opacity="0.6"/><use href="#points" opacity="0.65"/>'
            '<g stroke="#fff" stroke-width="1.2">'
        )
        if panel.start:
            parts += [square(*X[i], codes[i]) for i in start]
        parts.append('</g><g font-size="10.5" font-weight="bold" fill="#fff" text-anchor="middle">')
        # Backwards, so that where circles overlap the first question is on top.
        for number in range(QUESTIONS, 0, -1):
            i = asked[number - 1]
            parts.append(circle(number, *X[i], codes[i]))
        parts.append("</g></g>")
    parts.append("</svg>\n")
    (HERE / f"acquisitions-{family}.svg").write_text("".join(parts), encoding="utf-8")


def average(draws: int, families: Sequence[str]) -> None:
    """Print the mean of the captions over the first connected sets, by seed."""
    scenes = (scene(seed) for seed in count())
    connected = (drawn for drawn in scenes if drawn[3].n_components == 1)
    sets = list(islice(connected, draws))
    sys.stdout.write(f"mean over {draws} sets: clusters of {len(CLUSTERS)}, outliers asked\n")
    for family in families:
        for panel in FAMILIES[family]:
            clusters, outliers = np.mean(
                [
                    counts(panel, questions(panel, graph, codes, start), cluster, start)
                    for _, cluster, codes, graph, start in sets
                ],
                axis=0,
            )
            sys.stdout.write(f"{family:<12} {panel.title:<24} {clusters:.1f}  {outliers:.1f}\n")
            sys.stdout.flush()


def agreement(queries: int = 45) -> None:
    """Print for how many questions of a `norm` session `coverage` would choose the same node."""
    X, digits = load_digits(return_X_y=True)
    sets = {"digits": (poise.knn_graph(X, k=10), digits), "blobs": blobs()}
    for tau, shift in ((1e-3, 1e-5), (1e-6, 1e-5), (1e-9, 1e-5), (0.0, 1e-5), (1e-3, 0.1)):
        for name, (graph, y) in sets.items():
            start = {int(np.flatnonzero(y == c)[0]): int(c) for c in np.unique(y)}
            norm = poise.Learner(
                graph, start, acquisition="norm", tau=tau, shift=shift, anticipate=False
            )
            agreed = 0
            for _ in range(queries):
                other = poise.Learner(
                    graph, norm.labels, acquisition="coverage", shift=shift, anticipate=False
                )
                (i,) = norm.ask().tolist()
                agreed += i == int(other.ask()[0])
                norm.tell(i, int(y[i]))
            sys.stdout.write(f"tau {tau:g}, shift {shift:g}, {name}: {agreed} of {queries}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["agreement"]:
            agreement()
        case [number, *families] if number.isdecimal() and set(families) <= set(FAMILIES):
            average(int(number), families or list(FAMILIES))
        case families if set(families) <= set(FAMILIES):
            for family in families or FAMILIES:
                draw(family)
        case _:
            sys.exit("usage: acquisitions.py [agreement | [NUMBER OF SETS] [FAMILY ...]]")
