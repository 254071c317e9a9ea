"""A project whose graph lies at several ranks, and what the app cannot do with it."""

from concurrent.futures import Future
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from poise.distributed.answers import SetupAtRanks, check_graph, setup_at_ranks
from poise.distributed.app.asking import QUEUEING, AskerAtRanks
from poise.distributed.app.lines import NumberedItems
from poise.distributed.learner import DistributedLearner
from poise.errors import InputError
from poise.studio.asking.predictions import Predictions
from poise.studio.log.events import Event
from poise.studio.log.store import EventStore
from poise.studio.opening import Opening, Source
from poise.studio.project import Project
from poise.studio.results import Results

#: What needs features, or a number for every item, at rank 0.
LACKS = ("audit", "details", "import", "map", "predictions", "review", "settings", "similar")


class NoResults(Results):
    """Nothing is computed in the background: all ranks choose questions."""

    def predictions(self, version: int) -> "Future[Predictions | None]":
        """None, at once."""
        future: Future[Predictions | None] = Future()
        future.set_result(None)
        return future

    def renew(self, version: int) -> None:
        """Nothing."""


class ProjectAtRanks(Project):
    """The app's project over `DistributedLearner`."""

    asks: ClassVar[type[AskerAtRanks]] = AskerAtRanks
    computes: ClassVar[type[NoResults]] = NoResults

    def __init__(
        self, items: NumberedItems, learner: DistributedLearner, store: EventStore, compared: str
    ) -> None:
        self._learner = learner
        graph: Any = learner.partition  # has the number of nodes, all that is read
        nothing = np.empty((0, 0), dtype=np.float32)
        super().__init__(
            items, nothing, graph, store, compared=compared, pace=QUEUEING, is_compiling=_no
        )

    def record(self, event: Event, versions: dict[str, int] | None = None) -> Event:
        """Write an event; when this returns it is on disk and counts."""
        if event.kind == "setting":
            raise InputError(
                f"{event.data['name']} cannot be changed here: start the command again with "
                "another --acquisition or --tau"
            )
        return super().record(event, versions)

    def duplicates(self, item: str, annotator: str = "") -> list[str]:
        """None: near-duplicates are found by features."""
        return []

    def _setup(self) -> SetupAtRanks:
        return setup_at_ranks(self.state, self._learner)


def _no() -> bool:
    return False


class OpenAtRanks(Opening):
    """A project that is open already, and that ends when a rank is lost."""

    lacks = LACKS

    def __init__(self, project: ProjectAtRanks, folder: Path) -> None:
        super().__init__(Source(str(folder), folder=folder))
        self.project, self.catalogue, self.ended = project, project.catalogue, True
        self.lost = ""

    def start(self, *_: Any) -> None:
        """Nothing: it is open."""

    def close(self) -> None:
        """Close the project, if it is open."""
        if not self._closing:
            super().close()

    def ending(self) -> dict[str, Any]:
        """Why the run ends, in words, and where the answers are."""
        assert self.project is not None
        return {"ending": {"words": self.lost, "log": str(self.project.store.path)}}


def open_project(
    folder: Path, items: NumberedItems, learner: DistributedLearner, acquisition: str
) -> OpenAtRanks:
    """Open the log of a project; answers about another graph are refused."""
    check_graph(folder, learner.partition.fingerprint)
    store = EventStore(folder / "events.db")
    learner.remember_where(str(store.path))
    n_ranks = learner.partition.ranks.size
    compared = (
        f"The neighbour graph of {len(items):,} items at {n_ranks} "
        f"{'rank' if n_ranks == 1 else 'ranks'}. Questions are chosen by "
        f"{acquisition}. There is no map, review, search or audit, and labels are "
        "exported without predictions."
    )
    try:
        return OpenAtRanks(ProjectAtRanks(items, learner, store, compared), folder)
    except BaseException:
        store.close()
        raise
