"""The default acquisition, and the walk that it is made of."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import poise
from poise.active.acquisition import Auto, Diffused, Margin, diffused
from poise.active.acquisition.auto import margins, worth
from poise.active.acquisition.walks import walk_ends, walk_means
from poise.errors import InputError, UnknownNameError
from poise.models.harmonic import Problem, decay_unit, solve_problems
from poise.models.poisson_weights import poisson_weights


def transition(graph):
    """Dense ``D^-1 W``, a node without neighbours staying where it is."""
    W = graph.weights.toarray()
    alone = W.sum(axis=1) == 0
    W[alone, alone] = 1.0
    return W / W.sum(axis=1, keepdims=True)


def session(graph, y, budget, **settings):
    """Questions in order, and the learner at the end."""
    learner = poise.Learner(graph, **settings)
    asked = []
    for _ in range(budget):
        (node,) = learner.ask().tolist()
        learner.tell(node, int(y[node]))
        asked.append(node)
    return asked, learner


class TestWalks:
    @pytest.mark.parametrize("steps", [0, 1, 2, 3])
    def test_means_and_ends_are_powers_of_the_transition_matrix(self, islands, steps):
        graph, _ = islands
        P = np.linalg.matrix_power(transition(graph), steps)
        values = np.random.default_rng(0).normal(size=graph.n_nodes)
        np.testing.assert_allclose(walk_means(graph, values, steps), P @ values, atol=1e-12)
        np.testing.assert_allclose(walk_ends(graph, steps), P.sum(axis=0), atol=1e-12)

    def test_nothing_passed_in_changes(self, blobs):
        graph, _ = blobs
        values = np.ones(graph.n_nodes)
        walk_means(graph, values, 2)
        assert (values == 1).all()


class TestDiffused:
    def test_constrained_nodes_count_as_certain(self, blobs):
        graph, y = blobs
        learner = poise.Learner(graph, {0: int(y[0]), 50: int(y[50])}, acquisition="margin")
        plain = np.asarray(Margin()(learner.snapshot()))
        free = np.ones(graph.n_nodes, dtype=bool)
        free[[0, 50]] = False
        plain[~free] = plain[free].min()
        expected = transition(graph) @ transition(graph) @ plain
        wrapped = poise.Learner(
            graph, {0: int(y[0]), 50: int(y[50])}, acquisition=diffused("margin")
        )
        np.testing.assert_allclose(wrapped.acquisition(wrapped.snapshot()), expected, atol=1e-9)

    def test_passes_over_an_outlier_that_the_acquisition_asks_for(self):
        """A far point between two labelled crowds: the smallest norm asks it, the mean does not."""
        rng = np.random.default_rng(1)
        crowds = [rng.normal(c, 0.1, (60, 2)) for c in ((0, 0), (4, 0))]
        X = np.concatenate([*crowds, [[2.0, 6.0]]])
        graph = poise.knn_graph(X, k=8)
        outlier = len(X) - 1
        known = {0: "a", 1: "a", 2: "a", 60: "b", 61: "b", 62: "b"}
        alone = poise.Learner(graph, known, acquisition="norm", tau=1e-3)
        assert outlier in alone.ask(3)
        assert outlier not in poise.Learner(graph, known, acquisition=diffused("norm")).ask(3)
        assert outlier not in poise.Learner(graph, known).ask(3)

    def test_memory_tau_and_scores_are_those_of_the_one_within(self, blobs):
        graph, y = blobs
        assert diffused("auto").tau == Auto.tau
        assert not diffused("coreset").uses_scores
        asked, _ = session(graph, y, 8, acquisition=diffused("typicality", t=0))
        same, _ = session(graph, y, 8, acquisition="typicality")
        assert len(set(asked) & set(same)) >= 6  # constrained nodes count as certain

    def test_by_name_through_json_and_with_parameters(self, blobs):
        graph, y = blobs
        _, learner = session(graph, y, 5, acquisition=Diffused("norm", t=3), tau=1e-2)
        again = poise.Learner.from_json(graph, learner.to_json())
        assert again.acquisition == learner.acquisition == diffused("norm", 3)
        assert again.ask() == learner.ask()

    def test_bad_parameters(self):
        with pytest.raises(InputError, match="t is -1"):
            diffused("norm", -1)
        with pytest.raises(UnknownNameError, match="no acquisition is called 'nrm'"):
            diffused("nrm")


class TestAuto:
    def test_formula(self, blobs):
        graph, y = blobs
        known = {0: int(y[0]), 50: int(y[50]), 100: int(y[100])}
        learner = poise.Learner(graph, known)
        gamma = poisson_weights(graph, [np.array([0, 50, 100])], relative=True)[:, 0]
        tau = 0.01 * np.median(gamma * (graph.weights @ gamma))
        problem = Problem(((0,), (50,), (100,)), tau, 1e-5 * -(gamma - gamma.mean()).min())
        (columns,) = solve_problems(graph, [problem])
        U = 1 - margins(columns.values)
        U[[0, 50, 100]] = 0
        P = transition(graph)
        reach = np.minimum(np.linalg.matrix_power(P, 2).sum(axis=0), 2.0)
        squares = cdist(graph.features, graph.features, "sqeuclidean")
        apart = [np.sort(squares[i, [0, 50, 100]])[1] for i in (0, 50, 100)]
        width = min(np.median(squares[squares > 0]) / 2, np.median(np.sqrt(apart)) ** 2)
        kernel = np.exp(-squares / width)
        covered = kernel[:, [0, 50, 100]].max(axis=1)
        gain = np.maximum(kernel - covered, 0) @ (U / U.sum())
        expected = P @ P @ U * reach ** (0.5 * 3 / (3 + 30)) * worth(graph, 3)
        expected *= np.maximum(gain, 1e-12) ** (0.3 * 3 / (3 + 10))
        free = ~np.isin(np.arange(120), [0, 50, 100])
        values = Auto()(learner.snapshot())
        np.testing.assert_allclose(values[free], expected[free], atol=1e-4)

    @pytest.mark.parametrize("factor", [1e-6, 1e-3, 1e4])
    def test_the_scale_of_the_weights_does_not_matter(self, blobs, factor):
        graph, y = blobs
        scaled = poise.Graph.from_weights(graph.weights * factor)
        plain = poise.Graph.from_weights(graph.weights)
        assert session(scaled, y, 25)[0] == session(plain, y, 25)[0]

    @pytest.mark.parametrize("k", [5, 10, 20, 50])
    def test_few_labels_are_enough_whatever_k(self, k):
        rng = np.random.default_rng(3)
        centres = rng.normal(size=(6, 4)) * 3
        y = np.repeat(np.arange(6), 100)
        graph = poise.knn_graph(centres[y] + rng.normal(size=(600, 4)) * 0.5, k=k)
        _, learner = session(graph, y, 15)
        assert (learner.predictions == y).mean() > 0.95

    def test_finds_a_rare_class(self):
        """1% of the pool, a crowd of its own at the edge of another."""
        rng = np.random.default_rng(5)
        sizes = (495, 495, 10)
        centres = np.array([[0, 0], [6, 0], [0, 4.5]])
        y = np.repeat(np.arange(3), sizes)
        graph = poise.knn_graph(centres[y] + rng.normal(size=(1000, 2)) * 0.7, k=8)
        asked, _ = session(graph, y, 40)
        assert 2 in y[asked]

    def test_is_shown_by_what_was_changed(self):
        assert repr(Auto()) == "Auto()"
        assert repr(Auto(steps=3, gain=0.0)) == "Auto(steps=3, gain=0.0)"

    def test_asks_for_the_middle_of_what_is_not_covered(self):
        """Of two clusters without a label, the larger; without features, either may be first."""
        rng = np.random.default_rng(2)
        y = np.repeat(np.arange(3), (100, 300, 30))
        X = np.array([[0, 0], [9, 0], [0, 9]])[y] + rng.normal(size=(430, 2))
        graph = poise.knn_graph(X, k=8)
        known = dict.fromkeys(range(0, 100, 4), 0)
        gained = Auto()(poise.Learner(graph, known).snapshot())
        (first,) = poise.Learner(graph, known).ask()
        assert y[first] == 1
        assert np.linalg.norm(X[first] - [9, 0]) < 1.0
        alone = poise.Graph.from_weights(graph.weights)
        plain = Auto(gain=0.0)(poise.Learner(graph, known).snapshot())
        np.testing.assert_allclose(Auto()(poise.Learner(alone, known).snapshot()), plain, atol=1e-6)
        assert gained[y == 2].max() < gained[y == 1].max()

    def test_points_that_all_coincide_are_asked_by_the_rest_of_the_rule(self):
        graph = poise.knn_graph(np.zeros((30, 2)), k=5)
        asked, _ = session(graph, np.arange(30) % 2, 10)
        assert len(set(asked)) == 10

    def test_a_sample_that_is_used_up_is_replaced(self, blobs):
        graph, y = blobs
        asked, _ = session(graph, y, 20, acquisition=Auto(sample=5))
        assert len(set(asked)) == 20

    def test_passes_over_a_hub(self):
        """Everyone listens to it, and it belongs to none of the clusters."""
        rng = np.random.default_rng(7)
        y = np.repeat(np.arange(6), 60)
        centres = rng.normal(size=(6, 3)) * 4
        inner = poise.knn_graph(centres[y] + rng.normal(size=(360, 3)), k=8).weights
        hub = scipy.sparse.csr_array(np.full((1, 360), 0.1))
        graph = poise.Graph.from_weights(scipy.sparse.block_array([[inner, hub.T], [hub, None]]))
        truth = np.append(y, 0)
        sessions = {
            most: session(graph, truth, 30, acquisition=Auto(most=most)) for most in (2, 1e9)
        }
        (asked, learner), (asked_with_hubs, _) = sessions.values()
        assert 360 in asked_with_hubs
        assert 360 not in asked
        assert (learner.predictions == truth).mean() > 0.9

    def test_bad_parameters(self):
        with pytest.raises(InputError, match="most is 0: it must be positive"):
            Auto(most=0)

    def test_explores_clusters_that_share_a_class(self):
        """Eight blobs in two alternating classes: margins alone settle on the first few."""
        data = poise.load_dataset("blobs")
        graph = poise.knn_graph(data.X, k=10)
        n_clusters_seen = {}
        for name in ("auto", "margin"):
            options = {} if name == "auto" else {"acquisition": name, "tau": 0.0}
            asked, _ = session(graph, data.classes, 30, **options)
            n_clusters_seen[name] = len(np.unique(data.clusters[asked]))
        assert n_clusters_seen["auto"] == 8
        assert n_clusters_seen["margin"] < 8

    def test_large_components_first_tiny_ones_later(self, islands):
        graph, y = islands
        asked, _ = session(graph, y, 3)
        assert y[asked].tolist() == [0, 1, 2]
        single = int(np.flatnonzero(y == 3)[0])
        asked, _ = session(graph, y, 67)
        assert single in asked
        assert asked.index(single) >= 3

    def test_explicit_tau_is_in_the_graph_s_own_units(self, blobs):
        """A number or a schedule of one's own replaces the relative decay."""
        graph, y = blobs
        known = {0: int(y[0]), 50: int(y[50])}
        learner = poise.Learner(graph, known, tau=0.5)
        (columns,) = solve_problems(graph, [Problem(((0,), (50,)), 0.5)])
        np.testing.assert_allclose(learner.scores, columns.values, atol=1e-4)
        assert poise.Learner(graph, known).tau == poise.Relative(0.01)
        assert poise.Learner(graph, known, acquisition="norm").tau == poise.Constant(1e-3)

    def test_several_people_before_the_first_answer(self, blobs):
        graph, y = blobs
        learner = poise.Learner(graph)
        batch = learner.ask(6)
        assert len({int(y[i]) for i in batch}) == 3
        assert len(set(batch.tolist())) == 6

    def test_same_questions_through_undo_copy_and_json(self, blobs):
        graph, y = blobs
        asked, learner = session(graph, y, 12)
        learner.undo()
        learner.tell(asked[-1], int(y[asked[-1]]))
        twin = learner.copy()
        again = poise.Learner.from_json(graph, learner.to_json())
        assert learner.ask() == twin.ask() == again.ask()

    @pytest.mark.parametrize("anticipate", [True, False])
    def test_anticipating_changes_nothing(self, blobs, anticipate):
        graph, y = blobs
        asked, _ = session(graph, y, 15, anticipate=anticipate)
        assert asked == session(graph, y, 15)[0]


