"""From items to a graph: a second start costs a read, and damage costs the work again."""

import numpy as np
import pytest
from PIL import Image

import poise
from poise import machine
from poise.data.embeddings import Images
from poise.data.sources import read_items
from poise.errors import DataError, InputError, MemoryShortError, UnknownNameError
from poise.studio.source import earlier, expecting, preparing
from poise.studio.source.catalogue import Catalogue
from poise.studio.source.preparing import prepare
from poise.studio.source.project_files import read_about, write_about
from poise.studio.source.reading import read_catalogue

FILES = ("features.npy", "graph.npz", "project.toml")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("POISE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def work(monkeypatch):
    """Names of the functions that are called because nothing could be loaded."""
    done = []

    def counted(name, function):
        def call(*arguments, **options):
            done.append(name)
            return function(*arguments, **options)

        monkeypatch.setattr(preparing, name, call)

    counted("embed", poise.embed)
    counted("knn_graph", poise.knn_graph)
    return done


def vectors(n=40, d=6, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)
    return Catalogue("vectors", "vector", tuple(f"{seed}-{i}" for i in range(n)), X)


def prepared(catalogue, folder, *, embedding=None, k=5, steps=None):
    def begin(name):
        calls = [] if steps is None else steps.setdefault(name, [])
        return lambda done, total: calls.append((done, total))

    return prepare(catalogue, folder, embedding=embedding, k=k, begin=begin)


def same(first, second):
    np.testing.assert_array_equal(first[0], second[0])
    assert first[1].fingerprint == second[1].fingerprint
    np.testing.assert_array_equal(first[1].features, second[1].features)
    assert first[1].construction == second[1].construction
    np.testing.assert_array_equal(first[1].spacing.scale, second[1].spacing.scale)


def test_the_graph_of_the_features(tmp_path):
    steps = {}
    catalogue = vectors()
    features, graph = prepared(catalogue, tmp_path / "x.poise", steps=steps)
    np.testing.assert_array_equal(features, catalogue.items)
    assert graph.fingerprint == poise.knn_graph(catalogue.items, k=5).fingerprint
    assert list(steps) == ["embedding", "joining neighbours"]
    assert all(calls[-1] == (40, 40) for calls in steps.values())
    assert sorted(path.name for path in (tmp_path / "x.poise").iterdir()) == sorted(FILES)


def test_a_second_start_computes_nothing(tmp_path, work):
    first = prepared(vectors(), tmp_path)
    assert work == ["embed", "knn_graph"]
    stamps = [(tmp_path / name).stat().st_mtime_ns for name in FILES]
    same(first, prepared(vectors(), tmp_path))
    assert work == ["embed", "knn_graph"]
    assert stamps == [(tmp_path / name).stat().st_mtime_ns for name in FILES]


def test_other_items_another_embedding_another_k(tmp_path, work, monkeypatch):
    prepared(vectors(), tmp_path)
    work.clear()
    prepared(vectors(), tmp_path, k=6)
    assert work == ["knn_graph"], "features do not depend on k"
    for catalogue, embedding, used in (
        (vectors(seed=1), None, "raw"),
        (vectors(seed=1), "pca", "pca"),
        (vectors(), None, "pca"),
    ):
        work.clear()
        features, graph = prepared(catalogue, tmp_path, embedding=embedding, k=6)
        assert work == ["embed", "knn_graph"]
        np.testing.assert_array_equal(features, poise.embed(catalogue.items, used))
        assert graph.fingerprint == poise.knn_graph(features, k=6).fingerprint
    work.clear()
    monkeypatch.setattr(earlier, "__version__", "99.0.1")
    prepared(vectors(), tmp_path, k=6)
    assert work == ["embed", "knn_graph"]
    work.clear()
    monkeypatch.setattr(earlier, "__version__", "99.0.2")
    prepared(vectors(), tmp_path, k=6)
    assert work == []


def test_new_projects_and_texts_compared_by_angle(tmp_path):
    _, graph = prepared(vectors(), tmp_path / "v", k=None)
    assert (graph.construction.k, graph.construction.metric) == (10, "euclidean")
    texts = Catalogue(
        "t",
        "text",
        tuple("abcdef"),
        [f"{word} word {word}" for word in ["ab", "cd", "ef", "ab", "cd", "xy"]],
    )
    _, graph = prepared(texts, tmp_path / "t", k=None)
    assert (graph.construction.k, graph.construction.metric) == (5, "cosine")
    about = read_about(tmp_path / "t")
    assert (about["k"], about["metric"]) == (5, "cosine")


def without(folder, *names):
    """Remove lines from project.toml, as if an earlier version had written it."""
    path = folder / "project.toml"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if line.split(" ")[0] not in names))


