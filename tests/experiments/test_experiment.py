"""Experiments: what they accept, and the one line for what they do not."""

from dataclasses import replace

import numpy as np
import pytest

import poise
from poise.errors import InputError, UnknownNameError
from poise.experiments.experiment import SEEDS, Experiment, Method, read_experiment
from poise.experiments.paper.experiments import EXPERIMENTS, SUBSETS, chosen

TOML = """
data = "digits"
k = 10
budget = 5
trials = 12
evaluate = ["choosing", "laplace"]

[[methods]]
name = "decaying"
acquisition = "norm"
tau = { name = "geometric", K = 4 }
policy = { name = "proportional", K = 3 }

[[methods]]
name = "plain"
acquisition = { name = "vopt-truncated", m = 7 }
model = "laplace"
tau = 0
"""


@pytest.fixture
def written(tmp_path):
    def write(text: str):
        path = tmp_path / "mine.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_from_toml(written):
    found = read_experiment(written(TOML))
    assert found.name == "mine"
    assert found.seeds == (*SEEDS, 51, 52)
    assert found.evaluate == ("choosing", "laplace")
    decaying, plain = found.methods
    assert decaying.tau == poise.Geometric(K=4)
    assert decaying.policy == poise.policies.make("proportional", K=3)
    assert plain.acquisition == poise.acquisitions.make("vopt-truncated", m=7)
    assert plain.tau == poise.Constant(0.0)


def test_is_frozen_hashable_and_equal(written):
    path = written(TOML)
    assert read_experiment(path) == read_experiment(path)
    assert len(set(read_experiment(path).methods)) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("budget", "bugdet"), "did you mean budget"),
        (('data = "digits"', ""), "has no data"),
        (('"norm"', '"nrom"'), "no acquisition is called 'nrom': did you mean norm"),
        (("K = 3", "Q = 3"), "has no parameter Q"),
        (('name = "proportional", ', ""), "has no name"),
        (('"laplace"]', '"laplce"]'), "no model is called 'laplce': did you mean laplace"),
        (('model = "laplace"', 'model = "wnll"'), "choose questions in pwll or laplace"),
        (('name = "plain"', 'name = "decaying"'), "decaying occurs twice"),
        (("budget = 5", "budget = 0"), "budget is 0"),
        (("trials = 12", "trials = 2\nseeds = [1]"), "both trials and seeds"),
        (("trials = 12", "seeds = []"), "no seeds"),
        (("trials = 12", "seeds = [1, 1]"), "1 occurs twice"),
        (("trials = 12", "seeds = [-1]"), "a seed is -1"),
        (('data = "digits"', 'data = "digits"\nname = "../up"'), "use letters"),
        (("tau = 0", "tau = -1"), "tau"),
        (("k = 10", "k = ["), "is not TOML"),
    ],
)
def test_mistakes_in_a_file(written, change, message):
    with pytest.raises(InputError, match=message):
        read_experiment(written(TOML.replace(*change)))


def test_no_methods(written):
    with pytest.raises(InputError, match="has no methods"):
        read_experiment(written('data = "digits"'))
    with pytest.raises(InputError, match="give each method a table"):
        read_experiment(written('data = "digits"\nmethods = "norm"'))


@pytest.mark.parametrize("budget", [1_787, 5_000])
def test_a_budget_that_cannot_be_met(budget):
    experiment = Experiment("mine", "digits", (Method("norm"),), budget=budget)
    with pytest.raises(InputError, match=r"choose a budget of at most 1,786"):
        experiment.check(experiment.load())
    replace(experiment, budget=1_786).check(experiment.load())


def test_own_file(tmp_path):
    path = tmp_path / "points.npz"
    np.savez(path, X=np.eye(6), y=np.arange(6) % 2)
    experiment = Experiment("mine", str(path), (Method("norm"),), k=2, budget=1)
    assert experiment.load().n_classes == 2
    with pytest.raises(InputError, match="k is 7"):
        replace(experiment, k=7).check(experiment.load())


def test_only_some_methods():
    blobs = EXPERIMENTS["blobs"]
    assert [m.name for m in blobs.only("sm", "norm").methods] == ["sm", "norm"]
    with pytest.raises(UnknownNameError, match="did you mean norm"):
        blobs.only("norn")


def test_the_papers_experiments():
    assert list(EXPERIMENTS)[:3] == ["blobs", "box", "isolet"]
    for experiment in EXPERIMENTS.values():
        assert experiment.seeds == SEEDS
    assert EXPERIMENTS["emnist"].budget == 400
    quick = {e.name: e for e in chosen((), trials=10, quick=True, subsets=False)}
    assert list(quick) == list(EXPERIMENTS)
    assert {len(e.seeds) for e in quick.values()} == {3}
    assert quick["emnist"].budget == 60
    assert quick["isolet"].budget == 100
    assert not any(m.group == SUBSETS for e in quick.values() for m in e.methods)
    (mnist,) = chosen(("mnist",), trials=10, quick=False, subsets=True)
    assert {"vopt-subset", "sigmaopt-subset"} <= {m.name for m in mnist.methods}


def test_unknown_figures():
    with pytest.raises(UnknownNameError, match="did you mean mnist"):
        chosen(("mnst",), trials=1, quick=False, subsets=False)
    with pytest.raises(InputError, match="leave out blobs"):
        chosen(("all", "blobs"), trials=1, quick=False, subsets=False)
