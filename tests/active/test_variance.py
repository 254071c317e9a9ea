"""The variance family against dense linear algebra and against graphlearning."""

from dataclasses import replace

import numpy as np
import pytest

import poise
from poise.active.acquisition.variance.covariance import AnswerModel, Statistics
from poise.active.acquisition.variance.criteria import (
    model_change,
    sum_reduction,
    variance_reduction,
)
from poise.active.acquisition.variance.dense import dense
from poise.active.acquisition.variance.projection import Projection
from poise.active.acquisition.variance.sketch import ask, sketch
from poise.active.acquisition.variance.truncated import Truncation
from poise.errors import InputError

MODELS = ["hard", "soft"]
#: Makes small graphs use the projections that large ones need.
SKETCHED = {"dense": 0}


@pytest.fixture(scope="module")
def cloud():
    """500 points in three dimensions, three clusters of different size; one component."""
    rng = np.random.default_rng(3)
    centres = np.array([[0, 0, 0], [3.0, 0, 0], [0, 3.0, 0]])
    y = rng.choice(3, 500, p=[0.6, 0.3, 0.1])
    graph = poise.knn_graph(centres[y] + rng.normal(size=(500, 3)), k=10)
    assert graph.n_components == 1
    return graph, y


@pytest.fixture(scope="module")
def peer():
    """graphlearning's acquisition functions."""
    reason = "needs the package graphlearning"
    return pytest.importorskip("graphlearning.active_learning", reason=reason)


def dense_covariance(graph, model, asked):
    """``C`` of the definition, by inverting; zero rows where it has none."""
    n = graph.n_nodes
    L = graph.laplacian().toarray()
    if model.name == "soft":
        return np.linalg.inv(L + np.diag(model.diagonal(graph, np.array(asked, dtype=int))))
    C = np.zeros((n, n))
    free = np.flatnonzero(model.free(graph, np.array(asked, dtype=int)))
    C[np.ix_(free, free)] = np.linalg.inv(L[np.ix_(free, free)])
    return C


def statistics(C, s2):
    return Statistics((C * C).sum(axis=0), C.sum(axis=0), np.diag(C).copy(), s2)


def matrix(projection: Projection) -> np.ndarray:
    return np.array([projection.row(k) for k in range(len(projection.norms))])


@pytest.mark.parametrize("model", [AnswerModel("hard"), AnswerModel("soft")])
@pytest.mark.parametrize("given", [[], [5], [5, 60]])
def test_sketch_follows_the_covariance(islands, model, given):
    """Asking a node changes the projections as solving afresh with the same signs would."""
    graph, _ = islands
    L = graph.laplacian().toarray()
    state = sketch(graph, model, np.array(given, dtype=int), 16, seed=0)
    signs = L @ matrix(state.spread) + model.diagonal(graph, np.array(given, dtype=int))[
        :, None
    ] * matrix(state.spread)
    edges = L @ matrix(state.factor)
    for node in (3, 40, 41, 66):
        state = ask(state, node)
        C = dense_covariance(graph, model, state.asked)
        free = model.free(graph, np.array(state.asked, dtype=int))
        np.testing.assert_allclose(state.totals[free], C.sum(axis=0)[free], rtol=1e-6)
        for projection in (state.spread, state.factor):
            Z = matrix(projection)
            rows = Z if projection.S is None else projection.S @ Z
            norms = (rows**2).sum(axis=1)
            np.testing.assert_allclose(projection.norms, norms, rtol=1e-5, atol=1e-6)
        if model.name == "hard":
            # A centred right-hand side has lost its mean, which only matters at the asked nodes.
            reached = free & np.isin(graph.components, graph.components[given])
            expected = C @ np.where(free[:, None], signs, 0.0)
            np.testing.assert_allclose(
                matrix(state.spread)[reached], expected[reached], rtol=1e-3, atol=1e-5
            )
            expected = C @ np.where(free[:, None], edges, 0.0)
            np.testing.assert_allclose(
                matrix(state.factor)[reached], expected[reached], rtol=1e-3, atol=1e-5
            )


