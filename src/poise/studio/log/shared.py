"""Dictionaries and lists whose copies share what they have in common.

A state of a million labels is copied for every event. These copies cost what has changed since they
were last merged, not what they hold.
"""

from collections.abc import ItemsView, Iterator, MutableMapping, Sequence, ValuesView
from itertools import islice
from math import isqrt
from typing import Generic, TypeVar, overload

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")

#: Changes that are kept beside a small base before they are merged into it.
MIN_CHANGES = 64


class SharedDict(MutableMapping[K, V]):
    """A dictionary in the order of insertion: a base that never changes, and changes beside it.

    A copy shares the base and copies the changes. With more changes than about twice the root of
    the base's length, which costs least on average, it merges them into a base of its own.

    Parameters
    ----------
    base : taken over, so nobody may change it any more
    """

    def __init__(self, base: dict[K, V]) -> None:
        self._base = base
        self._replaced: dict[K, V] = {}  # keys of the base with another value, where they were
        self._removed: set[K] = set()  # keys of the base that are gone
        self._added: dict[K, V] = {}  # keys after those of the base

    def copy(self) -> "SharedDict[K, V]":
        """The same, which can be changed without changing this one."""
        n_changes = len(self._replaced) + len(self._removed) + len(self._added)
        if n_changes > max(MIN_CHANGES, 2 * isqrt(len(self._base))):
            return SharedDict(self._merged())
        other = SharedDict(self._base)
        other._replaced = self._replaced.copy()
        other._removed = self._removed.copy()
        other._added = self._added.copy()
        return other

    def __getitem__(self, key: K) -> V:
        if key in self._added:
            return self._added[key]
        if key in self._removed:
            raise KeyError(key)
        return self._replaced[key] if key in self._replaced else self._base[key]

    def __setitem__(self, key: K, value: V) -> None:
        if key in self._base and key not in self._removed:
            self._replaced[key] = value
        else:
            self._added[key] = value

    def __delitem__(self, key: K) -> None:
        if key in self._added:
            del self._added[key]
        elif key in self._base and key not in self._removed:
            self._replaced.pop(key, None)
            self._removed.add(key)
        else:
            raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return key in self._added or (key in self._base and key not in self._removed)

    def __len__(self) -> int:
        return len(self._base) - len(self._removed) + len(self._added)

    def __iter__(self) -> Iterator[K]:
        return iter(self._merged())

    def items(self) -> ItemsView[K, V]:
        """Its keys and values at this moment."""
        return self._merged().items()

    def values(self) -> ValuesView[V]:
        """Its values at this moment."""
        return self._merged().values()

    def __repr__(self) -> str:
        return repr(self._merged())

    def _merged(self) -> dict[K, V]:
        """All of it as a plain dictionary, which nobody may change."""
        if not (self._replaced or self._removed or self._added):
            return self._base
        merged = self._base | self._replaced
        for key in self._removed:
            del merged[key]
        merged.update(self._added)
        return merged


class SharedList(Sequence[T], Generic[T]):
    """A list to which elements are appended; a copy shares those up to its end.

    Parameters
    ----------
    elements : taken over, so nobody else may change it any more
    """

    def __init__(self, elements: list[T]) -> None:
        self._elements, self._length = elements, len(elements)

    def copy(self) -> "SharedList[T]":
        """The same, which can be appended to without changing this one."""
        other = SharedList(self._elements)
        other._length = self._length
        return other

    def append(self, element: T) -> None:
        """Add an element at the end."""
        if len(self._elements) > self._length:  # another copy went on from here
            self._elements = self._elements[: self._length]
        self._elements.append(element)
        self._length += 1

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        positions = range(self._length)[index]
        if isinstance(positions, range):
            return [self._elements[position] for position in positions]
        return self._elements[positions]

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[T]:
        return islice(self._elements, self._length)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (list, SharedList)):
            return NotImplemented
        return list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))
