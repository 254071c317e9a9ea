"""Graph.save and Graph.load: a round trip without pickle, and files that are not graphs."""

import io
import pickle

import numpy as np
import pytest
from scipy import sparse

from poise.errors import DataError, GraphError
from poise.graph import Graph, epsilon_graph, kernels, knn_graph
from poise.graph.arrays import write_arrays

X = np.random.default_rng(0).normal(size=(80, 4)).astype(np.float32)


def assert_equal_graphs(graph, other):
    assert graph.fingerprint == other.fingerprint
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(graph.weights, part), getattr(other.weights, part))
    assert graph.construction == other.construction
    assert (graph.features is None) == (other.features is None)
    if graph.features is not None:
        assert graph.features.dtype == other.features.dtype
        assert abs(graph.features - other.features).max() == 0
    for name in ("neighbours", "spacing"):
        mine, its = getattr(graph, name), getattr(other, name)
        assert (mine is None) == (its is None)
        if mine is not None:
            for field in vars(mine):
                np.testing.assert_array_equal(getattr(mine, field), getattr(its, field))
    assert graph.report() == other.report()


@pytest.mark.parametrize(
    "graph",
    [
        knn_graph(X, 5),
        knn_graph(X, 5, keep_neighbours=True, metric="cosine", kernel="symmetric"),
        knn_graph(X.astype(np.float64), 5, keep_features=False),
        knn_graph(sparse.csr_array(np.where(X > 0, X, 0)), 5),
        epsilon_graph(X, 1.5),
        Graph.from_weights(np.zeros((3, 3))),
        Graph.from_weights(knn_graph(X, 5).weights, X),
    ],
)
def test_round_trip(graph, tmp_path):
    path = tmp_path / "graph.npz"
    graph.save(path)
    loaded = Graph.load(path)
    assert_equal_graphs(graph, loaded)
    assert not loaded.weights.data.flags.writeable
    if graph.features is not None and graph.construction is not None:
        new = graph.features[:6]
        before, after = graph.out_of_sample_weights(new), loaded.out_of_sample_weights(new)
        assert abs(before - after).max() == 0


def test_the_file_holds_no_objects(tmp_path):
    path = tmp_path / "graph.npz"
    knn_graph(X, 5, keep_neighbours=True, kernel=lambda t: np.exp(-t)).save(str(path))
    with np.load(path, allow_pickle=False) as file:
        assert all(file[name].dtype.kind in "fiuU" for name in file.files)
        assert int(file["version"]) == 2


def test_a_function_is_saved_by_name_only(tmp_path):
    def gaussian(t):  # the name of a registered kernel, but not that kernel
        return np.exp(-t)

    graph = knn_graph(X, 5, kernel=gaussian)
    graph.save(tmp_path / "graph.npz")
    loaded = Graph.load(tmp_path / "graph.npz")
    assert loaded.fingerprint == graph.fingerprint
    assert loaded.construction.kernel == "gaussian"
    with pytest.raises(GraphError, match="'gaussian' was a function and a file holds no code"):
        loaded.out_of_sample_weights(X[:2])
    loaded.save(tmp_path / "again.npz")
    assert Graph.load(tmp_path / "again.npz").construction.function is None


def test_a_registered_kernel_is_loaded_by_its_name(tmp_path, monkeypatch):
    from dataclasses import dataclass

    from poise.graph import Kernel

    monkeypatch.setattr(kernels, "_factories", dict(kernels._factories))

    @kernels.register("tenth")
    @dataclass(frozen=True)
    class Tenth(Kernel):
        """0.1 for every neighbour."""

        def __call__(self, d, s, r):
            return np.full(d.shape, 0.1)

    knn_graph(X, 5, kernel="tenth").save(tmp_path / "graph.npz")
    assert Graph.load(tmp_path / "graph.npz").construction.function == Tenth()
    monkeypatch.undo()
    with pytest.raises(GraphError, match="'tenth'"):
        Graph.load(tmp_path / "graph.npz").out_of_sample_weights(X[:2])


def test_a_failed_save_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "graph.npz"
    graph = knn_graph(X, 5)
    graph.save(path)
    before = path.read_bytes()

    def fail(file, array, **options):
        file.write(b"half of it")
        raise OSError("disk full")

    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises(DataError, match="disk full"):
        knn_graph(X, 6).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


I80 = np.full((80, 2), 80)  # one more than the last node


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def good_arrays():
    graph = knn_graph(X, 5)
    parts = {part: getattr(graph.weights, part) for part in ("data", "indices", "indptr")}
    return {
        "format": np.array("poise-graph"),
        "version": np.array(1),
        "fingerprint": np.array(graph.fingerprint),
        **{f"weights.{name}": value for name, value in parts.items()},
        "weights.shape": np.array(graph.weights.shape),
    }


def changed(**arrays):
    return npz(**(good_arrays() | arrays))


def npy():
    buffer = io.BytesIO()
    np.save(buffer, X)
    return buffer.getvalue()


