"""Items that come, go or are renamed: the graph is updated without a new search."""

import numpy as np
import pytest

import poise
from poise.studio.source import growing, preparing
from poise.studio.source.growing import grown
from poise.studio.source.preparing import prepare
from poise.studio.source.reading import read_catalogue


def features(n=80, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 4)).astype(np.float32)


def made(X, k=6, metric="euclidean"):
    return poise.knn_graph(X, k=k, metric=metric, keep_neighbours=True)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_is_the_graph_made_at_once(metric):
    X = features(120)
    rng = np.random.default_rng(1)
    for old, new in (
        (np.arange(80), np.arange(120)),
        (np.arange(120), np.arange(90)),
        (np.arange(100), rng.permutation(120)[:95]),
        (np.arange(100), rng.permutation(100)),
        (np.arange(100), np.arange(100)),
    ):
        found = grown(made(X[old], metric=metric), X[new])
        np.testing.assert_allclose(
            found.weights.toarray(), made(X[new], metric=metric).weights.toarray(), atol=1e-6
        )
        np.testing.assert_array_equal(found.features, X[new])


def test_equal_items_are_used_once_each():
    X = features(40)
    twice = np.concatenate([X, X[:5]])
    found = grown(made(X), twice)
    assert found.n_nodes == 45
    back = grown(made(twice), X)
    assert back.n_nodes == 40


def test_nothing_is_gained():
    X = features(60)
    assert grown(made(X), features(60, seed=1)) is None, "all are new"
    assert grown(made(X), X[:20]) is None, "most have left"
    assert grown(made(X), X[:, :3]) is None
    assert grown(poise.knn_graph(X, k=6), X) is None, "it holds no lists"
    assert grown(poise.knn_graph(X, k=59, keep_neighbours=True), X) is not None


def test_a_project_takes_in_new_files(tmp_path, monkeypatch):
    """Rows that were in the table before are neither embedded nor searched for again."""
    searched = []
    whole = preparing.knn_graph

    def counted(*arguments, **options):
        searched.append(len(arguments[0]))
        return whole(*arguments, **options)

    monkeypatch.setattr(preparing, "knn_graph", counted)
    words = ["red", "green", "blue", "grey", "pink", "white", "black", "brown", "orange", "purple"]
    texts = [f"a {one} thing beside a {two} wall" for one in words for two in words]
    table, folder = tmp_path / "t.csv", tmp_path / "p"

    def opened(rows):
        table.write_text("text\n" + "\n".join(rows) + "\n")
        catalogue = read_catalogue(str(table))
        return prepare(
            catalogue, folder, embedding=None, k=None, begin=lambda name: lambda *done: None
        )

    opened(texts[:60])
    X, graph = opened(texts[5:80])
    assert searched == [60]
    assert graph.n_nodes == 75
    at_once = made(X, k=10, metric="cosine")
    np.testing.assert_allclose(graph.weights.toarray(), at_once.weights.toarray(), atol=1e-5)
    opened(texts[5:80])
    opened(texts[:100])
    assert searched == [60], "also after a second start"


def test_most_must_stay(monkeypatch):
    X = features(60)
    monkeypatch.setattr(growing, "LEAST_SHARE_STAYED", 0.0)
    assert grown(made(X), X[:20]) is not None
