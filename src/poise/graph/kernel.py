"""Kernels: weights of edges from distances.

A kernel takes three arrays that broadcast against each other: the distances ``d`` from each point
to its neighbours, the scale ``s`` of the point and the scales ``r`` of the neighbours. In a
k-nearest-neighbour graph the scale of a point is its distance d_k to its k-th neighbour; in an
epsilon graph every scale is the radius.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from poise.errors import InputError
from poise.registry import Registry

FloatArray: TypeAlias = npt.NDArray[np.float64]
Symmetrise: TypeAlias = Literal["mean", "max", "min"]


class Kernel(ABC):
    """Maps distances and scales to finite weights >= 0; equal kernels make equal graphs."""

    symmetrise: ClassVar[Symmetrise] = "mean"
    """Default of how the two directions of an edge become one weight."""
    interpolates: ClassVar[bool] = False
    """Whether the weight grows without bound as two points meet."""

    @abstractmethod
    def __call__(self, d: FloatArray, s: FloatArray, r: FloatArray) -> FloatArray:
        """Weights, in the shape of `d`."""


kernels: Registry[Kernel] = Registry("kernel")


def scaled_squares(d: FloatArray, s: FloatArray, r: FloatArray) -> FloatArray:
    """``d^2 / (s r)``, and 0 wherever a scale is 0: only coinciding points have no scale."""
    shape = np.broadcast_shapes(d.shape, s.shape, r.shape)
    positive = np.broadcast_to((s > 0) & (r > 0), shape)
    # one quotient at a time: squares of very large or small distances would overflow or underflow
    by_own = np.divide(d, s, out=np.zeros(shape), where=positive)
    by_other = np.divide(d, r, out=np.zeros(shape), where=positive)
    with np.errstate(over="ignore"):  # an infinite ratio is a weight of zero
        return np.multiply(by_own, by_other, out=by_own)


@kernels.register("gaussian")
@dataclass(frozen=True)
class Gaussian(Kernel):
    """exp(-4 d^2 / d_k(x)^2): the paper's self-tuned Gaussian, the default."""

    def __call__(self, d: FloatArray, s: FloatArray, r: FloatArray) -> FloatArray:
        """exp(-4 d^2 / s^2)."""
        return np.exp(-4.0 * scaled_squares(d, s, s))


@kernels.register("symmetric")
@dataclass(frozen=True)
class SymmetricGaussian(Kernel):
    """exp(-4 d^2 / (d_k(x) d_k(y))): self-tuned by both ends of the edge."""

    symmetrise = "max"

    def __call__(self, d: FloatArray, s: FloatArray, r: FloatArray) -> FloatArray:
        """exp(-4 d^2 / (s r))."""
        return np.exp(-4.0 * scaled_squares(d, s, r))


@kernels.register("uniform")
@dataclass(frozen=True)
class Uniform(Kernel):
    """1 for every neighbour: the unweighted graph."""

    symmetrise = "max"

    def __call__(self, d: FloatArray, s: FloatArray, r: FloatArray) -> FloatArray:
        """Ones."""
        return np.ones(d.shape)


@kernels.register("distance")
@dataclass(frozen=True)
class Distance(Kernel):
    """d itself, for shortest paths; coinciding points are not joined."""

    symmetrise = "max"

    def __call__(self, d: FloatArray, s: FloatArray, r: FloatArray) -> FloatArray:
        """The distances."""
        return d.copy()


@kernels.register("singular")
@dataclass(frozen=True)
class Singular(Kernel):
    """1 / d, and 1 for coinciding points, as in GraphLearning."""

    symmetrise = "max"
    interpolates = True

    def __call__(self, d: FloatArray, s: FloatArray, r: FloatArray) -> FloatArray:
        """The reciprocals."""
        # no closer than 1e-150: sums of reciprocals stay finite
        return 1.0 / np.where(d > 0, np.maximum(d, 1e-150), 1.0)


@dataclass(frozen=True)
class Profile(Kernel):
    """eta(d^2 / d_k(x)^2) for a user's function eta of a whole array."""

    eta: Callable[[Any], Any]

    def __call__(self, d: FloatArray, s: FloatArray, r: FloatArray) -> FloatArray:
        """eta(d^2 / s^2), checked to be finite and >= 0."""
        weights = np.asarray(self.eta(scaled_squares(d, s, s)), dtype=np.float64)
        if weights.shape != d.shape:
            raise InputError(
                f"the kernel {label(self)} returned shape {weights.shape} for an array of shape "
                f"{d.shape}: it must map an array of d^2 / d_k^2 to weights of the same shape"
            )
        bad = ~np.isfinite(weights) | (weights < 0)
        if bad.any():
            raise InputError(
                f"the kernel {label(self)} returned {int(bad.sum())} weight(s) that are negative, "
                "NaN or infinite: weights must be finite and >= 0"
            )
        return weights


KernelLike: TypeAlias = str | Kernel | Callable[[Any], Any]


def as_kernel(kernel: KernelLike) -> Kernel:
    """The kernel of that name, or of that function of ``d^2 / d_k(x)^2``."""
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str):
        return kernels.make(kernel)
    if callable(kernel):
        return Profile(kernel)
    raise InputError(
        f"kernel is {kernel!r}: expected one of {', '.join(kernels)}, "
        "or a function of the scaled squared distance"
    )


def registered_name(kernel: Kernel) -> str | None:
    """The registered name of this kernel, if it has one: kernels are saved by name only."""
    return next((name for name in kernels if kernels.make(name) == kernel), None)


def label(kernel: Kernel) -> str:
    """The name of `kernel` in reports and saved graphs."""
    name = registered_name(kernel)
    if name is not None:
        return name
    function = kernel.eta if isinstance(kernel, Profile) else kernel
    return str(getattr(function, "__name__", type(function).__name__))
