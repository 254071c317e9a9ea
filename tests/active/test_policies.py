"""Policies: which nodes they take, and how likely."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path

import poise
from poise.active.policies import KDE, EpsilonGreedy, LocalMax, Max, Proportional
from poise.active.policies.kde import density_of
from poise.active.policies.local_max import UNREACHED_HOPS, approach
from poise.active.policies.proportional import LOG_LARGEST, overflow_bound, rule
from poise.errors import InputError


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.fixture(scope="session")
def shown(blobs):
    return poise.Learner(blobs[0], {}).snapshot()


def path_graph(n):
    W = np.diag(np.ones(n - 1), 1)
    return poise.Graph.from_weights(W + W.T)


def shown_of(graph):
    return poise.Learner(graph, {}).snapshot()


VALUES = st.lists(
    st.one_of(st.just(np.nan), st.integers(-3, 3).map(float), st.floats(-1e3, 1e3)),
    min_size=120,
    max_size=120,
).filter(lambda values: not np.isnan(values).all())


@settings(max_examples=30)
@given(values=VALUES, k=st.integers(1, 130), name=st.sampled_from(list(poise.policies)))
def test_any_values_give_distinct_candidates(shown, values, k, name):
    values = np.array(values)
    before = values.copy()
    policy = poise.policies.make(name)
    chosen = policy(values, shown, k, rng())
    assert chosen.dtype == np.int64
    assert len(set(chosen.tolist())) == len(chosen) == min(k, np.count_nonzero(~np.isnan(values)))
    assert not np.isnan(values[chosen]).any()
    np.testing.assert_array_equal(chosen, policy(values, shown, k, rng()))
    np.testing.assert_array_equal(values, before)


# kde ------------------------------------------------------------------------------------------


def test_kde_never_takes_the_sparsest_tenth(blobs, shown):
    graph, _ = blobs
    distance = graph.spacing.scale
    outliers = np.argsort(distance)[-12:]
    chosen = KDE()(distance, shown, 108, rng())  # the sparsest have the largest values
    assert not set(chosen.tolist()) & set(outliers.tolist())
    assert chosen[0] == np.argsort(distance)[-13]


def test_kde_falls_back_on_outliers(blobs, shown):
    graph, _ = blobs
    order = np.argsort(graph.spacing.scale)
    outliers = order[-12:]
    values = np.full(120, np.nan)
    values[outliers] = np.arange(12.0)
    assert KDE()(values, shown, 2, rng()).tolist() == outliers[[11, 10]].tolist()
    values[order[0]] = -5.0  # the only one that is no outlier
    assert KDE()(values, shown, 2, rng()).tolist() == [order[0], outliers[11]]


def test_kde_of_no_percent_is_max(shown):
    values = rng(1).normal(size=120)
    expected = Max()(values, shown, 120, rng())
    np.testing.assert_array_equal(KDE(0)(values, shown, 120, rng()), expected)


def test_kde_densities():
    X = rng(2).normal(size=(60, 2))
    distance = np.sort(np.linalg.norm(X[:, None] - X, axis=2), axis=1)[:, 5]
    for keep in (True, False):
        graph = poise.knn_graph(X, k=5, keep_neighbours=keep)
        np.testing.assert_allclose(density_of(graph), 1 / distance, rtol=1e-5)
    graph = poise.epsilon_graph(X, radius=0.5)
    np.testing.assert_array_equal(density_of(graph), graph.degrees)
    twins = poise.knn_graph(np.repeat(X[:10], 6, axis=0), k=3)
    assert (density_of(twins) == np.inf).any()
    assert len(KDE()(np.arange(60.0), shown_of(twins), 60, rng())) == 60


def test_kde_without_distances_leaves_out_low_degrees():
    W = np.ones((20, 20)) - np.eye(20)
    W[0], W[:, 0], W[1], W[:, 1] = 0, 0, 0, 0
    W[0, 1] = W[1, 0] = 1e-3
    values = -np.arange(20.0)
    chosen = KDE()(values, shown_of(poise.Graph.from_weights(W)), 18, rng())
    assert chosen.tolist() == list(range(2, 20))


def test_kde_of_equal_densities_leaves_out_nothing():
    W = np.ones((20, 20)) - np.eye(20)
    chosen = KDE(50)(np.arange(20.0), shown_of(poise.Graph.from_weights(W)), 20, rng())
    assert chosen.tolist() == list(range(19, -1, -1))


# proportional -----------------------------------------------------------------------------------


def test_proportional_temperature_is_the_papers():
    """On A = 1 - |u| with norms from 0 to 1; the formulas of the supplement, literally."""
    norms = np.concatenate([[0.0, 1.0], rng(3).uniform(size=98)])
    A = 1 - norms
    for K in (2, 10, 30):
        percentile = next(t for t in np.sort(A) if (t >= A).mean() >= 1 - 1 / K)
        T_0 = (A.max() - percentile) / A.max()
        epsilon_o = A.max() / (np.log(np.finfo(float).max) - np.log(100))
        assert rule(A.max() - A, K) == pytest.approx(max(epsilon_o, T_0), rel=1e-12)
    steep = np.concatenate([np.ones(99), [0.0]])  # the percentile is the maximum
    assert rule(1 - steep, 10) == pytest.approx(1 / (LOG_LARGEST - np.log(100)))


@pytest.mark.parametrize("change", [lambda A: A + 7, lambda A: A - 1, lambda A: 1e-9 * A])
def test_proportional_rule_knows_neither_shift_nor_scale(shown, change):
    values = -rng(4).uniform(size=120).round(3)
    plain = Proportional()(values, shown, 20, rng(5))
    np.testing.assert_array_equal(np.sort(Proportional()(change(values), shown, 20, rng(5))),
                                  np.sort(plain))  # fmt: skip


def test_proportional_frequencies():
    graph = path_graph(5)
    snapshot = shown_of(graph)
    values = np.array([0.0, 1.0, 2.0, np.nan, 1.5])
    policy = Proportional(temperature=0.8)
    generator = rng(6)
    counts = np.bincount([policy(values, snapshot, 1, generator)[0] for _ in range(20_000)])
    p = np.where(np.isnan(values), 0, np.exp(values / 0.8))
    p = p / np.nansum(p)
    np.testing.assert_allclose(counts / 20_000, p, atol=4 * np.sqrt(0.25 / 20_000))


def test_proportional_without_replacement():
    """Probability of each pair: p_i p_j (1 / (1 - p_i) + 1 / (1 - p_j))."""
    snapshot = shown_of(path_graph(3))
    values = np.log([0.5, 0.3, 0.2])
    generator = rng(7)
    left_out = [3 - Proportional(temperature=1.0)(values, snapshot, 2, generator).sum()
                for _ in range(20_000)]  # fmt: skip
    p = np.array([0.5, 0.3, 0.2])
    pairs = [(1, 2), (0, 2), (0, 1)]
    expected = [p[i] * p[j] * (1 / (1 - p[i]) + 1 / (1 - p[j])) for i, j in pairs]
    np.testing.assert_allclose(np.bincount(left_out) / 20_000, expected, atol=0.015)


def test_proportional_emphasises_the_best(shown):
    values = np.arange(120.0)
    generator = rng(8)
    drawn = [Proportional()(values, shown, 1, generator)[0] for _ in range(500)]
    best_of_ten = [Proportional(draw=10)(values, shown, 1, generator)[0] for _ in range(500)]
    assert 100 < np.mean(drawn) < 112  # p falls by e every 12 nodes
    assert np.mean(best_of_ten) > np.mean(drawn) + 5
    assert Proportional(draw=1000)(values, shown, 3, rng()).tolist() == [119, 118, 117]


def test_proportional_of_equal_values_is_uniform(shown):
    generator = rng(9)
    drawn = {int(Proportional()(np.zeros(120), shown, 1, generator)[0]) for _ in range(1500)}
    assert len(drawn) == 120


def test_proportional_survives_huge_and_tiny_values(shown):
    for values in (np.linspace(-1e300, 1e300, 120), np.linspace(0, 1e-300, 120)):
        chosen = Proportional()(values, shown, 120, rng())
        assert sorted(chosen.tolist()) == list(range(120))


def test_proportional_refuses_a_temperature_that_overflows(shown):
    values = np.linspace(0, 1, 120)
    least = overflow_bound(1 - values)
    assert least == pytest.approx(1 / (LOG_LARGEST - np.log(120)))
    with pytest.raises(InputError, match=r"overflows; give at least 0\.00143, or") as caught:
        Proportional(temperature=1e-4)(values, shown, 1, rng())
    assert "\n" not in str(caught.value)
    for enough in (least, 0.00143):
        assert len(Proportional(temperature=enough)(values, shown, 1, rng())) == 1


def test_proportional_refuses_infinite_values(shown):
    values = np.linspace(0, 1, 120)
    values[3] = -np.inf
    with pytest.raises(InputError, match="infinite values"):
        Proportional()(values, shown, 1, rng())


# local-max --------------------------------------------------------------------------------------


def test_hops_are_those_of_a_shortest_path():
    graph = poise.knn_graph(np.random.default_rng(2).random((300, 1)), k=5)
    distance = np.full(graph.n_nodes, UNREACHED_HOPS)
    nodes = np.flatnonzero(graph.components == 0)[[2, 20, 21]].tolist()
    for node in nodes:
        approach(graph, node, distance)
    expected = shortest_path(graph.weights, unweighted=True, indices=nodes).min(axis=0)
    reached = np.isfinite(expected)
    assert not reached.all()
    assert expected[reached].max() > 5
    assert (distance[reached] == expected[reached]).all()
    assert (distance[~reached] == UNREACHED_HOPS).all()


def test_local_max_takes_the_best_of_what_is_left_around_it():
    snapshot = shown_of(path_graph(9))
    values = np.array([5.0, 6.0, 4.0, 3.0, 2.0, 1.0, 7.0, 6.5, 0.0])
    near = LocalMax(hops=1)
    assert near(values, snapshot, 2, rng()).tolist() == [6, 1]
    # 3 and 4 are beside neither; 3 is better, and then 4 is beside it. 8 is free too.
    assert near(values, snapshot, 4, rng()).tolist() == [6, 1, 3, 8]
    # Nothing is left: now neighbours may follow, best first.
    assert near(values, snapshot, 6, rng()).tolist() == [6, 1, 3, 8, 7, 0]
    assert near(values, snapshot, 50, rng()).tolist() == [6, 1, 3, 8, 7, 0, 2, 4, 5]
    # Node 0 is six hops from node 6, so the surroundings are three hops wide, then two.
    assert LocalMax()(values, snapshot, 3, rng()).tolist() == [6, 1, 3]


def test_local_max_with_surroundings_of_nothing():
    with pytest.raises(InputError, match="hops is 0"):
        LocalMax(hops=0)


def test_local_max_ignores_nodes_that_are_no_candidates():
    values = np.array([1.0, np.nan, 2.0, 1.5])
    assert LocalMax(hops=1)(values, shown_of(path_graph(4)), 2, rng()).tolist() == [2, 0]


def test_local_max_spreads_where_everything_ties(blobs, shown):
    graph, _ = blobs
    chosen = LocalMax()(np.zeros(120), shown, 8, rng())
    assert graph.weights[chosen][:, chosen].nnz == 0


def test_local_max_with_isolated_nodes():
    W = np.zeros((6, 6))
    W[1, 2] = W[2, 1] = 1.0
    graph = poise.Graph.from_weights(W)
    values = np.array([0.0, 3.0, 4.0, 1.0, 2.0, 5.0])
    assert LocalMax()(values, shown_of(graph), 6, rng()).tolist() == [5, 2, 4, 3, 0, 1]


def test_local_max_chooses_a_batch_from_one_solve(blobs, counted):
    graph, _ = blobs
    learner = poise.Learner(graph, {0: "a", 50: "b"}, policy="local-max", predict_tau=None)
    _ = learner.scores
    before = counted.solves
    chosen = learner.ask(5)
    assert len(set(chosen.tolist())) == 5
    assert counted.solves == before
    assert graph.weights[chosen][:, chosen].nnz == 0


# epsilon-greedy ---------------------------------------------------------------------------------


def test_epsilon_greedy_at_its_ends(shown):
    values = np.arange(120.0)
    assert EpsilonGreedy(0)(values, shown, 3, rng()).tolist() == [119, 118, 117]
    generator = rng(10)
    drawn = [EpsilonGreedy(1)(values, shown, 1, generator)[0] for _ in range(2000)]
    assert np.mean(drawn) == pytest.approx(59.5, abs=4)


def test_epsilon_greedy_is_random_that_often(shown):
    values = np.arange(120.0)
    generator = rng(11)
    best = [EpsilonGreedy(0.3)(values, shown, 1, generator)[0] == 119 for _ in range(3000)]
    assert np.mean(best) == pytest.approx(0.7 + 0.3 / 120, abs=0.03)
    # Anew for every node of a batch: about 7 of 10 come in order.
    greedy = [np.isin(EpsilonGreedy(0.3)(values, shown, 10, generator), range(110, 120)).sum()
              for _ in range(300)]  # fmt: skip
    assert 6.5 < np.mean(greedy) < 8


# Parameters -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: KDE(-1),
        lambda: KDE(100),
        lambda: KDE("10"),
        lambda: KDE(float("nan")),
        lambda: KDE(True),
        lambda: Proportional(K=1),
        lambda: Proportional(K=float("inf")),
        lambda: Proportional(K="10"),
        lambda: Proportional(temperature=0),
        lambda: Proportional(temperature=-1.0),
        lambda: Proportional(temperature=float("nan")),
        lambda: Proportional(temperature="hot"),
        lambda: Proportional(draw=0),
        lambda: Proportional(draw=1.5),
        lambda: EpsilonGreedy(-0.1),
        lambda: EpsilonGreedy(1.1),
        lambda: EpsilonGreedy(None),
        lambda: EpsilonGreedy(True),
    ],
)
def test_bad_parameters(make):
    with pytest.raises(InputError, match=r" is .*: it must be ") as caught:
        make()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "policy",
    [
        KDE(np.float64(20)),
        Proportional(K=np.int64(5), draw=np.int64(10)),
        Proportional(temperature=0.5),
        EpsilonGreedy(1),
    ],
)
def test_parameters_survive_json(blobs, policy):
    learner = poise.Learner(blobs[0], {0: "a"}, policy=policy)
    again = poise.Learner.from_json(blobs[0], learner.to_json())
    assert again.policy == policy == eval(repr(policy))
    assert again.ask(3).tolist() == learner.ask(3).tolist()
