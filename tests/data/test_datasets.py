"""Data sets by name: what they hold, and what happens when files are missing or broken."""

import gzip
import struct
import zipfile

import numpy as np
import pytest

import poise
from poise.data import folders
from poise.data.datasets import public
from poise.data.datasets.files import stored
from poise.errors import DataError, InputError, UnknownNameError

SMALL_SIZES = (4, 3, 2)


def idx(array):
    """The bytes of an IDX file."""
    header = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return header + array.tobytes()


@pytest.mark.parametrize("name", ["blobs", "box", "digits"])
def test_without_files_or_network(elsewhere, name):
    dataset = poise.load_dataset(name)
    assert dataset.name == name
    assert dataset.X.ndim == 2
    assert dataset.clusters.shape == dataset.classes.shape == (dataset.n_points,)
    assert dataset.source
    assert dataset.licence
    assert name in repr(dataset)
    again = poise.load_dataset(name)
    np.testing.assert_array_equal(again.X, dataset.X)


def test_blobs_are_the_papers():
    dataset = poise.load_dataset("blobs", size=2_000)
    for i in range(8):
        cloud = dataset.X[dataset.clusters == i]
        assert len(cloud) == 2_000
        centre = [np.cos(np.pi * i / 4), np.sin(np.pi * i / 4)]
        np.testing.assert_allclose(cloud.mean(axis=0), centre, atol=0.02)
        np.testing.assert_allclose(cloud.std(axis=0), 0.17, atol=0.01)
    assert (dataset.classes == dataset.clusters % 2).all()
    assert (poise.load_dataset("blobs", seed=1).X != poise.load_dataset("blobs").X).any()


def test_box_is_a_lattice_without_a_band():
    whole, dataset = poise.load_dataset("box", band=0.0), poise.load_dataset("box")
    assert whole.n_points == 65 * 65
    assert dataset.n_points == 63 * 65
    left, right = (dataset.X[dataset.classes == c, 0] for c in (0, 1))
    assert left.max() < 0.3 < right.min()
    with pytest.raises(InputError, match="band is 1"):
        poise.load_dataset("box", band=1)


def test_modulo(elsewhere):
    dataset = poise.load_dataset("digits-mod3")
    assert dataset.name == "digits-mod3"
    assert dataset.n_clusters == 10
    assert (dataset.classes == dataset.clusters % 3).all()
    for k in (0, 1, 11):
        with pytest.raises(InputError, match="expected a number from 2 to 10"):
            poise.load_dataset(f"digits-mod{k}")


def test_unknown_names_and_options():
    with pytest.raises(UnknownNameError, match="did you mean mnist"):
        poise.load_dataset("mnits")
    with pytest.raises(UnknownNameError, match="there are 20news, banking77"):
        poise.load_dataset("qqq")
    with pytest.raises(UnknownNameError, match="did you mean digits"):
        poise.load_dataset("digit-mod3")
    with pytest.raises(InputError, match="digits does not take colour"):
        poise.load_dataset("digits", colour=1)


@pytest.mark.parametrize(
    "name",
    [
        "20news",
        "banking77",
        "cifar10",
        "emnist",
        "emnist-bymerge",
        "fashionmnist",
        "isolet",
        "mnist",
        "mnist-imb",
    ],
)
def test_neither_files_nor_network(elsewhere, name):
    with pytest.raises(DataError):
        poise.load_dataset(name)
    assert not list(elsewhere.rglob("*.npz*"))


def test_own_files_come_first(own_files):
    X = np.arange(5 * 28 * 28, dtype=np.uint8).reshape(5, 28, 28)
    np.savez(own_files / "mnist.npz", X=X, y=np.array([0, 1, 2, 3, 4]))
    dataset = poise.load_dataset("mnist")
    assert dataset.X.shape == (5, 784)
    assert dataset.shape == (28, 28)
    assert dataset.clusters.tolist() == [0, 1, 2, 3, 4]


