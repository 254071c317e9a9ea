"""PoiseSampling: poise as a query strategy of scikit-activeml."""

import numpy as np
import pytest
from skactiveml.exceptions import MappingError
from sklearn.base import clone
from sklearn.datasets import make_blobs

import poise
from poise.errors import InputError
from poise.integrations.skactiveml import PoiseSampling
from poise.integrations.skactiveml import graphs as graphs_module
from poise.integrations.skactiveml.graphs import MOST_GRAPHS, GraphCache, graphs

X, CLASSES = make_blobs(60, centers=4, cluster_std=0.4, random_state=0)


def labels(known=(), missing=np.nan, dtype=float):
    y = np.full(len(X), missing, dtype=dtype)
    y[list(known)] = CLASSES[list(known)]
    return y


@pytest.fixture
def builds(monkeypatch):
    """The number of points of every graph that is built, from an empty cache on."""
    built = []

    def counted(features, *args, **options):
        built.append(len(features))
        return poise.knn_graph(features, *args, **options)

    graphs.clear()
    monkeypatch.setattr(graphs_module, "knn_graph", counted)
    yield built
    graphs.clear()


def test_from_zero_labels_every_class_is_found_soon():
    y = labels()
    for _ in range(8):
        (i,) = PoiseSampling(k=5, random_state=0).query(X, y)
        assert np.isnan(y[i])
        y[i] = CLASSES[i]
    assert set(y[~np.isnan(y)]) == {0, 1, 2, 3}


@pytest.mark.parametrize("acquisition", ["norm", "margin", "vopt", "typiclust", "random"])
def test_other_acquisitions_need_no_labels_either(acquisition):
    strategy = PoiseSampling(acquisition, k=5, random_state=0)
    first = strategy.query(X, labels())
    assert first.shape == (1,)
    assert strategy.query(X, labels(first)) != first


def test_it_asks_what_a_learner_asks():
    known = [int(np.flatnonzero(c == CLASSES)[0]) for c in range(4)]  # no ties
    learner = poise.Learner(poise.knn_graph(X, 5), acquisition="norm", tau="geometric")
    learner.tell(known, CLASSES[known])
    chosen = PoiseSampling("norm", k=5, tau="geometric").query(X, labels(known), batch_size=3)
    assert chosen.tolist() == learner.ask(3).tolist()


def test_a_loop_builds_its_graph_once(builds):
    y = labels()
    for seed in range(4):
        (i,) = PoiseSampling(random_state=seed).query(X.copy(), y)
        y[i] = CLASSES[i]
    assert builds == [60]
    PoiseSampling(k=5).query(X, y)
    PoiseSampling(metric="manhattan").query(X, y)
    PoiseSampling().query(X + 1.0, y)
    PoiseSampling().query(X.astype(np.float32), y)
    assert builds == [60] * 5


def test_changing_the_features_in_place_gives_another_graph(builds):
    features = X.copy()
    first = graphs.graph(features)
    features[0] += 5.0
    assert first.features[0].tolist() == X[0].tolist()
    assert graphs.graph(features) is not first
    assert graphs.graph(X) is first


def test_the_cache_is_bounded(builds):
    cache = GraphCache()
    first = cache.graph(X)
    for shift in range(1, MOST_GRAPHS):
        cache.graph(X + shift)
    assert cache.graph(X) is first  # used last
    cache.graph(X - 1)
    assert cache.graph(X) is first
    assert len(builds) == MOST_GRAPHS + 1
    cache.graph(X + 1)  # the first one that was dropped
    assert len(builds) == MOST_GRAPHS + 2


@pytest.mark.parametrize("policy", ["max", "proportional", "local-max"])
def test_utilities(policy):
    known = [0, 7, 30]
    strategy = PoiseSampling(policy=policy, k=5, random_state=1)
    chosen, utilities = strategy.query(X, labels(known), batch_size=4, return_utilities=True)
    assert strategy.query(X, labels(known), batch_size=4).tolist() == chosen.tolist()
    assert len(set(chosen.tolist())) == 4
    assert utilities.shape == (4, 60)
    for row, before in enumerate(np.arange(4)):
        nothing = np.isnan(utilities[row])
        assert set(np.flatnonzero(nothing)) == {*known, *chosen[:before].tolist()}
    if policy == "max":
        assert (np.nanargmax(utilities, axis=1) == chosen).all()


