"""Predictions of every item, and when a probability may be shown."""

import numpy as np
import pytest
from crowds import answer, asked, make_project, truth

import poise
from poise.active.stopping import Settled
from poise.studio.asking import predictions
from poise.studio.asking.predictions import MAX_UNSEEN_SHARE, predict
from poise.studio.asking.setup import Setup
from poise.studio.log.events import Event


@pytest.fixture(scope="module")
def crowds():
    """Three crowds that touch, and their classes."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 200)
    X = rng.normal(size=(600, 6)) + 2.5 * np.eye(3, 6)[y]
    return poise.knn_graph(X, k=10), np.array(["a", "b", "c"])[y]


def labelled(y, n, seed=0):
    nodes = np.random.default_rng(seed).permutation(len(y))[:n].tolist()
    return {node: str(y[node]) for node in nodes}


def found(crowds, n, *, surprising=None, classes=("a", "b", "c"), **options):
    graph, y = crowds
    labels = labelled(y, n)
    return predict(graph, Setup(labels, classes, **options), surprising or {})


def test_nothing_is_predicted_without_labels(crowds):
    assert found(crowds, 0) is None


def test_no_probability_without_evidence(crowds):
    early = found(crowds, 6)
    assert early.calibration is None
    name, confidence = early.of(5)
    assert name in ("a", "b", "c")
    assert confidence is None


def test_probabilities_are_calibrated(crowds):
    """On average over what happens to be labelled; scores themselves are off by more."""
    graph, y = crowds
    excess, excess_of_scores = [], []
    for seed in range(6):
        labels = labelled(y, 60, seed)
        said = predict(graph, Setup(labels, ("a", "b", "c")), {})
        assert said.calibration is not None
        rest = np.setdiff1d(np.arange(600), list(labels))
        right = (np.array(said.classes)[said.codes[rest]] == y[rest]).mean()
        excess.append(said.confidence[rest].mean() - right)
        raw = poise.Learner(graph, labels, predictor="pwll").result.probabilities
        excess_of_scores.append(raw.max(axis=1)[rest].mean() - right)
        assert said.of(int(rest[0]))[1] == round(float(said.confidence[rest[0]]), 4)
    assert abs(np.mean(excess)) < 0.05
    assert abs(np.mean(excess_of_scores)) > 0.07, "else nothing is tested"


def test_no_probability_while_many_classes_have_one_label(crowds):
    graph, y = crowds
    labels = labelled(y, 60)
    known = predict(graph, Setup(labels), {})
    assert known.calibration is not None
    rare = dict(list(labels.items())[:52]) | {node: f"rare {node}" for node in list(labels)[52:]}
    assert MAX_UNSEEN_SHARE < 8 / 60
    assert predict(graph, Setup(rare), {}).calibration is None


def test_many_items_hold_out_fewer_labels(crowds, monkeypatch):
    usual = found(crowds, 60)
    monkeypatch.setattr(predictions, "LARGE_SCORES", 1800)
    monkeypatch.setattr(predictions, "LARGE_HELD_OUT", 25)
    fewer = found(crowds, 60)
    assert 10 <= fewer.calibration.held_out <= 25
    assert usual.calibration.held_out > 25
    assert np.mean(fewer.codes == usual.codes) > 0.95


def test_classes_without_labels(crowds):
    said = found(crowds, 60, classes=("z", "a", "b", "c"))
    assert said.classes == ("z", "a", "b", "c")
    assert not (said.codes == 0).any()


def test_advice_compares_with_the_first_half(crowds):
    graph, y = crowds
    labels = labelled(y, 300)
    calm = predict(graph, Setup(labels), dict.fromkeys(labels, False))
    assert calm.advice.reason.startswith("The last 150 answers changed")
    surprised = predict(graph, Setup(labels), dict.fromkeys(labels, True))
    assert not surprised.advice.stop
    assert "100% of them were unexpected" in surprised.advice.reason
    given = predict(graph, Setup(labels), {})
    assert "too early" in given.advice.sentence, "what was given beforehand is no answer"


def test_advice_to_stop_when_nothing_changes_any_more(tmp_path):
    project = make_project(tmp_path, n=200)
    for name in ("left", "right"):
        project.record(Event("class", {"name": name}))
    for number in range(Settled().least):
        item = f"item{number + (20 if number % 2 else 100)}"
        side = "left" if project.nodes[item] < 100 else "right"
        answer(project, item, label=side, guess=side)
    advice = project.predictions().result(30).advice
    assert advice.stop, advice.reason
    project.close()


def test_questions_get_a_probability_once_there_is_evidence(project):
    for _ in range(3):
        answer(project, asked(project))
    assert project.predictions().result(30).calibration is None
    early = project.wait("", 30)
    assert early.guess is not None
    assert early.confidence is None
    for _ in range(15):
        answer(project, asked(project))
    said = project.predictions().result(30)
    assert said.calibration is not None
    for _ in range(2):  # the next question was chosen before that was known
        answer(project, asked(project))
    late = project.wait("", 30)
    assert late.confidence is not None
    assert 0.5 <= late.confidence <= 1


def test_an_audit_does_not_use_an_undone_label(project):
    for _ in range(6):
        answer(project, asked(project))
    project.predictions().result(30)
    assert project.newest is not None
    item = asked(project)
    answer(project, item, label="right" if truth(item) == "left" else "left")
    project.predictions().result(30)
    project.undo()
    renewed = project.predictions().result(30)
    assert renewed.of(project.nodes[item])[0] == truth(item)
    assert project.newest is renewed


def test_earlier_predictions_stay_until_newer_are_ready(project):
    for _ in range(6):
        answer(project, asked(project))
    before = project.predictions().result(30)
    with project.results.predicting:  # as if the next ones took long
        answer(project, asked(project))
        assert project.newest is before


def test_one_label_among_several_classes_predicts():
    X = np.random.default_rng(0).normal(size=(60, 10))
    found = predict(poise.knn_graph(X, k=8), Setup({3: "a"}, ("a", "b", "c")), {})
    assert np.isfinite(found.confidence).all()
