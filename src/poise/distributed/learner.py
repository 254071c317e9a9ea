"""The learner at rank 0, which the user calls; the other ranks follow it.

Each call is sent to all ranks, and every rank does the same with its own rows.
"""

import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from poise.active import saved
from poise.active.new_points import class_table
from poise.active.state import Event
from poise.arrays import Bools, Floats, Ints
from poise.distributed.over_rows import OVER_ROWS
from poise.distributed.partition import Partition, load
from poise.distributed.ranks import TIMEOUT_SECONDS, RankError, RankLostError, Ranks
from poise.distributed.replica import Guess, Replica
from poise.errors import LabelError, PoiseError
from poise.models.labels import Label

T = TypeVar("T")
END = b""


class DistributedLearner:
    """`poise.Learner` for a graph at several ranks, with the methods of the same names.

    It runs at rank 0, see `run`. It keeps answers in memory, as `poise.Learner` does: the caller
    writes them to a file, for example with `to_json`. Arrays over all nodes are gathered in the
    order of the nodes; if they are too large for one machine, `save_predictions` writes them rank
    by rank.
    """

    def __init__(self, replica: Replica) -> None:
        self._replica = replica
        self.partition = replica.partition
        self._ranks = replica.partition.ranks
        #: Held while the ranks work; the thread that sends signs of life takes it too.
        self._working = threading.RLock()
        self._ended = threading.Event()
        #: Why no rank can be reached any more; and who is told, if anybody but the caller.
        self.lost: BaseException | None = None
        self.when_lost: Callable[[BaseException], None] | None = None
        # A person may think for hours, and the other ranks must know that rank 0 is alive.
        self._ticks = threading.Thread(target=self._tick, name="poise-ticks", daemon=True)
        self._ticks.start()

    # What the user does ---------------------------------------------------------------------

    def start(self, labels: Mapping[Any, Any], classes: Iterable[Any] = ()) -> None:
        """Start again with other initial labels."""
        self._together("start", dict(labels), tuple(classes))

    def ask(self, k: int = 1) -> Ints:
        """The next `k` nodes to label, now pending; fewer if fewer are left."""
        return np.array(self._together("ask", k), dtype=np.int64)

    def tell(self, nodes: Any, labels: Any) -> None:
        """Add answers: ``tell(i, "cat")`` or ``tell([i, j], ["cat", "dog"])``; asked for or not."""
        self._together("session.tell", nodes, labels)

    def relabel(self, nodes: Any, labels: Any) -> None:
        """Change earlier answers."""
        self._together("session.relabel", nodes, labels)

    def skip(self, nodes: Any) -> None:
        """Postpone nodes until 20 more answers are given or nothing else is left."""
        self._together("session.set_aside", "skip", nodes)

    def exclude(self, nodes: Any) -> None:
        """Never ask these nodes."""
        self._together("session.set_aside", "exclude", nodes)

    def release(self, nodes: Any) -> None:
        """Return pending, skipped or excluded nodes to the pool."""
        self._together("session.set_aside", "release", nodes)

    def undo(self) -> Event:
        """Undo the last tell, relabel, skip, exclude or release, and return that event."""
        event: Event = self._together("session.undo")
        return event

    def ask_apart(self, k: int) -> list[Guess]:
        """Up to `k` nodes far from each other, now pending, for one solve; none if none are left.

        The same as ``poise.Learner.ask(k, policy="local-max")``.
        """
        return list(self._together("ask_apart", k))

    def ask_about(self, nodes: Sequence[int]) -> list[Guess]:
        """What the labels say about given nodes without a label, which are then pending."""
        return list(self._together("ask_about", list(nodes)))

    def guesses(self, nodes: Sequence[int]) -> list[Guess]:
        """What the labels alone say about some nodes."""
        return list(self._together("guesses", list(nodes)))

    def prepare(self) -> bool:
        """Compute now what the next `ask` needs; whether that took a solve."""
        return bool(self._together("prepare"))

    # What is known --------------------------------------------------------------------------

    @property
    def labels(self) -> dict[int, Label]:
        return dict(self._replica.session.state.labels)

    @property
    def classes(self) -> tuple[Label, ...]:
        return tuple(self._replica.session.state.classes)

    @property
    def pending(self) -> tuple[int, ...]:
        return tuple(self._replica.session.state.pending)

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything that happened, in order."""
        return tuple(self._replica.session.events)

    @property
    def n_answers(self) -> int:
        """Number of answers so far, without the initial labels."""
        return self._replica.session.state.n_answers

    @property
    def scores(self) -> Floats:
        """(n, C) scores of the labels alone, in the model that decides."""
        return np.asarray(self._gathered("scores"))

    @property
    def norms(self) -> Floats:
        """(n,) norms of `scores`."""
        return np.asarray(self._gathered("norms"))

    @property
    def values(self) -> Floats:
        """(n,) current acquisition values; NaN for nodes that are not asked."""
        return np.asarray(self._gathered("values"))

    @property
    def reached(self) -> Bools:
        """(n,) mask of the nodes whose component holds a label."""
        return np.asarray(self._gathered("reached"))

    @property
    def predictions(self) -> npt.NDArray[Any]:
        """(n,) class of every node, in the model that predicts."""
        if not self.labels:
            raise LabelError("nothing is labelled yet: there is no class to predict")
        return np.asarray(class_table(self.classes)[self._gathered("codes")])

    def save_predictions(self, folder: str | os.PathLike[str]) -> None:
        """Write (rows, 2) arrays of nodes and their positions in `classes`, ``codes-RANK.npy``."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        self._together("save_codes", os.fspath(folder))

    def share_right(self, path: str | os.PathLike[str]) -> float:
        """Share of the unlabelled nodes predicted as in a .npy file, without those that are -1.

        Every rank reads the file.
        """
        share: float = self._together("share_right", os.fspath(path))
        return share

    def to_json(self) -> str:
        """The whole session, undo included, with the graph's fingerprint; no arrays."""
        return self._replica.to_json()

    def remember_where(self, answers: str) -> None:
        """Set where the answers are kept, for the messages of ranks that die."""
        self._together("safe", answers)

    def serving(self, port: int) -> None:
        """Set the port of the app, where a page is told if this rank dies."""
        self._ranks.watchdog.serving(port)

    def close(self) -> None:
        """End the other ranks, if they can be reached."""
        if not self._ended.is_set():
            self._ended.set()
            with self._working:
                if self.lost is None:
                    self._ranks.from_first(END)

    def forget(self) -> None:
        """End without notice to the other ranks."""
        self._ended.set()

    def __repr__(self) -> str:
        state = self._replica.session.state
        return (
            f"DistributedLearner({self.partition.n_nodes} nodes at {self._ranks.size} ranks, "
            f"{len(state.labels)} labelled in {len(state.classes)} classes, "
            f"{len(state.pending)} pending, {self._replica.acquisition!r})"
        )

    # How it reaches the other ranks -----------------------------------------------------------

    def _together(self, name: str, *arguments: Any) -> Any:
        command = pickle.dumps((name, arguments))
        with self._working:
            if self.lost is not None:
                raise self.lost
            try:
                self._ranks.from_first(command)
                result = obey(self._replica, name, arguments)
            except BaseException as error:
                if is_fatal(error):
                    self.lost = error
                    if self.when_lost is not None:
                        self.when_lost(error)
                raise
            self._ranks.watchdog.doing("waiting for the person")
            return result

    def _gathered(self, what: str) -> Any:
        return self._together("gather", what)

    def _tick(self) -> None:
        pause = self._ranks.timeout / 4
        while not self._ended.wait(pause):
            with self._working:
                if self._ended.is_set():
                    return
                try:
                    self._together("tick")
                except BaseException as error:
                    if self.when_lost is None:  # no other thread would notice it
                        give_up(self._ranks, error)
                    return


