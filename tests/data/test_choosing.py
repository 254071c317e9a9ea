"""The default embedding: by kind of item, by the look of images, by what is installed."""

import numpy as np
import pytest
from PIL import Image

import poise
from poise.data.embeddings import choosing
from poise.data.embeddings.choosing import (
    NEEDED,
    STRONGER,
    Choice,
    is_installed,
    stronger,
    suited,
)
from poise.data.embeddings.items import Images


@pytest.fixture
def pictures(tmp_path):
    """Creates image files: (name, size, colour) -> Images."""
    rng = np.random.default_rng(0)

    def make(*wanted):
        for name, side, colour in wanted:
            shape = (side, side, 3) if colour else (side, side)
            pixels = rng.integers(0, 256, shape).astype(np.uint8)
            Image.fromarray(pixels).save(tmp_path / name)
        return Images(tuple(sorted(tmp_path.iterdir())))

    return make


def test_texts_by_meaning():
    assert suited(["a word", "another"]).name == "sentence"


def test_numbers():
    assert suited(np.zeros((3, 128))).name == "raw"
    assert suited(np.zeros((3, 129))).name == "pca"


@pytest.mark.parametrize(
    ("shape", "name"),
    [
        ((3, 12, 12), "pca"),
        ((3, 64, 64), "pca"),
        ((3, 64, 64, 1), "pca"),
        ((3, 65, 20), "photo"),
        ((3, 32, 32, 3), "photo"),
    ],
)
def test_arrays_of_images(shape, name):
    assert suited(np.zeros(shape, np.uint8)).name == name


@pytest.mark.parametrize("shape", [(3, 80, 80, 4), (3, 10, 6, 4), (3, 5, 6, 7, 8)])
def test_arrays_of_other_shapes_are_numbers(shape):
    """Otherwise they would be cut into meaningless squares, or refused by the embedding."""
    assert suited(np.zeros(shape, np.uint8)).name == "pca"
    assert poise.embed(np.random.default_rng(0).random(shape), cached=False).shape == (3, 3)


def test_files(pictures):
    assert suited(pictures(("a.png", 28, False), ("b.jpg", 64, False))).name == "pca"
    assert suited(pictures(("c.png", 28, True))).name == "photo"


def test_large_grey_files(pictures):
    assert suited(pictures(("a.png", 28, False), ("b.png", 65, False))).name == "photo"


def test_grey_in_three_colours_is_grey(tmp_path):
    grey = np.random.default_rng(0).integers(0, 256, (32, 32)).astype(np.uint8)
    Image.fromarray(np.dstack([grey] * 3)).save(tmp_path / "a.jpg")
    assert suited(Images((tmp_path / "a.jpg",))).name == "pca"


def test_damaged_files_do_not_decide(tmp_path, pictures):
    (tmp_path / "0.png").write_bytes(b"no image")
    assert suited(pictures(("a.png", 28, True))).name == "photo"


@pytest.mark.parametrize(("items", "instead"), [(["a"], "tfidf"), (np.zeros((2, 9, 9, 3)), "pca")])
def test_what_is_not_installed_is_not_chosen(monkeypatch, items, instead):
    monkeypatch.setitem(choosing.NEEDED, "photo", ("no-such-package", ()))
    monkeypatch.setitem(choosing.NEEDED, "sentence", (choosing.NEEDED["sentence"][0], ("no_such",)))
    assert not is_installed("photo")
    assert not is_installed("sentence")
    choice = suited(items)
    assert choice.name == instead
    assert "not installed: pip install 'poise[app]'" in choice.why


def test_embed_follows_the_rule(monkeypatch):
    X = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    np.testing.assert_array_equal(poise.embed(X), X)
    monkeypatch.setattr(choosing, "suited", lambda items: Choice("pca", "a test"))
    assert poise.embed(X, cached=False).shape[1] <= 3


def test_a_larger_encoder_is_named_with_its_size_and_what_it_gains():
    for name, other in STRONGER.items():
        assert other.gain in stronger(name)
        assert "not measured by us" in stronger(name)
    assert "95.1%" in stronger("photo")
    assert "89% instead of 83%" in stronger("sentence")
    assert "340 MB" in stronger("photo")
    assert "--embed image-encoder" in stronger("photo")
    assert "--embed text-encoder" in stronger("sentence")
    assert stronger("pca") == ""
    assert set(STRONGER) == set(NEEDED)
