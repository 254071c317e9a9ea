import csv
import io

import numpy as np
import pytest
from hand_made import hand_made, of_paper, with_curve

from poise.experiments.metrics import (
    area,
    final,
    labels_to_reach,
    most_asked,
    summary_csv,
    summary_rows,
)
from poise.experiments.paper.experiments import EXPERIMENTS, paper_model


def test_the_area_is_the_mean_over_the_questions() -> None:
    curves = [[0.0, 0.5, 1.0], [0.9, 0.2, 0.4]]
    assert area(curves).tolist() == pytest.approx([0.75, 0.3])
    assert final(curves).tolist() == [1.0, 0.4]


def test_labels_to_reach_counts_those_at_the_start() -> None:
    curves = [[0.5, 0.91, 0.96], [0.5, 0.6, 0.92], [0.95, 0.5, 0.5]]
    assert labels_to_reach(curves, 0.90, [2, 2, 2]) == 3  # 3, 4 and 2
    assert labels_to_reach(curves, 0.95, [2, 2, 2]) == 4  # 4, never and 2
    assert labels_to_reach(curves, 0.99, [2, 2, 2]) == np.inf


def test_a_median_between_reached_and_never_is_never() -> None:
    assert labels_to_reach([[0, 1.0], [0, 0.0]], 0.9, [1, 1]) == np.inf


def test_the_share_of_the_cluster_asked_most() -> None:
    records = hand_made(of_paper("mnist", "random"), {}, one_cluster={"random": 0.7})
    # Seven questions in cluster 0 and the tenth: 10 % 10 = 0.
    assert most_asked(records, "random").tolist() == [0.8] * 4


def test_isolet_is_judged_in_laplace_learning() -> None:
    assert paper_model(EXPERIMENTS["isolet"]) == "laplace"
    assert {paper_model(EXPERIMENTS[name]) for name in ("blobs", "mnist", "models")} == {"pwll"}


def test_summary_has_a_row_for_every_method_and_model() -> None:
    records = hand_made(of_paper("isolet", "sm", "random"), {"sm": 0.92}, noise={"sm": 0.0})
    curve = np.linspace(0, 1, 11)
    with_curve(records, "random", curve)
    rows = {(row.method, row.model): row for row in summary_rows(records)}
    assert set(rows) == {(m, model) for m in ("sm", "random") for model in ("choosing", "laplace")}
    sm, random = rows["sm", "choosing"], rows["random", "laplace"]
    assert (sm.area, sm.final, sm.trials) == (pytest.approx(0.92), pytest.approx(0.92), 4)
    assert (sm.labels_to_90, sm.labels_to_95) == (2, None)
    assert random.area == pytest.approx(curve[1:].mean())
    assert (random.labels_to_90, random.labels_to_95) == (11, 12)
    assert random.seconds_per_question == 0.25
    assert sm.balanced_final == pytest.approx(0.87)


def test_the_csv_has_one_header_and_plain_numbers() -> None:
    records = hand_made(of_paper("mnist", "sm", "random"), {"sm": 0.92}, explored={"sm": 0.5})
    text = summary_csv(summary_rows(records))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 4
    assert text.count("experiment,method") == 1
    assert float(rows[0]["area"]) == pytest.approx(0.92, abs=0.01)
    assert rows[0]["labels_to_90"] == "2"
    assert rows[0]["labels_to_95"] == ""
    assert rows[0]["labels_to_all_clusters"] == ""
    assert "inf" not in text
    assert "nan" not in text