def test_a_graph_of_an_earlier_version_stays(tmp_path, work):
    """It had another number of neighbours, and compared texts by their distance."""
    words = [
        f"{a} {b}" for a in ["red", "green", "blue"] for b in ["cat", "dog", "cow", "hen", "fox"]
    ]
    texts = Catalogue("t", "text", tuple(words), words)
    features, _ = prepared(texts, tmp_path, k=3)
    before = poise.knn_graph(features, k=3)
    preparing._keep_graph(tmp_path / "graph.npz", before)
    about = read_about(tmp_path) | {"graph": before.fingerprint}
    write_about(tmp_path, about)
    without(tmp_path, "metric", "items")
    work.clear()
    for _ in range(2):
        _, graph = prepared(texts, tmp_path, k=None)
        assert work == []
        assert graph.fingerprint == before.fingerprint
    more = Catalogue("t", "text", (*words, "new"), [*words, "red cat dog"])
    _, graph = prepared(more, tmp_path, k=None)
    assert (graph.construction.k, graph.construction.metric) == (3, "euclidean")
    _, graph = prepared(more, tmp_path, k=4)
    assert graph.construction.k == 4, "what somebody says counts"


def test_a_k_limited_by_few_items_is_not_kept(tmp_path):
    assert prepared(vectors(n=5), tmp_path, k=None)[1].construction.k == 4
    assert prepared(vectors(n=40), tmp_path, k=None)[1].construction.k == 10