@pytest.mark.parametrize("model", [AnswerModel("hard"), AnswerModel("soft")])
@pytest.mark.parametrize("given", [[], [5]])
def test_estimates_are_unbiased(islands, model, given):
    """Also after first questions in components that had none, where the inverse changes kind."""
    graph, _ = islands
    state = sketch(graph, model, np.array(given, dtype=int), 4_000, seed=1)
    for node in (3, 40, 41, 66):
        state = ask(state, node)
    C = dense_covariance(graph, model, state.asked)
    free = model.free(graph, np.array(state.asked, dtype=int))
    free[list(state.asked)] = False  # the soft model has rows for them, nobody asks again
    exact, estimated = statistics(C, model.s2), state.estimate()
    np.testing.assert_allclose(estimated.squares[free], exact.squares[free], rtol=0.12)
    np.testing.assert_allclose(estimated.variances[free], exact.variances[free], rtol=0.12)
    np.testing.assert_allclose(estimated.sums[free], exact.sums[free], rtol=1e-6)


@pytest.mark.parametrize("model", [AnswerModel("hard"), AnswerModel("soft")])
@pytest.mark.parametrize("given", [[], [5], [5, 60, 3]])
def test_the_dense_form_is_the_covariance(islands, model, given):
    """Statistics of every node through updates, in components with and without asked nodes."""
    graph, _ = islands
    state = dense(graph, model, np.array(given, dtype=int))
    asked = list(given)
    for node in (7, 40, 41, 66, 11):
        state = state.ask(node)
        asked.append(node)
        C = dense_covariance(graph, model, asked)
        free = model.free(graph, np.array(asked, dtype=int))
        exact, tracked = statistics(C, model.s2), state.statistics()
        for name in ("squares", "sums", "variances"):
            expected = getattr(exact, name)[free]
            np.testing.assert_allclose(getattr(tracked, name)[free], expected, rtol=1e-6)
        k = int(np.flatnonzero(free)[3])
        np.testing.assert_allclose(state.column(k)[free], C[free, k], rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("name", ["vopt", "sigmaopt"])
@pytest.mark.parametrize("model", MODELS)
def test_every_question_is_nearly_the_best(cloud, name, model):
    graph, y = cloud
    criterion = {"vopt": variance_reduction, "sigmaopt": sum_reduction}[name]
    acquisition = poise.acquisitions.make(name, model=model, **SKETCHED)
    learner = poise.Learner(graph, {0: int(y[0])}, acquisition=acquisition)
    for _ in range(25):
        C = dense_covariance(graph, acquisition._answers(), list(learner.labels))
        exact = criterion(statistics(C, acquisition._answers().s2))
        exact[list(learner.labels)] = 0
        (node,) = learner.ask()
        assert exact[node] >= 0.99 * exact.max()
        learner.tell(node, int(y[node]))


def test_values_are_exact_where_it_matters(cloud):
    """The best value is the criterion's own, and no estimate comes before it."""
    graph, y = cloud
    vopt = poise.acquisitions.make("vopt", **SKETCHED)
    learner = poise.Learner(graph, {0: int(y[0]), 9: int(y[9])}, acquisition=vopt)
    snapshot = learner.snapshot()
    values = learner.acquisition(snapshot)
    exact = variance_reduction(statistics(dense_covariance(graph, AnswerModel(), [0, 9]), 0.0))
    kept = list(snapshot.memory.columns)
    np.testing.assert_allclose(values[kept], exact[kept], rtol=1e-6)
    assert np.argmax(np.where(snapshot.candidates, values, -1)) in kept


def test_a_shortlist_that_may_not_be_asked_is_judged_anew(cloud):
    graph, y = cloud
    vopt = poise.acquisitions.make("vopt", **SKETCHED)
    learner = poise.Learner(graph, {0: int(y[0])}, acquisition=vopt)
    kept = list(learner.snapshot().memory.columns)
    learner.exclude(kept)
    (node,) = learner.ask()
    exact = variance_reduction(statistics(dense_covariance(graph, AnswerModel(), [0]), 0.0))
    exact[[0, *kept]] = 0
    assert exact[node] >= 0.97 * exact.max()


@pytest.mark.parametrize("name", ["mc", "mcvopt"])
@pytest.mark.parametrize(("form", "parameters"), [("", {}), ("", SKETCHED), ("-subset", {})])
def test_uncertainty_is_a_factor(cloud, name, form, parameters):
    graph, y = cloud
    criterion = {"mc": model_change, "mcvopt": variance_reduction}[name]
    given = {int(i): int(y[i]) for i in [np.flatnonzero(y == c)[0] for c in range(3)]}
    acquisition = poise.acquisitions.make(name + form, **parameters)
    learner = poise.Learner(graph, given, acquisition=acquisition)
    exact = criterion(statistics(dense_covariance(graph, AnswerModel(), list(given)), 0.0))
    exact *= 1.0 + poise.acquisitions.make("margin")(learner.snapshot())
    exact[list(given)] = 0
    (node,) = learner.ask()
    assert exact[node] >= 0.99 * exact.max()


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        *[(name, given) for name in ("vopt", "sigmaopt") for given in ({}, SKETCHED)],
        ("vopt-subset", {}),
        ("sigmaopt-subset", {}),
    ],
)
def test_without_labels_the_centre_of_the_largest_component_comes_first(islands, name, parameters):
    graph, _ = islands
    resistance = np.diag(np.linalg.pinv(graph.laplacian().toarray()))
    acquisition = poise.acquisitions.make(name, **parameters)
    learner = poise.Learner(graph, {}, acquisition=acquisition)
    for component in range(graph.n_components):
        (node,) = learner.ask()
        members = np.flatnonzero(graph.components == component)
        assert node in members
        assert resistance[node] <= 1.25 * resistance[members].min() + 1e-12
        learner.tell(node, "a")


