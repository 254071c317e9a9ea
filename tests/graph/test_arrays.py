"""Files of named arrays: mapped into memory, checked, written whole or not at all."""

from zipfile import BadZipFile

import numpy as np
import pytest

from poise.errors import DataError
from poise.graph.arrays import DamagedError, read_arrays, write_arrays

ARRAYS = {
    "order": np.arange(1000, dtype=np.int32)[::-1],
    "hierarchy.0": np.random.default_rng(0).normal(size=(7, 11)),
    "columns first": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "name": np.array("two-level"),
    "nothing": np.empty((0, 3), dtype=np.float32),
}


def test_arrays_come_back_as_they_were(tmp_path):
    write_arrays(tmp_path / "arrays.npz", ARRAYS)
    arrays = read_arrays(tmp_path / "arrays.npz")
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].dtype == array.dtype
        assert not arrays[name].flags.writeable
    assert arrays["order"].ctypes.data % 64 == 0
    assert not arrays["order"].flags.owndata


def test_numpy_reads_them_too(tmp_path):
    write_arrays(tmp_path / "arrays.npz", ARRAYS)
    with np.load(tmp_path / "arrays.npz", allow_pickle=False) as file:
        for name, array in ARRAYS.items():
            np.testing.assert_array_equal(file[name], array)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_what_numpy_wrote_is_read(save, tmp_path):
    save(tmp_path / "arrays.npz", **ARRAYS)
    arrays = read_arrays(tmp_path / "arrays.npz")
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].flags.aligned


def test_the_same_arrays_make_the_same_file(tmp_path):
    for name in ("one.npz", "other.npz"):
        write_arrays(tmp_path / name, ARRAYS)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "other.npz").read_bytes()


@pytest.mark.parametrize("array", [0, 1, 2])
def test_damage_is_found_unless_the_check_is_off(array, tmp_path):
    path = tmp_path / "arrays.npz"
    write_arrays(path, ARRAYS)
    content = bytearray(path.read_bytes())
    last = list(ARRAYS.values())[array].tobytes("A")[-8:]
    content[content.rindex(last)] ^= 64
    path.write_bytes(content)
    with pytest.raises(DamagedError, match="not as it was written"):
        read_arrays(path)
    assert len(read_arrays(path, check=False)) == len(ARRAYS)


def test_every_cut_is_found(tmp_path):
    path = tmp_path / "arrays.npz"
    write_arrays(path, ARRAYS)
    content = path.read_bytes()
    for size in range(0, len(content), 97):
        path.write_bytes(content[:size])
        with pytest.raises((BadZipFile, EOFError, ValueError)):
            read_arrays(path)


def test_objects_are_refused(tmp_path):
    np.savez(tmp_path / "objects.npz", a=np.array([None]))
    with pytest.raises(ValueError, match="objects"):
        read_arrays(tmp_path / "objects.npz")
    with pytest.raises(DataError, match="holds objects"):
        write_arrays(tmp_path / "new.npz", {"a": np.array([None])})
    assert not (tmp_path / "new.npz").exists()
