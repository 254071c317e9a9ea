"""Name -> factory, for everything that can be chosen by name or added under a name of one's own."""

from collections.abc import Callable, Collection, Iterator
from difflib import get_close_matches
from typing import Any, Generic, TypeVar

from poise.errors import InputError, UnknownNameError

T = TypeVar("T")


def known_name(kind: str, name: Any, names: Collection[str]) -> None:
    """Refuse a name that is not among `names`, with the nearest ones, or else all."""
    if name not in names:
        near = get_close_matches(str(name), list(names))
        known = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names)}"
        raise UnknownNameError(f"no {kind} is called {name!r}: {known}")


class Registry(Generic[T]):
    """A table of factories, one per name.

    >>> shapes = Registry("shape")
    >>> @shapes.register("square")
    ... class Square:
    ...     '''Four equal sides.'''
    >>> shapes.describe()
    {'square': 'Four equal sides.'}
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._factories: dict[str, Callable[..., T]] = {}

    def register(self, name: str) -> Callable[[Callable[..., T]], Callable[..., T]]:
        """Decorator: ``factory()`` with its defaults makes the thing called `name`."""

        def add(factory: Callable[..., T]) -> Callable[..., T]:
            if name in self._factories:
                raise InputError(
                    f"the {self.kind} {name!r} is registered already: choose another name"
                )
            if not (factory.__doc__ or "").strip():
                raise InputError(
                    f"the {self.kind} {name!r} has no docstring: its first line is what users see"
                )
            self._factories[name] = factory
            return factory

        return add

    def make(self, name: str, **parameters: Any) -> T:
        """The thing called `name`, made with `parameters`."""
        return self.factory(name)(**parameters)

    def factory(self, name: str) -> Callable[..., T]:
        known_name(self.kind, name, list(self))
        return self._factories[name]

    def resolve(self, value: Any, function: str) -> T:
        """`value`, a name or a `function` as the error describes it, as a function."""
        if isinstance(value, str):
            return self.make(value)
        if callable(value):
            return value  # type: ignore[no-any-return]
        raise InputError(
            f"{self.kind} is {value!r}: give a name ({', '.join(self)}) or a function {function}"
        )

    def describe(self) -> dict[str, str]:
        """Every name with the first line of its docstring."""
        return {
            name: (factory.__doc__ or "").strip().splitlines()[0]
            for name, factory in sorted(self._factories.items())
        }

    __call__ = describe

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._factories))

    def __contains__(self, name: object) -> bool:
        return name in self._factories