def test_subset_looks_at_no_more_than_its_size(cloud):
    graph, y = cloud
    learner = poise.Learner(
        graph, {0: int(y[0])}, acquisition=poise.acquisitions.make("vopt-subset", size=20)
    )
    snapshot = learner.snapshot()
    values = learner.acquisition(snapshot)
    judged = np.flatnonzero(values > 0)
    assert len(judged) == 20
    exact = variance_reduction(statistics(dense_covariance(graph, AnswerModel(), [0]), 0.0))
    np.testing.assert_allclose(values[judged], exact[judged], rtol=1e-6)


class TestTruncated:
    @pytest.mark.parametrize("normalisation", ["combinatorial", "normalised", "random-walk"])
    @pytest.mark.parametrize("model", MODELS)
    @pytest.mark.parametrize("name", ["vopt", "sigmaopt", "mc", "mcvopt"])
    def test_agrees_with_a_dense_computation(self, cloud, normalisation, model, name):
        graph, y = cloud
        acquisition = poise.acquisitions.make(
            f"{name}-truncated", m=20, normalisation=normalisation, model=model
        )
        given = {0: int(y[0]), 17: int(y[17]), 33: int(y[33])}
        learner = poise.Learner(graph, given, acquisition=acquisition)
        snapshot = learner.snapshot()
        values = acquisition.criterion(snapshot.memory.statistics())
        C = self.dense(graph, 20, normalisation, acquisition)
        for node in given:
            C = C - np.outer(C[node], C[node]) / (acquisition._answers().s2 + C[node, node])
        exact = acquisition.criterion(statistics(C, acquisition._answers().s2))
        rest = np.setdiff1d(np.arange(graph.n_nodes), list(given))
        np.testing.assert_allclose(values[rest], exact[rest], rtol=1e-8)
        if acquisition.weighted:
            exact *= 1.0 + poise.acquisitions.make("margin")(snapshot)
        shown = acquisition(snapshot)[rest]  # relative to the largest, without rounding errors
        np.testing.assert_allclose(shown, exact[rest] / exact[rest].max(), atol=1e-9)

    @staticmethod
    def dense(graph, m, normalisation, acquisition):
        L = graph.laplacian().toarray()
        roots = np.sqrt(graph.degrees)
        if normalisation != "combinatorial":
            L = L / np.outer(roots, roots)
        eigenvalues, V = np.linalg.eigh(L)
        if normalisation == "random-walk":
            V = V / roots[:, None]
        return V[:, :m] @ np.diag(1 / (eigenvalues[:m] + acquisition.epsilon)) @ V[:, :m].T

    @pytest.mark.parametrize(
        ("name", "theirs"),
        [
            ("vopt", "var_opt"),
            ("mc", "model_change"),
            ("mcvopt", "model_change_var_opt"),
        ],
    )
    def test_agrees_with_graphlearning(self, cloud, peer, name, theirs):
        graph, y = cloud
        state, other, u = self.both(graph, y, name, getattr(peer, theirs))
        candidates = np.arange(10, graph.n_nodes)
        ours = poise.acquisitions.make(f"{name}-truncated").criterion(state.statistics())
        if name != "vopt":
            ours = ours * (1 - np.abs(u[:, 0] - u[:, 1]))
        np.testing.assert_allclose(ours[candidates], other.compute(u, candidates), rtol=1e-8)

    def test_sigma_opt_sums_nodes_where_graphlearning_sums_coefficients(self, cloud, peer):
        graph, y = cloud
        state, other, u = self.both(graph, y, "sigmaopt", peer.sigma_opt)
        candidates = np.arange(10, graph.n_nodes)
        ours = sum_reduction(state.statistics())[candidates]
        theirs = other.compute(u, candidates)
        C = state.V @ state.K @ state.V.T
        np.testing.assert_allclose(ours, sum_reduction(statistics(C, 0.01))[candidates], rtol=1e-8)
        assert not np.allclose(ours, theirs, rtol=0.1)
        assert np.argmax(ours) != np.argmax(theirs)
        assert np.corrcoef(ours, theirs)[0, 1] < 0.9
        # It is the sum of the m coefficients of a column, whatever the signs of eigenvectors.
        A = state.V @ state.K
        coefficients = A.sum(axis=1) ** 2 / (0.01 + np.einsum("ij,ij->i", A, state.V))
        np.testing.assert_allclose(coefficients[candidates], theirs, rtol=1e-8)

    @staticmethod
    def both(graph, y, name, theirs):
        """The same truncation after the same three answers, ours and graphlearning's."""
        values, V = np.linalg.eigh(graph.laplacian().toarray())
        values, V = values[:20], V[:, :20]
        state = Truncation.of(values, V, epsilon=1e-3, s2=0.01)
        other = theirs(C=np.diag(1 / (values + 1e-3)), V=V, gamma2=0.01)
        for node in (1, 2, 3):
            state = state.ask(node)
        other.update([1, 2, 3], y[[1, 2, 3]])
        u = np.random.default_rng(0).dirichlet([1, 1], graph.n_nodes)
        return state, other, u

    def test_nothing_is_left_after_m_exact_answers(self, cloud):
        graph, _ = cloud
        values, V = np.linalg.eigh(graph.laplacian().toarray())
        state = Truncation.of(values[:4], V[:, :4], epsilon=1e-3, s2=0.0)
        for node in (0, 100, 200, 300, 400):
            state = state.ask(node)
        assert variance_reduction(state.statistics()).max() == 0.0

    def test_more_eigenpairs_than_nodes_are_all_of_them(self, islands):
        graph, _ = islands
        questions = [
            poise.Learner(
                graph, {0: 1}, acquisition=poise.acquisitions.make("vopt-truncated", m=m)
            ).ask(5)
            for m in (67, 1000)
        ]
        assert (questions[0] == questions[1]).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"model": "medium"}, "model is 'medium': expected 'hard' or 'soft'"),
        ({"epsilon": 0.0}, "epsilon is 0.0: it must be positive"),
        ({"noise": -1.0}, "noise is -1.0: it must be positive"),
        ({"projections": 0}, "projections is 0"),
        ({"shortlist": 0}, "shortlist is 0"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        poise.acquisitions.make("vopt", **parameters)


def test_changed_projections_leave_the_earlier_ones_alone():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(30, 5)).astype(np.float32)
    before = Projection.of(Z)
    u, w = rng.normal(size=30), rng.normal(size=5)
    after = before.changed(u, w)
    np.testing.assert_allclose(matrix(before), Z)
    np.testing.assert_allclose(matrix(after), Z + np.outer(u, w), rtol=1e-6)
    np.testing.assert_allclose(after.norms, (matrix(after) ** 2).sum(axis=1), rtol=1e-5)
    assert replace(after).base is before.base
