"""Photographs are compared without what they have in common, now and later."""

import numpy as np
import pytest
from PIL import Image

from poise import Graph, embed
from poise.studio.opening import Opening, Source
from poise.studio.predicting import _placed
from poise.studio.source import arriving as arriving_module
from poise.studio.source.arriving import arriving
from poise.studio.source.catalogue import Catalogue
from poise.studio.source.centring import centred, is_centred, read_centre
from poise.studio.source.comparing import Compared
from poise.studio.source.preparing import embedded, prepare
from poise.studio.source.project_files import CENTRE_FILE
from poise.studio.source.reading import read_catalogue

RNG = np.random.default_rng(0)


def photo(folder, number):
    """Images of different colours, so that no two are equal."""
    folder.mkdir(exist_ok=True)
    pixels = np.random.default_rng(number).integers(0, 256, (6, 6, 3)).astype(np.uint8)
    Image.fromarray(pixels).resize((80, 80)).save(folder / f"{number:03}.png")


@pytest.fixture
def photos(tmp_path):
    for number in range(12):
        photo(tmp_path / "photos", number)
    return tmp_path / "photos"


def prepared(photos, folder):
    catalogue = read_catalogue(str(photos))
    features, _ = prepare(
        catalogue, folder, embedding=None, k=3, begin=lambda name: lambda *done: None
    )
    return dict(zip(catalogue.sources, features, strict=True))


def test_only_some_embeddings_are_centred():
    assert is_centred("photo")
    assert not any(map(is_centred, ("pca", "sentence", "given")))


def test_the_app_and_embed_compare_the_same_numbers(photos, tmp_path):
    catalogue = read_catalogue(str(photos))
    found = prepared(photos, tmp_path / "p")
    rows = np.array(list(found.values()))
    np.testing.assert_allclose(rows.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(rows, embed(catalogue.items), atol=1e-5)
    np.testing.assert_allclose(
        rows + read_centre(tmp_path / "p"),
        embed(catalogue.items, "photo", centred=False),
        atol=1e-5,
    )


def test_new_files_do_not_move_the_old_ones(photos, tmp_path):
    before = prepared(photos, tmp_path / "p")
    for number in range(12, 15):
        photo(photos, number)
    after = prepared(photos, tmp_path / "p")
    assert len(after) == 15
    for name, row in before.items():
        np.testing.assert_array_equal(after[name], row)


def test_new_items_are_placed_as_the_old_ones_were(photos, tmp_path):
    project = Opening(Source(str(photos), tmp_path / "p")).open()
    try:
        _, rows = _placed(project, "photo", read_catalogue(str(photos)), lambda *done: None)
    finally:
        project.close()
    np.testing.assert_allclose(rows, project.features, atol=1e-5)


def test_what_arrives_later_is_centred_as_the_first_part_was(monkeypatch):
    X = RNG.normal(5, 1, (100, 4)).astype(np.float32)
    for name, value in {
        "ENOUGH_ITEMS": 20,
        "LEAST_ITEMS": 20,
        "STEP_ITEMS": 20,
        "SOON_SECONDS": 0.0,
    }.items():
        monkeypatch.setattr(arriving_module, name, value)
    monkeypatch.setattr(arriving_module, "is_centred", lambda name: True)

    def take(m):
        return Catalogue("points", "vector", tuple(f"p{i}" for i in range(m)), X[:m])

    compared = Compared("raw", "it was asked for", 3, "cosine")
    times = iter(range(1000))
    parts = list(arriving(take, 100, compared, lambda *done: None, lambda: next(times)))
    assert len(parts) > 1
    for part in parts:
        assert isinstance(part.graph, Graph)
        np.testing.assert_array_equal(part.rows, X[: len(part.rows)])
        np.testing.assert_allclose(
            part.features, part.rows - X[: len(parts[0].rows)].mean(axis=0), atol=1e-6
        )


@pytest.mark.parametrize("content", [b"", b"not an array"])
def test_a_damaged_mean_is_made_again(tmp_path, content):
    rows = RNG.normal(size=(5, 3)).astype(np.float32)
    (tmp_path / CENTRE_FILE).write_bytes(content)
    assert read_centre(tmp_path) is None
    found = centred(tmp_path, rows, keep=True)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_array_equal(read_centre(tmp_path), rows.mean(axis=0))


def test_a_mean_of_other_features_is_not_used(tmp_path):
    np.save(tmp_path / CENTRE_FILE, np.ones(7, dtype=np.float32))
    rows = RNG.normal(size=(5, 3)).astype(np.float32)
    assert centred(tmp_path, rows, keep=True).shape == (5, 3)


def test_rows_of_the_app_are_not_centred_twice(photos):
    catalogue = read_catalogue(str(photos))
    assert np.abs(embedded(catalogue, "photo").mean(axis=0)).max() > 0.1
