"""The learner at each rank, in step with the other ranks.

The history is small and the same at all ranks. The scores are large, and each rank has those of its
own rows. Every method is called at every rank, with the same arguments and in the same order.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from poise.active import saved
from poise.active.acquisition import as_acquisition, usual_tau
from poise.active.beliefs import Beliefs, merge
from poise.active.schedules import as_schedule
from poise.active.session import Session
from poise.active.state import Question
from poise.arrays import Bools, Floats
from poise.checks import decay, whole_number
from poise.distributed.acquisitions import Moment, check_acquisition, values_of
from poise.distributed.choice import choose
from poise.distributed.columns import Solved
from poise.distributed.partition import Partition
from poise.errors import PoolExhausted
from poise.models.balance import factors_of_mass
from poise.models.harmonic import Model
from poise.models.poisson_weights import SHIFT, check_shift
from poise.models.result import ScoreResult, normalise_scores
from poise.registry import known_name

PREDICTORS = ("balanced", "pwll")


class Replica:
    """The learner at one rank; the settings are those of `poise.Learner`.

    The policy is "max", and features are not used: `auto` works without its gain, and there is no
    predictor "auto".
    """

    def __init__(
        self,
        partition: Partition,
        labels: Mapping[Any, Any] | None = None,
        *,
        acquisition: Any = "auto",
        tau: Any = None,
        predict_tau: float | None = 0.0,
        predictor: str = "balanced",
        shift: float | None = SHIFT,
        seed: int = 0,
        anticipate: bool = True,
        classes: Iterable[Any] = (),
    ) -> None:
        self.partition = partition
        self.acquisition = as_acquisition(acquisition)
        check_acquisition(self.acquisition)
        self.tau = as_schedule(usual_tau(self.acquisition) if tau is None else tau)
        self.predict_tau = None if predict_tau is None else decay(predict_tau, "predict_tau")
        known_name("predictor", predictor, PREDICTORS)
        self.predictor = predictor
        if shift is not None:
            check_shift(shift)
        self.shift = shift
        self.seed = whole_number(seed, "seed", 0)
        self.anticipate = bool(anticipate)
        self.start({} if labels is None else labels, classes)
        self._solved = Solved(partition)
        self._walks: dict[int, Floats] = {}

    # What the user does ---------------------------------------------------------------------

    def start(self, labels: Mapping[Any, Any], classes: Iterable[Any] = ()) -> None:
        """Start again with these initial labels."""
        self.session = Session(self.partition.n_nodes, labels, classes, anticipate=self.anticipate)

    def ask(self, k: int) -> list[int]:
        """The next `k` nodes to label, now pending; all of them or, after an error, none."""
        wanted = whole_number(k, "k", 1)
        before = self.session.copy()
        nodes: list[int] = []
        try:
            while len(nodes) < wanted:
                candidates = self._candidates()
                if candidates is None:
                    break
                moment = self._moment()
                values = values_of(self.acquisition, moment)
                seed = [self.seed, self.session.state.n_asked, 1]
                node = choose(self.partition, values, candidates, seed)
                self.session.ask(node, self._guess_at(moment, node))
                nodes.append(node)
        except BaseException:
            self.session = before
            raise
        if not nodes:
            state = self.session.state
            raise PoolExhausted(
                f"there is nothing left to ask: of {self.partition.n_nodes} nodes "
                f"{len(state.labels)} are labelled, {len(state.pending)} pending and "
                f"{len(state.excluded)} excluded; answer or release some"
            )
        return nodes

    def prepare(self) -> None:
        """Compute now what the next `ask` needs."""
        if getattr(self.acquisition, "uses_scores", True):
            self._solved.columns(self._open_question().problem)

    def to_json(self) -> str:
        """The session as text, with the graph's fingerprint."""
        settings = {
            "graph": self.partition,
            "acquisition": self.acquisition,
            "tau": self.tau,
            "predict_tau": self.predict_tau,
            "predictor": self.predictor,
            "shift": self.shift,
            "seed": self.seed,
            "anticipate": self.anticipate,
        }
        return saved.dump(settings, self.session)

    # What is known of the rows of this rank ---------------------------------------------------

    def scores(self) -> Floats:
        """(rows, C) scores of the labels alone, in the model that decides."""
        return self._labelled(self._deciding(0)).scores

    def values(self) -> Floats:
        """(rows,) acquisition values; NaN for rows that are not asked."""
        candidates = self._candidates()
        nothing = np.zeros(self.partition.n_rows, dtype=bool)
        may = nothing if candidates is None else candidates
        return np.where(may, values_of(self.acquisition, self._moment()), np.nan)

    def result(self) -> ScoreResult:
        """Scores of the labels alone in the model that predicts, and what follows from them."""
        state = self.session.state
        deciding, model = self.predict_tau is None, self._deciding(0)
        if self.predict_tau is not None:
            # The same tolerance as for decisions: both share the solution of the Poisson equation.
            model = Model(self.predict_tau, self.shift, rtol=model.rtol)
        beliefs = self._labelled(model)
        scores = beliefs.scores
        if self.predictor == "balanced" and not deciding:
            mass = self.partition.ranks.total(scores.sum(axis=0)) / self.partition.n_nodes
            scores = scores * factors_of_mass(mass)
        reached = self.partition.reached(list(state.labels))
        shares = state.class_shares()
        return ScoreResult(scores, tuple(state.classes), reached, shares, beliefs.weights)

    # How it decides -------------------------------------------------------------------------

    def _deciding(self, n_pending: int) -> Model:
        tau = decay(self.tau(self.session.state.n_answers + n_pending), "the schedule's tau")
        relative = bool(getattr(self.tau, "relative", False))
        return Model(tau, self.shift, relative, getattr(self.acquisition, "rtol", None))

    def _open_question(self) -> Question:
        state = self.session.state
        return state.problem(self._deciding(len(state.pending)))

    def _labelled(self, model: Model) -> Beliefs:
        state = self.session.state.copy()
        question = state.problem(model, with_pending=False)
        columns = self._solved.columns(question.problem)
        state.pending = {}
        return merge(columns, question, state)

    def _moment(self) -> Moment:
        state, question = self.session.state, self._open_question()
        rows = self.partition.rows_of(list(state.constrained))[1]
        held = np.bincount(
            self.partition.components[rows], minlength=len(self.partition.component_sizes)
        )
        return Moment(
            self.partition,
            constrained=rows,
            n_constrained=len(state.constrained),
            covered=self.partition.ranks.total(held) > 0,
            n_classes=len(state.classes),
            compute=lambda: merge(self._solved.columns(question.problem), question, state),
            compute_weights=lambda: self._solved.weights(question.problem),
            walks=self._walks,
        )

    def _candidates(self) -> Bools | None:
        """(rows,) mask of the rows that may be asked; None if no rank has such a row."""
        state = self.session.state
        allowed = np.ones(self.partition.n_rows, dtype=bool)
        for group in (state.labels, state.pending, state.excluded):
            allowed[self._rows(group)] = False
        postponed = [node for node, until in state.skipped.items() if until > state.n_answers]
        now = allowed.copy()
        now[self._rows(postponed)] = False
        counts = self.partition.ranks.total(np.array([now.sum(), allowed.sum()]))
        if not counts[1]:
            return None
        return now if counts[0] else allowed

    def _rows(self, items: Iterable[int]) -> npt.NDArray[np.int64]:
        return self.partition.rows_of(list(items))[1]

    def _guess_at(self, moment: Moment, node: int) -> tuple[float, ...]:
        """Class probabilities at a node to be asked, if the decision used scores."""
        if not moment.looked_at_scores:
            return ()
        rows = self._rows([node])
        own = moment.beliefs.scores[rows].sum(axis=0)
        row = self.partition.ranks.total(own)[None, :]
        shares = self.session.state.class_shares()
        probabilities = normalise_scores(row, np.ones(1, dtype=bool), shares)
        return tuple(float(p) for p in probabilities[0])
