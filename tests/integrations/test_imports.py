"""Imports: round trips keep what the format has a place for, and odd files take one line."""

import json
import os
import shutil
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_projects import (
    CLASSES,
    imported,
    labels_of,
    make_images,
    make_project,
    make_texts,
    opened,
    refused,
)

from poise.cli.main import main
from poise.errors import InputError
from poise.integrations.exports.formats import Wanted, export
from poise.integrations.exports.names import distinct_names, safe_name
from poise.integrations.imports.formats import read_labels
from poise.progress import no_steps
from poise.studio.borrowing import borrow
from poise.studio.exchange import take_in
from poise.studio.log.events import Event
from poise.studio.opening import Opening, Source

#: Formats -> name of the export. All have a place for ids, authors and times.
NAMES = {
    "csv": "labels.csv",
    "folders": "sorted",
    "huggingface": "hf",
    "fiftyone": "samples",
    "cleanlab": "cl",
    "label-studio": "tasks.json",
}
#: What a format does not hold; `poise export` refuses it.
REFUSED = {("vector", "folders"), ("vector", "fiftyone"), ("text", "fiftyone")}


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    return make_project("image", tmp_path_factory.mktemp("images"))


def written(folder, kind, target, **options):
    wanted = Wanted(target / NAMES[kind], kind, **options)
    export(borrow(folder, no_steps), wanted)
    return wanted.path


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        (kind, form)
        for kind in ("image", "text", "vector")
        for form in NAMES
        if (kind, form) not in REFUSED
    ],
)
def test_a_round_trip_keeps_ids_authors_and_times(tmp_path, kind, form):
    if form == "huggingface":
        pytest.importorskip("datasets")
    folder = make_project(kind, tmp_path)
    path = written(folder, form, tmp_path)
    name = {"image": "photos", "text": "texts.csv", "vector": "x.npy"}[kind]
    found, counts = imported(tmp_path / name, path, tmp_path / "other.poise")
    before = labels_of(borrow(folder, no_steps))
    assert found == before
    assert (counts.imported, counts.unknown) == (12, 0)
    again, counts = imported(tmp_path / name, path, tmp_path / "other.poise")
    assert (again, counts.imported, counts.unchanged) == (before, 0, 12)


@pytest.mark.parametrize("how", ["copy", "link"])
def test_a_file_in_another_folder_has_its_class(images, tmp_path, how):
    path = written(images, "folders", tmp_path, how=how)
    project = borrow(images, no_steps)
    by_model = next(i for i in project.catalogue.ids if i not in project.state.labels)
    source = project.catalogue.sources[project.catalogue.nodes[by_model]]
    (file,) = path.rglob(source.rpartition("/")[2])
    target = next(folder for folder in path.iterdir() if folder.is_dir() and folder != file.parent)
    file.rename(target / file.name)
    found, counts = imported(images.parent / "photos", path, tmp_path / "other.poise")
    classes = {"a_b": "a/b", "_": "..", "Ärger": "Ärger", "=1+1": "=1+1"}
    assert found[by_model][:2] == (classes[target.name], "person")
    assert counts.imported == 13


def test_folders_that_somebody_else_made_are_recognised_by_content(tmp_path):
    photos = make_images(tmp_path / "photos")
    mine = tmp_path / "mine"
    for name in ("cat", "dog", "unlabelled", ".hidden"):
        (mine / name).mkdir(parents=True)
    for number, place in ((0, "cat/one.png"), (1, "dog/two.png"), (3, "unlabelled/three.png")):
        found = next(photos.rglob(f"image {number:02}.png"))
        shutil.copy(found, mine / place)
    (mine / "cat" / ".DS_Store").write_text("")
    labels, counts = imported(photos, mine, tmp_path / "p.poise", ())
    assert sorted(label for label, _, _ in labels.values()) == ["cat", "dog"]
    assert (counts.imported, counts.unknown) == (2, 0)


def test_label_studio_tasks_that_poise_did_not_write(tmp_path):
    photos, texts = make_images(tmp_path / "photos"), make_texts(tmp_path / "texts.csv")
    result = [{"type": "choices", "value": {"choices": ["cat"]}, "from_name": "a", "to_name": "b"}]
    annotations = [{"result": result, "completed_by": 7, "created_at": "2026-01-01T00:00:00Z"}]
    addresses = [
        "/data/local-files/?d=photos/set%200/image%2000.png",
        str(photos.resolve() / "set 0" / "image 01.png"),
        "/data/upload/1/f00d-image.png",
    ]
    tasks = [{"data": {"image": each}, "annotations": annotations} for each in addresses]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks))
    labels, counts = imported(photos, path, tmp_path / "p.poise", ())
    assert (counts.imported, counts.unknown) == (2, 1)
    assert set(labels.values()) == {("cat", "user 7", "2026-01-01T00:00:00Z")}
    tasks = [{"data": {"text": "cats and whiskers number 0"}, "annotations": annotations}]
    path.write_text(json.dumps(tasks))
    _, counts = imported(texts, path, tmp_path / "t.poise", ())
    assert counts.imported == 1


