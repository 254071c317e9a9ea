"""Threads that each answer blocks of queries alone.

Libraries that share out every small product among all cores make the cores wait for each other
after each of them: on a busy machine that takes most of the time. With a block for each thread
nobody waits before the end, and what comes out does not depend on their number.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


def blocks_in_parallel(work: Callable[[T], U], blocks: Iterable[T]) -> Iterator[U]:
    """``map(work, blocks)``, in this order; few results wait at any time, so memory stays small.

    As many threads as faiss may use, which is what OMP_NUM_THREADS says, or else one per core.
    """
    import faiss

    threads = faiss.omp_get_max_threads()
    begun: deque[Future[U]] = deque()
    # The setting is of the thread that makes it: in these, faiss computes alone.
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
