"""Contracts that every registered acquisition function, policy and schedule keeps."""

import dataclasses
import pickle

import numpy as np
import pytest

import poise
from poise.active.acquisition import AcquisitionTraits, Margin, traits_of
from poise.active.policies import is_for_batches
from poise.active.schedules import is_relative
from poise.errors import InputError, UnknownNameError
from poise.registry import Registry


def learner_with(graph, y, **settings):
    return poise.Learner(graph, {0: int(y[0]), 50: int(y[50]), 100: int(y[100])}, **settings)


@pytest.mark.parametrize("name", list(poise.acquisitions))
class TestAcquisitions:
    def test_values(self, blobs, name):
        graph, y = blobs
        learner = learner_with(graph, y, acquisition=name)
        learner.ask(2)
        snapshot = learner.snapshot()
        values = learner.acquisition(snapshot)
        assert values.shape == (graph.n_nodes,)
        assert np.isfinite(values[snapshot.candidates]).all()
        assert (snapshot.candidates == learner.snapshot().candidates).all()

    def test_changes_nothing_it_is_shown(self, blobs, name):
        graph, y = blobs
        learner = learner_with(graph, y, acquisition=name)
        snapshot = learner.snapshot()
        scores, norms = snapshot.scores.copy(), snapshot.norms.copy()
        learner.acquisition(snapshot)
        assert (snapshot.scores == scores).all()
        assert (snapshot.norms == norms).all()

    def test_same_seed_same_queries(self, blobs, name):
        graph, y = blobs
        runs = [
            poise.simulate(graph, y, acquisition=name, budget=10, seed=4).queries for _ in range(2)
        ]
        assert (runs[0] == runs[1]).all()

    def test_uses_scores_is_honest(self, blobs, name):
        graph, y = blobs
        learner = learner_with(graph, y, acquisition=name)
        snapshot = learner.snapshot()
        learner.acquisition(snapshot)
        assert snapshot.looked_at_scores == traits_of(learner.acquisition).uses_scores

    def test_prints_pickles_hashes(self, name):
        check_value_object(poise.acquisitions.make(name))

    def test_says_what_it_needs_costs_and_is_for(self, name):
        factory = poise.acquisitions.factory(name)
        for trait in ("needs", "cost", "use"):
            text = getattr(factory, trait)
            assert 3 < len(text) < 80
            assert text[0].islower() or text[0].isdigit() or text.split()[0].isupper()


@pytest.mark.parametrize("name", list(poise.policies))
class TestPolicies:
    @pytest.mark.parametrize("k", [1, 5, 200])
    def test_distinct_candidates(self, blobs, name, k):
        graph, y = blobs
        snapshot = learner_with(graph, y).snapshot()
        rng = np.random.default_rng(0)
        values = np.where(snapshot.candidates, rng.integers(0, 5, 120), np.nan)
        chosen = poise.policies.make(name)(values, snapshot, k, np.random.default_rng(1))
        assert len(set(chosen.tolist())) == len(chosen) == min(k, snapshot.candidates.sum())
        assert snapshot.candidates[chosen].all()
        again = poise.policies.make(name)(values, snapshot, k, np.random.default_rng(1))
        assert (chosen == again).all()

    def test_prints_pickles_hashes(self, name):
        check_value_object(poise.policies.make(name))


@pytest.mark.parametrize("name", list(poise.schedules))
class TestSchedules:
    def test_values(self, name):
        schedule = poise.schedules.make(name)
        values = [schedule(n) for n in range(200)]
        assert all(isinstance(v, float) and 0 <= v < np.inf for v in values)
        assert values == [schedule(n) for n in range(200)]

    def test_prints_pickles_hashes(self, name):
        check_value_object(poise.schedules.make(name))


def check_value_object(thing):
    assert dataclasses.is_dataclass(thing)
    assert type(thing).__dataclass_params__.frozen
    assert pickle.loads(pickle.dumps(thing)) == thing
    assert hash(thing) == hash(type(thing)())
    names = {type(p).__name__: type(p) for p in [thing, poise.Constant(), Margin()]}
    assert eval(repr(thing), names) == thing


def test_max_takes_the_largest():
    graph = poise.knn_graph(np.random.default_rng(0).normal(size=(50, 2)), k=5)
    snapshot = poise.Learner(graph, {}).snapshot()
    values = np.arange(50.0)
    chosen = poise.policies.make("max")(values, snapshot, 3, np.random.default_rng(0))
    assert chosen.tolist() == [49, 48, 47]


def test_geometric_is_the_papers():
    tau = poise.Geometric(tau_0=1e-3, epsilon=1e-9, K=20)
    mu = (1e-9 / 1e-3) ** (1 / 40)
    assert tau(0) == 1e-3
    assert tau(7) == pytest.approx(1e-3 * mu**7)
    assert tau(39) > 1e-9 >= tau(40) == 0.0


def test_joined_counts_each_part_from_zero():
    tau = poise.Joined((poise.Constant(0.5), poise.Geometric(K=1)), (3,))
    assert [tau(n) for n in (0, 2, 3, 4, 5)] == [0.5, 0.5, 1e-3, pytest.approx(1e-6), 0.0]


@pytest.mark.parametrize(
    "make",
    [
        lambda: poise.Constant(-1),
        lambda: poise.Geometric(K=0),
        lambda: poise.Geometric(tau_0=1e-9, epsilon=1e-3),
        lambda: poise.Joined((poise.Constant(),), (3,)),
        lambda: poise.Joined((poise.Constant(), poise.Constant()), (0,)),
    ],
)
def test_bad_schedules(make):
    with pytest.raises(InputError):
        make()


def test_registry_refuses_twice_and_without_description():
    table: Registry[object] = Registry("thing")

    @table.register("a")
    class A:
        """Does something."""

    assert table() == {"a": "Does something."}
    with pytest.raises(InputError, match="registered already"):
        table.register("a")(A)
    with pytest.raises(InputError, match="no docstring"):
        table.register("b")(lambda: None)
    with pytest.raises(UnknownNameError, match=r"no thing is called 'c': there are a"):
        table.make("c")


def test_a_new_acquisition_takes_few_lines(blobs):
    graph, _y = blobs
    registered = dict(poise.acquisitions._factories)
    try:

        @poise.register.acquisition("degree")
        @dataclasses.dataclass(frozen=True)
        class Degree:
            """Largest degree first."""

            def __call__(self, snapshot):
                return snapshot.graph.degrees

        learner = poise.Learner(graph, {}, acquisition="degree")
        assert learner.ask()[0] == np.argmax(graph.degrees)
        assert "degree" in poise.acquisitions()
    finally:
        poise.acquisitions._factories.clear()
        poise.acquisitions._factories.update(registered)


def test_what_is_not_declared_has_a_default():
    assert traits_of(lambda snapshot: None) == AcquisitionTraits()
    assert traits_of(poise.acquisitions.make("random")).uses_scores is False
    assert traits_of(poise.acquisitions.factory("norm")).needs == "scores"
    assert not is_for_batches(poise.policies.make("max"))
    assert is_for_batches(poise.policies.make("local-max"))
    assert is_relative(poise.Relative())
    assert not is_relative(lambda n_answers: 0.1)
