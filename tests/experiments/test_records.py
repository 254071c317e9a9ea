"""The folder of an experiment's records: compressed files, and records of any number of trials."""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import hand_made, of_paper

from poise.errors import InputError
from poise.experiments.records import Records, Store, recorded

BLOBS = of_paper("blobs", "norm", "sm", "random", trials=3, budget=4)


def stored(folder: Path, records: Records, **run: object) -> Store:
    """The records in a folder, as a run leaves them."""
    store = Store(folder, records.experiment)
    store.open(records.about | {"run": {"when": "2024-05-01T12:00:00+00:00", **run}})
    for rows in records.trials.values():
        store.append(rows)
    return store


def compress(store: Store) -> Path:
    """What ``gzip records.jsonl`` does."""
    packed = store.folder / "records.jsonl.gz"
    packed.write_bytes(gzip.compress(store.lines.read_bytes()))
    store.lines.unlink()
    return packed


def test_compressed_records_are_read_and_continued(tmp_path: Path) -> None:
    two = hand_made(replace(BLOBS, seeds=BLOBS.seeds[:2]), {"norm": 0.9})
    compress(stored(tmp_path, two))
    three = hand_made(BLOBS, {"norm": 0.9})
    store = Store(tmp_path, BLOBS)
    assert store.read().trials == two.trials
    for key, rows in three.trials.items():
        if key not in two.trials:
            store.append(rows)
    assert Store(tmp_path, BLOBS).read().trials.keys() == three.trials.keys()
    assert not (tmp_path / "records.jsonl").exists()


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_torn_compressed_file_is_repaired(tmp_path: Path, cut: int) -> None:
    records = hand_made(BLOBS, {"norm": 0.9})
    packed = compress(stored(tmp_path, hand_made(BLOBS.only("norm", "sm"), {"norm": 0.9})))
    store = Store(tmp_path, BLOBS)
    for key, rows in records.trials.items():
        if key[0] == "random":
            store.append(rows)
    packed.write_bytes(packed.read_bytes()[:-cut])
    left = store.read().trials
    assert {name for name, _ in left} >= {"norm", "sm"}
    reopened = store.open(records.about | {"run": {}})
    assert reopened.trials == left
    lines = gzip.decompress(packed.read_bytes()).decode().splitlines()
    assert len(lines) == len(left) * (BLOBS.budget + 1)


def test_plain_and_compressed_records_do_not_mix(tmp_path: Path) -> None:
    store = stored(tmp_path, hand_made(BLOBS, {}))
    (tmp_path / "records.jsonl.gz").write_bytes(gzip.compress(store.lines.read_bytes()))
    with pytest.raises(InputError, match=r"holds both records\.jsonl and records\.jsonl\.gz"):
        Store(tmp_path, BLOBS)


def test_recorded_trials_are_those_that_were_asked_for(tmp_path: Path) -> None:
    stored(tmp_path, hand_made(BLOBS, {}, unfinished=(("sm", 5),)), trials=7)
    found = recorded(tmp_path, of_paper("blobs"))
    assert found is not None
    assert len(found.experiment.seeds) == 7
    assert [method.name for method in found.experiment.methods] == ["norm", "sm", "random"]
    assert found.experiment.budget == 4
    assert [len(found.seeds(name)) for name in ("norm", "sm", "random")] == [3, 2, 3]


def test_trials_of_older_runs_are_those_that_are_there(tmp_path: Path) -> None:
    stored(tmp_path, hand_made(BLOBS, {}, unfinished=(("sm", 5), ("random", 2))))
    found = recorded(tmp_path, of_paper("blobs", trials=10))
    assert found is not None
    assert found.experiment.seeds == BLOBS.seeds
    assert not found.complete


def test_nothing_is_recorded_in_an_empty_folder(tmp_path: Path) -> None:
    assert recorded(tmp_path / "none", BLOBS) is None