def scipy_npz():
    buffer = io.BytesIO()
    sparse.save_npz(buffer, sparse.eye_array(4).tocsr())
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "cannot be read"),
        (b"hello, this is a text", "cannot be read"),
        (npz(X=X), "not a graph that poise saved"),
        (npy(), "cannot be read"),
        (scipy_npz(), "not a graph that poise saved"),
        (changed(format=np.array("other")), "not a graph that poise saved"),
        (changed(version=np.array(99)), "update poise"),
        (npz(format=np.array("poise-graph"), version=np.array(1)), "cannot be read"),
        (changed()[:-300], "cannot be read"),
        (changed(**{"weights.data": good_arrays()["weights.data"] * 2}), "damaged"),
        (changed(**{"weights.indices": good_arrays()["weights.indices"] + 9}), "cannot be read"),
        (changed(**{"weights.data": -good_arrays()["weights.data"]}), "negative"),
        (changed(**{"spacing.nearest": np.ones(3), "spacing.scale": np.ones(3)}), "spacing"),
        (changed(**{"neighbours.indices": I80, "neighbours.distances": I80 * 1.0}), "neighbours"),
        (changed(construction=np.array("{")), "cannot be read"),
        (changed(construction=np.array("{}")), "cannot be read"),
        (changed(construction=np.array('{"registered": true, "kernel": "gaussian"}')), "cannot"),
    ],
)  # fmt: skip
def test_what_is_not_a_saved_graph_is_refused(content, words, tmp_path):
    path = tmp_path / "graph.npz"
    path.write_bytes(content)
    with pytest.raises(GraphError) as caught:
        Graph.load(path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def saved_arrays(path):
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def test_a_graph_is_mapped_and_not_read(tmp_path):
    path = tmp_path / "graph.npz"
    graph = knn_graph(X, 5, keep_neighbours=True)
    graph.save(path)
    loaded = Graph.load(path)
    arrays = (loaded.weights.data, loaded.weights.indices, loaded.neighbours.distances)
    for array in (*arrays, loaded.features):
        assert array.ctypes.data % 64 == 0
        assert not array.flags.owndata
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    np.testing.assert_array_equal(loaded.components, graph.components)
    knn_graph(X, 6).save(path)  # the old arrays stay what they were
    np.testing.assert_array_equal(loaded.weights.data, graph.weights.data)


def test_features_can_be_passed_to_load(tmp_path):
    knn_graph(X, 5, keep_features=False).save(tmp_path / "graph.npz")
    loaded = Graph.load(tmp_path / "graph.npz", features=X)
    assert np.shares_memory(loaded.features, X)
    with pytest.raises(GraphError, match="features have 70 rows"):
        Graph.load(tmp_path / "graph.npz", features=X[:70])


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7])
def test_a_changed_byte_is_noticed(share, tmp_path):
    path = tmp_path / "graph.npz"
    knn_graph(X, 5, keep_neighbours=True).save(path)
    content = bytearray(path.read_bytes())
    content[int(share * len(content))] ^= 1
    path.write_bytes(content)
    with pytest.raises(GraphError, match=r"cannot be read.*build the graph again"):
        Graph.load(path)


def lopsided(W):
    return W["weights.data"] * np.linspace(1, 2, W["weights.data"].size)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"weights.data": lopsided}, "not in the form of a saved graph"),
        ({"weights.data": lambda a: -a["weights.data"]}, "negative"),
        ({"weights.data": lambda a: a["weights.data"] * 2}, "damaged"),
        ({"weights.data": lambda a: a["weights.data"] * 0}, "not in the form of a saved graph"),
        ({"weights.indices": lambda a: a["weights.indices"] + 9}, "cannot be read"),
        (
            {"weights.indices": lambda a: a["weights.indices"][::-1]},
            "not as a graph keeps|diagonal",
        ),
        ({"components": lambda a: a["components"][:-1]}, "components"),
        ({"version": lambda a: np.array(3)}, "update poise"),
    ],
)
def test_invalid_weights_in_version_2_are_refused(change, words, tmp_path):
    path = tmp_path / "graph.npz"
    knn_graph(X, 5).save(path)
    arrays = saved_arrays(path)
    write_arrays(path, arrays | {name: make(arrays) for name, make in change.items()})
    with pytest.raises(GraphError, match=words):
        Graph.load(path)


def test_pickles_are_never_opened(tmp_path):
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was opened",))

    for name, content in (
        ("plain.npz", pickle.dumps(Trap())),
        ("inside.npz", changed(construction=np.array([Trap()], dtype=object))),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(GraphError, match="cannot be read"):
            Graph.load(tmp_path / name)


def test_no_such_file(tmp_path):
    with pytest.raises(GraphError, match="there is no file"):
        Graph.load(tmp_path / "missing.npz")
    with pytest.raises(GraphError, match="cannot be read"):
        Graph.load(tmp_path)
