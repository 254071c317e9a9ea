"""Simulated sessions, alone and in lockstep."""

import numpy as np
import pytest

import poise
from poise.errors import InputError, LabelError, UnknownNameError
from poise.models import models


def test_trace(blobs):
    graph, y = blobs
    calls = []
    trace = poise.simulate(
        graph, y, budget=12, seed=1, progress=lambda done, total: calls.append((done, total))
    )
    assert calls == [(q, 12) for q in range(1, 13)]
    assert len(trace.queries) == len(trace.answers) == len(trace.seconds) == 12
    assert len(trace.accuracy) == len(trace.balanced_accuracy) == len(trace.clusters_seen) == 13
    assert sorted(y[trace.initial]) == [0, 1, 2]
    assert (trace.answers == y[trace.queries]).all()
    assert trace.n_clusters == 3
    assert (trace.clusters_seen == 3).all()
    assert (trace.seconds > 0).all()
    assert trace.accuracy[-1] > 0.9


def test_accuracy_is_on_the_unlabelled_nodes(blobs):
    graph, y = blobs
    trace = poise.simulate(graph, y, budget=5, seed=2)
    labels = {int(i): int(y[i]) for i in [*trace.initial, *trace.queries]}
    learner = poise.Learner(graph, labels, predictor="pwll")
    rest = np.ones(120, dtype=bool)
    rest[list(learner.labels)] = False
    right = (learner.predictions == y)[rest]
    assert trace.accuracy[-1] == pytest.approx(right.mean())
    recalls = [right[y[rest] == c].mean() for c in range(3)]
    assert trace.balanced_accuracy[-1] == pytest.approx(np.mean(recalls))


@pytest.mark.parametrize("acquisition", ["norm", "margin", "random"])
@pytest.mark.parametrize("initial", [1, "one-per-class"])
def test_lockstep_is_the_same_as_one_at_a_time(blobs, acquisition, initial):
    graph, y = blobs
    tau = poise.Geometric(K=4)
    options = {"acquisition": acquisition, "initial": initial, "budget": 10, "tau": tau}
    together = poise.simulate_many(graph, y, seeds=[0, 1, 2], **options)
    for seed, trace in enumerate(together):
        alone = poise.simulate(graph, y, seed=seed, **options)
        assert (alone.queries == trace.queries).all()
        assert (alone.accuracy == trace.accuracy).all()


def test_simulated_is_what_a_learner_asks(blobs):
    graph, y = blobs
    trace = poise.simulate(graph, y, budget=10, seed=3, initial=[5, 60])
    learner = poise.Learner(graph, {5: int(y[5]), 60: int(y[60])}, seed=3)
    for query in trace.queries:
        (i,) = learner.ask()
        assert i == query
        learner.tell(i, int(y[i]))


def test_clusters_finer_than_classes(blobs):
    graph, y = blobs
    trace = poise.simulate(graph, y % 2, clusters=y, budget=10, initial=1)
    assert trace.n_clusters == 3
    assert trace.clusters_seen[0] == 1
    assert trace.clusters_seen[-1] == 3


def test_from_nothing_and_to_the_end(islands):
    graph, y = islands
    trace = poise.simulate(graph, y, budget=1000, initial=0)
    assert len(trace.queries) == 67
    assert sorted(trace.queries) == list(range(67))
    assert trace.accuracy[0] == 0.0
    assert trace.accuracy[-1] == 1.0


def test_text_classes(blobs):
    graph, y = blobs
    trace = poise.simulate(graph, np.array(["x", "y", "z"])[y], budget=3)
    assert set(trace.answers) <= {"x", "y", "z"}


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"y_true": np.zeros(5)}, LabelError),
        ({"y_true": np.full(120, 0.5)}, LabelError),
        ({"clusters": np.zeros(7)}, LabelError),
        ({"budget": -1}, InputError),
        ({"initial": "some"}, InputError),
        ({"initial": 500}, InputError),
    ],
)
def test_bad_input(blobs, options, error):
    graph, y = blobs
    with pytest.raises(error):
        poise.simulate(graph, **({"y_true": y} | options))


