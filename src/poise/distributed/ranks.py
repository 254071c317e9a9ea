"""The processes of a run: one communicator, sums in a fixed order, no endless waiting.

Every exchange is polled, so that a rank notices when the others stop answering. Numbers are added
in the order of the ranks: the same run with the same number of ranks gives the same bits.
"""

import hashlib
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

import poise
from poise.arrays import Ints
from poise.distributed.watchdog import Watchdog
from poise.errors import MissingExtraError, PoiseError
from poise.extras import install

T = TypeVar("T")

#: Seconds without an answer from the others after which a rank gives up.
TIMEOUT_SECONDS = 600.0
#: A rank that waits polls without pause at first, then with short pauses. After that nothing is
#: being solved, since a person is thinking, and it polls slowly.
SPIN_MAX_SECONDS = 0.002
FAST_POLL_MAX_SECONDS, FAST_POLL_SECONDS = 0.5, 0.0002
SLOW_POLL_SECONDS = 0.01
#: Up to so many numbers, the summands of all ranks are gathered and added in the order of ranks.
GATHERED_MAX_NUMBERS = 10_000


class RankLostError(PoiseError, RuntimeError):
    """Another rank died or stopped answering: the run cannot continue; answers so far are safe."""


class RankError(PoiseError, RuntimeError):
    """An error at another rank; the message says where and what."""


