"""Mistakes at the learner and in simulations, each answered by one line that says what to do."""

import numpy as np
import pytest

import poise
from poise.errors import GraphError, InputError, LabelError, NodeIndexError, PoiseError


def series(values):
    return pytest.importorskip("pandas").Series(values)


LEARNERS = {
    "pairs": (lambda: {"labels": [(0, 1)]}, LabelError, r"list: expected \{node: class\}"),
    "an array": (lambda: {"labels": np.zeros(120)}, LabelError, "ndarray: expected"),
    "an empty array": (lambda: {"labels": np.zeros(0)}, LabelError, "ndarray: expected"),
    "a series": (lambda: {"labels": series(["a", "b"])}, LabelError, r"labels\.to_dict\(\)"),
    "bytes": (lambda: {"labels": {0: b"a"}}, LabelError, r"got b'a' of type bytes.*\.decode"),
    "one class": (lambda: {"classes": "cat"}, LabelError, "expected a list"),
    "no classes": (lambda: {"classes": None}, LabelError, "expected a list"),
    "shift": (lambda: {"shift": "x"}, InputError, "shift is 'x': it must be positive"),
    "no shift": (lambda: {"shift": None}, InputError, "give model='laplace'"),
    "a model": (lambda: {"model": "wnll"}, InputError, "no model is called 'wnll'"),
    "shift of laplace": (
        lambda: {"model": "laplace", "shift": 0.1},
        InputError,
        "only the model 'pwll' has a shift",
    ),
}


@pytest.mark.parametrize(("options", "error", "words"), LEARNERS.values(), ids=list(LEARNERS))
def test_learners_that_cannot_be(blobs, options, error, words):
    with pytest.raises(error, match=words) as caught:
        poise.Learner(blobs[0], **options())
    assert "\n" not in str(caught.value)


def test_the_advice_for_a_series_works(blobs):
    labels = series(["a", "b"])
    assert poise.Learner(blobs[0], labels.to_dict()).labels == {0: "a", 1: "b"}


@pytest.mark.parametrize("node", [1.5, None, "1", [1, 2.5], [[1, 2]], b"1", {}])
@pytest.mark.parametrize("method", ["tell", "relabel", "skip", "exclude", "release", "pend"])
def test_what_is_no_node_is_named(blobs, node, method):
    learner = poise.Learner(blobs[0], {0: "a"})
    more = ["b"] if method in ("tell", "relabel") else []
    if node == {}:
        node = {1.5: "a"}
    with pytest.raises(PoiseError, match=r"whole number from 0 to 119|2 nodes need a list"):
        getattr(learner, method)(node, *more)


@pytest.mark.parametrize(
    ("nodes", "labels"),
    [
        (np.array([1, 2]), np.array(["a", "b"])),
        (np.array(1), np.array("a")),
        (np.int32(1), np.str_("a")),
        ([1], "a"),
        ((i for i in (1, 2)), ("a", "b")),
        (range(1, 3), {"a": 0, "b": 0}.keys()),
    ],
)
def test_nodes_and_classes_come_in_many_forms(blobs, nodes, labels):
    learner = poise.Learner(blobs[0])
    learner.tell(nodes, labels)
    assert learner.labels == dict(zip([1, 2], ["a", "b"], strict=True)) or learner.labels == {
        1: "a"
    }


def test_series_of_nodes_and_classes(blobs):
    learner = poise.Learner(blobs[0])
    learner.tell(series([1, 2]), series(["a", "b"]))
    assert learner.labels == {1: "a", 2: "b"}


@pytest.mark.parametrize(
    "returned",
    ["x", ["x"] * 120, None, [[1.0], [1.0, 2.0]], np.full(120, 1j), np.full(120, None)],
    ids=["text", "texts", "nothing", "ragged", "complex", "objects"],
)
def test_an_acquisition_that_returns_no_numbers(blobs, returned):
    learner = poise.Learner(blobs[0], {0: "a"}, acquisition=lambda snapshot: returned)
    with pytest.raises(InputError, match="returned no numbers: expected one value per node"):
        learner.ask()
    with pytest.raises(InputError, match="returned no numbers"):
        _ = learner.values


@pytest.mark.parametrize("returned", [np.zeros(3), np.zeros((120, 1)), 0.0])
def test_an_acquisition_that_returns_another_shape(blobs, returned):
    learner = poise.Learner(blobs[0], {0: "a"}, acquisition=lambda snapshot: returned)
    with pytest.raises(InputError, match=r"returned shape .*: expected one value per node, \(120,"):
        learner.ask()


@pytest.mark.parametrize("chosen", ["x", None, [1.5], [120], [-1], [[1]], [], [0], [True]])
def test_a_policy_that_chooses_no_candidates(blobs, chosen):
    learner = poise.Learner(blobs[0], {0: "a"}, policy=lambda *arguments: chosen)
    with pytest.raises(InputError, match=r"the policy chose .*: expected 1 to 1 different cand"):
        learner.ask()


SIMULATIONS = {
    "seeds": ({"seeds": 3}, InputError, r"seeds is 3: expected several, .* seeds=range\(3\)"),
    "a seed": ({"seeds": ["a"]}, InputError, "seed is 'a': it must be a whole number"),
    "a node": ({"initial": [0, 999]}, NodeIndexError, "there is no node 999"),
    "half a node": ({"initial": [0.5]}, NodeIndexError, "whole number"),
    "a node twice": ({"initial": [3, 3]}, InputError, "holds node 3, which is named twice"),
    "no start": ({"initial": None}, InputError, "expected 'one-per-class', a number or nodes"),
}


@pytest.mark.parametrize(("options", "error", "words"), SIMULATIONS.values(), ids=list(SIMULATIONS))
def test_simulations_that_cannot_be(blobs, options, error, words):
    graph, y = blobs
    with pytest.raises(error, match=words):
        poise.simulate_many(graph, y, budget=1, **options)


def test_points_in_place_of_a_graph(blobs):
    with pytest.raises(GraphError, match=r"graph is a ndarray: make a Graph with poise.knn_graph"):
        poise.simulate(blobs[0].features, blobs[1])


def test_a_node_whose_class_is_not_known_is_no_start(blobs):
    graph, y = blobs
    with pytest.raises(InputError, match="holds node 0, which is not labelled in y_true"):
        poise.simulate(graph, [None, *y[1:]], initial=[0])


def test_without_a_budget_the_accuracy_is_that_of_the_first_labels(blobs):
    graph, y = blobs
    wrong = (y + np.arange(120) % 2) % 3  # classes that no graph can tell apart
    for truth in (y, wrong):
        nothing = poise.simulate(graph, truth, budget=0, seed=2)
        some = poise.simulate(graph, truth, budget=3, seed=2)
        assert nothing.accuracy.tolist() == some.accuracy[:1].tolist()
        assert nothing.balanced_accuracy.tolist() == some.balanced_accuracy[:1].tolist()
        assert nothing.n_answers.tolist() == [0]
    assert nothing.accuracy[0] < 0.8


def test_without_a_label_nothing_is_right_and_with_all_of_them_everything(blobs):
    graph, y = blobs
    assert poise.simulate(graph, y, budget=0, initial=0).accuracy.tolist() == [0.0]
    assert poise.simulate(graph, y, budget=0, initial=120).accuracy.tolist() == [1.0]
