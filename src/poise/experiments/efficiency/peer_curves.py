"""What all peers share: when they are measured, on which points, and in how much memory."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from poise.arrays import Floats, Ints
from poise.experiments.efficiency.trials import BUDGETS, Trial

#: Points that a peer may choose from where its arrays for all points are too large.
PEER_POINTS = 5_000
#: Bytes of a peer's largest array; several of its size are in use at the same time.
MEMORY = 1_000_000_000

#: Shape of a peer's largest array for n points, C classes and d features; "" if it is small.
Array = Literal["", "n x n", "n x C x d"]


class Peer(Protocol):
    """Another library's way to choose labels and to guess the rest.

    Attributes
    ----------
    name : what the tables call it
    note : how it is used, where that needs saying
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
        """Points that it may choose from: all, `PEER_POINTS`, or 0 if those are too many too."""
        tried = (self.n_points, min(self.n_points, PEER_POINTS))
        return next((n for n in tried if self.size(n) <= MEMORY), 0)

    @property
    def reason(self) -> str:
        """Why it may not choose from all points, or "" if it may."""
        if self.n_candidates == self.n_points:
            return ""
        # The number that failed: all points, or the part that was too large as well.
        n = self.n_points if self.n_candidates else min(self.n_points, PEER_POINTS)
        return f"needs {self.array} arrays: {self.size(n) / 1e9:.1f} GB at {n:,} points"


def need_of(trial: Trial, codes: Ints, array: Array = "") -> Need:
    """What an array of a given shape needs in a trial."""
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
    """Those of `BUDGETS` that are within the budget and leave a point unlabelled."""
    return [labels for labels in BUDGETS if labels <= min(budget, trial.n_points - 1)]


def share_right(guesses: npt.ArrayLike, codes: Ints, labelled: Ints) -> float:
    """Accuracy of (n,) guessed codes on the points that are not labelled."""
    rest = np.ones(len(codes), dtype=bool)
    rest[labelled] = False
    return float((np.asarray(guesses) == codes)[rest].mean())


def features(trial: Trial) -> Floats:
    """The features as (n, d) float64, divided by one number so that their mean variance is 1.

    Single precision underflows in peers' kernels. The default penalty of logistic regression suits
    features of variance 1; for embeddings of length one it is so strong that the classes with most
    labels are guessed almost everywhere.
    """
    X = trial.X.astype(np.float64)
    scale = float(np.sqrt(X.var(axis=0).mean()))
    return X / scale if scale > 0 else X


@contextmanager
def quiet() -> Iterator[None]:
    """Hide the warnings of a peer: few labels and missing classes are what is measured here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
