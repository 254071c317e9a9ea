"""Facts about a graph, and advice, for a user who is about to label."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from poise.graph.construction import Construction
from poise.graph.features import Features
from poise.graph.metrics import FloatArray, IntArray
from poise.graph.neighbours import Spacing

BLOCK_ROWS = 16_384
"""Rows processed at a time."""

UNEVEN_RATIO = 100.0
"""Ratio of the 95th to the 5th percentile of d_k beyond which distances are called uneven."""

HUB_RATIO = 20.0
"""Neighbours, as a multiple of the median, beyond which a node is called a hub."""

DOMINANT_SHARE = 0.9
"""Share of the variance in one feature above which the others hardly matter."""


@dataclass(frozen=True)
class GraphReport:
    """Facts about a graph, and advice in sentences; ``print(report)`` shows both.

    Parameters
    ----------
    n_nodes, n_edges, n_components : int
    largest_components : tuple of int
        Sizes, at most ten.
    isolated : int
        Nodes without any edge.
    neighbours : tuple of int
        Fewest, median and most neighbours of a node.
    degrees : tuple of float
        Smallest, median and largest sum of weights at a node.
    duplicates : int or None
        Points at distance 0 from another; None where distances are not known.
    nearest, scale : tuple of float or None
        5th, 50th and 95th percentile of the distance to the nearest neighbour, and of d_k.
    construction : str or None
        How the graph was made.
    advice : tuple of str
        What to do; empty if there is nothing to do.
    """

    n_nodes: int
    n_edges: int
    n_components: int
    largest_components: tuple[int, ...]
    isolated: int
    neighbours: tuple[int, int, int]
    degrees: tuple[float, float, float]
    duplicates: int | None
    nearest: tuple[float, float, float] | None
    scale: tuple[float, float, float] | None
    construction: str | None
    advice: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }

    def __str__(self) -> str:
        sizes = ", ".join(f"{size:,}" for size in self.largest_components)
        more = ", ..." if self.n_components > len(self.largest_components) else ""
        lines = [
            f"nodes        {self.n_nodes:,}",
            f"edges        {self.n_edges:,}",
            f"components   {self.n_components:,} (sizes {sizes}{more})",
            f"isolated     {self.isolated:,}",
            "neighbours   {:,} to {:,}, median {:,}".format(*_outer_first(self.neighbours)),
            "degrees      {:.3g} to {:.3g}, median {:.3g}".format(*_outer_first(self.degrees)),
        ]
        if self.duplicates is not None:
            lines.append(f"duplicates   {self.duplicates:,}")
        for name, values in (("nearest", self.nearest), ("scale d_k", self.scale)):
            if values is not None:
                text = "{:.3g} to {:.3g}, median {:.3g}".format(*_outer_first(values))
                lines.append(f"{name:<13}{text} (5% to 95%)")
        if self.construction is not None:
            lines.append(f"made with    {self.construction}")
        return "\n".join(lines + [f"- {sentence}" for sentence in self.advice])


def make_report(
    weights: sparse.csr_array,
    degrees: FloatArray,
    component_sizes: IntArray,
    features: Features | None,
    construction: Construction | None,
    spacing: Spacing | None,
) -> GraphReport:
    """Collect the facts of a graph and the advice that follows from them."""
    counts = np.diff(weights.indptr)
    k = construction.k if construction else None
    duplicates = nearest = scale = None
    if spacing is not None:
        duplicates = int(np.count_nonzero(spacing.nearest == 0))
        nearest = _percentiles(spacing.nearest)
        # the radius of an epsilon graph is the same for all and says nothing about the data
        scale = _percentiles(spacing.scale) if k is not None else None
    isolated = int(np.count_nonzero(counts == 0))
    neighbours = (int(counts.min()), int(np.median(counts)), int(counts.max()))
    advice = [
        *_on_components(component_sizes, isolated, k),
        *_on_duplicates(duplicates, degrees.size, k),
        *_on_scale(scale, neighbours),
        *_on_features(features, construction),
    ]
    return GraphReport(
        n_nodes=degrees.size,
        n_edges=weights.nnz // 2,
        n_components=component_sizes.size,
        largest_components=tuple(int(size) for size in component_sizes[:10]),
        isolated=isolated,
        neighbours=neighbours,
        degrees=(float(degrees.min()), float(np.median(degrees)), float(degrees.max())),
        duplicates=duplicates,
        nearest=nearest,
        scale=scale,
        construction=str(construction) if construction else None,
        advice=tuple(advice),
    )


def _on_components(sizes: IntArray, isolated: int, k: int | None) -> list[str]:
    if sizes.size == 1:
        return []
    n = int(sizes.sum())
    share = 100 * int(sizes[0]) / n
    sentences = [
        f"The graph has {sizes.size:,} components and the largest holds {share:.1f}% of the nodes: "
        "labels do not travel between components, so each needs its own label."
    ]
    if k is not None and k < n - 1:
        sentences.append(
            f"If you do not expect these components, a larger k joins them: try "
            f"k={min(2 * k, n - 1)}."
        )
    if isolated:
        sentences.append(
            f"{isolated:,} node(s) have no edges and can only be labelled one by one: exclude "
            "them, or join them with a larger k or radius."
        )
    return sentences


def _on_duplicates(duplicates: int | None, n: int, k: int | None) -> list[str]:
    if not duplicates:
        return []
    sentence = f"{duplicates:,} of {n:,} points coincide with another point"
    if k is not None and duplicates > k:
        return [
            f"{sentence}: more than k={k} copies of one point list only each other and may be cut "
            "off from the rest; keep one of each, or use a larger k."
        ]
    return [f"{sentence}: keep one of each if copies should not count twice."]


def _on_scale(
    scale: tuple[float, float, float] | None, neighbours: tuple[int, int, int]
) -> list[str]:
    sentences = []
    if scale is not None and scale[2] > UNEVEN_RATIO * scale[0]:
        sentences.append(
            f"Distances are uneven (d_k from {scale[0]:.3g} to {scale[2]:.3g}): the self-tuned "
            "kernels allow for that, but check for outliers and features on different scales."
        )
    if neighbours[2] > HUB_RATIO * max(neighbours[1], 1):
        sentences.append(
            f"One node has {neighbours[2]:,} neighbours, the median node {neighbours[1]:,}: "
            "such hubs are common in many dimensions; metric='cosine', symmetrise='min' or an "
            "embedding in fewer dimensions reduces them."
        )
    return sentences


def _on_features(features: Features | None, construction: Construction | None) -> list[str]:
    metric = construction.metric if construction else None
    if features is None or isinstance(features, sparse.csr_array) or features.shape[1] < 2:
        return []
    if metric not in ("euclidean", "manhattan"):
        return []
    variances = column_variances(features)
    total = float(variances.sum())
    if total == 0:
        return ["All points are the same: the graph carries no information."]
    column = int(variances.argmax())
    share = float(variances[column]) / total
    if share <= DOMINANT_SHARE:
        return []
    return [
        f"Feature {column} holds {100 * share:.0f}% of the variance and determines the "
        "neighbours almost alone: if that is not intended, standardise the features first."
    ]


def column_variances(features: npt.NDArray[np.floating[Any]]) -> FloatArray:
    """Variance of each column, in float64 without a copy in float64."""
    n, d = features.shape
    centre = features.mean(axis=0, dtype=np.float64)
    squares = np.zeros(d)
    for start in range(0, n, BLOCK_ROWS):
        squares += np.square(features[start : start + BLOCK_ROWS] - centre).sum(axis=0)
    return np.asarray(squares / n)


def _percentiles(values: FloatArray) -> tuple[float, float, float] | None:
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return None
    low, middle, high = np.percentile(finite, [5, 50, 95])
    return float(low), float(middle), float(high)


def _outer_first(values: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    return values[0], values[2], values[1]
