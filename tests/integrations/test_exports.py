"""Exports: what each format holds, read by the real library where it is installed.

FiftyOne and cleanlab are not installed: their files are checked against the documented layout.
"""

import csv
import json
import os
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from small_projects import CLASSES, make_project, opened, source_of

import poise
from poise.cli import export as command
from poise.data.ids import content_id
from poise.integrations.exports import folders
from poise.integrations.exports.folders import WAYS
from poise.integrations.exports.formats import FORMATS
from poise.studio.log.events import Event
from poise.studio.log.store import EventStore

KINDS = ("image", "text", "vector")


@pytest.fixture(scope="module", params=KINDS)
def project(request, tmp_path_factory):
    return make_project(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    return make_project("image", tmp_path_factory.mktemp("images"))


def exported(run, project, path, *options):
    code, out, err = run("export", project, "-o", path, *options)
    assert code == 0, err
    assert out.startswith(f"{path}: ")
    return path


def test_the_command_offers_every_format():
    assert (command.FORMATS, command.WAYS) == (FORMATS, WAYS)


# Hugging Face -----------------------------------------------------------------------------------


def test_hugging_face_loads_every_kind(run, project, tmp_path):
    datasets = pytest.importorskip("datasets")
    path = exported(run, project, tmp_path / "hf", "--format", "huggingface")
    found = datasets.load_from_disk(str(path))
    known = poise.open_project(project)
    assert found.features["label"].names == list(known.classes)
    assert found["id"][:] == known.items.tolist()
    assert [found.features["label"].int2str(code) for code in found["label"]] == (
        known.predictions.tolist()
    )
    assert sum(by != "model" for by in found["by"]) == 12
    frame = known.to_dataframe()
    assert [c is None for c in found["confidence"]] == frame["confidence"].isna().tolist()
    if known.kind == "image":
        assert isinstance(found.features["image"], datasets.Image)
        with Image.open(known.contents[3]) as picture:
            assert np.array_equal(np.asarray(found[3]["image"]), np.asarray(picture))
    elif known.kind == "text":
        assert found["text"][:] == known.contents.tolist()
    else:
        assert np.array_equal(np.array(found["vector"][:]), known.contents)


def test_only_labelled_items_are_exported_if_asked(run, images, tmp_path):
    datasets = pytest.importorskip("datasets")
    path = exported(run, images, tmp_path / "hf", "--format", "huggingface", "--labelled")
    found = datasets.load_from_disk(str(path))
    assert len(found) == 12
    assert "model" not in found["by"][:]


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems refuse such names")
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("folders", "sorted"),
        ("huggingface", "data"),
        ("fiftyone", "samples"),
        ("cleanlab", "arrays"),
        ("label-studio", "tasks.json"),
    ],
)
def test_a_file_whose_name_is_not_utf8_is_exported(run, tmp_path, kind, name):
    if kind == "huggingface":
        pytest.importorskip("datasets")
    source = source_of("image", tmp_path)
    next(source.rglob("*.png")).rename(source / os.fsdecode(b"na\xefve.png"))
    project = opened(source, tmp_path / "made.poise")
    project.record(Event("class", {"name": "cat"}))
    project.record(Event("class", {"name": "dog"}))
    for node, label in ((0, "cat"), (9, "dog")):
        project.record(Event("label", {"items": [project.catalogue.ids[node]], "label": label}))
    project.close()
    exported(run, tmp_path / "made.poise", tmp_path / name, "--format", kind)


