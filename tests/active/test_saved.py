"""Sessions as JSON: what is refused, and settings of one's own."""

import json

import numpy as np
import pytest

import poise
from poise.errors import InputError, WrongGraphError


def test_of_another_graph(blobs, islands):
    text = poise.Learner(blobs[0], {0: "a"}).to_json()
    with pytest.raises(WrongGraphError, match=r"another graph \(120 nodes"):
        poise.Learner.from_json(islands[0], text)


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"format": "x"}', "\x00", "[1"])
def test_not_a_learner(blobs, text):
    with pytest.raises(InputError, match="not a saved learner"):
        poise.Learner.from_json(blobs[0], text)


def test_newer_version(blobs):
    saved = json.loads(poise.Learner(blobs[0], {0: "a"}).to_json()) | {"version": 99}
    with pytest.raises(InputError, match="version 99"):
        poise.Learner.from_json(blobs[0], json.dumps(saved))


def test_contradicting_events(blobs):
    saved = json.loads(poise.Learner(blobs[0], {0: "a"}).to_json())
    saved["events"] = [{"kind": "tell", "nodes": [0], "labels": ["b"]}]
    with pytest.raises(InputError, match="contradict"):
        poise.Learner.from_json(blobs[0], json.dumps(saved))
    saved["events"] = [{"kind": "dance", "nodes": [1]}]
    with pytest.raises(InputError, match="unknown event"):
        poise.Learner.from_json(blobs[0], json.dumps(saved))


@pytest.mark.parametrize(
    "tau",
    [
        poise.Constant(0.5),
        poise.Geometric(tau_0=1e-2, epsilon=1e-8, K=7),
        poise.Joined((poise.Constant(0.1), poise.Geometric(K=3)), (5,)),
    ],
)
def test_parameters_survive(blobs, tau):
    learner = poise.Learner(
        blobs[0], {0: "a"}, tau=tau, acquisition="margin", seed=3, shift=1e-4, predict_tau=None
    )
    again = poise.Learner.from_json(blobs[0], learner.to_json())
    assert again.tau == tau
    assert (again.acquisition, again.seed, again.shift) == (learner.acquisition, 3, 1e-4)
    assert again.predict_tau is None


def test_ones_own_acquisition_must_be_passed_again(blobs):
    def mine(snapshot):
        return np.arange(120.0)

    learner = poise.Learner(blobs[0], {0: "a"}, acquisition=mine)
    text = learner.to_json()
    with pytest.raises(InputError, match=r"pass it again, from_json\(graph, text, acquisition="):
        poise.Learner.from_json(blobs[0], text)
    again = poise.Learner.from_json(blobs[0], text, acquisition=mine)
    assert again.ask().tolist() == [119]


def test_laplace_learning_is_saved_as_a_shift_of_null(blobs):
    text = poise.Learner(blobs[0], {0: "a"}, model="laplace").to_json()
    settings = json.loads(text)["settings"]
    assert settings["shift"] is None
    assert "model" not in settings
    again = poise.Learner.from_json(blobs[0], text)
    assert (again.model, again.shift) == ("laplace", 1e-5)
