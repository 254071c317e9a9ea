"""What says "not labelled", what is a class, and what is neither."""

import warnings

import numpy as np
import pytest

import poise
from poise.errors import InputError, LabelError

MODELS = [
    poise.PWLL,
    poise.LaplaceLearning,
    poise.PoissonLearning,
    poise.WNLL,
    poise.ProperlyWeighted,
]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
TRUTH = np.repeat([0, 1], 20)
LABELLED = [0, 5, 20, 25]


@pytest.fixture(scope="module")
def X():
    return TRUTH[:, None] + 0.1 * np.random.default_rng(0).normal(size=(40, 2))


def with_missing(missing, kind=int):
    return [kind(TRUTH[i]) if i in LABELLED else missing for i in range(40)]


def nullable(kind):
    pandas = pytest.importorskip("pandas")
    return pandas.Series(with_missing(pandas.NA), dtype=kind)


WAYS = {
    "-1": lambda: np.array(with_missing(-1)),
    "-1 in a list": lambda: with_missing(-1),
    "None": lambda: with_missing(None),
    "None among objects": lambda: np.array(with_missing(None), dtype=object),
    "NaN": lambda: np.array(with_missing(np.nan)),
    "NaN in a list": lambda: with_missing(np.nan),
    "NaN in a series": lambda: pytest.importorskip("pandas").Series(with_missing(np.nan)),
    "NA": lambda: nullable("Int64"),
    "NA among floats": lambda: nullable("Float64"),
    "NA among objects": lambda: nullable(object),
    "categories": lambda: nullable("category"),
    "whole floats": lambda: np.array(with_missing(-1.0, float)),
    "whole floats among objects": lambda: np.array(with_missing(None, float), dtype=object),
}
every_way = pytest.mark.parametrize("y", list(WAYS.values()), ids=list(WAYS))


@every_model
@every_way
def test_missing_values_are_not_labelled(X, model, y):
    fitted = model(k=5).fit(X, y())
    assert fitted.classes_.tolist() == [0, 1]
    np.testing.assert_array_equal(fitted.transduction_, TRUTH)


@every_way
def test_a_simulation_neither_asks_nor_counts_points_without_a_class(X, y):
    graph = poise.knn_graph(X, k=5)
    trace = poise.simulate(graph, y(), budget=10, seed=1)
    assert sorted([*trace.initial, *trace.queries]) == LABELLED
    assert trace.accuracy.tolist() == [1.0, 1.0, 1.0]
    assert trace.clusters_seen.tolist() == [2, 2, 2]
    assert trace.n_clusters == 2
    assert set(trace.answers.tolist()) == {0, 1}


def test_missing_text(X):
    pandas = pytest.importorskip("pandas")
    names = ["left" if i < 20 else "right" for i in range(40)]
    given = [name if i in LABELLED else pandas.NA for i, name in enumerate(names)]
    for y in (pandas.array(given, dtype="string"), pandas.Series(given), given):
        fitted = poise.PWLL(k=5).fit(X, y)
        assert fitted.transduction_.tolist() == names


SIGNS = {
    "numbers": 2 * TRUTH - 1,
    "floats": 2.0 * TRUTH - 1,
    "a list": (2 * TRUTH - 1).tolist(),
    "text": (2 * TRUTH - 1).astype(str),
}


@pytest.mark.parametrize("y", list(SIGNS.values()), ids=list(SIGNS))
def test_minus_one_as_a_class_is_warned_about(X, y):
    warned = pytest.warns(UserWarning, match=r"-1 for 'not labelled': if -1 is a class, give it")
    with warned:
        assert len(poise.PWLL(k=5).fit(X, y).classes_) == 1
    with warned:
        poise.simulate(poise.knn_graph(X, k=5), y, budget=1)


def test_the_way_out_of_the_warning_works(X):
    y = np.where(TRUTH > 0, "yes", "no")
    assert poise.PWLL(k=5).fit(X, y).classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize(
    "y",
    [with_missing(-1), [1] * 40, [2, *[-1] * 39], [1, *[None] * 39]],
    ids=["two classes", "all labelled", "another class", "missing otherwise"],
)
def test_nothing_else_is_warned_about(X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        poise.PWLL(k=5).fit(X, y)


BAD = {
    "bytes": (np.array([b"a", b"b"])[TRUTH], "holds bytes.*decode it first"),
    "bytes among objects": ([b"a", b"b"] * 20, r"b'a' of type bytes: convert it.*\.decode\(\)"),
    "a mixed list": ([1, "a"] * 20, "mix text and numbers"),
    "a mixed array": (np.array([1, "a"] * 20, dtype=object), "mix text and numbers"),
    "truth values among numbers": ([1, True] * 20, "mix truth values and whole numbers"),
    "fractions": (np.linspace(0, 1, 40), "Unknown label type: .* holds 0.0256.*np.digitize"),
    "dates": (np.full(40, "2020-01-01", dtype="datetime64[D]"), r"type datetime64\[D\]"),
    "complex numbers": (np.full(40, 1j), "type complex128"),
    "a generator": ((i for i in range(40)), r"shape \(\): expected a 1d array"),
    "nothing": ([None] * 40, "there are no labels"),
}


@pytest.mark.parametrize(("y", "words"), list(BAD.values()), ids=list(BAD))
def test_what_is_no_class_is_refused_alike(X, y, words):
    for refuse in (
        lambda: poise.PWLL(k=5).fit(X, y),
        lambda: poise.simulate(poise.knn_graph(X, k=5), y, budget=1),
    ):
        with pytest.raises(LabelError, match=words) as caught:
            refuse()
        assert "\n" not in str(caught.value)


@every_model
def test_as_many_neighbours_as_points_are_refused_as_by_knn_graph(X, model):
    words = "k is 100000 and there are 40 points.*the largest k allowed is 39"
    with pytest.raises(InputError, match=words):
        model(k=100_000).fit(X, TRUTH)
    with pytest.raises(InputError, match=words):
        poise.knn_graph(X, k=100_000)


@pytest.mark.parametrize(
    ("model", "parameter"),
    [
        (poise.PWLL, "tau"),
        (poise.PWLL, "shift"),
        (poise.LaplaceLearning, "tau"),
        (poise.WNLL, "tau"),
        (poise.ProperlyWeighted, "tau"),
        (poise.ProperlyWeighted, "alpha"),
        (poise.ProperlyWeighted, "zeta"),
        (poise.ProperlyWeighted, "radius"),
    ],
)
@pytest.mark.parametrize("value", ["x", None, [1.0], True])
def test_parameters_that_are_no_numbers_are_named(X, model, parameter, value):
    if parameter == "shift" and value is None:
        return  # no Poisson weights: Laplace learning
    with pytest.raises(InputError, match=rf"^{parameter} is .*: it must be"):
        model(k=5, **{parameter: value}).fit(X, TRUTH)
