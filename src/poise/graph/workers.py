"""Threads that each answer whole blocks of queries.

Libraries that split every small product among all cores make the cores wait for each other after
each product; on a busy machine that takes most of the time. With one block per thread, no thread
waits before the end, and the result does not depend on the number of threads.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


def blocks_in_parallel(work: Callable[[T], U], blocks: Iterable[T]) -> Iterator[U]:
    """``map(work, blocks)`` in this order; few results wait at a time, so memory use stays small.

    Uses as many threads as faiss: OMP_NUM_THREADS, or else one per core.
    """
    import faiss

    threads = faiss.omp_get_max_threads()
    begun: deque[Future[U]] = deque()
    # The setting is per thread: within these threads, faiss uses one thread.
    alone = ThreadPoolExecutor(threads, "poise-search", lambda: faiss.omp_set_num_threads(1))
    with alone as pool:
        try:
            for block in blocks:
                begun.append(pool.submit(work, block))
                if len(begun) > 2 * threads:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        finally:
            for future in begun:
                future.cancel()
