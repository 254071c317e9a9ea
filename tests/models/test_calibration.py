"""Held-out scores against refits, and probabilities that mean what they say."""

import dense
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from poise import PWLL, WNLL, LaplaceLearning, PoissonLearning, ProperlyWeighted
from poise.errors import InputError
from poise.experiments.efficiency.calibration import expected_calibration_error, measure
from poise.graph import Graph, knn_graph
from poise.models import Labels, pwll
from poise.models.calibration import MIN_LABELS, Calibration, to_power
from poise.models.held_out import held_out_by_refits, held_out_scores, spread_evenly
from strategies import connected_weights, labelled_graphs, random_weights, seeds, taus


def _without(labels: Labels, i: int) -> Labels:
    keep = np.arange(len(labels)) != i
    return Labels(labels.nodes[keep], labels.codes[keep], labels.classes)


@given(
    labelled_graphs(connected_weights(least=4)), taus, st.sampled_from([None, 1e-5]), st.booleans()
)
def test_the_closed_form_is_a_refit_with_the_same_weights(graph_and_labels, tau, shift, some):
    graph, labels = graph_and_labels
    W = graph.weights.toarray()
    gamma = np.ones(len(W)) if shift is None else dense.poisson_weights(W, labels.nodes, shift)
    chosen = np.arange(0, len(labels), 2 if some else 1)
    scores = held_out_scores(
        graph, labels, chosen, tau=tau, reweighted=shift is not None, rtol=1e-12
    )
    for row, i in zip(scores, chosen, strict=True):
        if len(labels) == 1:
            assert not row.any()
            continue
        refit = dense.harmonic(gamma[:, None] * W * gamma, _without(labels, i), tau)
        np.testing.assert_allclose(row, refit[labels.nodes[i]], atol=1e-6)


def test_a_label_alone_in_its_component_has_no_held_out_score():
    W = np.zeros((6, 6))
    W[:3, :3] = W[3:, 3:] = 1.0
    np.fill_diagonal(W, 0.0)
    graph = Graph.from_weights(W)
    labels = Labels.of({0: "a", 1: "b", 4: "a"}, 6)
    scores = held_out_scores(graph, labels)
    np.testing.assert_allclose(scores, [[0, 1], [1, 0], [0, 0]], atol=1e-8)


