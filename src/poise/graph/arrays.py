"""Named arrays in one file that is mapped into memory; opening it costs one pass over its bytes.

The file is an .npz that `numpy.load` reads too: a zip archive without compression. Every array
begins at a multiple of 64 bytes, so that it can be used in place, and has the checksum that zip
requires. CRC-32 detects the damage that disks and interrupted copies cause, and reads 7 GB per
second here, SHA-256 2 GB. So every read checks all bytes, not only headers.
"""

import mmap
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
import numpy.typing as npt

from poise.errors import DataError
from poise.files import write_whole

Arrays = dict[str, npt.NDArray[Any]]

ALIGNMENT_BYTES = 64
#: Of a zip archive: the header before each member, the extra field of sizes beyond 4 GB, and an
#: extra field that no reader knows: its padding aligns the array behind it.
LOCAL_HEADER_BYTES, LARGE_FIELD_BYTES, UNREAD_FIELD_ID = 30, 20, 0x706F
BLOCK_BYTES = 2**24


class DamagedError(ValueError):
    """A file that was changed after it was written."""


def write_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays by name, whole or not at all.

    A reader sees the old file or the new one, never half of it; a failed write leaves no trace.

    Raises
    ------
    OSError
        For example because the disk is full.
    """

    def write(file: BinaryIO) -> None:
        with ZipFile(file, "w", ZIP_STORED, allowZip64=True) as archive:
            for name, array in arrays.items():
                _write(archive, f"{name}.npy", np.asarray(array))

    write_whole(path, write)


def _write(archive: ZipFile, name: str, array: npt.NDArray[Any]) -> None:
    if array.dtype.hasobject:
        raise DataError(f"the array {name!r} holds objects: a file of arrays holds numbers")
    info = ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    assert archive.fp is not None
    begins = archive.fp.tell() + LOCAL_HEADER_BYTES + len(name.encode()) + LARGE_FIELD_BYTES + 4
    padding = -begins % ALIGNMENT_BYTES
    info.extra = struct.pack("<HH", UNREAD_FIELD_ID, padding) + bytes(padding)
    with archive.open(info, "w", force_zip64=True) as member:
        np.lib.format.write_array(member, array, allow_pickle=False)


def read_arrays(path: Path, *, check: bool = True) -> Arrays:
    """The arrays of a file, mapped into memory and read-only.

    What `numpy.savez` wrote is read too, and copied where it is compressed or not aligned.

    Parameters
    ----------
    check : whether to compare every array with its checksum

    Raises
    ------
    OSError, BadZipFile, ValueError, EOFError
        If there is no such file, or it is damaged or not a file of arrays.
    """
    with path.open("rb") as file, ZipFile(file) as archive:
        content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        return {
            info.filename.removesuffix(".npy"): _mapped(content, info, path.name, check)
            if info.compress_type == ZIP_STORED
            else _unpacked(archive, info)
            for info in archive.infolist()
        }


def _unpacked(archive: ZipFile, info: ZipInfo) -> npt.NDArray[Any]:
    with archive.open(info) as member:  # checks it
        array: npt.NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
    array.flags.writeable = False
    return array


def _mapped(content: memoryview, info: ZipInfo, file: str, check: bool) -> npt.NDArray[Any]:
    header = content[info.header_offset : info.header_offset + LOCAL_HEADER_BYTES]
    if len(header) < LOCAL_HEADER_BYTES or bytes(header[:4]) != b"PK\x03\x04":
        raise BadZipFile(f"{info.filename} of {file} is not where it should be")
    name_length, extra_length = struct.unpack("<HH", header[26:30])
    begins = info.header_offset + LOCAL_HEADER_BYTES + name_length + extra_length
    member = content[begins : begins + info.file_size]
    if len(member) != info.file_size:
        raise EOFError(f"{info.filename} of {file} is cut off")
    if check and _checksum(member) != info.CRC:
        raise DamagedError(f"{info.filename} of {file} is not as it was written")
    return _array(member)


def _checksum(member: memoryview) -> int:
    checksum = 0
    for start in range(0, len(member), BLOCK_BYTES):
        checksum = zlib.crc32(member[start : start + BLOCK_BYTES], checksum)
    return checksum


def _array(member: memoryview) -> npt.NDArray[Any]:
    """An array in the .npy format, in place."""
    stream = _Stream(member)
    version = np.lib.format.read_magic(stream)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read is None:
        raise ValueError(f"its arrays have version {version}")
    shape, fortran, dtype = read(stream)
    if dtype.hasobject:
        raise ValueError("it holds objects, which are not read")
    count = int(np.prod(shape, dtype=np.int64))
    if len(member) - stream.at < count * dtype.itemsize:
        raise EOFError("an array is cut off")
    array: npt.NDArray[Any] = np.frombuffer(member, dtype, count, stream.at)
    array = array.reshape(shape, order="F" if fortran else "C")
    if not array.flags.aligned:
        array = array.copy()
        array.flags.writeable = False
    return array


class _Stream:
    """A member as a file that NumPy reads the header from."""

    def __init__(self, member: memoryview) -> None:
        self.member, self.at = member, 0

    def read(self, size: int = -1, /) -> bytes:
        content = bytes(self.member[self.at : self.at + size])
        self.at += len(content)
        return content
