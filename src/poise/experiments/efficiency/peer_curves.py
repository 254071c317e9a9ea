"""Shared by all peers: checkpoints, points and memory."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from poise.arrays import Floats, Ints
from poise.experiments.efficiency.trials import BUDGETS, Trial

#: Number of points that a peer may choose from if its arrays for all points are too large.
PEER_POINTS = 5_000
#: Maximal size of a peer's largest array; several of that size are in use at the same time.
MAX_ARRAY_BYTES = 1_000_000_000

#: Shape of a peer's largest array for n points, C classes and d features; "" if it is small.
Array = Literal["", "n x n", "n x C x d"]


class Peer(Protocol):
    """Another library's way to choose labels and to predict the rest.

    Attributes
    ----------
    name : its name in tables
    note : a remark on its use; may be empty
    """

    @property
    def name(self) -> str: ...

    @property
    def note(self) -> str: ...

    def need(self, trial: Trial, codes: Ints) -> "Need":
        """Memory that it needs for a trial."""
        ...

    def run(self, trial: Trial, codes: Ints, budget: int) -> list[float]:
        """Accuracy on the unlabelled points of the trial after each of `checkpoints`."""
        ...


@dataclass(frozen=True)
class Need:
    """The largest array of a peer in a trial, in float64.

    Attributes
    ----------
    array : its shape
    n_points, n_classes, n_features : n, C and d
    """

    array: Array
    n_points: int
    n_classes: int
    n_features: int

    def size(self, n_points: int) -> int:
        """Bytes for that many points."""
        others = {"": 0, "n x n": n_points, "n x C x d": self.n_classes * self.n_features}
        return 8 * n_points * others[self.array]

    @property
    def n_candidates(self) -> int:
        """Number of points to choose from: all, `PEER_POINTS`, or 0 if that is too many as well."""
        tried = (self.n_points, min(self.n_points, PEER_POINTS))
        return next((n for n in tried if self.size(n) <= MAX_ARRAY_BYTES), 0)

    @property
    def reason(self) -> str:
        """Why it cannot choose from all points, or "" if it can."""
        if self.n_candidates == self.n_points:
            return ""
        # The number that failed: all points, or the part if that was too large as well.
        n = self.n_points if self.n_candidates else min(self.n_points, PEER_POINTS)
        return f"needs {self.array} arrays: {self.size(n) / 1e9:.1f} GB at {n:,} points"


def need_of(trial: Trial, codes: Ints, array: Array = "") -> Need:
    """The need of an array of that shape in a trial."""
    return Need(array, trial.n_points, int(codes.max()) + 1, trial.X.shape[1])


def candidates(trial: Trial, n: int) -> Ints:
    """`n` random points of a trial in increasing order, the same for every peer."""
    if n >= trial.n_points:
        return np.arange(trial.n_points)
    rng = np.random.default_rng([trial.number, 11])
    return np.sort(rng.choice(trial.n_points, n, replace=False))


def random_order(trial: Trial) -> Ints:
    """The points of a trial in random order, the same for every peer that labels at random."""
    return np.random.default_rng([trial.number, 13]).permutation(trial.n_points)


def checkpoints(trial: Trial, budget: int) -> list[int]:
    """The `BUDGETS` that are within the budget and leave a point unlabelled."""
    return [labels for labels in BUDGETS if labels <= min(budget, trial.n_points - 1)]


def share_right(guesses: npt.ArrayLike, codes: Ints, labelled: Ints) -> float:
    """Accuracy of (n,) guessed codes on the points that are not labelled."""
    rest = np.ones(len(codes), dtype=bool)
    rest[labelled] = False
    return float((np.asarray(guesses) == codes)[rest].mean())


def features(trial: Trial) -> Floats:
    """The features as (n, d) float64, divided by one number so that their mean variance is 1.

    Single precision underflows in the peers' kernels. The default penalty of logistic regression
    suits features of variance 1. For embeddings of length one it is so strong that the most
    frequent classes are predicted almost everywhere.
    """
    X = trial.X.astype(np.float64)
    scale = float(np.sqrt(X.var(axis=0).mean()))
    return X / scale if scale > 0 else X


@contextmanager
def quiet() -> Iterator[None]:
    """Hide the warnings of a peer, because few labels and missing classes are intended here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