# Folders ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["copy", "link"])
def test_a_folder_for_each_class(run, images, tmp_path, how):
    path = exported(run, images, tmp_path / "sorted", "--format", "folders", "--how", how)
    known = poise.open_project(images)
    names = {folder.name for folder in path.iterdir() if folder.is_dir()}
    assert names == {"a_b", "_", "Ärger", "=1+1"}
    files = sorted(file for file in path.rglob("*.png"))
    assert {content_id(file.read_bytes()) for file in files} == set(known.items)
    assert {file.is_symlink() for file in files} == {how == "link"}
    with (path / "items.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row, item, label in zip(rows, known.items, known.predictions, strict=True):
        assert (row["id"], row["label"].removeprefix("'")) == (item, label)
        place = path / row["folder"].removeprefix("'") / row["file"]
        assert content_id(place.read_bytes()) == item


def test_texts_are_files_with_their_words(run, tmp_path):
    texts = make_project("text", tmp_path)
    path = exported(run, texts, tmp_path / "sorted", "--format", "folders")
    known = poise.open_project(texts)
    found = {file.read_text(encoding="utf-8") for file in path.rglob("*.txt")}
    assert found == set(known.contents)
    code, _, err = run(
        "export", texts, "-o", tmp_path / "x", "--format", "folders", "--how", "link"
    )
    assert (code, err.count("\n")) == (2, 1)
    assert "--how copy" in err


def test_the_list_of_moves_names_files_and_places(run, images, tmp_path):
    options = ("--format", "folders", "--how", "list")
    path = exported(run, images, tmp_path / "moves.csv", *options)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    known = poise.open_project(images)
    assert [row["from"] for row in rows] == [str(file) for file in known.contents]
    assert len({row["to"] for row in rows}) == len(rows)
    assert not (tmp_path / "a_b").exists()


def test_rows_of_numbers_are_no_files(run, tmp_path):
    vectors = make_project("vector", tmp_path)
    target = tmp_path / "sorted"
    code, _, err = run("export", vectors, "-o", target, "--format", "folders")
    assert (code, err.count("\n")) == (2, 1)
    assert "--how list" in err
    assert not target.exists()
    exported(run, vectors, tmp_path / "m.csv", "--format", "folders", "--how", "list")


# FiftyOne ---------------------------------------------------------------------------------------


def test_fiftyone_samples_have_the_documented_layout(run, images, tmp_path):
    path = exported(run, images, tmp_path / "samples", "--format", "fiftyone")
    metadata = json.loads((path / "metadata.json").read_text(encoding="utf-8"))
    assert metadata["media_type"] == "image"
    assert metadata["info"]["default_classes"] == list(CLASSES)
    assert "version" not in metadata  # then FiftyOne reads each sample by itself
    samples = json.loads((path / "samples.json").read_text(encoding="utf-8"))["samples"]
    known = poise.open_project(images)
    assert [sample["filepath"] for sample in samples] == [str(p) for p in known.contents]
    for sample, item, label in zip(samples, known.items, known.predictions, strict=True):
        field, tag = (
            ("ground_truth", "labelled")
            if item in known.labels
            else (
                "prediction",
                "predicted",
            )
        )
        given = sample[field]
        assert (sample["poise_id"], sample["tags"]) == (item, [tag])
        assert (given["_cls"], given["tags"], given["label"]) == ("Classification", [], label)
        assert ("by" in given) == (item in known.labels)
        assert 0 <= given.get("confidence", 0.5) <= 1
        assert len(sample.keys() & {"ground_truth", "prediction"}) == 1


def test_fiftyone_refuses_texts_in_one_line(run, tmp_path):
    texts = make_project("text", tmp_path)
    code, _, err = run("export", texts, "-o", tmp_path / "samples", "--format", "fiftyone")
    assert (code, err.count("\n")) == (2, 1)
    assert "huggingface" in err


# cleanlab ---------------------------------------------------------------------------------------


def test_cleanlab_arrays_fit_find_label_issues(run, project, tmp_path):
    path = exported(run, project, tmp_path / "cl", "--format", "cleanlab")
    labels, shares = np.load(path / "labels.npy"), np.load(path / "pred_probs.npy")
    ids = json.loads((path / "ids.json").read_text(encoding="utf-8"))
    classes = json.loads((path / "classes.json").read_text(encoding="utf-8"))
    known = poise.open_project(project)
    assert labels.shape == (len(shares),) == (12,)
    assert np.issubdtype(labels.dtype, np.integer)
    assert set(labels.tolist()) == set(range(len(classes)))  # no class is missing
    assert shares.shape[1] == len(classes)
    assert np.allclose(shares.sum(axis=1), 1.0)
    assert shares.min() >= 0
    assert {item: classes[code] for item, code in zip(ids, labels, strict=True)} == known.labels
    rest = np.load(path / "pred_probs_unlabeled.npy")
    others = json.loads((path / "ids_unlabeled.json").read_text(encoding="utf-8"))
    assert set(others) == set(known.items) - set(known.labels)
    assert np.allclose(rest.sum(axis=1), 1.0)


def test_cleanlab_probabilities_do_not_know_the_label(run, tmp_path):
    """A label that was given wrongly gets a small probability, or nothing would be found."""
    folder = make_project("image", tmp_path)
    path = exported(run, folder, tmp_path / "cl", "--format", "cleanlab", "--labelled")
    ids = json.loads((path / "ids.json").read_text(encoding="utf-8"))
    before = np.load(path / "pred_probs.npy")
    store = EventStore(folder / "events.db")
    store.append(Event("label", {"items": [ids[0]], "label": CLASSES[1], "via": "import"}))
    store.close()
    exported(run, folder, path, "--format", "cleanlab", "--labelled", "--overwrite")
    position = json.loads((path / "ids.json").read_text(encoding="utf-8")).index(ids[0])
    labels, after = np.load(path / "labels.npy"), np.load(path / "pred_probs.npy")
    assert labels[position] == 1
    assert before[0].argmax() == after[position].argmax() == 0
    assert after[position, 1] < 0.5
    assert not (path / "pred_probs_unlabeled.npy").exists()


def test_cleanlab_needs_two_classes(run, tmp_path):
    folder = make_project("text", tmp_path, ("same",) * 4)
    code, _, err = run("export", folder, "-o", tmp_path / "cl", "--format", "cleanlab")
    assert (code, err.count("\n")) == (2, 1)
    assert "another class" in err


# Label Studio -----------------------------------------------------------------------------------


def test_label_studio_tasks_fit_their_configuration(run, project, tmp_path):
    path = exported(run, project, tmp_path / "tasks.json")
    view = ElementTree.parse(path.with_suffix(".xml")).getroot()
    known = poise.open_project(project)
    shown, choices = view[0], view.find("Choices")
    assert [choice.get("value") for choice in choices] == list(known.classes)
    key = shown.get("value").removeprefix("$")
    tasks = json.loads(path.read_text(encoding="utf-8"))
    assert [task["data"]["poise_id"] for task in tasks] == known.items.tolist()
    results = []
    for task, item, label in zip(tasks, known.items, known.predictions, strict=True):
        assert task["data"][key]
        (one,) = task["annotations"] or task["predictions"]
        assert bool(task["annotations"]) == (item in known.labels)
        (result,) = one["result"]
        assert result["value"] == {"choices": [label]}
        assert (result["from_name"], result["to_name"]) == (choices.get("name"), shown.get("name"))
        assert 0 <= one.get("score", 0.0) <= 1
        results.append(result["id"])
    assert len(set(results)) == len(results)
    if known.kind == "image":
        assert tasks[0]["data"]["image"].startswith("/data/local-files/?d=photos/set%20")


# What is there already --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("out", "folders"),
        ("out", "huggingface"),
        ("out", "fiftyone"),
        ("out", "cleanlab"),
        ("out.json", "label-studio"),
    ],
)
def test_nothing_is_overwritten_without_being_asked(run, images, tmp_path, name, kind):
    target = tmp_path / name
    exported(run, images, target, "--format", kind)
    before = _contents(tmp_path)
    code, _, err = run("export", images, "-o", target, "--format", kind)
    assert (code, err.count("\n")) == (2, 1)
    assert "--overwrite" in err
    assert _contents(tmp_path) == before
    exported(run, images, target, "--format", kind, "--labelled", "--overwrite")
    assert _contents(tmp_path) != before
    assert not list(tmp_path.glob(".*"))  # nothing is left over


