"""Embeddings: what they compute, that they are kept, and what they refuse."""

import json

import numpy as np
import pytest

import poise
from poise.data import folders
from poise.data.sources import read_items
from poise.errors import DataError, InputError, UnknownNameError

TEXTS = ["a black cat sat", "the black cat slept", "stocks fell sharply", "stocks rose again"] * 5


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("POISE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def items_for(name):
    return TEXTS if name == "tfidf" else np.random.default_rng(0).random((30, 8))


@pytest.mark.parametrize("name", list(poise.embeddings))
class TestContract:
    def test_same_numbers_again_from_the_cache(self, name, own_cache):
        items = items_for(name)
        first = poise.embed(items, name)
        assert first.dtype == np.float32
        assert len(first) == len(items)
        assert np.isfinite(first).all()
        (kept,) = (own_cache / "embeddings").iterdir()
        before = kept.stat().st_mtime_ns
        np.testing.assert_array_equal(poise.embed(items, name), first)
        assert kept.stat().st_mtime_ns == before
        np.testing.assert_array_equal(poise.embed(items, name, cached=False), first)

    def test_a_damaged_file_is_computed_again(self, name, own_cache):
        first = poise.embed(items_for(name), name)
        (kept,) = (own_cache / "embeddings").iterdir()
        kept.write_bytes(b"damaged")
        np.testing.assert_array_equal(poise.embed(items_for(name), name), first)

    def test_nothing_and_unknown_parameters(self, name):
        with pytest.raises(InputError, match="no items"):
            poise.embed([], name)
        with pytest.raises(InputError, match=f"{name} does not take colour: it takes"):
            poise.embed(items_for(name), name, colour=1)


def test_other_items_or_parameters_are_other_files(own_cache):
    X = np.random.default_rng(0).random((30, 8))
    poise.embed(X, "pca", dimensions=2)
    poise.embed(X, "pca", dimensions=3)
    poise.embed(X + 1, "pca", dimensions=2)
    poise.embed(X.astype(np.float32), "pca", dimensions=2)
    assert len(list((own_cache / "embeddings").iterdir())) == 4


def test_pca_keeps_distances_in_a_plane():
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(40, 2))
    X = poise.embed(plane @ rng.normal(size=(2, 9)), "pca", dimensions=2)
    again = poise.embed(X.astype(np.float64), "pca", dimensions=5)
    assert again.shape == (40, 2)
    norms = np.linalg.norm(X - X[0], axis=1)
    np.testing.assert_allclose(np.linalg.norm(again - again[0], axis=1), norms, rtol=1e-4)


def test_bytes_become_shares():
    X = poise.embed(np.array([[[0, 255]], [[51, 102]]], dtype=np.uint8), "raw")
    np.testing.assert_allclose(X, [[0, 1], [0.2, 0.4]], rtol=1e-6)


def test_tfidf_puts_like_texts_together():
    X = poise.embed(TEXTS, "tfidf", dimensions=2)
    similar = X @ X.T
    assert similar[0, 1] > similar[0, 2]
    assert similar[2, 3] > similar[1, 3]


@pytest.mark.parametrize(
    ("items", "name", "message"),
    [
        (["a"], "pca", "is for numbers"),
        (np.array([[1.0, np.nan]]), "raw", "NaN or infinite"),
        ([1, 2], "tfidf", "is for texts"),
        (["!", "?"], "tfidf", "no words"),
    ],
)
def test_refuses(items, name, message):
    with pytest.raises(InputError, match=message):
        poise.embed(items, name)


def test_unknown_embedding():
    with pytest.raises(UnknownNameError, match="did you mean pca"):
        poise.embed([[1.0]], "pcaa")
    for name in ("pca", "tfidf"):
        with pytest.raises(InputError, match="dimensions is 0"):
            poise.embed(items_for(name), name, dimensions=0)


class TestSources:
    def test_arrays(self, tmp_path):
        X = np.arange(6.0).reshape(3, 2)
        np.save(tmp_path / "x.npy", X)
        np.savez(tmp_path / "x.npz", X=X)
        for name in ("x.npy", "x.npz"):
            np.testing.assert_array_equal(read_items(str(tmp_path / name)), X)
        assert len(read_items("digits")) == 1797

    @pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
    def test_tables(self, tmp_path, kind):
        path = tmp_path / f"t.{kind}"
        texts = ['one, "two"', "zwölf\tdrei", "line\nbreak"]
        if kind == "jsonl":
            path.write_text("".join(json.dumps({"id": 1, "text": t}) + "\n" for t in texts))
        else:
            import csv

            with path.open("w", newline="", encoding="utf-8-sig") as file:
                writer = csv.writer(file, delimiter="," if kind == "csv" else "\t")
                writer.writerows([["id", "text"], *([1, t] for t in texts)])
        assert read_items(str(path), "text") == texts
        with pytest.raises(InputError, match="say which holds the texts"):
            read_items(str(path))
        with pytest.raises(InputError, match="has no column 'body': there are id, text"):
            read_items(str(path), "body")

    @pytest.mark.parametrize(
        ("name", "content", "error", "message"),
        [
            ("x.npy", b"nothing", DataError, "cannot be read"),
            ("x.npz", b"nothing", DataError, "cannot be read"),
            ("x.npz", b"PK\x03\x04" + bytes(50), DataError, "cannot be read"),
            ("t.csv", b"text\n", DataError, "holds no rows"),
            ("t.csv", b"\xff\xfe\xfa", DataError, "cannot be read"),
            ("t.jsonl", b"{", DataError, "cannot be read"),
            ("t.jsonl", b"[1]\n", DataError, "no object"),
            ("t.jsonl", b'{"text": 3}\n', InputError, "row 1 .* no text"),
            ("t.doc", b"", InputError, "no known kind"),
        ],
    )
    def test_broken(self, tmp_path, name, content, error, message):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(error, match=message) as caught:
            read_items(str(tmp_path / name))
        assert "\n" not in str(caught.value)

    def test_missing(self, tmp_path):
        with pytest.raises(InputError, match="there is no file"):
            read_items(str(tmp_path / "none.csv"))
        with pytest.raises(UnknownNameError, match="did you mean digits"):
            read_items("digit")


def test_the_cache_folder_is_the_platforms(monkeypatch):
    monkeypatch.delenv("POISE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    monkeypatch.setattr(folders.sys, "platform", "linux")
    assert folders.cache().as_posix() == "/somewhere/poise"
    monkeypatch.setattr(folders.sys, "platform", "darwin")
    assert folders.cache().parts[-3:] == ("Library", "Caches", "poise")
    monkeypatch.setattr(folders.sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    assert folders.cache().as_posix() == "/local/poise"
