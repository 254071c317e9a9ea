"""The estimated accuracy: its interval holds the truth, and is narrower than the audit's own."""

from itertools import product

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom, binomtest

import poise
from poise.active.accuracy import (
    _mid_distribution,
    confidence,
    draw_audit,
    estimate_accuracy,
    exact_interval,
    held_out_scores,
)
from poise.errors import InputError, LabelError
from poise.experiments.efficiency.estimation import measure, measure_audit, summarise
from poise.models.pwll import pwll

MANY = 10**6


def population(rng, n, level, slope=1.0):
    """Confidences, and which predictions are right: the surer, the more often."""
    c = rng.beta(0.7, 0.7, size=n)
    right = rng.random(n) < expit(level + slope * np.log((c + 0.02) / (1.02 - c)))
    return c, right


def sessions(n_sessions, n_audited, seed, change=lambda rng, c: c):
    """(covers, width, exact width) of audits of populations with accuracies of 0.5 to 1."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n_sessions):
        c, right = population(rng, 800, level=rng.uniform(0.0, 5.0))
        c = change(rng, c)
        audited = draw_audit(np.arange(800), n_audited, int(rng.integers(MANY)))
        rest = np.setdiff1d(np.arange(800), audited)
        estimate = estimate_accuracy(right[audited], c[audited], c[rest])
        low, high = estimate.exact
        assert estimate.low <= estimate.value <= estimate.high
        rows.append(
            (estimate.low <= right[rest].mean() <= estimate.high, estimate.width, high - low)
        )
    return np.array(rows, dtype=float).mean(axis=0)


@pytest.mark.parametrize("n_audited", [20, 60])
def test_it_covers_and_is_narrower_than_the_exact_interval(n_audited):
    coverage, width, exact = sessions(400, n_audited, seed=n_audited)
    assert coverage >= 0.93
    assert width < 0.9 * exact


@pytest.mark.parametrize(
    "change",
    [lambda rng, c: rng.permutation(c), lambda rng, c: 1 - c, lambda rng, c: np.round(c)],
    ids=["useless", "reversed", "overconfident"],
)
def test_wrong_confidences_cost_width_not_coverage(change):
    coverage, width, exact = sessions(300, 40, seed=3, change=change)
    assert coverage >= 0.93
    assert width < 1.02 * exact


def test_the_audit_finds_out_whether_confidences_are_of_use():
    rng = np.random.default_rng(0)
    c, right = population(rng, 2000, level=1.0)
    useful = estimate_accuracy(right[:300], c[:300], c[300:])
    useless = estimate_accuracy(right[:300], rng.permutation(c[:300]), c[300:])
    assert useful.slope > 0.7
    assert useless.slope < 0.3
    assert useful.width < 0.9 * useless.width


@pytest.mark.parametrize("n", [1, 20, 60])
def test_when_all_are_right_the_interval_is_that_of_a_binomial_share(n):
    estimate = estimate_accuracy(np.ones(n), np.full(n, 0.5), np.full(MANY, 0.5))
    assert estimate.value == estimate.high == 1
    # Half the probability that all are right is a tail of 2.5%.
    assert estimate.low == pytest.approx(0.05 ** (1 / n), abs=1e-4)
    wrong = estimate_accuracy(np.zeros(n), np.full(n, 0.5), np.full(MANY, 0.5))
    assert (wrong.value, wrong.low) == (0, 0)
    assert wrong.high == pytest.approx(1 - estimate.low, abs=1e-4)


@pytest.mark.parametrize(("right", "n"), [(12, 20), (19, 20), (3, 60), (45, 60)])
def test_constant_confidences_say_nothing(right, n):
    """What remains is the binomial mid-P interval, widened a little: two numbers were fitted."""
    z = np.arange(n) < right
    estimate = estimate_accuracy(z, np.full(n, 0.9), np.full(MANY, 0.9))
    assert estimate.value == pytest.approx(right / n)

    def mid(theta):
        return binom.cdf(right - 1, n, theta) + binom.pmf(right, n, theta) / 2

    assert mid(estimate.low) > 0.975 > mid(estimate.low + 0.25 * estimate.width)
    assert mid(estimate.high) < 0.026 < mid(estimate.high - 0.25 * estimate.width)
    assert estimate.width < 1.05 * (estimate.exact[1] - estimate.exact[0])


def test_more_answers_narrow_it_and_a_higher_level_widens_it():
    rng = np.random.default_rng(1)
    c, right = population(rng, 5000, level=2.0)
    few, many = (estimate_accuracy(right[:n], c[:n], c[n:]) for n in (20, 200))
    assert many.width < 0.6 * few.width
    assert estimate_accuracy(right[:20], c[:20], c[20:], level=0.99).width > few.width


def test_a_small_pool_may_differ_from_what_was_audited():
    z, c = np.arange(40) < 30, np.full(40, 0.5)
    widths = [estimate_accuracy(z, c, np.full(n, 0.5)).width for n in (10, 100, 1000)]
    assert widths[0] > 1.3 * widths[1] > 1.3 * widths[2]


def test_an_audit_that_met_harder_items_is_corrected():
    """Questions asked after an audit take hard items out of the pool: the pool has easier ones."""
    rng = np.random.default_rng(2)
    c, right = population(rng, 4000, level=1.0)
    pool = c[1000:] > 0.4
    estimate = estimate_accuracy(right[:1000], c[:1000], c[1000:][pool])
    truth = right[1000:][pool].mean()
    assert estimate.low <= truth <= estimate.high
    assert estimate.exact[1] < truth


def test_the_distribution_is_that_of_unequal_tosses():
    p = np.array([0.2, 0.5, 0.9, 0.35])
    mass = np.zeros(5)
    for outcome in product([0, 1], repeat=4):
        mass[sum(outcome)] += np.prod(np.where(outcome, p, 1 - p))
    for k in range(5):
        assert _mid_distribution(p, k) == pytest.approx(mass[:k].sum() + mass[k] / 2)
    middle = (_mid_distribution(p, 1) + _mid_distribution(p, 2)) / 2
    assert _mid_distribution(p, 1.5) == pytest.approx(middle)


@pytest.mark.parametrize(("right", "n"), [(0, 7), (3, 7), (7, 7), (38, 40)])
def test_the_exact_interval_is_scipys(right, n):
    expected = binomtest(right, n).proportion_ci(0.9, method="exact")
    assert exact_interval(right, n, 0.9) == pytest.approx((expected.low, expected.high))


def test_an_audit_draws_every_item_alike_and_none_twice():
    nodes = np.array([3, 5, 8, 13])
    drawn = np.array([draw_audit(nodes, 3, [seed, 1]) for seed in range(2000)])
    assert all(len(set(row)) == 3 for row in drawn)
    for place in drawn.T:
        counts = np.array([(place == node).sum() for node in nodes])
        # Five standard deviations of a count with probability 1/4.
        assert np.abs(counts - 500).max() < 5 * np.sqrt(2000 * 3 / 16)
    assert sorted(draw_audit(nodes, 9, 0)) == nodes.tolist()
    assert (draw_audit(nodes, 3, 4) == draw_audit(nodes[::-1], 3, 4)).all()


def test_confidence_is_the_margin_of_normalised_scores():
    scores = [[0.6, 0.2, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 2.0]]
    assert confidence(scores) == pytest.approx([0.5, 0.0, 0.25])
    assert confidence([[0.3], [0.0]]) == pytest.approx([1.0, 0.0])


def test_held_out_scores_come_from_a_model_without_the_node():
    seen = []

    def fit(nodes, codes):
        seen.append(dict(zip(nodes.tolist(), codes.tolist(), strict=True)))
        return np.full((10, 2), float(nodes.sum()))

    scores = held_out_scores(fit, [4, 7, 9], [0, 1, 0], np.array([9, 4]))
    assert seen == [{4: 0, 7: 1}, {7: 1, 9: 0}]
    assert scores.tolist() == [[11.0, 11.0], [16.0, 16.0]]


def test_held_out_scores_need_labels():
    with pytest.raises(LabelError, match="node 3 is held out but has no label"):
        held_out_scores(lambda nodes, codes: np.zeros((9, 2)), [4, 7], [0, 1], np.array([3]))
    with pytest.raises(LabelError, match="a code per node"):
        held_out_scores(lambda nodes, codes: np.zeros((9, 2)), [4, 7], [0], np.array([4]))
    with pytest.raises(LabelError, match="there is one label"):
        held_out_scores(lambda nodes, codes: np.zeros((9, 2)), [4], [0], np.array([4]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [], [0.5]), "no audit answers"),
        (([1], [0.5], []), "no unlabelled items"),
        (([1, 0], [0.5], [0.5]), r"right has shape \(2,\): expected \(1,\)"),
        (([2], [0.5], [0.5]), "true or false"),
        (([1], [1.5], [0.5]), "audited has shape"),
        (([1], [0.5], [np.nan]), "unlabelled has shape"),
        (([1], [0.5], [0.5], 95), "level is 95"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(InputError, match=message):
        estimate_accuracy(*arguments)


def test_nothing_left_to_audit_is_an_error():
    with pytest.raises(InputError, match="nothing is left to audit"):
        draw_audit([], 3, 0)
    with pytest.raises(InputError, match="n is 0"):
        draw_audit([1], 0, 0)
    with pytest.raises(InputError, match="expected"):
        confidence([1.0, 2.0])


@pytest.fixture(scope="module")
def overlapping():
    """Two classes that overlap, and PWLL as a function of the labels."""
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1], 150)
    graph = poise.knn_graph(rng.normal(size=(300, 2)) + 2.2 * y[:, None], k=8)

    def fit(nodes, codes):
        given = dict(zip(nodes.tolist(), codes.tolist(), strict=True))
        return pwll(graph, poise.Labels.of(given, 300, classes=[0, 1])).scores

    return y, fit


def test_a_session_is_measured_on_the_items_without_a_label(overlapping):
    y, fit = overlapping
    asked, audited = np.array([0, 20, 200, 299]), np.arange(5, 300, 15)
    measured = measure(fit, y, asked, audited)
    nodes = np.concatenate([asked, audited])
    rest = np.setdiff1d(np.arange(300), nodes)
    assert measured.truth == (fit(nodes, y[nodes]).argmax(axis=1) == y)[rest].mean()
    right = 0
    for node in audited:
        others = nodes[nodes != node]
        right += fit(others, y[others])[node].argmax() == y[node]
    assert 0 < right < len(audited), "held out, not known: some are wrong"
    assert (measured.exact_low, measured.exact_high) == exact_interval(right, len(audited))
    assert (measured.n_labels, measured.n_audited) == (4, 20)


def test_sessions_are_summarised(overlapping):
    y, fit = overlapping
    rows = [measure_audit(fit, y, np.array([0, 20, 200, 299]), 20, seed) for seed in range(5)]
    means = summarise(rows)
    assert means.n_sessions == 5
    assert means.coverage == np.mean([row.low <= row.truth <= row.high for row in rows])
    assert means.exact_coverage == np.mean([row.exact_covers for row in rows])
    assert means.width == pytest.approx(np.mean([row.high - row.low for row in rows]))
    assert means.exact_width == pytest.approx(
        np.mean([row.exact_high - row.exact_low for row in rows])
    )
    assert means.error == pytest.approx(np.mean([abs(row.value - row.truth) for row in rows]))
    assert len({row.truth for row in rows}) > 1, "other audits, other labels"
