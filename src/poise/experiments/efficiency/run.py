"""Does many independent pieces of work in a few processes with one thread each."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TypeVar

Work = TypeVar("Work")
Result = TypeVar("Result")


def in_processes(
    function: Callable[[Work], Result], works: Sequence[Work], jobs: int
) -> Iterator[Result]:
    """Results of ``function(work)`` as they arrive; an interruption ends the processes."""
    if jobs == 1 or len(works) < 2:
        yield from map(function, works)
        return
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_one_thread)
    try:
        for done in as_completed([pool.submit(function, work) for work in works]):
            yield done.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _one_thread() -> None:
    """Use one thread: several processes with several threads each would slow each other."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
