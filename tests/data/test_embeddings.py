"""Embeddings: what they compute, that they are kept, and what they refuse."""

import importlib.util
import os
import resource
import shlex
import subprocess
import sys

import numpy as np
import pytest
import tiny_models
from platformdirs import windows
from platformdirs.macos import MacOS
from platformdirs.unix import Unix
from platformdirs.windows import Windows

import poise
from poise.cli.main import main
from poise.data import folders
from poise.data.embeddings import registry, sentence
from poise.errors import DataError, InputError, MissingExtraError, UnknownNameError

TEXTS = ["a black cat sat", "the black cat slept", "stocks fell sharply", "stocks rose again"] * 5


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("POISE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


#: What some embeddings need beyond poise's own dependencies, and the extra that brings it.
NEEDS = {
    "hog": ("skimage", "image"),
    "image-encoder": ("fastembed", "encoders"),
    "photo": ("onnxruntime", "photo"),
    "text-encoder": ("fastembed", "encoders"),
    "vae": ("torch", "vae"),
}


def items_for(name):
    if name in ("sentence", "tfidf", "text-encoder"):
        return TEXTS
    return np.random.default_rng(0).random((30, 16))


def need(name):
    library, extra = NEEDS.get(name, ("numpy", ""))
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"needs {library}: install the extra {extra}")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Folders of models that need no network, by embedding."""
    need("text-encoder")
    folder = tmp_path_factory.mktemp("models")
    words = sorted({word for text in TEXTS for word in text.split()})
    return {
        "text-encoder": str(tiny_models.text_model(folder / "text", words)),
        "image-encoder": str(tiny_models.image_model(folder / "image")),
    }


@pytest.fixture
def parameters(name, request):
    """Parameters that make the embedding quick, and independent of a network."""
    need(name)
    if name == "vae":
        return {"epochs": 2, "hidden": 8}
    return {"folder": request.getfixturevalue("models")[name]} if "encoder" in name else {}


@pytest.fixture
def run(capsys):
    def run(line):
        with pytest.raises(SystemExit) as stopped:
            main(shlex.split(line))
        out, err = capsys.readouterr()
        return stopped.value.code, out, err

    return run


@pytest.mark.parametrize("name", list(poise.embeddings))
class TestContract:
    def test_same_numbers_again_from_the_cache(self, name, own_cache, parameters):
        items = items_for(name)
        first = poise.embed(items, name, **parameters)
        assert first.dtype == np.float32
        assert len(first) == len(items)
        assert np.isfinite(first).all()
        (kept,) = (own_cache / "embeddings").iterdir()
        before = kept.stat().st_mtime_ns
        np.testing.assert_array_equal(poise.embed(items, name, **parameters), first)
        assert kept.stat().st_mtime_ns == before
        reports = []
        again = poise.embed(
            items, name, cached=False, progress=lambda *given: reports.append(given), **parameters
        )
        np.testing.assert_array_equal(again, first)
        assert all(0 < done <= total for done, total, _ in reports)

    def test_a_damaged_file_is_computed_again(self, name, own_cache, parameters):
        first = poise.embed(items_for(name), name, **parameters)
        (kept,) = (own_cache / "embeddings").iterdir()
        content = kept.read_bytes()

        def same_again():
            again = poise.embed(items_for(name), name, **parameters)
            # On some processors the last digits depend on what else is computed at once.
            np.testing.assert_allclose(again, first, atol=1e-6)

        for damaged in (b"damaged", b"", content[: len(content) // 2]):
            kept.write_bytes(damaged)
            same_again()
        np.save(kept, first[:3])
        same_again()

    def test_the_wrong_kind_of_items(self, name, parameters):
        wrong = np.zeros((4, 16)) if items_for(name) is TEXTS else TEXTS
        with pytest.raises(InputError, match=f"{name} is for"):
            poise.embed(wrong, name, **parameters)

    def test_nothing_and_unknown_parameters(self, name):
        with pytest.raises(InputError, match="no items"):
            poise.embed([], name)
        with pytest.raises(InputError, match=f"{name} does not take colour: it takes"):
            poise.embed(items_for(name), name, colour=1)


@pytest.mark.parametrize("name", NEEDS)
def test_what_it_needs_is_asked_for_in_one_line(name, monkeypatch):
    library, extra = NEEDS[name]
    sentence._loaded.cache_clear()
    for module in [m for m in sys.modules if m.split(".")[0] == library]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError) as caught:
        poise.embed(items_for(name), name)
    assert f"{library}, which is not installed: pip install 'poise[{extra}]'" in str(caught.value)
    assert "\n" not in str(caught.value)


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


@pytest.mark.parametrize("shape", [(1, 9), (3, 9), (9, 1), (5, 6000)])
def test_pca_of_items_that_are_all_alike(shape):
    np.testing.assert_allclose(poise.embed(np.ones(shape), "pca"), 0, atol=1e-5)


def test_bytes_become_shares():
    X = poise.embed(np.array([[[0, 255]], [[51, 102]]], dtype=np.uint8), "raw")
    np.testing.assert_allclose(X, [[0, 1], [0.2, 0.4]], rtol=1e-6)


def test_tfidf_puts_like_texts_together():
    X = poise.embed(TEXTS, "tfidf", dimensions=2)
    similar = X @ X.T
    assert similar[0, 1] > similar[0, 2]
    assert similar[2, 3] > similar[1, 3]


class TestHOG:
    @pytest.fixture(autouse=True)
    def needed(self):
        need("hog")

    def test_sees_directions(self):
        rng = np.random.default_rng(0)
        X = np.zeros((40, 28, 28))
        for i in range(0, 40, 2):
            X[i, 4:24, rng.integers(8, 20)] = 1
            X[i + 1, rng.integers(8, 20), 4:24] = 1
        Z = poise.embed(X + 0.01 * rng.random(X.shape), "hog", dimensions=5)
        assert Z.shape == (40, 5)
        distances = np.linalg.norm(Z[:, None] - Z, axis=2)
        np.fill_diagonal(distances, np.inf)
        assert (distances.argmin(axis=1) % 2 == np.arange(40) % 2).mean() > 0.9

    def test_the_shape_of_an_image(self):
        X = np.random.default_rng(0).random((12, 8, 12))
        first = poise.embed(X, "hog")
        rows = X.reshape(12, -1)
        for given in ({"height": 8}, {"width": 12}, {"height": 8, "width": 12}):
            np.testing.assert_array_equal(poise.embed(rows, "hog", **given), first)
        with pytest.raises(InputError, match="not make a square image: give height and width"):
            poise.embed(rows, "hog")
        with pytest.raises(InputError, match="8 x 9 are not the 96 numbers"):
            poise.embed(rows, "hog", height=8, width=9)
        with pytest.raises(InputError, match="height is 0"):
            poise.embed(rows, "hog", height=0)
        with pytest.raises(InputError, match="no cells"):
            poise.embed(np.ones((5, 1)), "hog")

    def test_colours(self):
        X = np.random.default_rng(0).integers(0, 255, (12, 16, 16, 3)).astype(np.uint8)
        first = poise.embed(X, "hog")
        assert first.shape == (12, 12)
        flat = poise.embed(X.reshape(12, -1), "hog", height=16, width=16)
        np.testing.assert_array_equal(flat, first)
        one = poise.embed(X[..., :1], "hog")
        np.testing.assert_array_equal(poise.embed(X[..., 0], "hog"), one)


class TestEncoders:
    def test_texts_and_images_that_belong_together(self, models):
        X = poise.embed(TEXTS, "text-encoder", folder=models["text-encoder"], batch=3)
        assert X.shape == (20, 8)
        same = X @ X.T > 0.99
        assert same[2, 3]
        assert not same[0, 2]
        red, blue = np.zeros((2, 10, 10, 3), dtype=np.uint8)
        red[..., 0] = blue[..., 2] = 255
        X = poise.embed(np.array([red, blue, red]), "image-encoder", folder=models["image-encoder"])
        np.testing.assert_allclose(X[0], X[2])
        assert X[0] @ X[1] < 0

    def test_odd_texts(self, models):
        odd = ["", "\ud800 cat", "cat " * 1000, "the\0black"]
        X = poise.embed(odd, "text-encoder", folder=models["text-encoder"])
        assert np.isfinite(X).all()

    def test_another_model_is_another_file(self, models, own_cache, tmp_path):
        from shutil import copytree

        copied = copytree(models["image-encoder"], tmp_path / "copy")
        X = np.random.default_rng(0).random((3, 4))
        for folder in (models["image-encoder"], copied):
            poise.embed(X, "image-encoder", folder=str(folder))
        settings = copied / "preprocessor_config.json"
        settings.write_text(settings.read_text().replace("0.4", "0.5"))
        poise.embed(X, "image-encoder", folder=str(copied))
        assert len(list((own_cache / "embeddings").iterdir())) == 3

    @pytest.mark.parametrize("name", ["text-encoder", "image-encoder"])
    def test_no_network_is_one_line_that_says_so(self, name, own_cache, monkeypatch, run, tmp_path):
        need(name)
        # An address that nobody answers at, whatever network there is.
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
        for proxy in ("http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.delenv(proxy, raising=False)
            monkeypatch.delenv(proxy.upper(), raising=False)
        with pytest.raises(DataError, match=r"cannot be fetched.*connect to a network") as caught:
            poise.embed(items_for(name), name)
        assert "\n" not in str(caught.value)
        assert str(own_cache / "models") in str(caught.value)

    def test_a_model_fetched_before_needs_no_network(self, models, own_cache, monkeypatch):
        from shutil import copytree

        kept = own_cache / "models" / "models--Qdrant--bge-small-en-v1.5-onnx-Q"
        copytree(models["text-encoder"], kept / "snapshots" / "abc")
        (kept / "refs").mkdir()
        (kept / "refs" / "main").write_text("abc")
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
        X = poise.embed(TEXTS, "text-encoder")
        same = poise.embed(TEXTS, "text-encoder", folder=models["text-encoder"])
        np.testing.assert_array_equal(X, same)

    def test_files_that_are_no_model(self, models, tmp_path):
        with pytest.raises(InputError, match=r"knows no model 'bge': there are.*BAAI/bge"):
            poise.embed(TEXTS, "text-encoder", model="bge")
        with pytest.raises(InputError, match="there is no folder"):
            poise.embed(TEXTS, "text-encoder", folder=str(tmp_path / "none"))
        for wrong in ({"model": 3}, {"model": ""}, {"folder": 3}):
            with pytest.raises(InputError, match="it must be a text"):
                poise.embed(TEXTS, "text-encoder", **wrong)
        with pytest.raises(DataError, match=r"holds no model_optimized.onnx"):
            poise.embed(TEXTS, "text-encoder", folder=str(tmp_path))
        (tmp_path / "model_optimized.onnx").write_bytes(b"damaged")
        with pytest.raises(DataError, match=r"cannot be read \(.*delete") as caught:
            poise.embed(TEXTS, "text-encoder", folder=str(tmp_path))
        assert "\n" not in str(caught.value)


class TestCommand:
    def test_alone_it_lists_every_embedding(self, run):
        code, out, err = run("embed")
        assert (code, err) == (0, "")
        for name, description in poise.embeddings().items():
            assert f"{name} " in out
            assert description in out

    def test_writes_what_the_function_gives(self, run, tmp_path):
        path = tmp_path / "new" / "X.npy"
        code, out, err = run(f"embed digits --with pca --dimensions 4 -o {path}")
        assert (code, err) == (0, "")
        assert "1,797 items x 4 numbers" in out
        expected = poise.embed(poise.load_dataset("digits").X, "pca", dimensions=4)
        np.testing.assert_array_equal(np.load(path), expected)
        assert [kept.name for kept in path.parent.iterdir()] == ["X.npy"]

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("digits", "missing option '-o'"),
            ("digits -o X.txt", "must end in .npy"),
            ("digits -o F.npy", "F.npy is a folder"),
            ("digits --with pcaa -o X.npy", "did you mean pca?"),
            ("digits --with pca --seed 1 -o X.npy", "pca does not take seed: it takes dimensions"),
            ("digits --with vae --set epochs -o X.npy", "expected NAME=VALUE"),
            ("digits --with vae --set epochs=few -o X.npy", "epochs is 'few'"),
            ("digits --size 9 -o X.npy", "size and colour are for files of images"),
            ("F.npy --column a -o X.npy", "not a table"),
            ("F.npy -o X.npy", "holds no images"),
        ],
    )
    def test_a_mistake_costs_one_line(self, line, message, run, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "F.npy").mkdir()
        code, out, err = run(f"embed {line}")
        assert code in (1, 2)
        assert out == ""
        assert err.count("\n") == 1
        assert message in err
        assert {kept.name for kept in tmp_path.iterdir()} <= {"F.npy", "cache"}

    def test_a_folder_that_cannot_be_written_is_refused_before_the_work(self, run, tmp_path):
        (tmp_path / "file").write_text("mine")
        code, out, err = run(f"embed digits -o {tmp_path}/file/X.npy")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert (tmp_path / "file").read_text() == "mine"
        assert not (tmp_path / "cache").exists()

    @pytest.mark.parametrize("full", ["cache", "output"])
    def test_a_full_disk_leaves_nothing_behind(self, full, tmp_path):
        """No file of the process may grow beyond 4,000 bytes."""
        if full == "output":
            poise.embed(poise.load_dataset("digits").X, "pca")
        before = sorted(tmp_path.rglob("*"))
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                "from poise.cli import main, progress; import sys\n"
                "progress.QUIET_SECONDS = 1e6; main.main(sys.argv[1:])",
                *f"embed digits --with pca -o {tmp_path}/X.npy".split(),
            ],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000)),
        )
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("poise: ")
        assert "file too large" in done.stderr.lower()
        assert str(tmp_path / ("X.npy" if full == "output" else "cache")) in done.stderr
        assert done.stderr.count("\n") == 1
        left = [path for path in sorted(tmp_path.rglob("*")) if path.is_file()]
        assert left == [path for path in before if path.is_file()]


def test_equal_texts_and_numbers_have_equal_names():
    texts = ["ab", "c"]
    assert registry.content_hash(texts, "") == registry.content_hash(("ab", "c"), "")
    assert registry.content_hash(texts, "") != registry.content_hash(["a", "bc"], "")
    X = np.arange(6.0).reshape(2, 3)
    assert registry.content_hash(X, "") == registry.content_hash(np.asfortranarray(X), "")
    assert registry.content_hash(X, "") != registry.content_hash(X.reshape(3, 2), "")


def test_importing_poise_and_its_embeddings_imports_no_extra():
    code = (
        "import sys, poise; poise.embeddings()\n"
        "print(*{'torch', 'PIL', 'skimage', 'fastembed', 'pyarrow'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


@pytest.mark.parametrize(
    ("items", "name", "message"),
    [
        ("one text", "tfidf", "items is one text"),
        ([[1, 2], [3]], "pca", "rows of equal length"),
        (np.zeros((3, 0)), "raw", "no numbers"),
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


@pytest.mark.parametrize(
    ("platform", "folder"),
    [(Unix, "/somewhere/poise"), (MacOS, "/home/Library/Caches/poise"), (Windows, "/local/poise")],
)
def test_the_cache_folder_is_the_platforms(monkeypatch, platform, folder):
    monkeypatch.delenv("POISE_CACHE")
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    monkeypatch.setenv("HOME", "/home")
    monkeypatch.setattr(windows, "get_win_folder", windows.get_win_folder_from_env_vars)
    if platform is Unix:
        monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    else:
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(
        folders,
        "user_cache_path",
        lambda *names, **options: platform(*names, **options).user_cache_path,
    )
    assert folders.cache().as_posix() == folder
