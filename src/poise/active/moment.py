"""Methods that see a learner at one moment, whatever other threads do meanwhile."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast


class Changing(Protocol):
    """Something that other threads may change."""

    def _still(self) -> Any:
        """A twin at this moment, which nobody changes; itself if it is one."""


S = TypeVar("S", bound=Changing)
P = ParamSpec("P")
R = TypeVar("R")
Method = Callable[Concatenate[S, P], R]


def at_one_moment(method: Method[S, P, R]) -> Method[S, P, R]:
    """Run `method` on a twin that nobody changes, so that all it reads belongs together."""

    @wraps(method)
    def consistent(self: S, *args: P.args, **kwargs: P.kwargs) -> R:
        return method(self._still(), *args, **kwargs)

    return cast(Method[S, P, R], consistent)