def test_y_is_another_name_of_the_classes():
    dataset = poise.load_dataset("blobs")
    assert dataset.y is dataset.classes
    grouped = poise.load_dataset("digits-mod3")
    assert (grouped.y == grouped.clusters % 3).all()
    described = poise.load_dataset.__doc__
    assert all(f"`{name}`" in described for name in ("X", "y", "clusters", "texts", "shape"))


class TestAFileOfYourOwn:
    def test_rows(self, tmp_path):
        X, y = np.random.default_rng(0).normal(size=(9, 4)), np.arange(9) % 3
        np.savez(tmp_path / "mine.npz", X=X, y=y.astype(np.float32))
        dataset = poise.load_dataset(str(tmp_path / "mine.npz"))
        np.testing.assert_array_equal(dataset.X, X)
        assert dataset.y.tolist() == dataset.clusters.tolist() == y.tolist()
        assert (dataset.name, dataset.licence, dataset.shape) == ("mine", "your own", None)
        halves = poise.load_dataset(f"{tmp_path / 'mine.npz'}-mod2")
        assert (halves.y == y % 2).all()

    def test_classes_may_be_texts(self, tmp_path):
        np.savez(tmp_path / "mine.npz", X=np.zeros((3, 2)), y=np.array(["dog", "cat", "dog"]))
        assert poise.load_dataset(str(tmp_path / "mine.npz")).y.tolist() == [1, 0, 1]

    @pytest.mark.parametrize("shape", [(8, 9), (8, 9, 3)])
    def test_images_are_embedded_as_images(self, tmp_path, shape):
        X = np.random.default_rng(0).integers(0, 256, (40, *shape)).astype(np.uint8)
        np.savez(tmp_path / "mine.npz", X=X, y=np.arange(40) % 2)
        path = str(tmp_path / "mine.npz")
        dataset = poise.load_dataset(path)
        assert dataset.shape == shape
        np.testing.assert_array_equal(dataset.X, X.reshape(40, -1))
        embedded = poise.load_dataset(path, embedding="hog")
        np.testing.assert_array_equal(embedded.X, poise.embed(X, "hog"))
        assert (embedded.shape, embedded.note) == (None, "embedded with hog")

    @pytest.mark.parametrize("y", [[0.5, 1.0, 2.0], [np.nan, 0, 1], [np.inf, 0, 1], [1j, 0, 1]])
    def test_other_classes_are_refused(self, tmp_path, y):
        np.savez(tmp_path / "mine.npz", X=np.zeros((3, 2)), y=np.array(y))
        with pytest.raises(DataError, match="expected a class for every row of X, as whole"):
            poise.load_dataset(str(tmp_path / "mine.npz"))

    def test_mistakes(self, tmp_path):
        with pytest.raises(InputError, match=r"there is no file nothing\.npz: expected an \.npz"):
            poise.load_dataset("nothing.npz")
        np.savez(tmp_path / "mine.npz", X=np.zeros((3, 2)), y=np.arange(3))
        with pytest.raises(InputError, match="does not take seed"):
            poise.load_dataset(str(tmp_path / "mine.npz"), seed=1)
        with pytest.raises(UnknownNameError, match="no embedding is called 'pcaa'"):
            poise.load_dataset(str(tmp_path / "mine.npz"), embedding="pcaa")


@pytest.mark.parametrize("damage", ["truncated", "text", "no y", "lengths", "pickle"])
def test_broken_files(own_files, damage):
    path = own_files / "isolet.npz"
    np.savez(path, X=np.zeros((4, 3)), y=np.arange(4))
    if damage == "truncated":
        path.write_bytes(path.read_bytes()[:100])
    elif damage == "text":
        path.write_text("not an archive")
    elif damage == "no y":
        np.savez(path, X=np.zeros((4, 3)))
    elif damage == "lengths":
        np.savez(path, X=np.zeros((4, 3)), y=np.arange(5))
    else:
        np.savez(path, X=np.array([{"a": 1}], dtype=object), y=np.arange(1))
    with pytest.raises(DataError, match=r"isolet\.npz") as caught:
        poise.load_dataset("isolet")
    assert "\n" not in str(caught.value)


