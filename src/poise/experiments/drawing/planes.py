"""Pictures of points in the plane: their classes, or the values of an acquisition function.

Thousands of points make a small file, because the points of one colour are one path, in which each
point is a step of a few characters from the previous one.
"""

from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.errors import InputError

SIDE, EDGE = 1000, 40
#: Colours from small to large values. Lightness rises evenly and the hue goes from violet through
#: blue and green to yellow, in Oklab, so that equal steps look equal, also to colour-blind people.
SCALE = (
    *("#461878", "#383d9b", "#0261ac", "#0181a6", "#019da7"),
    *("#03bba1", "#5ed48b", "#b0e374", "#f7ed6c"),
)
LEVELS = 24
#: Values outside these quantiles get the first or the last colour.
QUANTILES = (0.02, 0.99)
#: (number of labels, radius of a star): many large stars would cover what they mark.
STAR_RADII = ((20, 34), (60, 26))
#: Radius of a star with more labels.
SMALLEST_STAR_RADIUS = 19
#: Number of shapes for the points of a class: a dot, a plus, a cross, a ring.
SHAPES = 4


@dataclass(frozen=True)
class Panel:
    """A square picture: `content` in a view of `SIDE` x `SIDE`, with a description in words."""

    title: str
    description: str
    content: str
    kind: str

    def svg(self, placed: str = "") -> str:
        """The ``<svg>`` element; `placed` are attributes that place it in another one."""
        return (
            f'<svg class="plane {self.kind}" viewBox="0 0 {SIDE} {SIDE}" {placed}role="img" '
            f'aria-label="{escape(self.title)}. {escape(self.description)}">'
            f"<title>{escape(self.title)}</title>{self.content}</svg>"
        )


def colours(levels: int = LEVELS) -> list[str]:
    """`levels` colours along `SCALE`, the last one for the largest values."""
    ends = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in SCALE], dtype=float)
    at = np.linspace(0, len(SCALE) - 1, levels)
    mixed = np.stack([np.interp(at, range(len(SCALE)), ends[:, i]) for i in range(3)], axis=1)
    return ["#{:02x}{:02x}{:02x}".format(*np.rint(colour).astype(int)) for colour in mixed]


def levels_of(values: ArrayLike, levels: int = LEVELS) -> NDArray[np.int64]:
    """(n,) level of each value between `QUANTILES`, from 0; -1 where it is NaN."""
    known = np.asarray(values, dtype=np.float64)
    result = np.full(len(known), -1, dtype=np.int64)
    finite = np.isfinite(known)
    if finite.any():
        low, high = np.quantile(known[finite], QUANTILES)
        share = (known[finite] - low) / (high - low) if high > low else 0.5 * finite[finite]
        result[finite] = np.clip(np.floor(share * levels), 0, levels - 1)
    return result


def values_panel(
    X: ArrayLike, values: ArrayLike, labelled: ArrayLike, *, title: str, description: str
) -> Panel:
    """Points coloured by value, brighter if larger, with labelled points as red stars."""
    positions, size = _positions(X)
    level = levels_of(values)
    parts = [f'<rect class="sky" width="{SIDE}" height="{SIDE}" rx="24"/>']
    # Squares tile a lattice; other points look better as dots.
    kind = "tiles" if len(np.unique(positions[:, 0])) < len(positions) / 20 else "dots"
    parts += [
        f'<path class="{kind}" stroke="{colour}" stroke-width="{size}" '
        f'd="{_dots(positions[level == at])}"/>'
        for at, colour in enumerate(colours())
        if (level == at).any()
    ]
    nodes = np.asarray(labelled, dtype=np.int64)
    radius = next((size for most, size in STAR_RADII if len(nodes) <= most), SMALLEST_STAR_RADIUS)
    stars = "".join(_star(x, y, radius) for x, y in positions[nodes])
    parts.append(f'<path class="stars" d="{stars}"/>')
    return Panel(title, description, "".join(parts), "values")


def classes_panel(X: ArrayLike, classes: ArrayLike, *, title: str, description: str) -> Panel:
    """Points with a colour and a shape for each class."""
    positions, size = _positions(X)
    arm = max(3, round(0.26 * size))
    parts = []
    for at, name in enumerate(np.unique(classes)):
        mine = positions[np.asarray(classes) == name]
        shape = at % SHAPES
        width = (max(2, round(0.62 * size)), *[max(2, round(0.2 * size))] * 3)[shape]
        drawn = _shapes(mine, shape, arm)
        parts.append(f'<path class="k{shape}" stroke-width="{width}" d="{drawn}"/>')
    return Panel(title, description, "".join(parts), "classes")


def _positions(X: ArrayLike) -> tuple[NDArray[np.int64], int]:
    """Points on the panel's grid, and the size at which neighbouring points about touch."""
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2 or len(points) == 0:
        raise InputError(f"expected points of the plane, (n, 2), got {points.shape}")
    low, high = points.min(axis=0), points.max(axis=0)
    extent = float((high - low).max()) or 1.0
    share = (points - (low + high) / 2) / extent
    share[:, 1] *= -1  # up is up
    size = 1.15 * (SIDE - 2 * EDGE) / np.sqrt(len(points))
    return np.rint(SIDE / 2 + share * (SIDE - 2 * EDGE)).astype(np.int64), round(min(size, 40))


def _steps(positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Steps from each point to the next, in an order that keeps the steps short."""
    strips = positions[:, 0] // 40
    order = np.lexsort((positions[:, 1], strips))
    return np.diff(positions[order], axis=0, prepend=np.zeros((1, 2), dtype=np.int64))


def _dots(positions: NDArray[np.int64]) -> str:
    """A path whose round line ends draw the points."""
    return "".join(f"m{_pair(x, y)}h0" for x, y in _steps(positions))


def _shapes(positions: NDArray[np.int64], shape: int, arm: int) -> str:
    """A path with one shape at every point; each shape ends where it began."""
    if shape == 0:
        return _dots(positions)
    drawn = {
        1: f"m-{arm} 0h{2 * arm}m-{arm}-{arm}v{2 * arm}m0-{arm}",
        2: f"m-{arm}-{arm}l{2 * arm} {2 * arm}m0-{2 * arm}l-{2 * arm} {2 * arm}m{arm}-{arm}",
        3: f"m-{arm} 0a{arm} {arm} 0 1 0 {2 * arm} 0a{arm} {arm} 0 1 0-{2 * arm} 0m{arm} 0",
    }[shape]
    return "".join(f"m{_pair(x, y)}{drawn}" for x, y in _steps(positions))


def _star(x: int, y: int, radius: int) -> str:
    turn = np.pi * np.arange(10) / 5
    reach = np.where(np.arange(10) % 2 == 0, radius, 0.42 * radius)
    corners = np.rint(np.stack([x + reach * np.sin(turn), y - reach * np.cos(turn)], axis=1))
    steps = np.diff(corners.astype(np.int64), axis=0)
    first = f"M{_pair(*corners[0].astype(np.int64))}"
    return first + "l" + " ".join(_pair(a, b) for a, b in steps) + "z"


def _pair(x: int, y: int) -> str:
    return f"{x}{y}" if y < 0 else f"{x} {y}"
