"""Labels needed to reach nine tenths of what all labels give."""

import numpy as np
import pytest

from poise.experiments.efficiency import needed
from poise.experiments.efficiency.accuracy import BALANCED, accuracy_lines
from poise.experiments.efficiency.questions import question_lines
from poise.experiments.efficiency.trials import BUDGETS, make_trial


def test_straight_lines_between_the_budgets():
    curve = [0.1, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95]
    assert needed.labels_needed(curve, 0.3) == pytest.approx(7.5)
    assert needed.labels_needed(curve, 0.05) == BUDGETS[0]
    assert needed.labels_needed(curve, 0.95) == BUDGETS[-1]
    assert needed.labels_needed(curve, 0.96) == float("inf")


def test_the_ceiling_is_the_vote_of_the_neighbours():
    trial = make_trial("digits", 0)
    codes = trial.classes[0]
    W = trial.graph.weights.toarray()
    votes = np.stack([W[:, codes == c].sum(axis=1) for c in range(10)], axis=1)
    assert needed.ceiling(trial, codes) == (votes.argmax(axis=1) == codes).mean()
    assert needed.ceiling(trial, codes) > 0.95


def test_records(tmp_path):
    lines = needed.ceiling_lines(tmp_path)
    asked = question_lines(tmp_path)
    asked.add([{"set": "digits", "trial": 0, "method": "auto", "queries": []}])
    assert list(needed.missing_units(asked, lines)) == ["digits"]
    lines.add(needed.measure_unit("digits"))
    assert list(needed.missing_units(asked, lines)) == []
    top = lines.rows[("digits",)]["accuracy"]
    row = {"set": "digits", "trial": 0, "predictor": BALANCED}
    accuracy_lines(tmp_path).add(
        [
            row | {"method": "auto", "accuracy": [top] * 8},
            row | {"method": "random", "accuracy": [0.1] * 8},
        ]
    )
    (found,) = needed.needed(tmp_path)
    assert found.mark == pytest.approx(0.9 * top)
    assert found.labels == {"auto": 5.0, "random": float("inf")}