def test_the_answers_of_several_people_become_tasks_and_the_majority_counts(tmp_path):
    source = make_texts(tmp_path / "texts.csv")
    project = opened(source, tmp_path / "made.poise")
    project.record(Event("setting", {"name": "overlap", "value": 3}))
    item = project.catalogue.ids[0]
    for name in ("cat", "dog"):
        project.record(Event("class", {"name": name}))
    for who, label in (("Ada", "cat"), ("Bo", "cat"), ("Cy", "dog")):
        project.record(Event("label", {"items": [item], "label": label}, who))
    project.close()
    path = written(tmp_path / "made.poise", "label-studio", tmp_path, labelled=True)
    (task,) = json.loads(path.read_text())
    assert len(task["annotations"]) == 3
    labels, _ = imported(source, path, tmp_path / "other.poise", ())
    assert labels[item][:2] == ("cat", "Bo")


def test_hugging_face_data_sets_that_poise_did_not_write(tmp_path):
    datasets = pytest.importorskip("datasets")
    photos, texts = make_images(tmp_path / "photos"), make_texts(tmp_path / "texts.csv")
    files = sorted(str(path) for path in photos.rglob("*.png"))[:4]
    kinds = datasets.ClassLabel(names=["dog", "cat"])
    columns = {"picture": files, "kind": [0, 1, None, -1]}
    features = datasets.Features({"picture": datasets.Image(), "kind": kinds})
    made = datasets.Dataset.from_dict(columns, features=features)
    datasets.DatasetDict({"train": made, "test": made}).save_to_disk(str(tmp_path / "both"))
    labels, counts = imported(photos, tmp_path / "both", tmp_path / "p.poise", ())
    assert sorted(label for label, _, _ in labels.values()) == ["cat", "dog"]
    assert (counts.imported, counts.unknown) == (2, 2)  # the second split repeats the first
    rows = {"text": ["cats and whiskers number 0"], "label": ["cat"], "id": ["7"]}
    datasets.Dataset.from_dict(rows).save_to_disk(str(tmp_path / "words"))
    _, counts = imported(texts, tmp_path / "words", tmp_path / "t.poise", ())
    assert counts.imported == 1


def test_fiftyone_data_sets_that_poise_did_not_write(tmp_path):
    photos = make_images(tmp_path / "photos")
    folder = tmp_path / "samples"
    (folder / "data").mkdir(parents=True)
    shutil.copy(photos / "set 0" / "image 02.png", folder / "data" / "b.png")
    given = {"_id": {"$oid": "0" * 24}, "_cls": "Classification", "tags": [], "label": "cat"}
    samples = [
        {"filepath": str(photos.resolve() / "set 0" / "image 00.png"), "species": given},
        {"filepath": "data/b.png", "ground_truth": given, "other": given},
        {"filepath": str(photos / "set 0" / "image 01.png"), "prediction": given},
        {"filepath": "/elsewhere/c.png", "ground_truth": given},
    ]
    (folder / "samples.json").write_text(json.dumps({"samples": samples}))
    labels, counts = imported(photos, folder, tmp_path / "p.poise", ())
    assert (counts.imported, counts.unknown) == (2, 1)
    again, _ = imported(photos, folder / "samples.json", tmp_path / "q.poise", ())
    assert again.keys() == labels.keys()


@pytest.mark.parametrize("form", ["fiftyone", "cleanlab"])
def test_a_label_that_was_corrected_elsewhere_loses_its_author(images, tmp_path, form):
    path = written(images, form, tmp_path, labelled=True)
    if form == "cleanlab":
        labels = np.load(path / "labels.npy")
        labels[1] = (labels[1] + 1) % 4
        labels[2] = -1
        np.save(path / "labels.npy", labels)
    else:
        value = json.loads((path / "samples.json").read_text())
        value["samples"][1]["ground_truth"]["label"] = CLASSES[0]
        del value["samples"][2]["ground_truth"]
        (path / "samples.json").write_text(json.dumps(value))
    found, counts = imported(images.parent / "photos", path, tmp_path / "other.poise")
    before = labels_of(borrow(images, no_steps))
    changed = {item for item, one in found.items() if one != before[item]}
    assert counts.imported == 11
    assert len(changed) == 1
    assert found[changed.pop()][1] == "person"


