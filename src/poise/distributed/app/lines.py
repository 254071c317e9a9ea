"""Items that are the lines of a text file, read when somebody looks at them.

An item is named by its node, as a number. With 10^8 items nothing with an entry for each is kept,
only where every 64th line begins.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar, overload

import numpy as np

from poise.arrays import Ints
from poise.data.ids import content_id
from poise.errors import InputError
from poise.studio.source.catalogue import Catalogue, GoneError

T = TypeVar("T")

#: One position is kept for so many lines. The file is read in blocks of so many bytes.
STRIDE_LINES, BLOCK_BYTES = 64, 1 << 22


class Lines(Sequence[str]):
    """The lines of a UTF-8 file, without their ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = os.open(path, os.O_RDONLY)
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from None
        self._stamp = self._now()
        self._starts, self._length = _starts(self._file)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        block, line = divmod(range(len(self))[index], STRIDE_LINES)
        first, end = (int(at) for at in self._starts[block : block + 2])
        if self._now() != self._stamp:
            raise GoneError(
                f"{self.path} has changed since poise was started: start it again to go on with "
                "the new lines"
            )
        raw = os.pread(self._file, end - first, first).split(b"\n")[line]
        return raw.removesuffix(b"\r").decode("utf-8", "replace")

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _now(self) -> tuple[int, int]:
        status = os.fstat(self._file)
        return status.st_size, status.st_mtime_ns


def _starts(file: int) -> tuple[Ints, int]:
    """Where every 64th line begins, and where the last one ends; and the number of lines."""
    starts, count, at, last = [np.zeros(1, dtype=np.int64)], 0, 0, b"\n"
    while block := os.pread(file, BLOCK_BYTES, at):
        ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n"))
        numbers = count + 1 + np.arange(len(ends))
        starts.append(at + 1 + ends[numbers % STRIDE_LINES == 0])
        count += len(ends)
        at += len(block)
        last = block[-1:]
    count += last != b"\n"  # a last line without an end
    return np.concatenate([*starts, [at]]), count


class Computed(Sequence[T]):
    """A sequence whose elements are computed from their positions."""

    def __init__(self, length: int, element: Callable[[int], T]) -> None:
        self._positions, self._element = range(length), element

    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        found = self._positions[index]
        if isinstance(found, range):
            return [self._element(position) for position in found]
        return self._element(found)


class Nodes(Mapping[str, int]):
    """The name of each node, its number in digits, and the node."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __getitem__(self, name: str) -> int:
        node = int(name) if name.isascii() and name.isdigit() and len(name) < 20 else -1
        if not 0 <= node < self._length or str(node) != name:
            raise KeyError(name)
        return node

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[str]:
        return map(str, range(self._length))


class NumberedItems(Catalogue):
    """Items that are named by their nodes."""

    @property
    def nodes(self) -> Mapping[str, int]:
        """Name -> node."""
        return Nodes(len(self))


def lines_of(path: Path, n_nodes: int) -> Lines:
    """The lines of a file with one line per node."""
    lines = Lines(path)
    if len(lines) != n_nodes:
        lines.close()
        raise InputError(
            f"{path} has {len(lines)} lines and the graph {n_nodes} items: "
            "expected one line per item"
        )
    return lines


def numbered_items(name: str, path: Path | None, n_nodes: int) -> NumberedItems:
    """The lines of a file, one per node; without a file, each item shows its number.

    Parameters
    ----------
    name : of the project
    """
    texts: Sequence[str] = Computed(n_nodes, lambda node: f"item {node}")
    word = "node"
    if path is not None:
        texts, word = lines_of(path, n_nodes), f"{path.name}, line"
    return NumberedItems(
        name,
        "text",
        ids=Computed(n_nodes, str),
        items=texts,
        sources=Computed(n_nodes, lambda node: f"{word} {node + (path is not None)}"),
        hashes=Computed(n_nodes, lambda node: content_id(texts[node].encode())),
        rows=range(n_nodes),
        total=n_nodes,
    )
