"""The time that experiments will take."""

from dataclasses import replace

import numpy as np
import pytest

from poise.experiments.experiment import Experiment, Method
from poise.experiments.paper import estimate
from poise.experiments.paper.experiments import EXPERIMENTS, SUBSETS
from poise.experiments.records import Records

TABLE = {"probe": 1.0, "costs": {"toy": {"a": [4.0, 0.5], "b": [0.0, 0.1]}}}


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setattr(estimate, "known_costs", lambda: TABLE)
    methods = (Method("a"), Method("b"))
    return Experiment("toy", "digits", methods, budget=10, seeds=(2, 3))


def test_the_estimate_is_the_sum_over_methods_and_trials(toy):
    # a: 2 x (4 + 10 x 0.5) = 18, b: 2 x 10 x 0.1 = 2
    assert estimate.estimate([toy], 1) == estimate.OVERHEAD_SECONDS + 20
    assert estimate.estimate([toy], 2) == estimate.OVERHEAD_SECONDS + 10
    assert estimate.estimate([toy], 2, speed=2.0) == 2 * (estimate.OVERHEAD_SECONDS + 10)
    assert estimate.estimate([toy, toy], 1) == 2 * (estimate.OVERHEAD_SECONDS + 20)


def test_finished_trials_cost_nothing(toy):
    rows = [{"query": 0}]
    some = Records(toy, {("a", 2): rows, ("b", 2): rows, ("b", 3): rows})
    assert estimate.estimate([toy], 1, kept={"toy": some}) == estimate.OVERHEAD_SECONDS + 9
    every = Records(toy, {(m, seed): rows for m in "ab" for seed in (2, 3)})
    assert estimate.estimate([toy], 1, kept={"toy": every}) == 0


def test_an_unknown_method_costs_the_mean_of_the_others(toy):
    more = replace(toy, methods=(*toy.methods, Method("c")))
    assert estimate.estimate([more], 1) == pytest.approx(estimate.OVERHEAD_SECONDS + 30)


def test_the_table_follows_from_records(toy):
    row = {"method": "a", "seed": 2, "query": 0}
    seconds = [2.0, 0.5, 0.5, 0.5, 0.5]
    rows = [row, *({"seconds": value} for value in seconds)]
    assert estimate.costs_of([Records(toy, {("a", 2): rows})]) == {"toy": {"a": [1.5, 0.5]}}


def test_the_table_knows_the_papers_experiments():
    costs = estimate.known_costs()["costs"]
    assert set(costs) <= set(EXPERIMENTS)
    for name, experiment in EXPERIMENTS.items():
        assert all(seconds > 0 for seconds in estimate.trial_seconds(experiment).values())
        known = {m.name for m in experiment.methods if m.group != SUBSETS}
        assert known <= set(costs.get(name, known))


def test_the_probe_takes_time():
    assert np.isfinite(estimate.probe())
    assert estimate.probe() > 0