@pytest.mark.parametrize("policy", ["max", "local-max"])
def test_batches(blobs, policy):
    graph, y = blobs
    trace = poise.simulate(graph, y, budget=17, batch=5, policy=policy)
    assert trace.n_answers.tolist() == [0, 5, 10, 15, 17]
    assert len(trace.queries) == len(set(trace.queries)) == len(trace.seconds) == 17
    assert len(trace.accuracy) == len(trace.clusters_seen) == 5


def test_a_batch_that_is_answered_at_once_is_asked_without_its_answers(blobs):
    """Up to the first batch's end nothing is known of it, however large it is."""
    graph, y = blobs
    one, five = (poise.simulate(graph, y, budget=5, batch=b) for b in (5, 3))
    assert (one.queries[:3] == five.queries[:3]).all()


def test_seeding_comes_first(blobs):
    graph, y = blobs
    options = {"budget": 8, "initial": 0, "acquisition": "margin"}
    seeded = poise.simulate(graph, y, seeding="coreset", n_seeding=4, **options)
    coreset = poise.simulate(graph, y, **options | {"acquisition": "coreset"})
    plain = poise.simulate(graph, y, **options)
    assert (seeded.queries[:4] == coreset.queries[:4]).all()
    assert (seeded.queries != coreset.queries).any()
    assert (seeded.queries != plain.queries).any()


def test_open_questions_in_expectation_need_no_columns_of_their_own(blobs):
    """Without anticipation: the same expected scores, and a norm that is nowhere smaller."""
    graph, y = blobs
    given = {0: int(y[0]), 50: int(y[50]), 100: int(y[100])}
    learners = [
        poise.Learner(graph, given, acquisition="norm", anticipate=a) for a in (True, False)
    ]
    for learner in learners:
        learner.ask(4)
    alone, together = (learner.snapshot() for learner in learners)
    assert learners[0].pending == learners[1].pending
    np.testing.assert_allclose(together.scores, alone.scores, atol=1e-8)
    assert (together.norms >= alone.norms - 1e-8).all()
    problems = [learner._now().open_layout().problem for learner in learners]
    assert [len(problem.groups) for problem in problems] == [3 + 4, 3 + 1]


@pytest.mark.parametrize("name", ["pwll", "laplace", "poisson", "wnll", "properly-weighted"])
def test_accuracy_in_other_models(blobs, name):
    """In lockstep or not, it is what the model itself says of the labels so far."""
    graph, y = blobs
    traces = poise.simulate_many(graph, y, budget=4, seeds=[1, 2], also=[name], initial=1)
    for trace in traces:
        measured = trace.also[name]
        assert measured.accuracy.shape == measured.balanced_accuracy.shape == (5,)
        for answers in (0, 2, 4):
            nodes = [*trace.initial, *trace.queries[:answers]]
            labels = poise.Labels.of({int(i): int(y[i]) for i in nodes}, 120)
            rest = np.setdiff1d(np.arange(120), nodes)
            result = models.factory(name)(graph, labels)
            predicted = np.array(result.classes)[result.codes]
            share = (predicted == y)[rest].mean()
            assert measured.accuracy[answers] == pytest.approx(share)
    with pytest.raises(UnknownNameError, match="did you mean laplace"):
        poise.simulate(graph, y, also=["laplac"])


def test_laplace_learning_can_choose(blobs):
    graph, y = blobs
    given = {5: int(y[5]), 60: int(y[60]), 100: int(y[100])}
    learner = poise.Learner(graph, given, acquisition="margin", tau=0.0, model="laplace")
    scores = models.factory("laplace")(graph, poise.Labels.of(given, 120)).scores
    np.testing.assert_allclose(learner.scores, scores, atol=1e-6)
    top = np.sort(scores, axis=1)
    margin = top[:, -1] - top[:, -2]
    margin[list(given)] = np.inf
    (node,) = learner.ask()
    assert margin[node] == pytest.approx(margin.min(), abs=1e-6)
    learner.tell(node, int(y[node]))
    again = poise.Learner.from_json(graph, learner.to_json())
    assert again.model == "laplace"
    assert (again.ask() == learner.ask()).all()


def test_values_are_what_the_acquisition_says(blobs):
    graph, y = blobs
    learner = poise.Learner(graph, {0: int(y[0])})
    values = learner.values
    assert np.isnan(values[0])
    assert not learner.pending
    (node,) = learner.ask()
    assert node == np.nanargmax(values)