def test_downloads_are_read_and_kept(elsewhere, monkeypatch):
    """The four files of MNIST's form, from a fetch that finds them; then from the cache."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (7, 28, 28), dtype=np.uint8)
    labels = np.array([3, 1, 2, 0, 1, 3, 2], dtype=np.uint8)
    parts = {
        "train-images": images[:5],
        "train-labels": labels[:5],
        "t10k-images": images[5:],
        "t10k-labels": labels[5:],
    }

    def fetch(address, path, md5, progress):
        (name,) = (key for key in parts if key in address)
        array = parts[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(idx(array)))
        return path

    monkeypatch.setattr(public, "fetch", fetch)
    dataset = poise.load_dataset("mnist")
    np.testing.assert_array_equal(dataset.X.reshape(7, 28, 28), images)
    assert dataset.clusters.tolist() == labels.tolist()
    monkeypatch.setattr(public, "fetch", None)
    np.testing.assert_array_equal(poise.load_dataset("mnist").X, dataset.X)
    assert stored("mnist") is not None
    assert folders.cache().is_relative_to(elsewhere)


def test_a_split_of_emnist_is_taken_from_the_archive(elsewhere, monkeypatch):
    """Upright, from the members that NIST's archive has; then from the cache."""
    images = np.random.default_rng(0).integers(0, 256, (4, 28, 28), dtype=np.uint8)
    labels = np.array([46, 0, 3, 3], dtype=np.uint8)

    def fetch(address, path, md5, progress):
        path.parent.mkdir(parents=True)
        with zipfile.ZipFile(path, "w") as files:
            for kind, array in {"images-idx3": images, "labels-idx1": labels}.items():
                content = gzip.compress(idx(array))
                files.writestr(f"gzip/emnist-bymerge-test-{kind}-ubyte.gz", content)
        return path

    monkeypatch.setattr(public, "fetch", fetch)
    dataset = poise.load_dataset("emnist-bymerge-mod2")
    np.testing.assert_array_equal(dataset.X.reshape(4, 28, 28), images.transpose(0, 2, 1))
    assert dataset.clusters.tolist() == [46, 0, 3, 3]
    assert dataset.classes.tolist() == [0, 0, 1, 1]
    assert dataset.shape == (28, 28)
    monkeypatch.setattr(public, "fetch", None)
    np.testing.assert_array_equal(poise.load_dataset("emnist-bymerge").X, dataset.X)


def test_imbalanced_sizes(own_files, monkeypatch):
    y = np.repeat(np.arange(3), 5)
    np.savez(own_files / "mnist.npz", X=np.arange(15 * 784).reshape(15, 784), y=y)
    monkeypatch.setattr(public, "MNIST_IMB", SMALL_SIZES)
    dataset = poise.load_dataset("mnist-imb")
    assert np.bincount(dataset.clusters).tolist() == list(SMALL_SIZES)
    assert (poise.load_dataset("mnist-imb").X == dataset.X).all()
    assert (dataset.classes == dataset.clusters % 3).all()
    monkeypatch.setattr(public, "MNIST_IMB", (6, 3, 2))
    with pytest.raises(DataError, match="needs 6 points of cluster 0, and mnist has 5"):
        poise.load_dataset("mnist-imb")


@pytest.mark.data
def test_real_files(poise_data):
    sizes = {"mnist": 70_000, "isolet": 7_797, "mnist-imb": 37_631, "fashionmnist-imb": 41_102}
    for name, n in sizes.items():
        assert poise.load_dataset(name).n_points == n
    vcd = poise.load_dataset("emnist-vcd")
    assert len(np.unique(vcd.clusters[vcd.classes == 0])) == 7
    assert len(np.unique(vcd.clusters[vcd.classes == 1])) == 30
    assert "not the official" in vcd.note
    assert poise.load_dataset("isolet").clusters.min() == 0


