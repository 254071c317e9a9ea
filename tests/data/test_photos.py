"""CIFAR-10: from JPEG files in an archive, and from the publisher's bytes."""

import io
import tarfile

import numpy as np
import pytest

import poise
from poise.data.datasets import photos
from poise.errors import DataError

Image = pytest.importorskip("PIL.Image", reason="needs Pillow: install the extra image")


def add(archive, name, content):
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))


def jpeg(colour, side=32):
    file = io.BytesIO()
    Image.new("RGB", (side, side), colour).save(file, "JPEG", quality=95)
    return file.getvalue()


@pytest.fixture
def archive(own_files):
    """Three photos, in no order, beside what is none."""
    with tarfile.open(own_files / photos.CIFAR_JPEG, "w") as opened:
        add(opened, "test/truck/0001.jpg", jpeg("blue"))
        add(opened, "test/bird/0011.jpg", jpeg("red"))
        add(opened, "test/bird/0002.jpg", jpeg("white"))
        add(opened, "test/README", b"text")
        link = tarfile.TarInfo("test/bird/0003.jpg")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        opened.addfile(link)
    return own_files / photos.CIFAR_JPEG


def test_photos_of_an_archive(archive):
    dataset = poise.load_dataset("cifar10")
    assert dataset.clusters.tolist() == [2, 2, 9]
    assert dataset.shape == (32, 32, 3)
    assert dataset.X.dtype == np.uint8
    colours = dataset.X.reshape(3, 32, 32, 3)[:, 5, 5]
    np.testing.assert_allclose(colours, [[255, 255, 255], [255, 0, 0], [0, 0, 255]], atol=3)
    assert "3 of the 10,000 test photos" in dataset.note
    assert poise.load_dataset("cifar10-mod2").classes.tolist() == [0, 0, 1]


def test_embeddings_see_the_colours(archive):
    """Red, white and blue differ to an embedding of images, and none asks for a height."""
    pytest.importorskip("skimage", reason="needs scikit-image: install the extra image")
    assert poise.load_dataset("cifar10", embedding="hog").n_points == 3
    assert poise.load_dataset("cifar10", embedding="pca").shape is None


@pytest.mark.parametrize("damage", ["truncated", "text", "size", "class", "picture", "empty"])
def test_broken_archives(archive, damage):
    if damage == "truncated":
        archive.write_bytes(archive.read_bytes()[:2_000])
    elif damage == "text":
        archive.write_text("not an archive")
    else:
        with tarfile.open(archive, "w") as opened:
            if damage == "size":
                add(opened, "test/bird/0001.jpg", jpeg("red", side=16))
            elif damage == "class":
                add(opened, "test/unicorn/0001.jpg", jpeg("red"))
            elif damage == "picture":
                add(opened, "test/bird/0001.jpg", b"no picture")
    with pytest.raises(DataError, match=r"cifar10_test\.tar") as caught:
        poise.load_dataset("cifar10")
    assert "\n" not in str(caught.value)


def test_the_publishers_bytes(elsewhere, monkeypatch):
    """A class, then planes of red, green and blue; sorted by class; then from the cache."""
    planes = np.random.default_rng(0).integers(0, 256, (3, 3, 32, 32), dtype=np.uint8)
    rows = np.concatenate([np.array([[7], [1], [7]], np.uint8), planes.reshape(3, -1)], axis=1)

    def fetch(address, path, md5, progress):
        path.parent.mkdir(parents=True)
        with tarfile.open(path, "w:gz") as opened:
            add(opened, "cifar-10-batches-bin/test_batch.bin", rows.tobytes())
        return path

    monkeypatch.setattr(photos, "fetch", fetch)
    dataset = poise.load_dataset("cifar10")
    assert dataset.clusters.tolist() == [1, 7, 7]
    images = dataset.X.reshape(3, 32, 32, 3)
    for image, original in zip(images, (1, 0, 2), strict=True):
        for colour in range(3):
            np.testing.assert_array_equal(image[:, :, colour], planes[original, colour])
    monkeypatch.setattr(photos, "fetch", None)
    np.testing.assert_array_equal(poise.load_dataset("cifar10").X, dataset.X)


@pytest.mark.data
def test_the_real_photos(poise_data):
    dataset = poise.load_dataset("cifar10")
    assert dataset.X.shape == (10_000, 3_072)
    assert np.bincount(dataset.clusters).tolist() == [1_000] * 10
    assert "JPEG" in dataset.note
    features = poise.load_dataset("cifar10", embedding="eff")
    assert features.X.shape == (5_000, 1_280)
    assert features.X.dtype == np.float32
    assert features.n_classes == 10
    assert "5,000 of the 10,000" in features.note