def test_candidates():
    strategy = PoiseSampling(k=5, random_state=0)
    some = [4, 8, 15, 16, 23, 42]
    chosen, utilities = strategy.query(
        X, labels([0, 1]), candidates=some, batch_size=6, return_utilities=True
    )
    assert set(chosen) == set(some)
    assert set(np.flatnonzero(~np.isnan(utilities[0]))) == set(some)
    with pytest.raises(ValueError, match="labeled"):
        strategy.query(X, labels([4]), candidates=some)
    with pytest.raises(MappingError):
        strategy.query(X, labels(), candidates=X[:5])


def test_more_questions_than_candidates():
    with pytest.warns(UserWarning, match="batch_size"):
        chosen = PoiseSampling(k=5).query(X, labels(range(58)), batch_size=5)
    assert set(chosen) == {58, 59}
    with pytest.warns(UserWarning, match="batch_size"):
        assert PoiseSampling(k=5).query(X, labels(range(60))).shape == (0,)


@pytest.mark.parametrize(
    ("missing", "name"),
    [(np.nan, float), (None, "item {}".format), ("nan", "item {}".format), (-1, int), (None, int)],
)
def test_missing_labels_of_every_kind(missing, name):
    known = [2, 20, 33]
    y = np.full(60, missing, dtype=object if missing is None else None)
    if isinstance(missing, str):
        y = y.astype("<U8")
    y[known] = [name(c) for c in CLASSES[known]]
    strategy = PoiseSampling(k=5, missing_label=missing, random_state=3)
    expected = PoiseSampling(k=5, random_state=3).query(X, labels(known), batch_size=3)
    assert strategy.query(X, y, batch_size=3).tolist() == expected.tolist()


def test_same_seed_same_questions():
    def ask(seed):
        strategy = PoiseSampling("random", k=5, random_state=seed)
        return strategy.query(X, labels([0]), batch_size=10).tolist()

    assert ask(1) == ask(1) == ask(np.random.RandomState(1))
    assert ask(1) != ask(2)


def test_it_can_be_cloned_and_names_its_parameters():
    strategy = clone(PoiseSampling(poise.acquisitions.make("badge"), k=7, missing_label=None))
    assert strategy.get_params()["k"] == 7
    assert strategy.acquisition == poise.acquisitions.make("badge")
    assert set(strategy.get_params()) == {
        "acquisition", "policy", "k", "metric", "tau", "missing_label", "random_state"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"acquisition": "nrom"}, "did you mean norm"),
        ({"k": 60}, "60 points"),
        ({"metric": "miles"}, "miles"),
        ({"tau": -1.0}, "tau"),
        ({"policy": "minimum"}, "no policy"),
    ],
)
def test_mistakes(parameters, reason):
    with pytest.raises(InputError, match=reason) as caught:
        PoiseSampling(**parameters).query(X, labels())
    assert "\n" not in str(caught.value)


class Dummy:
    pass


@pytest.mark.parametrize(
    ("settings", "arguments", "error"),
    [
        ({}, {"X": "text"}, (ValueError, TypeError)),
        ({}, {"X": X[:30]}, ValueError),
        ({}, {"X": np.full((60, 2), np.nan)}, ValueError),
        ({}, {"y": np.nan}, TypeError),
        ({}, {"y": np.vstack([labels(), labels()])}, ValueError),
        ({}, {"candidates": np.nan}, ValueError),
        ({}, {"candidates": [60]}, ValueError),
        ({}, {"batch_size": 0}, ValueError),
        ({}, {"batch_size": 1.2}, TypeError),
        ({}, {"return_utilities": "yes"}, TypeError),
        ({"random_state": "state"}, {}, ValueError),
        ({"missing_label": Dummy}, {}, TypeError),
        ({"missing_label": "nan"}, {}, TypeError),
    ],
)
def test_arguments_are_checked_as_in_their_strategies(settings, arguments, error):
    with pytest.raises(error):
        PoiseSampling(k=5, **settings).query(**({"X": X, "y": labels([1])} | arguments))