def test_box_as_in_the_authors_files():
    dataset = poise.load_dataset("box", version="authors")
    # Facts of data/box_raw.npz and data/box_labels.npz in the authors' repository.
    assert dataset.n_points == 4_225
    assert np.bincount(dataset.classes).tolist() == [1_235, 2_990]
    assert dataset.X[1].tolist() == [0.015625, 0.0]
    with pytest.raises(InputError, match="expected paper or authors"):
        poise.load_dataset("box", version="mine")


def test_blobs_as_in_the_authors_files():
    dataset = poise.load_dataset("blobs", version="authors")
    assert np.bincount(dataset.classes).tolist() == [1_200, 1_200]
    assert (np.diff(dataset.clusters) != 0).sum() > 1_000, "in random order"
    together = np.argsort(dataset.clusters, kind="stable")
    assert sorted(map(tuple, dataset.X[together])) == sorted(
        map(tuple, poise.load_dataset("blobs").X)
    )


def test_an_embedding_in_place_of_the_points(tmp_path, monkeypatch):
    monkeypatch.setenv("POISE_CACHE", str(tmp_path / "cache"))
    dataset = poise.load_dataset("digits-mod2", embedding="pca")
    assert dataset.X.shape == (1_797, 50)
    assert dataset.shape is None
    assert "pca" in dataset.note
    with pytest.raises(UnknownNameError, match="did you mean pca"):
        poise.load_dataset("digits", embedding="pcaa")


def test_an_embedding_from_a_file(tmp_path, monkeypatch):
    monkeypatch.setenv("POISE_DATA", str(tmp_path))
    y = np.arange(47).repeat(3)
    np.savez(tmp_path / "emnist_vae.npz", X=np.ones((141, 20), np.float32), y=y)
    dataset = poise.load_dataset("emnist-vcd", embedding="vae")
    assert dataset.X.shape == (141, 20)
    assert dataset.n_clusters == 47
    assert dataset.n_classes == 3
    assert "embedded with vae" in dataset.note
    assert "not the official" in dataset.note


def test_an_embedding_that_only_a_file_has(own_files):
    with pytest.raises(UnknownNameError, match=r"a file emnist_bymerge_test_eff\.npz") as caught:
        poise.load_dataset("emnist-bymerge-mod2", embedding="eff")
    assert "\n" not in str(caught.value)
    X = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float16)
    np.savez(own_files / "emnist_bymerge_test_eff.npz", X=X, y=np.arange(6))
    dataset = poise.load_dataset("emnist-bymerge-mod2", embedding="eff")
    assert dataset.X.dtype == np.float32
    np.testing.assert_array_equal(dataset.X, X)
    assert dataset.classes.tolist() == [0, 1, 0, 1, 0, 1]
    assert dataset.shape is None
    assert dataset.note == "embedded with eff"


@pytest.mark.data
def test_the_large_imbalanced_split(poise_data):
    dataset = poise.load_dataset("emnist-bymerge", embedding="vae")
    assert dataset.X.shape == (116_323, 20)
    sizes = np.bincount(dataset.clusters)
    assert len(sizes) == 47
    assert (sizes.min(), sizes.max()) == (415, 6_400)


@pytest.mark.data
def test_the_authors_imbalanced_digits(poise_data):
    dataset = poise.load_dataset("mnist-imb", embedding="vae")
    assert dataset.X.shape == (37_631, 20)
    assert np.bincount(dataset.clusters).tolist() == list(public.MNIST_IMB)
    assert (dataset.classes == dataset.clusters % 3).all()
    drawn = poise.load_dataset("fashionmnist-imb", embedding="vae")
    assert np.bincount(drawn.clusters).tolist() == list(public.FASHION_IMB)
