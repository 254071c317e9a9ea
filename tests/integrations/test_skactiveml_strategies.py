"""scikit-activeml's strategies as acquisitions: each asks what the library asks."""

import inspect
import pickle
import warnings

import numpy as np
import pytest
from skactiveml import pool
from skactiveml.base import SingleAnnotatorPoolQueryStrategy
from skactiveml.classifier import SklearnClassifier
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression

import poise
from poise.active.decision import values_of
from poise.errors import GraphError, InputError, MemoryShortError, UnknownNameError
from poise.integrations.skactiveml import strategies
from poise.integrations.skactiveml.known import STRATEGIES
from poise.machine import check_room

X, CLASSES = make_blobs(90, n_features=4, centers=3, cluster_std=1.5, random_state=0)
NAMES = [f"skactiveml:{name}" for name in STRATEGIES]
#: These have no random choice and no setting of ours.
SIMPLE = ("Badge", "ContrastiveAL", "CoreSet", "MaxHerding", "UncertaintySampling")


@pytest.fixture(scope="module")
def graph():
    return poise.knn_graph(X, k=6)


def learner_with(graph, acquisition, m=4, **settings):
    learner = poise.Learner(graph, acquisition=acquisition, seed=5, **settings)
    if m:
        learner.tell(np.arange(m), CLASSES[:m])
    return learner


@pytest.mark.parametrize("name", NAMES)
class TestEvery:
    def test_from_zero_labels_on(self, graph, name):
        runs = [
            poise.simulate(graph, CLASSES, acquisition=name, budget=4, initial=0, seed=2)
            for _ in range(2)
        ]
        assert runs[0].queries.tolist() == runs[1].queries.tolist()
        assert len(set(runs[0].queries.tolist())) == 4

    def test_values(self, graph, name):
        learner = learner_with(graph, name)
        learner.ask(2)
        snapshot = learner.snapshot()
        values = values_of(learner.acquisition, snapshot)
        assert np.isfinite(values[snapshot.candidates]).all()
        assert np.isnan(values[~snapshot.candidates]).all()
        assert not snapshot.looked_at_scores

    def test_a_saved_session_continues(self, graph, name):
        learner = learner_with(graph, name)
        learner.ask()
        again = poise.Learner.from_json(graph, learner.to_json())
        assert again.acquisition == learner.acquisition
        assert again.ask(2).tolist() == learner.ask(2).tolist()

    def test_prints_pickles_hashes(self, graph, name):
        made = poise.acquisitions.make(name, sample=40)
        assert pickle.loads(pickle.dumps(made)) == made
        assert hash(made) == hash(poise.acquisitions.make(name, sample=40))
        assert eval(repr(made), vars(strategies)) == made
        assert poise.acquisitions.name_of(type(made)) == name

    def test_a_round_is_chosen_at_its_beginning(self, graph, name):
        """Answers within a round change nothing; the questions are those of a batch."""
        made = poise.acquisitions.make(name, batch=3)
        together, in_turn = (learner_with(graph, made, m=6) for _ in range(2))
        asked = together.ask(3).tolist()
        for node in asked:
            assert in_turn.ask().tolist() == [node]
            in_turn.tell(node, CLASSES[node])