class TestRelative:
    def test_unit_is_the_median_reweighted_degree_of_reached_nodes(self, islands):
        graph, y = islands
        node = int(np.flatnonzero(y == 0)[0])
        gamma = poisson_weights(graph, [np.array([node])])[:, 0]
        strengths = gamma * (graph.weights @ gamma)
        assert decay_unit(gamma, graph.weights @ gamma, y == 0) == np.median(strengths[y == 0])

    @given(st.floats(1e-8, 1e8))
    def test_weights_scale_with_the_graph(self, factor):
        graph = poise.knn_graph(np.random.default_rng(0).normal(size=(60, 2)), k=6)
        scaled = poise.Graph.from_weights(graph.weights * factor)
        nodes = [np.array([0, 7])]
        plain = poisson_weights(graph, nodes, relative=True)
        np.testing.assert_allclose(poisson_weights(scaled, nodes, relative=True) * factor, plain)

    def test_joined_schedules_are_of_one_kind(self, blobs):
        graph, y = blobs
        joined = poise.Joined((poise.Relative(0.01), poise.Relative(0.001)), (5,))
        assert session(graph, y, 5, tau=joined)[0] == session(graph, y, 5)[0]
        assert joined.relative
        with pytest.raises(InputError, match="some parts are relative"):
            poise.Joined((poise.Relative(0.01), 0.0), (5,))

    def test_loose_weights_are_not_reused_where_tight_ones_are_needed(self, blobs):
        graph, _ = blobs
        loose, tight = Problem(((0,), (50,)), rtol=1e-2), Problem(((0,), (50,)))
        (rough,) = solve_problems(graph, [loose])
        (after,) = solve_problems(graph, [tight], {loose: rough})
        (fresh,) = solve_problems(graph, [tight])
        assert (after.values == fresh.values).all()
        both = solve_problems(graph, [tight, loose])
        assert (both[0].values == fresh.values).all()
        assert (both[1].values == rough.values).all()
