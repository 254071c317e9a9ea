"""When to stop: the figures against their definitions, the rules one condition at a time."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from poise.active.stopping import (
    RULES,
    Checkpoint,
    ClassificationChange,
    OverallUncertainty,
    Settled,
    StablePredictions,
    advise,
    checkpoint,
    kappa,
    mean_entropy,
    share_changed,
)
from poise.errors import InputError

QUIET = Checkpoint(
    n_answers=150,
    changed=0.0,
    agreement=1.0,
    uncertainty=0.05,
    changed_by_half=0.004,
    surprises=0.1,
)


@pytest.mark.parametrize("seed", range(5))
def test_kappa_is_cohens(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, 200)
    before = np.where(rng.random(200) < 0.7, codes, rng.integers(0, 4, 200))
    assert kappa(codes, before) == pytest.approx(cohen_kappa_score(codes, before))


def test_kappa_where_it_is_not_defined() -> None:
    ones = np.ones(5, dtype=np.int64)
    assert kappa(ones, ones) == 1.0
    assert kappa(ones[:0], ones[:0]) == 1.0
    assert kappa(ones, 0 * ones) == 0.0


def test_share_changed() -> None:
    assert share_changed(np.array([0, 1, 2, 3]), np.array([0, 1, 1, 1])) == 0.5
    with pytest.raises(InputError, match="compare the same items"):
        share_changed(np.zeros(3, dtype=np.int64), np.zeros(4, dtype=np.int64))


def test_entropy_is_in_units_of_the_largest() -> None:
    assert mean_entropy(np.full((3, 4), 0.25)) == pytest.approx(1.0)
    assert mean_entropy(np.eye(4)) == 0.0
    assert mean_entropy(np.array([[0.5, 0.5, 0.0, 0.0]])) == pytest.approx(0.5)
    assert mean_entropy(np.ones((3, 1))) == 0.0


def test_a_checkpoint_looks_at_the_second_half_and_at_the_unlabelled() -> None:
    probabilities = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [0.0, 1.0]])
    point = checkpoint(
        probabilities,
        before=np.array([0, 0, 1, 0]),
        half=np.array([1, 1, 1, 1]),
        surprising=[True, True, False, True, False],
        labelled=np.array([0, 2]),
    )
    assert point.n_answers == 5
    assert point.n_recent == 3
    assert point.changed == 0.25
    assert point.changed_by_half == 0.5
    assert point.surprises == pytest.approx(1 / 3)  # False, True, False
    assert point.uncertainty == pytest.approx(0.5)  # nodes 1 and 3


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_no_rule_stops_before_it_knows_anything(rule) -> None:  # type: ignore[no-untyped-def]
    assert not rule([])
    assert rule([replace(QUIET, n_answers=140), *[QUIET] * 3])


@pytest.mark.parametrize(
    "change", [{"n_answers": 79}, {"changed_by_half": 0.031}, {"surprises": 0.26}]
)
def test_settled_needs_every_condition(change: dict[str, float]) -> None:
    assert Settled()([QUIET])
    assert not Settled()([replace(QUIET, **change)])


def test_settled_does_not_read_the_past() -> None:
    wild = replace(QUIET, changed_by_half=0.9, surprises=0.9)
    assert Settled()([wild, QUIET])
    assert not Settled()([QUIET, wild])


def test_stable_predictions_averages_its_window() -> None:
    rule = StablePredictions(agreement=0.9, window=2)
    history = [replace(QUIET, agreement=a) for a in (0.0, 1.0, 0.7, 0.95, 0.86)]
    assert [rule(history[:n]) for n in range(1, 6)] == [False, False, False, False, True]


def test_stable_predictions_ignores_the_first_checkpoint() -> None:
    assert not StablePredictions(window=2)([QUIET, QUIET])
    assert StablePredictions(window=2)([QUIET, QUIET, QUIET])


def test_classification_change_wants_none_at_all() -> None:
    moved = replace(QUIET, changed=1e-4)
    assert ClassificationChange()([moved, moved, QUIET, QUIET])
    assert not ClassificationChange()([QUIET, QUIET, QUIET, moved])
    assert not ClassificationChange()([QUIET, QUIET, moved, QUIET])
    assert not ClassificationChange()([QUIET, QUIET])


def test_overall_uncertainty_is_a_threshold() -> None:
    assert OverallUncertainty()([replace(QUIET, uncertainty=0.1)])
    assert not OverallUncertainty()([replace(QUIET, uncertainty=0.11)])


def test_advice_says_what_the_rule_says_and_why() -> None:
    stop = advise([QUIET])
    assert stop.stop
    assert stop.sentence == (
        "You can stop: the last 75 answers changed 0.4% of the predictions, so more labels will "
        "change little."
    )
    assert "10% of them were unexpected" in stop.reason
    moving = advise([replace(QUIET, changed_by_half=0.2)])
    assert not moving.stop
    assert moving.sentence == (
        "Keep labelling: the last 75 answers changed 20% of the predictions."
    )
    surprised = advise([replace(QUIET, surprises=0.4)])
    assert not surprised.stop
    assert surprised.sentence == "Keep labelling: 40% of the last 75 answers were unexpected."


@pytest.mark.parametrize(
    ("n", "said"), [(0, "0 answers"), (1, "1 answer."), (79, "after 79 answers")]
)
def test_early_advice_is_to_go_on(n: int, said: str) -> None:
    advice = advise([replace(QUIET, n_answers=n)] if n else [])
    assert not advice.stop
    assert said in advice.sentence
    assert "80 answers" in advice.reason


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.0, "0%"), (1e-5, "less than 0.1%"), (0.01, "1%"), (0.0299, "3%"), (0.004, "0.4%")],
)
def test_shares_are_read_easily(share: float, said: str) -> None:
    assert f"changed {said} of" in advise([replace(QUIET, changed_by_half=share)]).sentence


def test_a_stricter_rule_can_be_passed() -> None:
    assert not advise([QUIET], Settled(changed=0.001)).stop
    assert not advise([QUIET], Settled(least=200)).stop