def test_at_most_so_many_labels_are_held_out(monkeypatch):
    graph = Graph.from_weights(random_weights(30, "dense", 0))
    labels = Labels.of({i: i // 2 % 2 for i in range(0, 24, 2)}, 30)
    every = held_out_scores(graph, labels)
    monkeypatch.setattr("poise.models.held_out.MOST_HELD_OUT", 5)
    some = held_out_scores(graph, labels)
    assert some.shape == (5, 2)
    np.testing.assert_allclose(some, every[spread_evenly(12, 5)], atol=1e-6)


def test_refits_hold_out_every_label_once():
    graph = Graph.from_weights(random_weights(30, "dense", 1))
    labels = Labels.of({i: i % 3 for i in range(0, 30, 2)}, 30)
    scores = held_out_by_refits(lambda fewer: pwll(graph, fewer).scores, labels, folds=15)
    for i in range(15):
        expected = dense.pwll(graph.weights.toarray(), _without(labels, i))
        np.testing.assert_allclose(scores[i], expected[labels.nodes[i]], atol=1e-5)


@given(seeds, st.floats(0.25, 16.0), st.floats(0.0, 0.9), st.floats(0.0, 0.25))
def test_no_prediction_changes(seed, power, floor, background):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(4), size=50)
    p[:20, 2] = np.nextafter(p[:20, 1], 1.0)  # entries that rounding can make equal
    p[20:25] = np.eye(4)[rng.integers(4, size=5)]
    p /= p.sum(axis=1, keepdims=True)
    q = Calibration(power, floor, background).apply(p)
    np.testing.assert_array_equal(q.argmax(axis=1), p.argmax(axis=1))
    np.testing.assert_allclose(q.sum(axis=1), 1.0)


def test_rows_that_are_kept_stay_as_they_are():
    p = np.array([[1.0, 0.0], [0.7, 0.3]])
    q = Calibration(2.0, 0.1).apply(p, np.array([True, False]))
    np.testing.assert_array_equal(q[0], p[0])
    np.testing.assert_allclose(q[1], 0.9 * np.array([0.49, 0.09]) / 0.58 + 0.05)


def test_a_background_is_taken_away():
    p = np.array([[0.6, 0.4], [0.25, 0.75]])
    q = Calibration(1.0, 0.0, 0.3).apply(p)
    np.testing.assert_allclose(q, [[0.75, 0.25], [0.025 / 0.475, 0.45 / 0.475]])


def test_classes_of_several_clusters_get_a_background():
    rng = np.random.default_rng(5)
    many = rng.dirichlet(np.full(10, 0.1), size=1_000)
    flat = 0.5 * many + 0.05  # half of every row is shared by all clusters
    grouped = flat.reshape(-1, 2, 5).sum(axis=2)
    truth = np.array([rng.choice(10, p=row) for row in many]) // 5
    fitted = Calibration.fit(grouped[100:], grouped[:100], truth[:100])
    assert fitted.background == pytest.approx(0.25, abs=0.01)
    nothing = np.zeros(900, dtype=bool)
    before = measure(grouped[100:], truth[100:], nothing).error
    assert measure(fitted.apply(grouped[100:]), truth[100:], nothing).error < before / 2


def _distorted(seed: int, power: float, n: int = 4_000, m: int = 150):
    """True probabilities, the same to the power 1/`power`, and classes drawn from the true ones."""
    rng = np.random.default_rng(seed)
    true = to_power(rng.dirichlet(np.ones(5), size=n), 2.0)
    codes = np.array([rng.choice(5, p=row) for row in true])
    given = to_power(true, 1 / power)
    return given[m:], codes[m:], given[:m], codes[:m]


# The further a distortion is from what is expected, the more labels it takes.
@pytest.mark.parametrize(("power", "labels"), [(1.0, 150), (2.0, 150), (4.0, 600)])
def test_a_known_distortion_is_undone(power, labels):
    pool, truth, held_out, codes = _distorted(0, power, m=labels)
    fitted = Calibration.fit(pool, held_out, codes)
    nothing = np.zeros(len(pool), dtype=bool)
    after = measure(fitted.apply(pool), truth, nothing).error
    assert after < 0.05
    if power > 1.0:
        assert after < measure(pool, truth, nothing).error / 2


def test_more_surprises_make_less_confident():
    pool, _, held_out, codes = _distorted(1, 2.0)
    wrong = np.where(np.arange(len(codes)) % 2, codes, (codes + 1) % 5)
    assert (
        Calibration.fit(pool, held_out, wrong).power < Calibration.fit(pool, held_out, codes).power
    )


def test_scores_need_not_be_normalised():
    pool, _, held_out, codes = _distorted(2, 2.0)
    scale = np.linspace(0.1, 3.0, len(held_out))[:, None]
    fitted = Calibration.fit(pool, held_out, codes)
    again = Calibration.fit(pool, scale * held_out, codes)
    np.testing.assert_allclose([again.power, again.floor], [fitted.power, fitted.floor])


def test_evidence_needs_enough_labels_of_two_classes():
    pool, _, held_out, codes = _distorted(3, 2.0)
    assert not Calibration().has_evidence
    assert not Calibration.fit(pool, held_out[:0], codes[:0]).has_evidence
    few = Calibration.fit(pool, held_out[: MIN_LABELS - 1], codes[: MIN_LABELS - 1])
    assert not few.has_evidence
    assert Calibration.fit(pool, held_out[:MIN_LABELS], codes[:MIN_LABELS]).has_evidence
    alike = np.flatnonzero(codes == 0)
    assert len(alike) > MIN_LABELS
    assert not Calibration.fit(pool, held_out[alike], codes[alike]).has_evidence


def test_labels_whose_class_has_no_other_label_do_not_count():
    pool, _, held_out, codes = _distorted(4, 2.0)
    rows = held_out.copy()
    rows[:100][np.arange(100), codes[:100]] = 0.0
    fitted = Calibration.fit(pool, rows, codes)
    assert fitted.held_out == len(codes) - 100


def test_one_class_is_certain():
    ones = np.ones((20, 1))
    fitted = Calibration.fit(ones, ones, np.zeros(20, dtype=np.int64))
    assert not fitted.has_evidence
    np.testing.assert_array_equal(fitted.apply(ones), ones)


def test_wrong_shapes_and_numbers_are_refused():
    p = np.full((5, 2), 0.5)
    with pytest.raises(InputError, match="a row per label"):
        Calibration.fit(p, np.full((3, 3), 1 / 3), np.zeros(3, dtype=np.int64))
    with pytest.raises(InputError, match="pass probabilities"):
        Calibration().apply(p - 1.0)


def test_calibration_error_by_hand():
    confidence = [0.5, 0.5, 0.9, 0.9]
    assert expected_calibration_error(confidence, [1, 0, 1, 1], bins=2) == pytest.approx(0.05)
    assert expected_calibration_error(confidence, [0, 0, 1, 0], bins=2) == pytest.approx(0.45)
    assert expected_calibration_error(confidence, [1, 0, 1, 1], bins=1) == pytest.approx(0.05)
    assert np.isnan(expected_calibration_error([], []))


def test_measure_looks_only_at_points_without_a_label():
    p = np.array([[0.95, 0.05], [0.95, 0.05], [0.6, 0.4], [1.0, 0.0]])
    row = measure(p, np.array([0, 1, 0, 1]), np.array([False, False, False, True]))
    assert (row.sure, row.sure_and_right) == (2, 1)
    assert row.accuracy == pytest.approx(2 / 3)
    assert row.confidence == pytest.approx(2.5 / 3)


MODELS = [PWLL, LaplaceLearning, PoissonLearning, WNLL, ProperlyWeighted]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
@pytest.mark.parametrize("priors", [None, np.full(10, 0.1)], ids=["no priors", "priors"])
def test_calibrated_classifiers_predict_the_same(model, priors):
    X, digits = load_digits(return_X_y=True)
    y = digits.copy()
    y[60:] = -1
    raw = model(k=10, class_priors=priors).fit(X[:500], y[:500])
    fitted = model(k=10, class_priors=priors, calibrate=True).fit(X[:500], y[:500])
    assert raw.calibration_ is None
    assert fitted.calibration_.has_evidence
    np.testing.assert_array_equal(fitted.transduction_, raw.transduction_)
    np.testing.assert_array_equal(fitted.predict(X[500:600]), raw.predict(X[500:600]))
    np.testing.assert_array_equal(
        fitted.label_distributions_[:60], raw.label_distributions_[:60]
    )  # labels are known
    assert not np.allclose(fitted.predict_proba(X[500:600]), raw.predict_proba(X[500:600]))
    np.testing.assert_allclose(fitted.predict_proba(X[500:600]).sum(axis=1), 1.0)


def test_classifiers_can_be_calibrated_with_one_label():
    X, _ = load_digits(return_X_y=True)
    y = np.full(100, -1)
    y[0] = 3
    fitted = PWLL(k=10, calibrate=True).fit(X[:100], y)
    assert not fitted.calibration_.has_evidence
    np.testing.assert_array_equal(fitted.label_distributions_, 1.0)


def test_on_real_features_the_error_falls():
    X, digits = load_digits(return_X_y=True)
    graph = knn_graph(X, 10)
    nodes = np.random.default_rng(0).choice(len(X), 60, replace=False)
    labels = Labels.of({int(i): int(digits[i]) for i in nodes}, len(X), range(10))
    labelled = np.zeros(len(X), dtype=bool)
    labelled[labels.nodes] = True
    raw = pwll(graph, labels).probabilities
    fitted = Calibration.fit(raw[~labelled], held_out_scores(graph, labels), labels.codes)
    assert fitted.has_evidence
    after = measure(fitted.apply(raw, labelled), digits, labelled)
    assert after.error < 0.06
    assert after.error < measure(raw, digits, labelled).error / 2
    assert after.sure_and_right >= 0.85 * after.sure > 0
