"""What threads share when they use one learner, and how each sees it at one moment."""

import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Self

from poise.active.acquisition import Acquisition
from poise.active.moment import Moment
from poise.active.policies import Policy
from poise.active.schedules import Schedule
from poise.active.session import Session
from poise.active.settings import Settings
from poise.active.solutions import Solutions
from poise.active.state import Event
from poise.graph import Graph
from poise.models.labels import Label

#: Decisions that answers may interrupt before answers have to wait.
MOST_INTERRUPTED_DECISIONS = 2


class Shared:
    """Graph, settings, session and solutions, with the locks that keep them together."""

    def __init__(self, graph: Graph, settings: Settings, session: Session) -> None:
        self.graph = graph
        self._settings = settings
        self._session = session
        self._start_threads()

    def _start_threads(self) -> None:
        """Locks, and nothing computed yet. Take `_solutions.solving` first if you need both."""
        self._solutions = Solutions()
        #: Held for the moment of a change; never while something is solved, but see `_open`.
        self._changing = threading.RLock()

    def _now(self) -> Moment:
        """The current moment, for one call that no change disturbs; what it computes is kept."""
        with self._changing:
            return Moment(self.graph, self._settings, self._session.copy(), self._solutions)

    def _open(self, choose: Callable[[Moment], list[int]]) -> list[int]:
        """Open the questions that `choose` opens: all of them or, after an error, none.

        A choice is made again if something changed meanwhile. If that keeps happening, changes
        wait for the choice.
        """
        with self._solutions.solving:  # one choice at a time: no question is given out twice
            for attempt in range(MOST_INTERRUPTED_DECISIONS + 1):
                with self._changing if attempt == MOST_INTERRUPTED_DECISIONS else nullcontext():
                    now = self._now()
                    before = now.state
                    nodes = choose(now)
                    with self._changing:
                        if self._session.state is before:
                            self._session = now.session
                            break
            return nodes

    def copy(self, **changes: Any) -> Self:
        """An independent learner with the same session; what is solved is shared.

        To look at what would follow from an answer, or from another setting: `changes` are
        settings of the constructor, or ``most_held_out``, the number of labels that are held out
        at most when probabilities are calibrated.
        """
        twin = object.__new__(type(self))
        with self._changing:
            vars(twin).update(vars(self))
            twin._session = self._session.copy()
        twin._solutions, twin._changing = self._solutions.copy(), threading.RLock()
        if changes:
            twin._settings = replace(self._settings, **changes)
        return twin

    def __copy__(self) -> Self:
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        """Without locks and solutions, which are made anew."""
        with self._changing:
            held = vars(self).items()
            return {name: value for name, value in held if name not in ("_solutions", "_changing")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._start_threads()

    @property
    def labels(self) -> dict[int, Label]:
        """``{node: class}`` of all that is labelled, in the order of the answers."""
        return dict(self._session.state.labels)

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes so far, in the order of the columns of every score; new ones go last."""
        return tuple(self._session.state.classes)

    @property
    def pending(self) -> tuple[int, ...]:
        """Nodes asked and not answered yet."""
        return tuple(self._session.state.pending)

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything that happened, in order."""
        return tuple(self._session.events)

    @property
    def n_answers(self) -> int:
        """Answers so far, labels given at the start not counted."""
        return self._session.state.n_answers

    # Settings, as the constructor explains them -----------------------------------------------

    @property
    def acquisition(self) -> Acquisition:
        """What is worth asking."""
        return self._settings.acquisition

    @property
    def policy(self) -> Policy:
        """How nodes are chosen from the values."""
        return self._settings.policy

    @property
    def tau(self) -> Schedule:
        """Decay of the model that decides, by number of answers."""
        return self._settings.tau

    @property
    def predict_tau(self) -> float | None:
        """Decay of the model that predicts."""
        return self._settings.predict_tau

    @property
    def predictor(self) -> str:
        """How predictions are made of the scores."""
        return self._settings.predictor

    @property
    def model(self) -> str:
        """The model that decides and predicts."""
        return self._settings.model

    @property
    def shift(self) -> float:
        """Smallest Poisson weight."""
        return self._settings.shift

    @property
    def seeding(self) -> Acquisition | None:
        """What chooses the first questions."""
        return self._settings.seeding

    @property
    def n_seeding(self) -> int:
        """Nodes that are labelled or asked before `acquisition` takes over from `seeding`."""
        return self._settings.n_seeding

    @property
    def seed(self) -> int:
        """Seed of all random choices."""
        return self._settings.seed

    @property
    def anticipate(self) -> bool:
        """Whether every open question has a column of its own."""
        return self._settings.anticipate
