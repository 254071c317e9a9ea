from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from poise import Dataset, Graph, knn_graph
from poise.experiments.paper.experiments import EXPERIMENTS
from poise.experiments.paper.heatmaps import METHODS, heat_maps
from poise.experiments.records import Records
from poise.experiments.runner import run


@pytest.fixture(scope="module")
def blobs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Records, Dataset, Graph]:
    small = replace(
        EXPERIMENTS["blobs"].with_trials(2).only("norm", "norm-decay", "sm"), k=20, budget=12
    )
    records = run(small, Path(tmp_path_factory.mktemp("blobs")))
    data = small.load()
    return records, data, knn_graph(data.X, k=20)


def test_the_largest_value_is_the_next_question(blobs: tuple[Records, Dataset, Graph]) -> None:
    maps = heat_maps(*blobs)
    # 100 answers are beyond this budget.
    assert [(m.method.name, m.answers) for m in maps] == [(m, s) for m in METHODS for s in (0, 9)]
    for one in maps:
        initial, asked = blobs[0].queries(one.method.name, one.seed)
        assert one.seed == blobs[0].experiment.seeds[0]
        assert one.labelled.tolist() == [*initial, *asked[: one.answers]]
        assert np.nanargmax(one.values) == asked[one.answers]
        assert np.flatnonzero(np.isnan(one.values)).tolist() == sorted(one.labelled.tolist())


def test_unfinished_methods_are_left_out(blobs: tuple[Records, Dataset, Graph]) -> None:
    records, data, graph = blobs
    first, second = records.experiment.seeds
    kept = {
        key: rows
        for key, rows in records.trials.items()
        if key != ("norm", first) and key[0] != "sm"
    }
    maps = heat_maps(Records(records.experiment, kept, records.about), data, graph)
    assert {(one.method.name, one.seed) for one in maps} == {
        ("norm", second),
        ("norm-decay", second),
    }
    assert heat_maps(Records(records.experiment, {}, records.about), data, graph) == []


def test_stages_can_be_chosen(blobs: tuple[Records, Dataset, Graph]) -> None:
    maps = heat_maps(*blobs, methods=("norm",), stages=(3, 1))
    assert [one.answers for one in maps] == [1, 3]
