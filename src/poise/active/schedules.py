"""Schedules: the number of answers -> tau."""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from poise.checks import decay, whole_number
from poise.errors import InputError
from poise.registry import Registry, declared


class Schedule(Protocol):
    """The number of answers -> tau.

    A function is enough. A class may also have the attributes of `ScheduleTraits`.
    """

    def __call__(self, n_answers: int, /) -> float: ...


@dataclass(frozen=True)
class ScheduleTraits:
    """What a schedule may declare as class attributes, with the defaults.

    Attributes
    ----------
    relative : whether its values are shares of the graph's own unit, as those of `Relative` are
    """

    relative: bool = False


schedules: Registry[Schedule] = Registry("schedule")


@schedules.register("constant")
@dataclass(frozen=True)
class Constant:
    """The same tau after every answer.

    Examples
    --------
    >>> import poise
    >>> tau = poise.Constant(1e-3)
    >>> tau(0), tau(50)
    (0.001, 0.001)
    """

    tau: float = 1e-3

    def __post_init__(self) -> None:
        decay(self.tau)

    def __call__(self, n_answers: int) -> float:
        return self.tau


@schedules.register("relative")
@dataclass(frozen=True)
class Relative:
    """The same share of the reweighted degree, after every answer and on every graph.

    tau is `share` times the median over the nodes of ``gamma_i (W gamma)_i``, the reweighted degree
    that tau competes with. It grows with the labels, and with the scale of the weights.

    Examples
    --------
    >>> import poise
    >>> tau = poise.Relative(share=0.01)
    >>> tau(0), tau(50)
    (0.01, 0.01)
    """

    share: float = 0.01

    #: Passed on to the model, which knows the weights.
    relative: ClassVar[bool] = True

    def __post_init__(self) -> None:
        decay(self.share, "share")

    def __call__(self, n_answers: int) -> float:
        return self.share


@schedules.register("geometric")
@dataclass(frozen=True)
class Geometric:
    """Tau falls geometrically from tau_0, and is 0 after 2K answers (paper, section 2.2).

    ``tau_n = tau_0 mu^n`` with ``mu = (epsilon / tau_0)^(1 / 2K)`` for n < 2K, then 0.

    Parameters
    ----------
    tau_0 : float > 0
        The first value.
    epsilon : float > 0
        The value that the fall would reach after 2K answers.
    K : int >= 1
        Number of clusters to find: the larger, the longer the exploration.

    Examples
    --------
    >>> import poise
    >>> tau = poise.Geometric(tau_0=1e-3, K=8)
    >>> tau(0), tau(16)
    (0.001, 0.0)
    """

    tau_0: float = 1e-3
    epsilon: float = 1e-9
    K: int = 10

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < self.tau_0 < float("inf"):
            raise InputError(
                f"tau_0 is {self.tau_0} and epsilon {self.epsilon}: expected 0 < epsilon < tau_0"
            )
        whole_number(self.K, "K", 1)

    def __call__(self, n_answers: int) -> float:
        if n_answers >= 2 * self.K:
            return 0.0
        return float(self.tau_0 * (self.epsilon / self.tau_0) ** (n_answers / (2 * self.K)))


@schedules.register("joined")
@dataclass(frozen=True)
class Joined:
    """Several schedules one after the other, each counting its answers from 0.

    Parameters
    ----------
    parts : tuple of schedules
    boundaries : tuple of int
        Numbers of answers at which the next part takes over; ascending, one fewer than parts.

    Examples
    --------
    >>> import poise
    >>> tau = poise.Joined((poise.Constant(1e-3), poise.Constant(0.0)), (20,))
    >>> tau(19), tau(20)
    (0.001, 0.0)
    """

    parts: tuple[Schedule, ...] = (Constant(1e-3), Constant(0.0))
    boundaries: tuple[int, ...] = (50,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(as_schedule(part) for part in self.parts))
        object.__setattr__(self, "boundaries", tuple(self.boundaries))
        if len(self.parts) != len(self.boundaries) + 1:
            raise InputError(
                f"{len(self.parts)} parts need {max(len(self.parts) - 1, 0)} boundaries, "
                f"got {len(self.boundaries)}"
            )
        if (
            list(self.boundaries) != sorted(set(self.boundaries))
            or min(self.boundaries, default=1) < 1
        ):
            raise InputError(
                f"boundaries are {self.boundaries}: they must be positive and ascending"
            )
        if len({is_relative(part) for part in self.parts}) > 1:
            raise InputError(
                "some parts are relative and some are not: join schedules of one kind, for example "
                "Relative(0.01) and Relative(0.0)"
            )

    @property
    def relative(self) -> bool:
        """Whether the parts are shares of the graph's own unit, as `Relative` is."""
        return is_relative(self.parts[0])

    def __call__(self, n_answers: int) -> float:
        start = 0
        for part, boundary in zip(self.parts, self.boundaries, strict=False):
            if n_answers < boundary:
                return part(n_answers - start)
            start = boundary
        return self.parts[-1](n_answers - start)


def as_schedule(tau: Any) -> Schedule:
    """A number, a schedule's name or a schedule, as a schedule."""
    if isinstance(tau, str):
        return schedules.make(tau)
    if callable(tau):
        return tau  # type: ignore[no-any-return]
    return Constant(decay(tau))


def is_relative(schedule: Schedule) -> bool:
    """Whether the values of a schedule are shares of the graph's own unit."""
    return declared(schedule, ScheduleTraits).relative
