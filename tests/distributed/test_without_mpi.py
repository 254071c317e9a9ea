"""The parts of a rank that need neither MPI nor PETSc."""

import io
import os
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import poise
from poise.active.acquisition import as_acquisition
from poise.active.policies.max import largest
from poise.distributed.acquisitions import check_acquisition
from poise.distributed.choice import choose
from poise.distributed.median import median
from poise.distributed.memory import needed
from poise.distributed.watchdog import watch
from poise.errors import InputError


class Alone:
    """A single rank."""

    def total(self, values: Any) -> Any:
        return np.asarray(values)

    least = largest = union = total


def partition(graph: poise.Graph) -> Any:
    """All rows of a graph at one rank, in an order of their own."""
    nodes = np.random.default_rng(1).permutation(graph.n_nodes)
    return SimpleNamespace(
        ranks=Alone(),
        nodes=nodes,
        n_nodes=graph.n_nodes,
        components=graph.components[nodes],
        component_sizes=graph.component_sizes,
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kinds", [1, 2, 5, 1000])
def test_ties_are_broken_as_the_policy_breaks_them(seed: int, kinds: int) -> None:
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(size=(70, 2)), rng.normal(size=(60, 2)) + 50.0])
    graph = poise.knn_graph(X, k=4)
    values = rng.integers(kinds, size=graph.n_nodes).astype(float)
    candidates = rng.random(graph.n_nodes) < 0.7
    masked = np.where(candidates, values, np.nan)
    snapshot: Any = SimpleNamespace(graph=graph)
    expected = largest(masked, snapshot, 1, np.random.default_rng([seed, 3, 1]))
    here = partition(graph)
    node = choose(here, values[here.nodes], candidates[here.nodes], [seed, 3, 1])
    assert node == expected[0]


def test_having_no_candidates_is_an_error() -> None:
    here = partition(poise.knn_graph(np.random.default_rng(0).normal(size=(20, 2)), k=3))
    with pytest.raises(InputError, match="NaN for every candidate"):
        choose(here, np.zeros(20), np.zeros(20, dtype=bool), [0, 0, 1])


@pytest.mark.parametrize("size", [0, 1, 2, 7, 100])
def test_the_median_is_that_of_numpy(size: int) -> None:
    ranks: Any = Alone()
    values = np.random.default_rng(size).lognormal(sigma=20.0, size=size)
    assert median(ranks, values) == (np.median(values) if size else None)


def test_an_acquisition_that_needs_more_than_products_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"VOpt.*norm, margin, coverage, auto"):
        check_acquisition(as_acquisition("vopt"))
    check_acquisition(as_acquisition("diffused"))


def test_the_memory_of_a_rank_falls_with_the_ranks() -> None:
    one_rank, two_ranks = needed(10**6, 15 * 10**6, 1), needed(10**6, 15 * 10**6, 2)
    assert one_rank.weights == 2 * two_ranks.weights == 15 * 10**6 * 24
    assert one_rank.vectors == 2 * two_ranks.vectors == 10**6 * (368 + 320)


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (b"doing a solve\nsafe a/file\n", "ended from outside while a solve"),
        (b"doing a solve\nsafe a/file\ngoodbye\n", ""),
    ],
)
def test_the_watchdog_says_what_a_rank_that_ended_was_doing(sent: bytes, message: str) -> None:
    source, target = os.pipe()
    os.write(target, sent)
    os.close(target)
    out = io.StringIO()
    assert watch(source, 0, 5.0, "rank 3 of 4", out) == (1 if message else 0)
    os.close(source)
    assert message in out.getvalue()
    assert (
        ("rank 3 of 4" in out.getvalue()) == ("safe in a/file" in out.getvalue()) == bool(message)
    )
