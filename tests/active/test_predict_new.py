"""A learner applied to points that are not in its graph."""

import numpy as np
import pytest

import poise
from poise.errors import FeatureError, GraphError, LabelError


@pytest.fixture(scope="module")
def learner():
    y = np.repeat([0, 1], 40)
    X = 3.0 * y[:, None] + 0.5 * np.random.default_rng(0).normal(size=(80, 2))
    learner = poise.Learner(poise.knn_graph(X, k=6), {0: "left"})
    for _ in range(12):
        (i,) = learner.ask()
        learner.tell(i, "left" if y[i] == 0 else "right")
    return learner


def test_new_points_get_the_classes_around_them(learner):
    new = np.random.default_rng(1).normal(0, 0.3, (20, 2))
    assert set(learner.predict(new)) == {"left"}
    assert set(learner.predict(new + 3.0)) == {"right"}


def test_they_are_what_the_nodes_say_on_average(learner):
    new = np.random.default_rng(2).uniform(-0.5, 3.5, (200, 2))
    classes, reached = learner.predict(new, return_reached=True)
    placement = learner.graph.place(new)
    average = placement.weights @ learner.probabilities
    expected = np.array(learner.classes)[average.argmax(axis=1)]
    among = placement.closeness == 1
    assert (classes[among] == expected[among]).all()
    assert reached[among].all()
    assert 0 < reached.sum() < 200  # the gap between the clouds is far from both


def test_far_points_are_said_to_be(learner):
    classes, reached = learner.predict([[0.0, 0.0], [500.0, -500.0]], return_reached=True)
    assert reached.tolist() == [True, False]
    counts = {name: list(learner.labels.values()).count(name) for name in learner.classes}
    assert classes[1] == max(counts, key=counts.get)


def test_nothing_is_added(learner):
    before = learner.to_json()
    learner.predict([[0.0, 0.0]])
    assert learner.to_json() == before


def test_points_near_a_component_without_a_label_are_not_reached():
    X = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]])
    learner = poise.Learner(poise.knn_graph(X, k=2), {0: 7})
    classes, reached = learner.predict([[0.1], [9.1]], return_reached=True)
    assert classes.tolist() == [7, 7]
    assert reached.tolist() == [True, False]


def test_the_message_names_what_is_missing(learner, blobs):
    bare = poise.Learner(poise.Graph.from_weights(learner.graph.weights), {0: "a"})
    with pytest.raises(GraphError, match=r"holds no features.*knn_graph\(X, keep_features=True\)"):
        bare.predict([[0.0, 0.0]])
    with pytest.raises(LabelError, match="nothing is labelled yet"):
        poise.Learner(learner.graph).predict([[0.0, 0.0]])
    with pytest.raises(FeatureError, match="3 features, but the graph is expecting 2"):
        learner.predict([[0.0, 0.0, 0.0]])
