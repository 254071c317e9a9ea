"""Similar items: distances against a plain computation, near-duplicates that do not chain."""

import numpy as np
import pytest
from crowds import make_project

import poise
from poise.studio.asking.likeness import (
    by_distance,
    near_duplicates,
    near_threshold,
    squared_distances,
)
from poise.studio.asking.predictions import surprising_answers
from poise.studio.log.events import Event


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_all_items_by_distance(metric):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 700))
    X[7] = 2 * X[3] if metric == "cosine" else X[3]
    X[9] = 0
    graph = poise.knn_graph(X, k=5, metric=metric)
    Y = X.copy()
    if metric == "cosine":
        lengths = np.linalg.norm(X, axis=1, keepdims=True)
        Y = X / np.where(lengths > 0, lengths, 1)
    order = by_distance(graph, X, 3)
    assert order[:2].tolist() == [3, 7]
    away = np.linalg.norm(Y - Y[3], axis=1)
    assert sorted(order.tolist()) == list(range(500))
    assert (np.diff(away[order]) > -1e-4).all()
    found = squared_distances(X.astype(np.float16), X[3].astype(np.float16), metric == "cosine")
    np.testing.assert_allclose(found, away**2, rtol=0.02, atol=1e-3)


def test_near_duplicates_are_near_to_the_item_itself():
    rng = np.random.default_rng(0)
    X = 100 * rng.normal(size=(200, 8))
    median = np.median(np.sort(np.linalg.norm(X[:, None] - X, axis=2), axis=1)[:, 1])
    # A chain: each is near to the next, the first and the last are far apart.
    X[:10] = X[0] + 0.25 * median * np.arange(10)[:, None] * np.eye(8)[0]
    graph = poise.knn_graph(X, k=10)
    threshold = near_threshold(graph, X)
    assert near_duplicates(graph, X, 0, threshold) == [1]
    assert sorted(near_duplicates(graph, X, 4, threshold)) == [3, 5]
    assert near_duplicates(graph, X, 100, threshold) == []


def test_among_mostly_equal_items_only_equal_ones_are_duplicates():
    X = np.zeros((60, 9))
    X[40:] = np.random.default_rng(0).normal(size=(20, 9))
    graph = poise.knn_graph(X, k=5)
    threshold = near_threshold(graph, X)
    assert threshold == 0
    near = near_duplicates(graph, X, 0, threshold)
    assert near
    assert max(near) < 40
    assert near_duplicates(graph, X, 50, threshold) == []


def test_in_few_dimensions_only_equal_items_are_duplicates():
    X = np.random.default_rng(0).normal(size=(300, 2))
    X[1], X[2] = X[0], X[0] + 1e-4
    graph = poise.knn_graph(X, k=5)
    assert near_duplicates(graph, X, 0, near_threshold(graph, X)) == [1]


@pytest.fixture
def twins(tmp_path):
    """Two crowds in which item 1 is item 0 again, and item 2 almost."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 0.4, (30, 10)) for c in (0.0, 3.0)])
    X[1], X[2] = X[0], X[0] + 1e-6
    made = make_project(tmp_path, X=X)
    for name in ("left", "right"):
        made.record(Event("class", {"name": name}))
    yield made
    made.close()


def test_duplicates_are_unlabelled_items(twins):
    assert twins.duplicates("item0") == ["item1", "item2"]
    assert twins.duplicates("item40") == []
    twins.look_at("item1", "somebody")
    assert twins.duplicates("item0", "me") == ["item2"]
    assert twins.duplicates("item0", "somebody") == ["item1", "item2"]
    twins.record(Event("unsure", {"items": ["item2"]}))
    twins.record(Event("label", {"items": ["item1"], "label": "left"}))
    assert twins.duplicates("item0") == []
    twins.record(Event("setting", {"name": "overlap", "value": 2}))
    assert twins.duplicates("item40") == []


def test_one_answer_for_all_duplicates_is_undone_at_once(twins):
    twins.look_at("item0")
    items = ["item0", *twins.duplicates("item0")]
    data = {"items": items, "label": "left", "via": "duplicates", "guess": "right"}
    twins.record(Event("label", data))
    assert set(twins.state.labels) == set(items)
    # One answer was unexpected: that of the item that was asked.
    assert [surprising_answers(twins.state, twins.nodes)[twins.nodes[item]] for item in items] == [
        True,
        False,
        False,
    ]
    twins.undo()
    assert not twins.state.labels
    assert twins.state.open[""].item == "item0"
    assert twins.duplicates("item0") == items[1:]


def test_orders_are_cached_for_the_next_page(twins):
    assert twins.results.finder.like(5) is twins.results.finder.like(5)
    for node in range(20):
        twins.results.finder.like(node)
    assert len(twins.results.finder._orders) <= 8