@pytest.mark.parametrize("kind", ["folders", "huggingface", "fiftyone", "cleanlab"])
def test_a_folder_of_something_else_is_never_replaced(run, images, tmp_path, kind):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
    for target in (tmp_path / "thesis", tmp_path / "thesis" / "chapter.txt"):
        code, _, err = run("export", images, "-o", target, "--format", kind, "--overwrite")
        assert (code, err.count("\n")) == (2, 1)
        assert "another name" in err
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "years of work"


def test_a_file_that_is_gone_leaves_no_half_export(run, tmp_path, monkeypatch):
    folder = make_project("image", tmp_path)
    known = poise.open_project(folder)

    def vanishing(catalogue, node):
        known.contents[node].unlink(missing_ok=True)
        return content_of(catalogue, node)

    content_of = folders.content_of
    monkeypatch.setattr(folders, "content_of", vanishing)
    code, _, err = run("export", folder, "-o", tmp_path / "out", "--format", "folders")
    assert (code, err.count("\n")) == (1, 1)
    assert "put the file back" in err
    assert {path.name for path in tmp_path.iterdir()} == {"photos", "made.poise"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "labels"], "--format"),
        (["-o", "tasks.txt", "--format", "label-studio"], "must end in .json"),
        (["-o", "x.csv", "--how", "link"], "--format folders"),
        (["-o", "x", "--format", "nope"], "nope"),
    ],
)
def test_mistakes_take_one_line(run, images, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    code, _, err = run("export", images, *arguments)
    assert (code, err.count("\n")) == (2, 1)
    assert words in err
    assert list(tmp_path.iterdir()) == []


def test_a_project_without_labels_says_so(run, tmp_path):
    source = source_of("text", tmp_path)
    opened(source, tmp_path / "made.poise").close()
    for kind in ("folders", "huggingface", "cleanlab"):
        code, _, err = run(
            "export", tmp_path / "made.poise", "-o", tmp_path / kind, "--format", kind
        )
        assert (code, err.count("\n")) == (2, 1)
        assert "label some items first" in err


def _contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