def test_one_row_that_cannot_be_recorded_imports_nothing(tmp_path):
    photos = make_images(tmp_path / "photos")
    project = opened(photos, tmp_path / "p.poise")
    sources = project.catalogue.sources
    project.close()
    rows = [{"source": sources[0], "label": "cat"}, {"source": sources[1], "label": "x" * 201}]
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InputError, match="printable characters"):
        imported(photos, path, tmp_path / "p.poise", ())
    assert labels_of(borrow(tmp_path / "p.poise", no_steps)) == {}


def test_an_import_says_what_became_of_the_rows(images, tmp_path):
    path = written(images, "folders", tmp_path)
    (path / "Ärger" / "unlisted.png").write_bytes(b"no item")
    said: list[str] = []
    source = Source(str(images.parent / "photos"), tmp_path / "p.poise", labels=path)
    Opening(source, tell=said.append, read_labels=read_labels).open().close()
    assert said == [
        "Imported 12 labels from sorted; left out 1 of unknown items, 12 predicted or empty"
    ]


# Hostile files ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.json", "[" * 100_000, "nested too deeply"),
        ("a.json", "[1]", "task 1 of a.json"),
        ("a.json", '[{"data": {}, "annotations": [3]}]', "no list of objects"),
        ("a.json", '{"tasks": []}', "no export that poise knows"),
        ("a.json", '"text"', "no JSON list or object"),
        ("a.json", "\ufffe{", "cannot be read as JSON"),
        ("a.json", '{"samples": 3}', "no list of samples"),
        ("a.json", '{"samples": [{"filepath": 3}]}', "has no filepath"),
        ("a.exe", "x", "unknown ending"),
        ("a.csv", "x\n1\n", "no id and no source"),
    ],
)
def test_odd_files_take_one_line(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    assert words in refused(path)


def test_a_huge_file_is_not_read(tmp_path):
    path = tmp_path / "tasks.json"
    with path.open("wb") as file:
        file.truncate(5 << 30)
    assert "5.4 GB" in refused(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
def test_a_pipe_is_not_waited_for(tmp_path):
    (tmp_path / "cat").mkdir()
    os.mkfifo(tmp_path / "cat" / "a.png")
    assert "it is not a file" in refused(tmp_path)
    os.mkfifo(tmp_path / "labels.npy")
    for name in ("ids.json", "classes.json"):
        (tmp_path / name).write_text("[]")
    assert "it is not a file" in refused(tmp_path)


def test_links_that_lead_out_of_a_folder_are_refused(tmp_path):
    secret = tmp_path / "secret.png"
    secret.write_bytes(b"private")
    for kind in ("folders", "fiftyone", "cleanlab", "huggingface"):
        folder = tmp_path / kind
        (folder / "data").mkdir(parents=True)
        name = {
            "folders": "data/a.png",
            "fiftyone": "samples.json",
            "cleanlab": "ids.json",
            "huggingface": "state.json",
        }[kind]
        if kind == "cleanlab":
            (folder / "labels.npy").write_bytes(b"")
            (folder / "classes.json").write_text("[]")
        (folder / name).symlink_to(secret)
        if kind == "huggingface":
            pytest.importorskip("datasets")
        assert "leads out of the folder" in refused(folder), kind


@pytest.mark.parametrize("path", ["data/../../secret.png", "data/../../../etc/passwd"])
def test_a_path_that_climbs_out_is_refused(tmp_path, path):
    (tmp_path / "secret.png").write_bytes(b"private")
    folder = tmp_path / "samples"
    (folder / "data").mkdir(parents=True)
    given = {"_cls": "Classification", "label": "cat"}
    samples = [{"filepath": path, "ground_truth": given}]
    (folder / "samples.json").write_text(json.dumps({"samples": samples}))
    assert "cannot be imported" in refused(folder)


@pytest.mark.parametrize("name", ["../data.arrow", "/etc/passwd", "..", "", 3, "a\\b"])
def test_a_data_set_that_names_files_elsewhere_is_refused(tmp_path, name):
    pytest.importorskip("datasets")
    (tmp_path / "state.json").write_text(json.dumps({"_data_files": [{"filename": name}]}))
    assert "no file beside it" in refused(tmp_path)
    (tmp_path / "dataset_dict.json").write_text(json.dumps({"splits": [name]}))
    assert "no file beside it" in refused(tmp_path)


def test_a_damaged_data_set_takes_one_line(images, tmp_path):
    pytest.importorskip("datasets")
    path = written(images, "huggingface", tmp_path)
    for file in path.glob("*.arrow"):
        file.write_bytes(b"not arrow")
    assert "save the data set again" in refused(path)
    (path / "dataset_info.json").write_text("{}")
    assert "save the data set again" in refused(path)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (np.array([0, 1, 2]), "expected 2 whole numbers"),
        (np.array([[0], [1]]), "expected 2 whole numbers"),
        (np.array([0.0, 1.0]), "expected 2 whole numbers"),
        (np.array([0, 2]), "expected positions in classes.json"),
        (np.array([-2, 0]), "expected positions in classes.json"),
        (np.array([0, {}], dtype=object), "cannot be read"),
    ],
)
def test_labels_of_the_wrong_kind_are_refused(tmp_path, labels, words):
    (tmp_path / "ids.json").write_text('["a", "b"]')
    (tmp_path / "classes.json").write_text('["cat", "dog"]')
    np.save(tmp_path / "labels.npy", labels, allow_pickle=True)
    assert words in refused(tmp_path)


