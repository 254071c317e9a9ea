"""The benchmark of label efficiency: trials, records, comparisons, report."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from poise.cli.main import main
from poise.experiments.efficiency import accuracy, questions, trust
from poise.experiments.efficiency.accuracy import BALANCED, LOGISTIC, PWLL
from poise.experiments.efficiency.bench import Plan, run
from poise.experiments.efficiency.compare import compare, curves_by_set, verdicts
from poise.experiments.efficiency.methods import ABLATIONS, AUTO, METHODS
from poise.experiments.efficiency.predictors import logistic, pwll_curve, scaled, share_right
from poise.experiments.efficiency.records import Lines
from poise.experiments.efficiency.report import picture, write_report
from poise.experiments.efficiency.rivals import calibration_means, comparisons
from poise.experiments.efficiency.run import in_processes
from poise.experiments.efficiency.sets import POOLS, set_names
from poise.experiments.efficiency.trials import BUDGETS, area, make_trial
from poise.models import Labels, models


def rows(curves):
    """Records of accuracies from method -> curves, one per trial."""
    for method, trials in curves.items():
        predictor, name = (LOGISTIC, "random") if method == LOGISTIC else (BALANCED, method)
        for trial, curve in enumerate(trials):
            yield {
                "set": "digits",
                "trial": trial,
                "method": name,
                "predictor": predictor,
                "accuracy": list(curve),
            }


def level(height, trials=3, rise=0.0):
    """Flat curves, each trial slightly higher than the previous one."""
    return [np.full(len(BUDGETS), height + 0.01 * trial + rise) for trial in range(trials)]


class TestSetsAndTrials:
    def test_tuning_sets_are_not_reporting_sets(self):
        assert not set(set_names("tuning")) & set(set_names("reporting"))
        assert {"mnist-mod3", "fashionmnist-mod3", "20news"} <= set(set_names("reporting"))
        assert POOLS["mnist"].seen
        assert not POOLS["20news"].seen

    def test_a_trial_is_a_fixed_part_of_the_pool_with_its_own_graph(self):
        first = make_trial("digits", 0)
        make_trial.cache_clear()
        again, other = make_trial("digits", 0), make_trial("digits", 1)
        assert first.n_points == int(0.8 * 1797)
        assert (first.X == again.X).all()
        assert not np.array_equal(first.X, other.X)
        assert first.graph.fingerprint == again.graph.fingerprint

    def test_area_is_the_mean_height_from_5_to_100_labels(self):
        assert area([np.full(8, 0.7)]) == pytest.approx([0.7])
        rising = (np.array(BUDGETS) - 5) / 95
        assert area(rising) == pytest.approx(0.5)


class TestRecords:
    def test_an_incomplete_line_is_removed(self, tmp_path):
        lines = Lines(tmp_path / "a.jsonl", ("name",))
        lines.add([{"name": "x", "value": 1}, {"name": "y", "value": 2}])
        with (tmp_path / "a.jsonl").open("a") as file:
            file.write('{"name": "z", "val')
        again = Lines(tmp_path / "a.jsonl", ("name",))
        assert ("x",) in again
        assert ("z",) not in again
        again.add([{"name": "z", "value": 3}])
        assert [row["value"] for row in Lines(tmp_path / "a.jsonl", ("name",))] == [1, 2, 3]

    def test_only_missing_questions_are_asked(self, tmp_path):
        lines = questions.question_lines(tmp_path)
        units = list(questions.missing_units(lines, ["mnist-imb"], ["random", "norm"], 2, 100))
        assert [(u.trial, u.method, u.groupings) for u in units] == [
            (t, m, (0, 3)) for t in (0, 1) for m in ("random", "norm")
        ]
        lines.add([{"set": "mnist-imb", "trial": 0, "method": "norm", "queries": [0] * 100}])
        units = list(questions.missing_units(lines, ["mnist-imb"], ["norm"], 1, 100))
        assert [u.groupings for u in units] == [(3,)]


class TestPredictors:
    def test_pwll_is_the_model_of_that_name(self):
        trial = make_trial("digits", 0)
        codes = trial.classes[0]
        asked = np.random.default_rng(0).permutation(trial.n_points)[: BUDGETS[-1]]
        curve = pwll_curve(trial, asked, codes)
        assert len(curve) == len(BUDGETS)
        labels = Labels.of({int(i): int(codes[i]) for i in asked}, trial.n_points, range(10))
        expected = models.factory("pwll")(trial.graph, labels).scores
        np.testing.assert_allclose(curve[-1], expected, atol=2e-3)

    def test_logistic_regression_and_one_class(self):
        trial = make_trial("digits", 0)
        codes = trial.classes[0]
        some = np.concatenate([np.flatnonzero(codes == c)[:10] for c in range(10)])
        found = logistic(trial, some, codes, 10)
        assert share_right(found, codes, some) > 0.7
        assert (logistic(trial, np.flatnonzero(codes == 3)[:4], codes, 10)[:, 3] == 1).all()
        assert np.mean((scaled(trial.X) ** 2).sum(axis=1)) == pytest.approx(1, rel=1e-5)


class TestComparison:
    def test_best_rival_difference_and_interval(self):
        curves = curves_by_set(
            rows(
                {
                    AUTO: level(0.8),
                    "norm": level(0.7),
                    "random": level(0.5),
                    LOGISTIC: level(0.6),
                }
            )
        )["digits"]
        found = compare("digits", curves)
        assert found.best == "norm"
        assert found.difference == pytest.approx(0.1)
        assert found.low <= found.difference <= found.high
        assert found.above_norm == pytest.approx(0.1)
        assert found.above_logistic == pytest.approx(0.2)
        assert found.worst_against_logistic == pytest.approx(0.2)
        assert all(goal.met for goal in verdicts([found]))

    def test_losses_appear_in_the_verdicts(self):
        ours = level(0.70)
        rival = [curve + 0.02 + 0.001 * t for t, curve in enumerate(ours)]
        dip = [curve + 0.06 * (np.array(BUDGETS) == 50) - 0.04 for curve in ours]
        found = compare(
            "digits",
            curves_by_set(rows({AUTO: ours, "norm": rival, "random": level(0.5), LOGISTIC: dip}))[
                "digits"
            ],
        )
        assert not found.reaches
        assert [goal.met for goal in verdicts([found])] == [False, False, False, True, False]

    def test_only_common_trials_are_compared(self):
        curves = curves_by_set(rows({AUTO: level(0.8, 3), "norm": level(0.7, 2)}))["digits"]
        assert compare("digits", curves).trials == 2
        assert compare("digits", {AUTO: curves[AUTO]}) is None


def test_several_processes_give_the_same_results():
    assert sorted(in_processes(abs, [-3, -1, -2], jobs=2)) == [1, 2, 3]
    assert list(in_processes(abs, [-3], jobs=2)) == [3]


def test_ablations_vary_auto():
    assert ABLATIONS[AUTO] is METHODS[AUTO]
    assert len({(repr(m.acquisition), repr(m.tau)) for m in ABLATIONS.values()}) == len(ABLATIONS)


@pytest.fixture(scope="module")
def measured(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("accuracy")
    run(Plan(folder, ("digits",), (AUTO, "norm", "random"), trials=2))
    return folder


class TestRun:
    def test_everything_is_recorded_once(self, measured):
        before = {path.name: path.read_text() for path in measured.glob("*.jsonl")}
        run(Plan(measured, ("digits",), (AUTO, "norm", "random"), trials=2))
        assert {path.name: path.read_text() for path in measured.glob("*.jsonl")} == before
        assert len(before["accuracies.jsonl"].splitlines()) == 2 * (2 * 3 + 2 + 1)
        asked = [json.loads(line)["queries"] for line in before["questions.jsonl"].splitlines()]
        assert all(len(set(nodes)) == 100 for nodes in asked)

    def test_auto_beats_random_labels(self, measured):
        (found,) = comparisons(measured)
        assert found.areas[AUTO] > found.areas["random"] + 0.05
        assert found.worst_against_logistic > 0

    def test_calibration(self, measured):
        means = {one.labels: one for one in calibration_means(trust.calibration_lines(measured))}
        assert set(means) == set(trust.GOALS)
        assert means[100].promised
        assert means[100].met

    def test_report(self, measured, tmp_path):
        page = write_report(measured, tmp_path)
        text = page.read_text()
        assert "| auto |" in text
        assert "calibration error" in text
        drawn = (tmp_path / "accuracy-digits.svg").read_text()
        assert "accuracy on the rest" in drawn
        assert "class-balanced part" not in drawn

    def test_a_picture_of_a_part_of_a_set_says_so(self):
        levels = {AUTO: level(0.8), "norm": level(0.7), "random": level(0.5), LOGISTIC: level(0.6)}
        curves = curves_by_set(rows(levels))["digits"]
        drawn = picture(replace(compare("digits", curves), set="emnist"), curves)
        trials = min(len(found) for found in curves.values())
        assert f"{trials} trials from no label" in drawn
        assert "class-balanced part of 42,300 points, not the official 131,600." in drawn

    def test_missing_accuracies_are_measured(self, measured, tmp_path):
        lines = accuracy.accuracy_lines(tmp_path)
        units = list(accuracy.missing_units(questions.question_lines(measured), lines))
        random = {unit.predictors for unit in units if unit.asked.method == "random"}
        assert random == {(PWLL, BALANCED, LOGISTIC)}
        row, _ = accuracy.measure_unit(next(unit for unit in units if unit.asked.method == "norm"))
        kept = next(
            r
            for r in accuracy.accuracy_lines(measured)
            if (r["method"], r["trial"], r["predictor"]) == ("norm", row["trial"], PWLL)
        )
        assert row["accuracy"] == kept["accuracy"]


def command(capsys, *arguments):
    """Exit code, standard output and standard error of ``poise bench accuracy``."""
    with pytest.raises(SystemExit) as ended:
        main(["bench", "accuracy", *arguments])
    printed = capsys.readouterr()
    return ended.value.code, printed.out, printed.err


class TestCommand:
    @pytest.mark.parametrize(("option", "name"), [("--sets", "digts"), ("--only", "nrm")])
    def test_unknown_names_cost_one_line(self, capsys, option, name):
        code, out, err = command(capsys, option, name)
        assert (code, out) == (2, "")
        assert "did you mean" in err
        assert len(err.strip().splitlines()) == 1

    def test_tables_and_json(self, measured, capsys):
        options = ["--sets", "digits", "--trials", "2", "-o", str(measured)]
        for method in (AUTO, "norm", "random"):
            options += ["--only", method]
        code, out, _ = command(capsys, *options)
        assert not code
        assert "Area under the accuracy curve" in out
        assert "label-efficiency.md" in out
        _, out, _ = command(capsys, *options, "--json")
        assert json.loads(out)["sets"][0]["set"] == "digits"
