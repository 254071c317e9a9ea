"""Named exceptions. Each message says what is wrong, what was expected and what to do."""


class PoiseError(Exception):
    """Base of every error that poise raises on purpose.

    Examples
    --------
    >>> import poise
    >>> try:
    ...     poise.Learner(poise.knn_graph([[0.0], [1.0], [3.0]], k=1), acquisition="nrom")
    ... except poise.PoiseError as error:
    ...     print(error)
    no acquisition is called 'nrom': did you mean norm or random?
    """


class InputError(PoiseError, ValueError):
    """A mistake of the caller: a value that poise cannot use. Exit code 2 on the command line."""


class FeatureError(InputError):
    """Features that cannot become a graph: NaN, infinite, empty, of the wrong shape."""


class GraphError(InputError):
    """Weights that are not a similarity graph, or a graph that lacks what an operation needs."""


class LabelError(InputError):
    """A label that cannot be used: wrong type, in conflict with an earlier answer, or missing."""


class NodeIndexError(InputError, IndexError):
    """A number that is no node of the graph, or a node in the wrong state."""


class PoolExhausted(InputError):
    """Every node is labelled, pending, skipped or excluded: there is nothing left to ask."""


class WrongGraphError(InputError):
    """A saved session belongs to another graph."""


class UnknownNameError(InputError, KeyError):
    """A name that is not in a registry."""

    def __str__(self) -> str:  # KeyError would show the repr of its argument
        return str(self.args[0])


class HypothesisError(InputError):
    """A number outside the hypotheses of a statement; the message quotes the violated one."""


class DataError(PoiseError):
    """Files that cannot be found, fetched, read or written."""


class RunError(PoiseError, RuntimeError):
    """Parts of a run failed; the message says which, and what was kept."""


class MemoryShortError(PoiseError, MemoryError):
    """Something needs more memory than is free; it was not started."""


class MissingExtraError(PoiseError, ImportError):
    """An optional dependency is not installed. Exit code 2 on the command line."""


class ConvergenceError(PoiseError, RuntimeError):
    """A linear solve did not reach its tolerance; the message carries the solver's status."""