def test_arrays_need_the_files_beside_them(tmp_path):
    np.save(tmp_path / "labels.npy", np.array([0]))
    assert "no ids.json" in refused(tmp_path)
    (tmp_path / "ids.json").write_text("[1]")
    (tmp_path / "classes.json").write_text('["cat"]')
    assert "list of texts" in refused(tmp_path)


def test_an_empty_folder_says_what_was_expected(tmp_path):
    (tmp_path / "loose.png").write_bytes(b"x")
    assert "a folder for each class" in refused(tmp_path)


def test_the_command_refuses_before_a_page_opens(tmp_path, capsys):
    (tmp_path / "tasks.json").write_text("{}")
    with pytest.raises(SystemExit) as ended:
        main(["label", "digits", "--no-browser", "--import", str(tmp_path / "tasks.json")])
    out, err = capsys.readouterr()
    assert (ended.value.code, err.count("\n")) == (2, 1)
    assert "no export that poise knows" in err
    assert "http://" not in out


# Names ------------------------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
awkward = st.one_of(
    texts,
    st.sampled_from(["..", ".", "", "con", "NUL.txt", "a/b", "a\\b", "cat", "CAT", "cat.", " cat"]),
    st.text("é/.\u0301eE", max_size=5),
)


@given(st.lists(awkward, max_size=12))
def test_names_are_safe_and_differ(given_texts):
    names = distinct_names(given_texts, [".png"] * len(given_texts))
    for name in [*names, *map(safe_name, given_texts)]:
        assert name == name.strip(" ")
        assert not name.startswith(".")
        assert not set(name) & set('/\\:*?"<>|\0\n')
        assert name.isprintable()
        assert 0 < len(name.encode()) < 255
        assert name.split(".")[0].lower() not in ("con", "nul", "aux", "prn", "com1", "lpt9")
    assert len({name.casefold() for name in names}) == len(names)


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems change the form of letters")
@settings(max_examples=10, deadline=None)
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8),
        min_size=4,
        max_size=4,
        unique=True,
    ),
    st.lists(
        st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8),
        min_size=12,
        max_size=12,
        unique=True,
    ),
)
def test_awkward_classes_and_ids_survive_every_format(tmp_path_factory, classes, keys):
    """In a table with keys, ids are whatever people write."""
    folder = tmp_path_factory.mktemp("keys")
    lines = [json.dumps({"text": f"text {i % 4} {i}", "key": key}) for i, key in enumerate(keys)]
    source = folder / "texts.jsonl"
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    made = {}
    for name in ("made", "other"):
        where = folder / f"{name}.poise"
        made[name] = Opening(Source(str(source), where, key="key", embedding="tfidf")).open()
    for number, item in enumerate(made["made"].catalogue.ids[:8]):
        made["made"].record(Event("class", {"name": classes[number % 4]}))
        data = {"items": [item], "label": classes[number % 4]}
        made["made"].record(Event("label", data))
    before = labels_of(made["made"])
    made["made"].close()
    project = made["other"]
    for form in ("folders", "label-studio", "cleanlab", "huggingface"):
        path = written(folder / "made.poise", form, folder)
        assert take_in(project, read_labels(path)).imported == 8, form
        assert labels_of(project) == before, form
        project.record(Event("clear", {"items": list(before)}))
    project.close()