@pytest.mark.parametrize("m", [0, 1, 12])
@pytest.mark.parametrize("name", SIMPLE)
def test_it_asks_what_the_library_queries(graph, name, m):
    learner = learner_with(graph, f"skactiveml:{name}", m)
    scaled = X / np.sqrt(X.var(axis=0).mean())
    y = np.where(np.arange(90) < m, CLASSES, np.nan)
    given = {}
    if STRATEGIES[name].classifier:
        n_classes = max(len(set(CLASSES[:m])), 2)
        # Class numbers go by appearance, as in the learner.
        y[:m] = [learner.classes.index(c) for c in CLASSES[:m]]
        logistic = LogisticRegression(max_iter=1000)
        given["clf"] = SklearnClassifier(logistic, classes=range(n_classes), random_state=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        queried = getattr(pool, name)(random_state=5).query(scaled, y, **given)
    assert learner.ask().tolist() == list(queried)


def test_the_table_has_every_strategy_that_needs_no_more():
    """Those left out refit a classifier, know two classes only, or wrap another strategy."""
    left_out = {"EpistemicUncertaintySampling", "MonteCarloEER", "ValueOfInformationEER"}
    left_out |= {"ParallelUtilityEstimationWrapper", "SubSamplingWrapper"}
    found = set()
    for name in pool.__all__:
        kind = getattr(pool, name)
        if not inspect.isclass(kind) or not issubclass(kind, SingleAnnotatorPoolQueryStrategy):
            continue
        needs = {
            parameter.name
            for function in (kind.__init__, kind.query)
            for parameter in inspect.signature(function).parameters.values()
            if parameter.default is parameter.empty and parameter.kind != parameter.VAR_KEYWORD
        }
        if needs <= {"self", "X", "y", "clf", "estimator"}:
            found.add(name)
    assert found == set(STRATEGIES) | left_out


def test_open_questions_count_as_covered(graph):
    """As answered ones do; a strategy that ignored them would ask for the same cluster again."""
    waiting, answered = (learner_with(graph, "skactiveml:MaxHerding", 0) for _ in range(2))
    first = waiting.ask(3).tolist()
    for node in first:
        assert answered.ask().tolist() == [node]
        answered.tell(node, CLASSES[node])


def test_parameters_reach_the_library(graph):
    narrow, wide = (
        poise.acquisitions.make("skactiveml:MaxHerding", metric_dict={"gamma": gamma})
        for gamma in (1e4, 1e-4)
    )
    assert narrow != wide
    assert narrow.metric_dict == (("gamma", 1e4),)
    values = [learner_with(graph, made).values for made in (narrow, wide)]
    assert np.nanmax(values[0]) > 1e3 * np.nanmax(values[1])
    again = poise.Learner.from_json(graph, learner_with(graph, wide).to_json())
    assert again.acquisition == wide


@pytest.mark.parametrize("classifier", ["logistic", "parzen", "mixture", "poise"])
def test_classifiers(graph, classifier):
    made = poise.acquisitions.make("skactiveml:UncertaintySampling", classifier=classifier)
    trace = poise.simulate(graph, CLASSES, acquisition=made, budget=5, initial=0)
    assert len(set(trace.queries.tolist())) == 5


def test_a_sample_of_a_large_graph(graph):
    made = poise.acquisitions.make("skactiveml:TypiClust", sample=30)
    learner = learner_with(graph, made, 0)
    seen = learner.snapshot().memory.nodes
    assert len(set(seen.tolist())) == 30
    assert set(learner.ask(30).tolist()) == set(seen.tolist())
    outside = learner.ask(5)  # the sample is used up
    assert not set(outside.tolist()) & set(seen.tolist())
    # Labels of other nodes are seen: the nodes join the sample.
    learner.tell(outside, CLASSES[outside])
    assert set(outside.tolist()) <= set(learner.snapshot().memory.nodes.tolist())


def test_sparse_features_and_directions():
    dense = np.abs(X)
    from scipy.sparse import csr_array

    asked = [
        learner_with(poise.knn_graph(points, 6, metric="cosine"), "skactiveml:CoreSet").ask(4)
        for points in (dense, csr_array(dense))
    ]
    assert asked[0].tolist() == asked[1].tolist()


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"sample": 1}, "sample is 1"),
        ({"batch": 0}, "batch is 0"),
        ({"classifier": "forest"}, "no classifier is called 'forest'"),
        ({"cluster_algo_dict": 3}, "cluster_algo_dict is 3: expected a table"),
    ],
)
def test_mistakes_in_parameters(parameters, reason):
    with pytest.raises(InputError, match=reason):
        poise.acquisitions.make("skactiveml:DropQuery", **parameters)


def test_what_the_library_says_is_one_line(graph):
    learner = learner_with(graph, poise.acquisitions.make("skactiveml:TypiClust", k=0))
    with pytest.raises(
        InputError, match=r"^skactiveml:TypiClust cannot ask: ValueError: "
    ) as error:
        learner.ask()
    assert "\n" not in str(error.value)


def test_an_unknown_name():
    with pytest.raises(UnknownNameError, match="did you mean skactiveml:DropQuery"):
        poise.Learner(poise.knn_graph(X, 5), acquisition="skactiveml:Dropquery")
    assert "skactiveml:Quire" not in poise.acquisitions


def test_a_graph_without_features():
    graph = poise.knn_graph(X, 6, keep_features=False)
    with pytest.raises(GraphError, match="skactiveml:CoreSet compares features") as error:
        poise.Learner(graph, acquisition="skactiveml:CoreSet").ask()
    assert "\n" not in str(error.value)


def test_too_little_memory(graph, monkeypatch):
    def nothing_is_free(numbers, what, remedy):
        check_room(1e30 if "MaxHerding" in what else 0, what, remedy)

    monkeypatch.setattr(strategies, "check_room", nothing_is_free)
    learner_with(graph, "skactiveml:CoreSet").ask()
    with pytest.raises(MemoryShortError, match=r"on 90 nodes.*give a smaller sample"):
        learner_with(graph, "skactiveml:MaxHerding").ask()
