"""A rough estimate of the time and memory that a size needs, before the work starts."""

from poise.graph.cost import Cost, knn_cost
from poise.graph.search import choose_backend

#: Seconds per point, measured at 100,000: of a question, of one of graphlearning, of its search.
QUESTION, THEIR_QUESTION, THEIR_SEARCH = 1e-6, 1e-5, 6e-5
#: Powers of n with which they grow above that.
GROWTH, THEIR_GROWTH = 1.15, 1.4
#: Bytes per neighbour of a point: in the learner, in graphlearning.
LEARNER, THEIRS = 200, 280


def estimate(
    n: int, d: int, k: int, *, acquisitions: int, questions: int, peer: bool, cores: int
) -> Cost:
    """Time and memory of one size."""
    graph = knn_cost(n, d, k, choose_backend(n, d, "euclidean"), cores)
    more = (n / 1e5) ** (GROWTH - 1)
    seconds = graph.seconds + acquisitions * (questions + 5) * n * QUESTION * more
    memory = max(graph.memory, LEARNER * n * k * (1 + 0.3 * acquisitions))
    if peer:
        more = (n / 1e5) ** (THEIR_GROWTH - 1)
        seconds += n * THEIR_SEARCH + (questions + 2) * n * THEIR_QUESTION * more
        memory += peer_memory(n, k)
    return Cost(seconds, memory)


def peer_memory(n: int, k: int) -> float:
    """Bytes that graphlearning's process needs for the questions."""
    return float(THEIRS * n * k)