def test_contents_that_change_behind_their_keys(tmp_path, work):
    path = tmp_path / "t.csv"
    for words in ("one two three four", "one two three five"):
        rows = [f"{i},{word} and {word}" for i, word in enumerate(words.split())]
        path.write_text("\n".join(["id,text", *rows]))
        catalogue = read_catalogue(str(path), key="id")
        _, graph = prepared(catalogue, tmp_path / "p", k=2)
    assert work == ["embed", "knn_graph", "embed"], "three of four texts stayed"
    assert graph.n_nodes == 4


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", ["gone", "empty", "noise", "half", "flipped", "another"])
def test_damaged_files_are_made_again(tmp_path, work, name, damage):
    first = prepared(vectors(), tmp_path)
    other = tmp_path / "other"
    prepared(vectors(seed=1), other)
    path = tmp_path / name
    content = bytearray(path.read_bytes())
    if damage == "gone":
        path.unlink()
    else:
        flipped = content.copy()
        flipped[2 * len(content) // 3] ^= 255
        path.write_bytes(
            {
                "empty": b"",
                "noise": b"\x07" * 500,
                "half": content[: len(content) // 2],
                "flipped": flipped,
                "another": (other / name).read_bytes(),
            }[damage]
        )
    work.clear()
    same(first, prepared(vectors(), tmp_path))
    assert "knn_graph" in work
    if name == "graph.npz":
        assert work == ["knn_graph"]
    work.clear()
    same(first, prepared(vectors(), tmp_path))
    assert work == []


@pytest.mark.parametrize("step", ["features.npy", "graph.npz"])
def test_an_interruption_leaves_nothing_that_misleads(tmp_path, monkeypatch, work, step):
    """A process killed between two files, with other items next time."""
    old = prepared(vectors(), tmp_path)

    def dies(*arguments, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(preparing, "write_about" if step == "features.npy" else "_keep_graph", dies)
        with pytest.raises(KeyboardInterrupt):
            prepared(vectors(seed=1), tmp_path)
    same(old, prepared(vectors(), tmp_path))
    new = prepared(vectors(seed=1), tmp_path / "fresh")
    same(new, prepared(vectors(seed=1), tmp_path))


def test_an_embedding_that_is_done_is_kept_when_the_rest_is_not(tmp_path, monkeypatch, work):
    with monkeypatch.context() as patched:
        patched.setattr(preparing, "knn_graph", lambda *a, **o: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            prepared(vectors(), tmp_path)
    work.clear()
    prepared(vectors(), tmp_path)
    assert work == ["knn_graph"]


def test_project_toml_says_what_it_was_made_of(tmp_path):
    path = tmp_path / 'a "b" \\ \x7f 猫🐈.csv'
    path.write_text(
        "text\n"
        + "\n".join(f"some {word} here" for word in ("red", "green", "blue", "grey", "pink"))
    )
    folder = tmp_path / "p"
    prepared(read_catalogue(str(path)), folder, k=20)
    about = read_about(folder)
    assert about["source"] == str(path)
    assert (about["column"], about["embedding"], about["k"]) == ("text", "sentence", 4)
    assert read_about(tmp_path / "nothing") == {}


def test_image_files_are_not_read_again(tmp_path, work):
    for i in range(8):
        values = np.random.default_rng(i).integers(0, 255, (70, 90, 3), dtype=np.uint8)
        Image.fromarray(values).save(tmp_path / f"{i}.png")
    catalogue = read_catalogue(str(tmp_path))
    assert isinstance(catalogue.items, Images)
    for path in catalogue.items.paths:
        path.unlink()
    for embedding, expected in ((None, "pca"), ("pca", "pca"), ("raw", "raw")):
        features, graph = prepared(catalogue, tmp_path / "p", embedding=embedding, k=3)
        pixels = catalogue.pixels
        if expected == "pca":  # means of four
            pixels = pixels.reshape(8, 32, 2, 32, 2).mean(axis=(2, 4))
            pixels = np.floor(pixels + 0.5).astype(np.uint8)
        np.testing.assert_array_equal(features, poise.embed(pixels, expected))
        assert graph.n_nodes == 8
    assert work == ["embed", "knn_graph"] * 2


def test_a_project_keeps_its_embedding_when_none_is_named(tmp_path, work):
    prepared(vectors(d=10), tmp_path, embedding="pca")
    prepared(vectors(d=10), tmp_path)
    assert read_about(tmp_path)["embedding"] == "pca"
    assert read_about(tmp_path)["why"] == "it was asked for"
    assert work == ["embed", "knn_graph"]
    prepared(vectors(d=10), tmp_path, embedding="raw")
    assert read_about(tmp_path)["embedding"] == "raw"


def test_project_toml_says_why(tmp_path):
    prepared(vectors(d=10), tmp_path)
    about = read_about(tmp_path)
    assert (about["embedding"], about["why"]) == ("raw", "numbers are compared as they are")


def test_mistakes_cost_no_work(tmp_path, work):
    with pytest.raises(InputError, match="has 2 items: three or more are needed"):
        prepared(vectors(n=2), tmp_path)
    with pytest.raises(UnknownNameError, match="did you mean pca"):
        prepared(vectors(), tmp_path, embedding="pcaa")
    assert work == []
    assert prepared(vectors(n=3), tmp_path, k=20)[1].n_nodes == 3


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"Could not write .*features.npy: .*--project"):
        prepared(vectors(), tmp_path / "file")


def test_a_full_disk_is_reported(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(preparing, "write_graph", full)
    with pytest.raises(DataError, match=r"Could not write .*graph.npz: No space left.*Free some"):
        prepared(vectors(), tmp_path)


def test_poise_embed_gives_the_numbers_of_the_app(tmp_path):
    """For scans too, which are compared by principal components."""
    rng = np.random.default_rng(0)
    (tmp_path / "scans").mkdir()
    for i in range(30):
        pixels = rng.integers(0, 255, (28, 28)).astype(np.uint8)
        Image.fromarray(pixels).save(tmp_path / "scans" / f"{i:02}.png")
    features, _ = prepared(read_catalogue(str(tmp_path / "scans")), tmp_path / "p.poise")
    assert read_about(tmp_path / "p.poise")["embedding"] == "pca"
    np.testing.assert_array_equal(poise.embed(read_items(str(tmp_path / "scans"))), features)


def test_many_items_are_estimated_before_they_are_begun(tmp_path, monkeypatch):
    monkeypatch.setattr(expecting, "LEAST_ITEMS", 10)
    events = []
    prepare(
        vectors(),
        tmp_path,
        embedding=None,
        k=3,
        begin=lambda name: lambda done, total: events.append(name),
        expect=lambda line, seconds: events.append((line, seconds)),
    )
    (first,) = (i for i, one in enumerate(events) if isinstance(one, tuple))
    line, seconds = events[first]
    assert line.startswith(f"{len(vectors())} items: joining neighbours takes about ")
    assert seconds > 0
    assert "joining neighbours" not in events[:first]


def test_more_items_than_memory_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(expecting, "LEAST_ITEMS", 10)
    monkeypatch.setattr(machine, "UNCHECKED_MAX_BYTES", 0)
    monkeypatch.setattr(machine, "available_memory", lambda: 1000)
    with pytest.raises(MemoryShortError, match=r"labelling .* items .* --k"):
        prepared(vectors(), tmp_path)
