"""The explored share: it never falls while somebody labels."""

import numpy as np
from crowds import answer, asked
from scipy.sparse.csgraph import shortest_path

import poise
from poise.studio.asking.explored import explored, reach, within
from poise.studio.asking.progress import progress


def scattered(n, seed=0):
    return poise.knn_graph(np.random.default_rng(seed).normal(size=(n, 2)), k=6)


def test_within_counts_steps():
    graph = scattered(300)
    steps = shortest_path(graph.weights, unweighted=True, indices=[3, 200]).min(axis=0)
    for most in (1, 2, 5):
        assert (within(graph, np.array([3, 200]), most) == (steps <= most)).all()


def test_a_hundred_random_labels_explore_most_of_it_whatever_its_size():
    for n in (500, 4_000):
        graph = scattered(n)
        labelled = np.random.default_rng(1).choice(n, 100, replace=False)
        assert explored(graph, labelled[:1]) < 0.1
        assert explored(graph, labelled) > 0.5


def test_separate_parts_are_explored_one_by_one():
    X = np.concatenate([np.random.default_rng(0).normal(c, 0.1, (100, 2)) for c in (0, 50)])
    graph = poise.knn_graph(X, k=5)
    assert reach(graph) >= 1
    assert explored(graph, np.arange(100)) == 0.5


def test_it_never_falls_while_somebody_labels(project):
    seen = []
    for _ in range(20):
        answer(project, asked(project))
        project.predictions().result(30)
        seen.append(progress(project.state, project.newest)["explored"])
    assert seen == sorted(seen)
    assert 0 < seen[0] < seen[-1] <= 1