def mpi() -> Any:
    """The module ``mpi4py.MPI``, or an error that says how to install it."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise MissingExtraError(
            f"solves on several machines need mpi4py and an MPI ({error}): "
            f"{install('petsc')} mpich, or see docs/scale.md"
        ) from None
    return MPI


def petsc() -> Any:
    """The module ``petsc4py.PETSc``, or an error that says how to install it."""
    try:
        from petsc4py import PETSc
    except ImportError as error:
        raise MissingExtraError(
            f"solves on several machines need PETSc ({error}): docs/scale.md says how to "
            "build it, and make test-distributed builds it here"
        ) from None
    return PETSc


class Ranks:
    """All ranks of a run, seen from one of them.

    Parameters
    ----------
    timeout : a rank that does not answer for so many seconds counts as lost
    """

    def __init__(self, comm: Any = None, *, timeout: float = TIMEOUT_SECONDS) -> None:
        self._mpi = mpi()
        self.comm = self._mpi.COMM_WORLD if comm is None else comm
        self.rank, self.size = int(self.comm.rank), int(self.comm.size)
        self.timeout = timeout
        self.name = f"rank {self.rank} of {self.size} on {platform.node()}"
        # The exchanges here give up first with a better message; the watchdog is for PETSc's.
        self.watchdog = Watchdog(self.name, 1.5 * timeout + 1.0)

    def close(self) -> None:
        """End normally."""
        self.watchdog.goodbye()

    def abort(self) -> None:
        """End all ranks at once, after this one has reported why."""
        self.watchdog.goodbye()
        sys.stderr.flush()
        # Not by MPI's Abort: the launcher would not wait for the messages of the other ranks.
        os._exit(1)

    def wait(self, request: Any, *, patience: float | None = None) -> None:
        """Wait until an exchange is done; `patience` in seconds replaces the time-out."""
        patience = self.timeout if patience is None else patience
        begin = time.monotonic()
        while not request.Test():
            waited = time.monotonic() - begin
            if waited > patience:
                raise RankLostError(
                    f"{self.name}: another rank has not answered for {patience:g} s: it died, "
                    "hangs or is very slow; read its messages, or raise --timeout"
                )
            if waited > SPIN_MAX_SECONDS:
                time.sleep(
                    FAST_POLL_SECONDS if waited < FAST_POLL_MAX_SECONDS else SLOW_POLL_SECONDS
                )
        self.watchdog.beat()

    def each(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The arrays of all ranks, of the same shape, stacked in the order of the ranks."""
        values = np.ascontiguousarray(values)
        stacked = np.empty((self.size, *values.shape), dtype=values.dtype)
        self.wait(self.comm.Iallgather(values, stacked))
        return stacked

    def total(self, values: npt.ArrayLike) -> npt.NDArray[Any]:
        """Sum over the ranks, in their order."""
        array = np.ascontiguousarray(values)
        if array.size <= GATHERED_MAX_NUMBERS:
            return np.asarray(self.each(array).sum(axis=0, dtype=array.dtype))
        return self._reduced(array, self._mpi.SUM)

    def least(self, values: npt.ArrayLike) -> npt.NDArray[Any]:
        """Smallest over the ranks, entry by entry."""
        return self._reduced(np.ascontiguousarray(values), self._mpi.MIN)

    def largest(self, values: npt.ArrayLike) -> npt.NDArray[Any]:
        """Largest over the ranks, entry by entry."""
        return self._reduced(np.ascontiguousarray(values), self._mpi.MAX)

    def union(self, bits: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """Bits that are set at any rank."""
        return self._reduced(bits, self._mpi.BOR)

    def _reduced(self, array: npt.NDArray[Any], operation: Any) -> npt.NDArray[Any]:
        reduced = np.empty_like(array)
        self.wait(self.comm.Iallreduce(array, reduced, op=operation))
        return reduced

    def joined(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Arrays of all ranks, of any lengths, concatenated in the order of the ranks."""
        values = np.ascontiguousarray(values)
        counts = self._counts(values)
        joined = np.empty((int(counts.sum()), *values.shape[1:]), dtype=values.dtype)
        width = int(np.prod(values.shape[1:], dtype=np.int64))
        target = [joined, (counts * width).tolist()]
        self.wait(self.comm.Iallgatherv(values, target))
        return joined

    def at_first(self, values: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
        """`joined` at rank 0; None at the others."""
        values = np.ascontiguousarray(values)
        counts = self._counts(values)
        width = int(np.prod(values.shape[1:], dtype=np.int64))
        if self.rank:
            self.wait(self.comm.Igatherv(values, None, root=0))
            return None
        joined = np.empty((int(counts.sum()), *values.shape[1:]), dtype=values.dtype)
        self.wait(self.comm.Igatherv(values, [joined, (counts * width).tolist()], root=0))
        return joined

    def _counts(self, values: npt.NDArray[Any]) -> Ints:
        return self.each(np.array([len(values)], dtype=np.int64))[:, 0]

    def texts(self, text: str) -> list[str]:
        """The texts of all ranks."""
        raw = np.frombuffer(text.encode(), dtype=np.uint8)
        counts = self._counts(raw)
        whole = self.joined(raw).tobytes()
        ends = np.cumsum(counts)
        return [whole[e - n : e].decode() for e, n in zip(ends, counts, strict=True)]

    def from_first(self, data: bytes | None, *, patience: float | None = None) -> bytes:
        """The bytes that rank 0 sends to all; the others pass None and wait."""
        size = np.array([len(data or b"")], dtype=np.int64)
        self.wait(self.comm.Ibcast(size, root=0), patience=patience)
        buffer = np.empty(int(size[0]), dtype=np.uint8)
        if data is not None:
            buffer[:] = np.frombuffer(data, dtype=np.uint8)
        self.wait(self.comm.Ibcast(buffer, root=0))
        return buffer.tobytes()

    def together(self, work: Callable[[], T]) -> T:
        """Do work that may fail at one rank; then it fails at all ranks, with the rank's name.

        `work` must not exchange anything with other ranks.
        """
        result, error = None, None
        try:
            result = work()
        except (PoiseError, MemoryError) as raised:
            error = raised
        self.agree(error)
        return result  # type: ignore[return-value]

    def agree(self, error: BaseException | None) -> None:
        """Raise the error of this rank, or a `RankError` with the first error of another rank."""
        texts = self.texts("" if error is None else f"{type(error).__name__}: {error}")
        if error is not None:
            raise error
        for rank, text in enumerate(texts):
            if text:
                raise RankError(f"rank {rank} of {self.size} cannot continue: {text}")

    def check_versions(self) -> None:
        """Refuse ranks with different versions: their sums could differ."""
        texts = self.texts(versions())
        for rank, text in enumerate(texts):
            if text != texts[0]:
                raise RankError(
                    f"the ranks run different versions: rank 0 has {texts[0]}, rank {rank} has "
                    f"{text}. Install the same versions on every machine"
                )


def versions() -> str:
    """Versions of the programs used in solves, and a checksum of poise's source files."""
    root = Path(poise.__file__).parent
    digest = hashlib.sha256()
    for part in ("active", "distributed", "graph", "linalg", "models"):
        for path in sorted((root / part).rglob("*.py")):
            digest.update(path.read_bytes())
    library = ".".join(map(str, petsc().Sys.getVersion()))
    return (
        f"poise {poise.__version__} ({digest.hexdigest()[:12]}), NumPy {np.__version__}, "
        f"PETSc {library}"
    )
