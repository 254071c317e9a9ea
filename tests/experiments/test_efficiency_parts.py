"""The parts of the benchmark of label efficiency besides rivals, on sessions of few answers."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from poise.active.stopping import RULES
from poise.cli.bench.accuracy import PARTS as ACCURACY_PARTS
from poise.cli.main import main
from poise.experiments.efficiency import estimation, noise, peers, questions, stopping
from poise.experiments.efficiency.accuracy import BALANCED, COMBINED, accuracy_lines
from poise.experiments.efficiency.bench import PARTS, Plan, run, tables
from poise.experiments.efficiency.compare import PREDICTING
from poise.experiments.efficiency.methods import AUTO
from poise.experiments.efficiency.noise import NoiseMean, flip
from poise.experiments.efficiency.report import write_report
from poise.experiments.efficiency.sessions import asked_sessions
from poise.experiments.efficiency.tables import Table, as_json, as_markdown, counts, points
from poise.experiments.efficiency.trials import BUDGETS, make_trial
from poise.models import Labels, models

MEASURED = ("estimation", "stopping", "noise")
FILES = {f"{name}.jsonl" for name in (*MEASURED, "questions")}


def small(patch):
    """Sessions of 40 answers, two sizes of audits."""
    patch.setattr(stopping, "BUDGET", 40)
    patch.setattr(stopping, "ENOUGH_ANSWERS", 20)
    patch.setattr(noise, "LABELS", 30)
    patch.setattr(noise, "FLIPS", 2)
    patch.setattr(estimation, "QUESTIONS", 30)
    patch.setattr(estimation, "WHEN", {"audit at the end": 30, "audit halfway": 25})
    patch.setattr(estimation, "AUDITS", (5, 8))
    patch.setattr(estimation, "DRAWS", 2)


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    small(monkeypatch)


@pytest.fixture(scope="module")
def measured(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("parts")
    with pytest.MonkeyPatch.context() as patch:
        small(patch)
        run(Plan(folder, ("digits",), trials=1, parts=MEASURED))
    return folder


def texts(folder):
    return {path.name: path.read_text() for path in folder.glob("*.jsonl")}


class TestRun:
    def test_nothing_is_measured_twice(self, measured):
        before = texts(measured)
        assert set(before) == FILES
        run(Plan(measured, ("digits",), trials=1, parts=MEASURED))
        assert texts(measured) == before

    def test_questions_are_asked_once_for_all_parts(self, measured):
        lengths = {row["method"]: len(row["queries"]) for row in questions.question_lines(measured)}
        assert lengths == {AUTO: 40, "random": 30}

    def test_an_interrupted_run_ends_with_the_same_records(self, measured, tmp_path):
        for name, text in texts(measured).items():
            (tmp_path / name).write_text(text)
        lines = texts(tmp_path)["noise.jsonl"].splitlines(keepends=True)
        (tmp_path / "noise.jsonl").write_text(lines[0] + lines[1][:20])
        run(Plan(tmp_path, ("digits",), trials=1, parts=("noise",)))
        assert texts(tmp_path) == texts(measured)

    def test_every_part_has_a_name_in_the_command(self):
        assert tuple(PARTS) == ACCURACY_PARTS

    def test_sessions_on_record_are_cut(self, measured):
        lines = questions.question_lines(measured)
        (cut,) = asked_sessions(lines, ["digits"], [AUTO], 3, 7)
        whole = lines.rows[("digits", 0, AUTO)]["queries"]
        assert cut.queries == tuple(whole[:7])
        assert list(asked_sessions(lines, ["digits"], [AUTO], 3, 41)) == []

    def test_report_and_tables_agree(self, measured, tmp_path):
        text = write_report(measured, tmp_path).read_text()
        for part in MEASURED:
            assert f"## {PARTS[part].heading}: the tuning sets" in text
        for table in tables(measured, MEASURED):
            assert as_markdown(table) in text
        assert "reporting" not in text

    def test_command(self, measured, capsys):
        options = ["--sets", "digits", "--trials", "1", "--jobs", "1", "-o", str(measured)]
        for extra in ([], ["--json"]):
            with pytest.raises(SystemExit) as ended:
                main(["bench", "accuracy", "noise", "stopping", *options, *extra])
            assert not ended.value.code
            out = capsys.readouterr().out
            if not extra:
                assert "Where rules stop" in out
                assert "Estimated" not in out
        listed = json.loads(out)
        assert set(listed) == {"noise", "stopping", "goals"}
        assert {row["method"] for row in listed["noise"]} == {AUTO, "random"}
        assert all(isinstance(goal["met"], bool) for goal in listed["goals"])


class TestTables:
    def test_tables_with_one_key_share_a_list(self):
        one = Table("a", "One", ("x",), (("row", "1"),), ({"x": 1},))
        two = Table("a", "Two", ("x",), (("row", "2"),), ({"x": 2},), "Noted.")
        assert as_json([one, two]) == {"a": [{"x": 1}, {"x": 2}]}
        assert as_markdown(two) == "### Two\n\nNoted.\n\n|  | x |\n|---|---|\n| row | 2 |\n"

    def test_numbers_are_written_as_text(self):
        assert counts([1], "trial") == "1 trial"
        assert counts([3, 3], "trial") == "3 trials"
        assert counts([5, 1, 3], "trial") == "1 to 5 trials"
        assert points(-0.0001) == "0.0"
        assert points(-0.012) == "-1.2"


def stop_row(stops, end=0.9, enough=0.85, trial=0, name="digits"):
    """A record in which every rule stops at `stops`: (answers, accuracy)."""
    answers, accuracy = stops
    each = {"answers": answers, "accuracy": accuracy}
    return {
        "set": name,
        "trial": trial,
        "answers": 300,
        "enough": enough,
        "end": end,
        "stops": dict.fromkeys(RULES, each),
    }


class TestStopping:
    def test_a_session_is_replayed(self):
        """Each node on a line takes the class of the nearest label, so results are known."""
        truth = np.array([0, 0, 0, 0, 1, 1, 1, 1])

        def fit(nodes, codes):
            nearest = np.abs(np.arange(8)[:, None] - nodes).argmin(axis=1)
            return np.eye(2)[codes[nearest]]

        session = stopping.record(fit, truth, [0, 7, 3], step=1)
        # The third label takes node 4 with it: node 5, as near to 7 as to 3, stays right.
        assert session.accuracy == pytest.approx([3 / 7, 1, 4 / 5])
        # The first answer and the one of the other class are not expected, the third is.
        assert [p.surprises for p in session.history] == pytest.approx([1, 1, 1 / 2])
        assert [p.changed for p in session.history] == pytest.approx([0, 0.5, 1 / 8])
        assert [p.changed_by_half for p in session.history] == pytest.approx([1, 0.5, 3 / 8])

    def test_a_session_stops_at_the_first_stop(self):
        session = stopping.Session(("a", "b", "c", "d"), np.zeros(4))
        assert stopping.stop_of(lambda history: history[-1] in "bd", session) == 1
        assert stopping.stop_of(lambda history: False, session) == 3

    def test_records(self, measured):
        (row,) = stopping.stopping_lines(measured)
        assert row["answers"] == 40
        assert 0.2 < row["enough"] < row["end"] <= 1
        assert set(row["stops"]) == set(RULES)
        # Ours needs 80 answers.
        assert row["stops"]["settled"] == {"answers": 40, "accuracy": row["end"]}

    def test_summary(self):
        rows = [
            stop_row((100, 0.885)),
            stop_row((200, 0.88), enough=0.895),
            stop_row((220, 0.9), enough=0.905),
            stop_row((300, 0.9)),
        ]
        found = stopping.summarise("settled", "all", rows)
        assert (found.sessions, found.close, found.flat) == (4, 0.75, 2)
        assert (found.median, found.flat_median) == (210, 210)
        assert found.worst == pytest.approx(0.02)
        assert found.gain == pytest.approx(0.0275)
        assert [goal.met for goal in stopping.verdicts(found)] == [False, False]

    def test_goals_that_are_met(self):
        rows = [stop_row((200, 0.89), enough=0.895), stop_row((300, 0.9))]
        goals = stopping.verdicts(stopping.summarise("settled", "all", rows))
        assert [goal.met for goal in goals] == [True, True]

    def test_no_goal_for_flat_sessions_without_one(self):
        found = stopping.summarise("settled", "all", [stop_row((300, 0.9))])
        assert found.flat_median is None
        assert len(stopping.verdicts(found)) == 1

    def test_table(self, tmp_path):
        lines = stopping.stopping_lines(tmp_path)
        lines.add([stop_row((100, 0.885)), stop_row((80, 0.89), trial=1)])
        lines.add([stop_row((300, 0.9), name="blobs")])
        table, goals = stopping.tables(tmp_path, ["digits", "blobs"])
        assert table.head[2:] == ("blobs", "digits")
        assert table.rows[0] == ("settled (ours)", "100%", "", "300 (0.0)", "90 (1.5)")
        assert table.rows[-1][3:] == ("5.0", "5.0")
        assert goals.rows[0][1:] == ("100% of 3", "met")
        assert stopping.tables(tmp_path, ["mnist"]) == []


def noise_mean(name="digits", accuracy=0.9, hard=0.06, soft=0.03, precision=0.6):
    return NoiseMean(name, AUTO, 3, accuracy, hard, soft, 0.0, 0.01, precision)


class TestNoise:
    def test_a_share_of_the_answers_is_flipped_to_other_classes(self):
        codes = np.arange(50) % 5
        flipped, wrong = flip(codes, 5, np.random.default_rng(0), 0.2)
        assert len(set(wrong.tolist())) == 10
        assert np.flatnonzero(flipped != codes).tolist() == sorted(wrong.tolist())
        assert flipped.min() >= 0
        assert flipped.max() < 5

    def test_records(self, measured):
        rows = {row["method"]: row for row in noise.noise_lines(measured)}
        assert set(rows) == {AUTO, "random"}
        assert rows[AUTO]["clean"] > rows["random"]["clean"]
        for row in rows.values():
            assert row["clean"] > row["known"] > row["hard"]

    def test_hard_labels_are_those_of_pwll(self, measured):
        (asked,) = asked_sessions(questions.question_lines(measured), ["digits"], ["random"], 1, 30)
        trial, codes = asked.load()
        labels = Labels.of({i: int(codes[i]) for i in asked.queries}, trial.n_points, range(10))
        guesses = models.factory("pwll")(trial.graph, labels).probabilities.argmax(axis=1)
        rest = np.setdiff1d(np.arange(trial.n_points), asked.queries)
        (row,) = (row for row in noise.noise_lines(measured) if row["method"] == "random")
        assert row["clean"] == pytest.approx((guesses == codes)[rest].mean(), abs=2e-3)

    @pytest.mark.parametrize(
        ("changes", "met"),
        [
            ({}, [True, True]),
            ({"soft": 0.05}, [False, True]),
            ({"precision": 0.59}, [True, False]),
            ({"precision": 0.31, "accuracy": 0.84}, [True, True]),
            ({"precision": 0.29, "accuracy": 0.84}, [True, False]),
        ],
    )
    def test_goals(self, changes, met):
        found = [noise_mean("blobs"), noise_mean(**changes)]
        assert [goal.met for goal in noise.verdicts(found)] == met

    def test_losses_are_averaged_over_sets(self):
        found = [noise_mean(hard=0.1, soft=0.02), noise_mean("blobs", hard=0.02, soft=0.03)]
        goal, _ = noise.verdicts(found)
        assert goal.met
        assert goal.measured == "2.5 of 6.0 points"

    def test_table(self, tmp_path):
        figures = {"clean": 0.9, "clean_soft": 0.89, "hard": 0.84, "soft": 0.86, "known": 0.895}
        lines = noise.noise_lines(tmp_path)
        for trial, precision in enumerate((0.5, 0.8)):
            key = {"set": "digits", "trial": trial, "method": AUTO}
            lines.add([key | figures | {"precision": precision}])
        table, _ = noise.tables(tmp_path, ["digits"])
        assert table.rows[0] == ("digits", "90.0%", "6.0", "4.0", "1.0", "0.5", "65.0%")
        assert table.rows[1] == ("mean", *table.rows[0][1:])


class TestEstimation:
    def test_records(self, measured):
        kinds = Counter(row["kind"] for row in estimation.estimation_lines(measured))
        wrong = ("real", "constant", "shuffled", "reversed")
        # Two sizes at the end, one halfway, and two draws of both for each kind of confidence.
        assert kinds == {"audit at the end": 2, "audit halfway": 1} | {
            f"confidences {name}": 4 for name in wrong
        }
        for row in estimation.estimation_lines(measured):
            assert row["labels"] == 30
            assert row["low"] <= row["value"] <= row["high"]
            assert row["exact_low"] < row["exact_high"]

    def test_confidences_change_only_the_estimate(self, measured):
        rows = {
            (row["kind"], row["audited"], row["draw"]): row
            for row in estimation.estimation_lines(measured)
        }
        real, other = (rows[f"confidences {name}", 8, 1] for name in ("real", "reversed"))
        assert (real["truth"], real["exact_low"]) == (other["truth"], other["exact_low"])
        assert real["low"] != other["low"]

    def test_large_trials_are_audited_in_one_size_after_another(self, monkeypatch):
        trials = [make_trial("digits", number) for number in (0, 1)]
        assert [estimation.sizes(t, later=False) for t in trials] == [(5, 8), (5, 8)]
        assert [estimation.sizes(t, later=True) for t in trials] == [(5,), (8,)]
        monkeypatch.setattr(estimation, "ALL_SIZES_MAX_POINTS", 100)
        assert [estimation.sizes(t, later=False) for t in trials] == [(5,), (8,)]

    def test_goals(self):
        met = estimation.EstimationSummary(100, 0.93, 0.2, 0.02, 0.96, 0.25)
        missed = estimation.EstimationSummary(100, 0.92, 0.25, 0.02, 0.96, 0.25)
        assert [goal.met for goal in estimation.verdicts(met)] == [True, True]
        assert [goal.met for goal in estimation.verdicts(missed)] == [False, False]

    def test_table(self, measured):
        table, wrong, goals = estimation.tables(measured, ["digits"])
        named = {row[0]: row for row in table.rows}
        assert {name: row[1] for name, row in named.items()} == {
            "all": "3",
            "5 audited": "2",
            "8 audited": "1",
            "audit at the end": "2",
            "audit halfway": "1",
            "digits": "3",
        }
        assert named["all"][2:] == named["digits"][2:]
        assert [row[0] for row in wrong.rows] == ["real", "constant", "shuffled", "reversed"]
        assert len(goals.rows) == 2


class TestPeers:
    @pytest.fixture
    def folder(self, tmp_path):
        """Curves of poise and of three peers, one skipped and one on a part of the points."""
        for trial in range(3):
            for predictor, height in ((BALANCED, 0.8), (COMBINED, 0.82 + 0.01 * trial)):
                row = {"set": "digits", "trial": trial, "method": AUTO, "predictor": predictor}
                accuracy_lines(tmp_path).add([row | {"accuracy": [height] * len(BUDGETS)}])
        names = list(peers.PEERS)
        lines = peers.peer_lines(tmp_path)
        for trial in range(2):
            for name, height in zip(names, (0.7, 0.75), strict=False):
                row = {"set": "digits", "trial": trial, "method": name, "labels": list(BUDGETS)}
                row["accuracy"] = [height + 0.02 * trial] * len(BUDGETS)
                lines.add([row | ({"limit": "memory"} if name == names[0] else {})])
            row = {"set": "digits", "trial": trial, "method": names[2]}
            lines.add([row | {"skipped": "memory"}])
        return tmp_path

    def test_the_best_peer_by_common_trials(self, folder):
        best, every = peers.tables(folder, ["digits"])
        (one,) = best.records
        assert one.best == list(peers.PEERS)[1]
        assert one.trials == 2
        assert one.difference == pytest.approx(np.mean([0.07, 0.06]))
        assert one.low < one.difference < one.high
        cells = {row[0]: row[1] for row in every.rows}
        first, second, third, *_ = peers.PEERS
        assert cells == {
            AUTO: "0.800",
            PREDICTING: "0.830",
            first: "0.710*",
            second: "0.760",
            third: "skipped",
        }

    def test_nothing_to_compare_with(self, folder):
        assert peers.tables(folder, ["blobs"]) == []
        (folder / "accuracies.jsonl").unlink()
        assert peers.tables(folder, ["digits"]) == []

    def test_accuracy_of_auto_belongs_to_the_part(self):
        plan = Plan(Path("nowhere"), parts=("peers",))
        assert PARTS["peers"].asks(plan) == {AUTO: BUDGETS[-1]}
        assert PARTS["peers"].steps[0] is PARTS["rivals"].steps[0]
