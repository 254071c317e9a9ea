"""Features that other libraries hold: tensors, Arrow, DLPack, __array__."""

import numpy as np
import pytest

from poise.errors import FeatureError
from poise.graph import knn_graph
from poise.graph.features import check_features

X = np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32)


class WithArray:
    def __init__(self, X):
        self.X = X

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.X, dtype=dtype)


class WithDLPack:
    """What a library without __array__ offers; `device` is where it says its memory is."""

    def __init__(self, X, device=1):
        self.X, self.device = X, device

    def __dlpack__(self, **options):
        if self.device != 1:
            raise BufferError("cannot export to the CPU")
        return self.X.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device, 0


class OnTheGPU(WithDLPack):
    """Refuses to become an array, as CuPy does."""

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")


def one_line(X, words):
    with pytest.raises(FeatureError, match=words) as raised:
        knn_graph(X, 3)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("wrap", [WithArray, WithDLPack])
def test_protocols_share_their_memory(wrap):
    checked = check_features(wrap(X))
    np.testing.assert_array_equal(checked, X)
    assert np.shares_memory(checked, X)
    assert not checked.flags.writeable
    assert X.flags.writeable


@pytest.mark.parametrize("wrap", [WithDLPack, OnTheGPU])
def test_another_device(wrap):
    one_line(wrap(X, device=2), "on a GPU.*CPU")


def test_an_array_that_fails_on_the_cpu():
    one_line(OnTheGPU(X), "cannot become a matrix: Implicit conversion")


def test_bfloat16_as_jax_has_it():
    dtype = pytest.importorskip("ml_dtypes").bfloat16
    checked = check_features(X.astype(dtype))
    assert checked.dtype == np.float32
    np.testing.assert_array_equal(checked, X.astype(dtype).astype(np.float32))


class TestArrow:
    @pytest.fixture
    def arrow(self):
        return pytest.importorskip("pyarrow")

    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
    def test_lists_of_one_length(self, arrow, dtype):
        values = arrow.array(X.astype(dtype).ravel())
        fixed = arrow.FixedSizeListArray.from_arrays(values, 3)
        plain = arrow.ListArray.from_arrays(np.arange(0, 37, 3, dtype=np.int32), values)
        large = plain.cast(arrow.large_list(values.type))
        for column in (fixed, plain, large, arrow.chunked_array([fixed])):
            checked = check_features(column)
            np.testing.assert_array_equal(checked, X.astype(dtype))
            same = np.shares_memory(checked, values.to_numpy(zero_copy_only=True))
            # float16 becomes float32, and a cast to large lists may copy
            assert same or dtype == np.float16 or column is large
        np.testing.assert_array_equal(
            check_features(arrow.chunked_array([fixed[:5], fixed[5:]])), X.astype(dtype)
        )

    def test_a_slice_is_the_slice(self, arrow):
        fixed = arrow.FixedSizeListArray.from_arrays(arrow.array(X.ravel()), 3)
        plain = arrow.array(X.tolist(), type=arrow.list_(arrow.float32()))
        for column in (fixed, plain):
            np.testing.assert_array_equal(check_features(column[4:9]), X[4:9])

    def test_tensors_of_one_shape(self, arrow):
        tensors = arrow.FixedShapeTensorArray.from_numpy_ndarray(X.reshape(4, 3, 3))
        np.testing.assert_array_equal(check_features(tensors), X.reshape(4, 9))

    def test_tables(self, arrow):
        table = arrow.table({"a": X[:, 0], "b": np.arange(12, dtype=np.int8), "c": X[:, 2] > 0})
        expected = np.column_stack([X[:, 0], np.arange(12), X[:, 2] > 0])
        np.testing.assert_array_equal(check_features(table), expected)
        np.testing.assert_array_equal(check_features(table.to_batches()[0]), expected)
        lists = arrow.table({"embedding": X.tolist()})
        np.testing.assert_allclose(check_features(lists), X)
        assert knn_graph(lists["embedding"], 3).n_nodes == 12

    def test_unsuitable_values_are_refused(self, arrow):
        one_line(arrow.array([[1.0, 2.0], [1.0], [2.0, 3.0]]), "row 0 has 2 values and row 1 has 1")
        one_line(arrow.array([[1.0, 2.0], None]), r"lacks 1 row\(s\)")
        one_line(arrow.array([[1.0, None], [1.0, 2.0]]), r"lacks 1 value\(s\)")
        one_line(arrow.array([["a"], ["b"]]), "lists of string")
        one_line(arrow.array(["a", "b"]), "type string")
        one_line(arrow.array([1.0, 2.0]), "2D array")
        one_line(arrow.array([], type=arrow.list_(arrow.float32())), "0 sample")
        one_line(arrow.array([[], []], type=arrow.list_(arrow.float32())), "0 feature")
        one_line(arrow.table({"id": ["x", "y"], "v": [1.0, 2.0]}), "column 'id' of type string")
        one_line(arrow.table({"v": [[1.0], [2.0]], "w": [1, 2]}), r"give X\['v'\] alone")
        one_line(arrow.table({"v": [1.0, None]}), r"lacks 1 value\(s\) in its column 'v'")
        one_line(arrow.table({}), "sample|feature")


class TestTorch:
    @pytest.fixture
    def torch(self):
        return pytest.importorskip("torch")

    def test_tensors_share_their_memory(self, torch):
        tensor = torch.tensor(X)
        checked = check_features(tensor)
        np.testing.assert_array_equal(checked, X)
        assert np.shares_memory(checked, tensor.numpy())

    def test_gradients_are_left_behind(self, torch):
        np.testing.assert_array_equal(check_features(torch.tensor(X, requires_grad=True)), X)

    def test_half_precisions_become_float32(self, torch):
        for dtype in (torch.float16, torch.bfloat16):
            tensor = torch.tensor(X).to(dtype)
            checked = check_features(tensor)
            assert checked.dtype == np.float32
            np.testing.assert_array_equal(checked, tensor.float().numpy())

    def test_unsuitable_values_are_refused(self, torch):
        one_line(torch.empty((12, 3), device="meta"), r"tensor \(meta\) on a GPU or another device")
        one_line(torch.tensor(X).to_sparse(), "layout.*to_dense")
        one_line(torch.tensor(X).to(torch.complex64), "omplex")
