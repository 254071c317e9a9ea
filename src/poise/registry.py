"""Tables from names to factories, for everything that can be chosen or added by name."""

import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import fields
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from poise.errors import InputError, PoiseError, UnknownNameError

T = TypeVar("T")


class PluginWarning(UserWarning):
    """An entry point of an installed package is left out."""


def known_name(kind: str, name: Any, names: Collection[str]) -> None:
    """Refuse a name that is not among `names`; the error lists the nearest names, or else all."""
    if name not in names:
        near = get_close_matches(str(name), list(names))
        known = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names)}"
        raise UnknownNameError(f"no {kind} is called {name!r}: {known}")


def declared(thing: Any, traits: Callable[..., T]) -> T:
    """What a thing, such as an acquisition, says of itself.

    Parameters
    ----------
    traits : a dataclass: its fields are the attributes that are looked for in `thing`, its defaults
        stand for those that `thing` does not have
    """
    names = [field.name for field in fields(traits)]  # type: ignore[arg-type]
    return traits(**{name: getattr(thing, name) for name in names if hasattr(thing, name)})


class Registry(Generic[T]):
    """A table of factories, one per name.

    Installed packages add to a registry that has an entry-point `group`: their entry points are
    loaded when a name is looked up that is not known yet, or when all names are listed.

    A registry may have `families`: names that begin with a prefix and a colon are those of another
    registry, whose module is imported when such a name is looked up. They are not listed.

    Parameters
    ----------
    kind : what the things are called in errors
    group : of entry points
    families : prefix -> ``module:attribute`` of the registry of its names

    >>> shapes = Registry("shape")
    >>> @shapes.register("square")
    ... class Square:
    ...     '''Four equal sides.'''
    >>> shapes.describe()
    {'square': 'Four equal sides.'}
    """

    def __init__(
        self, kind: str, group: str | None = None, families: Mapping[str, str] | None = None
    ) -> None:
        self.kind = kind
        self.group = group
        self.families = dict(families or {})
        self._factories: dict[str, Callable[..., T]] = {}
        self._tried: set[EntryPoint] = set()

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
        """What makes the thing called `name`."""
        family = self._family(name)
        if family is not None:
            return family.factory(name)
        if name not in self:
            known_name(self.kind, name, list(self))
        return self._factories[name]

    def name_of(self, factory: Any) -> str | None:
        """The name under which a factory is registered; None if it is not."""
        if factory not in self._factories.values():
            self._load()
        own = next((name for name, known in self._factories.items() if known is factory), None)
        loaded = [prefix for prefix, home in self.families.items() if _module(home) in sys.modules]
        names = (self._registry(prefix).name_of(factory) for prefix in loaded)
        return own or next((name for name in names if name), None)

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
            name: (self._factories[name].__doc__ or "").strip().splitlines()[0] for name in self
        }

    __call__ = describe

    def __iter__(self) -> Iterator[str]:
        self._load()
        return iter(sorted(self._factories))

    def __contains__(self, name: object) -> bool:
        family = self._family(name)
        if family is not None:
            return name in family
        if name not in self._factories:
            self._load(name)
        return name in self._factories

    def _family(self, name: object) -> "Registry[T] | None":
        """The registry of the names with the prefix of `name`; None if it has no such prefix."""
        prefix = name.partition(":")[0] if isinstance(name, str) and ":" in name else None
        return self._registry(prefix) if prefix in self.families else None

    def _registry(self, prefix: str) -> "Registry[T]":
        home = self.families[prefix]
        registry: Registry[T] = getattr(import_module(_module(home)), home.partition(":")[2])
        return registry

    def _load(self, name: object = None) -> None:
        """Register the entry points of installed packages: all, or those with this name."""
        if self.group is None:
            return
        for entry in entry_points(group=self.group):
            if (name is None or entry.name == name) and entry not in self._tried:
                self._tried.add(entry)
                self._load_entry(entry)

    def _load_entry(self, entry: EntryPoint) -> None:
        """Register one entry point, or warn that it is left out and why."""
        try:
            factory = entry.load()
            if self._factories.get(entry.name) is not factory:  # its module may have registered it
                self.register(entry.name)(factory)
        except Exception as error:  # whatever is wrong with it, poise works without it
            package = "an installed package" if entry.dist is None else entry.dist.name
            kind = "" if isinstance(error, PoiseError) else f"{type(error).__name__}: "
            message = f"the {self.kind} {entry.name!r} of {package} is left out: {kind}{error}"
            # Explicit, because no line of code is to blame: the warning is one line.
            warnings.warn_explicit(
                " ".join(message.split()), PluginWarning, f"entry point {entry.value}", 1
            )


def _module(home: str) -> str:
    """The module of ``module:attribute``."""
    return home.partition(":")[0]
