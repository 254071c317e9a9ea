"""``poise predict``: new items get the class of similar items; the project does not change."""

import csv
import json

import numpy as np
import pytest

from poise.studio.log.events import Event
from poise.studio.opening import Opening, Source


def labelled(folder, source, truth, count=30, **options):
    """A project with some correct answers in every class."""
    project = Opening(Source(str(source), folder, **options)).open()
    step = len(project.catalogue) // count | 1  # odd, because the classes alternate
    for node in range(0, len(project.catalogue), step):
        name = truth(node)
        if name not in project.state.classes:
            project.record(Event("class", {"name": name}))
        project.record(Event("label", {"items": [project.catalogue.ids[node]], "label": name}))
    project.close()


def two_clusters(rng, n, d=6):
    """Vectors in two clusters, and the cluster of each."""
    codes = np.arange(n) % 2
    return (rng.normal(size=(n, d)) + 6 * codes[:, None]).astype(np.float32), codes


@pytest.mark.parametrize("embedding", ["raw", "pca"])
def test_vectors(tmp_path, run, embedding):
    rng = np.random.default_rng(0)
    X, codes = two_clusters(rng, 200)
    new, expected = two_clusters(rng, 50)
    np.save(tmp_path / "old.npy", X)
    np.save(tmp_path / "new.npy", new)
    folder = tmp_path / "old.poise"
    names = ("left", "right")
    labelled(folder, tmp_path / "old.npy", lambda i: names[codes[i]], embedding=embedding)
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".db"}
    code, out, _ = run("predict", folder, tmp_path / "new.npy", "-o", tmp_path / "out.csv")
    assert code == 0
    assert "50 items, 50 near a labelled item" in out
    with (tmp_path / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["label"] for row in rows] == [names[c] for c in expected]
    assert all(0.8 < float(row["probability"]) <= 1 for row in rows)
    after = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".db"}
    assert before == after


def test_few_labels_give_no_probability(tmp_path, run):
    cats = [f"my cat number {i} sleeps on the warm sofa" for i in range(15)]
    cars = [f"the engine of car {i} needs new oil and brakes" for i in range(15)]
    table = tmp_path / "old.csv"
    table.write_text("text\n" + "\n".join(cats + cars) + "\n")
    new = tmp_path / "new.jsonl"
    texts = ["a kitten naps on the couch", "the brakes of my car are worn"]
    new.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    folder = tmp_path / "old.poise"
    labelled(folder, table, lambda i: "cat" if i < 15 else "car", count=6)
    code, _, err = run("predict", folder, new, "-o", tmp_path / "out.jsonl")
    assert (code, err) == (0, "")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["label"] for row in rows] == ["cat", "car"]
    assert [row["probability"] for row in rows] == [None, None], "six answers are no evidence"


def test_errors(tmp_path, run):
    X, codes = two_clusters(np.random.default_rng(0), 60)
    np.save(tmp_path / "old.npy", X)
    folder = tmp_path / "old.poise"
    Opening(Source(str(tmp_path / "old.npy"), folder)).open().close()
    out = tmp_path / "out.csv"
    assert "is not a poise project" in run("predict", tmp_path, "digits", "-o", out)[2]
    assert "nothing is labelled" in run("predict", folder, tmp_path / "old.npy", "-o", out)[2]
    labelled(folder, tmp_path / "old.npy", lambda i: "ab"[codes[i]])
    (tmp_path / "t.csv").write_text("text\na\nb\nc\n")
    code, _, err = run("predict", folder, tmp_path / "t.csv", "-o", out)
    assert code == 2
    assert "of kind text, and the project's are vector" in err
    np.save(tmp_path / "wide.npy", np.ones((4, 9)))
    code, _, err = run("predict", folder, tmp_path / "wide.npy", "-o", out)
    assert code == 2
    assert "9 features" in err
    assert "must end in .csv" in run("predict", folder, tmp_path / "old.npy", "-o", "out.txt")[2]
    assert not out.exists()


def test_items_left_out_are_listed(tmp_path, run):
    X, codes = two_clusters(np.random.default_rng(0), 60)
    np.save(tmp_path / "old.npy", X)
    folder = tmp_path / "old.poise"
    labelled(folder, tmp_path / "old.npy", lambda i: "ab"[codes[i]])
    X[3] = np.nan
    np.save(tmp_path / "new.npy", X)
    code, out, err = run("predict", folder, tmp_path / "new.npy", "-o", tmp_path / "out.csv")
    assert code == 0
    assert "59 items" in out
    assert err == "left out: 1 (row 4: it holds NaN or an infinite number)\n"


def test_a_table_is_read_with_the_columns_of_the_project(tmp_path, run):
    """The columns of texts or vectors need not be given again."""
    X, codes = two_clusters(np.random.default_rng(0), 40)

    def table(path):
        rows = [
            {"title": f"item {i}", "body": "ab"[c], "other": "words", "vector": x.tolist()}
            for i, (x, c) in enumerate(zip(X, codes, strict=True))
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    old, new, out = table(tmp_path / "old.jsonl"), table(tmp_path / "new.jsonl"), tmp_path / "o.csv"
    given, texts = tmp_path / "given.poise", tmp_path / "texts.poise"
    labelled(given, old, lambda i: "ab"[codes[i]], vectors="vector", column="title")
    labelled(texts, old, lambda i: "ab"[codes[i]], embedding="tfidf", column="title,body")
    for folder in (given, texts):
        code, _, err = run("predict", folder, new, "-o", out)
        assert (code, err) == (0, "")


def test_vectors_of_another_length_are_refused(tmp_path, run):
    X, codes = two_clusters(np.random.default_rng(0), 40)
    np.save(tmp_path / "old.npy", X)
    np.save(tmp_path / "short.npy", X[:, :3])
    folder = tmp_path / "old.poise"
    options = {"features": tmp_path / "old.npy"}
    labelled(folder, tmp_path / "old.npy", lambda i: "ab"[codes[i]], **options)
    code, _, err = run(
        *("predict", folder, tmp_path / "old.npy", "-o", tmp_path / "o.csv"),
        *("--features", tmp_path / "short.npy"),
    )
    assert code == 2
    assert "3 features" in err
