"""`poise.open_project`: everything of a project in Python, and nothing written."""

import shutil

import numpy as np
import pytest
from small_projects import CLASSES, make_images, make_project, opened, source_of

import poise
from poise.errors import InputError, LabelError
from poise.progress import no_steps
from poise.studio.borrowing import borrowed
from poise.studio.exchange import rows
from poise.studio.log.events import Event
from poise.studio.opening import Opening, Source

KINDS = ("image", "text", "vector")


@pytest.fixture(scope="module", params=KINDS)
def folder(request, tmp_path_factory):
    return make_project(request.param, tmp_path_factory.mktemp(request.param))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_arrays_agree_with_each_other_and_with_the_export(folder):
    project = poise.open_project(folder)
    n = len(project)
    assert n == 24
    assert project.items.shape == project.sources.shape == project.predictions.shape == (n,)
    assert len(project.contents) == n
    assert project.classes == CLASSES
    assert project.features.shape[0] == project.graph.n_nodes == n
    assert project.probabilities.shape == (n, 4)
    assert np.allclose(project.probabilities.sum(axis=1), 1.0)
    best = [project.classes[code] for code in project.probabilities.argmax(axis=1)]
    assert best == project.predictions.tolist()
    assert len(project.labels) == 12
    by_id = dict(zip(project.items, project.predictions, strict=True))
    assert all(by_id[item] == label for item, label in project.labels.items())
    assert {who for votes in project.answers.values() for who in votes} == {
        "person",
        "Ada",
        "Zoë <z@example.org>",
    }
    assert "12 labelled in 4 classes" in repr(project)


def test_a_data_frame_has_the_columns_of_the_export(folder):
    pandas = pytest.importorskip("pandas")
    project = poise.open_project(folder)
    frame = project.to_dataframe()
    assert list(frame.columns) == ["id", "source", "label", "by", "confidence", "time"]
    found = rows_in_use(folder)
    assert frame["id"].tolist() == [row.id for row in found]
    assert frame["label"].tolist() == [row.label for row in found]
    assert frame["by"].tolist() == [row.by for row in found]
    assert isinstance(frame["time"].dtype, pandas.DatetimeTZDtype)
    assert frame["time"].notna().sum() == 12
    labelled = project.to_dataframe(predictions=False)
    assert labelled["label"].notna().sum() == 12
    assert len(labelled) == len(project)


def rows_in_use(folder):
    """The rows by the way that `poise predict` opens a project, with everything that asks."""
    with borrowed(folder, no_steps) as project:
        return rows(project, project.predictions().result())


def test_nothing_is_written_and_the_folder_may_be_read_only(folder):
    before = contents(folder)
    folder.chmod(0o500)
    try:
        project = poise.open_project(str(folder))
        assert project.predictions.shape == (24,)
    finally:
        folder.chmod(0o700)
    assert contents(folder) == before
    for name in ("labels", "graph", "predictions"):
        with pytest.raises(AttributeError):
            setattr(project, name, None)


def test_what_is_missing_is_made_elsewhere(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy.poise")
    for name in ("graph.npz", "features.npy"):
        (copy / name).unlink()
    before = contents(copy)
    assert poise.open_project(copy).graph.n_nodes == 24
    assert contents(copy) == before


def test_a_project_in_use_is_opened_as_it_is_at_that_moment(tmp_path):
    source = source_of("text", tmp_path)
    running = opened(source, tmp_path / "p.poise")
    running.record(Event("class", {"name": "cat"}))
    running.record(Event("label", {"items": [running.catalogue.ids[0]], "label": "cat"}))
    project = poise.open_project(tmp_path / "p.poise")
    running.record(Event("label", {"items": [running.catalogue.ids[1]], "label": "cat"}))
    assert len(project.labels) == 1
    assert set(project.predictions) == {"cat"}
    assert len(poise.open_project(tmp_path / "p.poise").labels) == 2
    running.close()


def test_labels_need_no_graph(folder, monkeypatch):
    def never(*_, **__):
        raise AssertionError("no graph is needed")

    monkeypatch.setattr("poise.studio.borrowing.prepare", never)
    project = poise.open_project(folder)
    assert len(project.labels) == 12
    assert project.to_dataframe(predictions=False)["label"].notna().sum() == 12


def test_without_labels_there_are_no_predictions(tmp_path):
    opened(source_of("vector", tmp_path), tmp_path / "p.poise").close()
    project = poise.open_project(tmp_path / "p.poise")
    assert project.labels == {}
    for name in ("predictions", "probabilities"):
        with pytest.raises(LabelError, match="nothing is labelled"):
            getattr(project, name)


def test_what_is_no_project_takes_one_line(tmp_path):
    with pytest.raises(InputError, match=r"is not a poise project: it has no events\.db"):
        poise.open_project(tmp_path)


def test_photographs_are_not_read_again(tmp_path, monkeypatch):
    """Files that an encoder read have no small copies; opening a project needs none."""
    photos = make_images(tmp_path / "photos", 6)
    Opening(Source(str(photos), tmp_path / "p.poise", embedding="photo")).open().close()

    def never(*_):
        raise AssertionError("no file is read")

    monkeypatch.setattr("poise.data.image_reading.load_below", never)
    project = poise.open_project(tmp_path / "p.poise")
    assert len(project) == project.graph.n_nodes == 6


def test_a_photograph_that_was_damaged_since_is_left_out(tmp_path):
    photos = make_images(tmp_path / "photos", 6)
    Opening(Source(str(photos), tmp_path / "p.poise", embedding="photo")).open().close()
    sorted(photos.rglob("*.png"))[0].write_bytes(b"damaged")
    assert len(poise.open_project(tmp_path / "p.poise")) == 5
