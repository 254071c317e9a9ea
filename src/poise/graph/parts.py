"""Checks that what a graph holds besides its weights belongs to it."""

from typing import Any

from poise.errors import GraphError
from poise.graph.features import Features, check_features
from poise.graph.neighbours import Neighbours, Spacing


def checked_parts(
    n_nodes: int, features: Any, neighbours: Neighbours | None, spacing: Spacing | None
) -> Features | None:
    """The features, validated; a `GraphError` if some part is of another number of nodes."""
    if features is not None:
        features = check_features(features, minimum=1, name="features")
        if features.shape[0] != n_nodes:
            raise GraphError(
                f"features have {features.shape[0]} rows and the graph {n_nodes} nodes: "
                "give one row per node, in the same order"
            )
    if spacing is not None and {spacing.nearest.shape, spacing.scale.shape} != {(n_nodes,)}:
        raise GraphError(f"the spacing does not belong to a graph of {n_nodes} nodes")
    if neighbours is not None and not neighbours.fit(n_nodes):
        raise GraphError(f"the neighbours do not belong to a graph of {n_nodes} nodes")
    return features  # type: ignore[no-any-return]