def is_fatal(error: BaseException) -> bool:
    """Whether the ranks are out of step or gone; after a mistake of the user they are not."""
    return not isinstance(error, PoiseError) or isinstance(error, RankError | RankLostError)


def obey(replica: Replica, name: str, arguments: tuple[Any, ...]) -> Any:
    """Do at this rank what rank 0 does; mistakes of the user raise the same error at all ranks."""
    ranks, result, error = replica.partition.ranks, None, None
    if name == "tick":
        ranks.watchdog.beat()
        return None
    try:
        if name in OVER_ROWS:
            result = OVER_ROWS[name](replica, *arguments)
        elif name.startswith("session."):
            result = getattr(replica.session, name.removeprefix("session."))(*arguments)
        else:
            result = getattr(replica, name)(*arguments)
    except PoiseError as raised:
        error = raised
    ranks.agree(error)
    return result


def follow(replica: Replica) -> None:
    """Follow rank 0 until it ends."""
    ranks = replica.partition.ranks
    while True:
        ranks.watchdog.doing("waiting for rank 0")
        command = ranks.from_first(None)
        if command == END:
            return
        name, arguments = pickle.loads(command)
        try:
            obey(replica, name, arguments)
        except RankError:
            raise
        except PoiseError:
            pass  # rank 0 reports it


def run(
    main: Callable[[DistributedLearner], T],
    folder: str | os.PathLike[str],
    *,
    timeout: float = TIMEOUT_SECONDS,
    resume: str | None = None,
    **settings: Any,
) -> T | None:
    """Call `main` with a learner at rank 0, while the other ranks follow; every rank calls it.

    Parameters
    ----------
    folder : of the partitioned graph
    timeout : seconds without an answer from the others after which a rank gives up
    resume : text from `to_json` to continue from; at rank 0
    settings : of `Replica`, the same at every rank; labels are read at rank 0

    Returns
    -------
    What `main` returned at rank 0; None at the others. After an error at one rank alone, that rank
    reports it and all ranks are ended at once.
    """
    ranks = Ranks(timeout=timeout)
    try:
        partition = load(ranks, folder)
        replica = _replica(partition, settings, resume)
        if ranks.rank:
            follow(replica)
            return None
        learner = DistributedLearner(replica)
        try:
            return main(learner)
        except RankLostError:
            learner.forget()  # no rank is left to tell
            raise
        finally:
            learner.close()
    except BaseException as error:
        give_up(ranks, error)
        raise
    finally:
        ranks.close()


def _replica(partition: Partition, settings: dict[str, Any], resume: str | None) -> Replica:
    """The same session at every rank: that of rank 0."""
    ranks = partition.ranks
    sent = pickle.dumps((settings, resume)) if not ranks.rank else None
    settings, resume = pickle.loads(ranks.from_first(sent))
    if resume is None:
        return Replica(partition, **settings)
    graph: Any = partition  # has the fingerprint and the size, all that is read
    saved_settings, session = saved.load(graph, resume, {})
    replica = Replica(partition, **saved_settings | settings)
    replica.session = session
    return replica


def give_up(ranks: Ranks, error: BaseException) -> None:
    """Report an error; end the other ranks unless the same error ends them too."""
    if ranks.size == 1 or (isinstance(error, PoiseError) and not isinstance(error, RankLostError)):
        return
    sys.stderr.write(f"{type(error).__name__}: {ranks.name}: {error}\n")
    if not isinstance(error, PoiseError | KeyboardInterrupt):
        sys.excepthook(type(error), error, error.__traceback__)
    sys.stderr.flush()
    ranks.abort()
