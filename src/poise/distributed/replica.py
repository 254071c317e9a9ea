"""The learner at each rank, in step with the other ranks.

The history is small and the same at all ranks. The scores are large, and each rank has those of its
own rows. Every method is called at every rank, with the same arguments and in the same order.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from poise.active import saved
from poise.active.acquisition import traits_of
from poise.active.columns import Beliefs, Layout, lay_out, merge
from poise.active.session import Session
from poise.active.settings import Settings
from poise.arrays import Bools, Floats
from poise.checks import whole_number
from poise.distributed.acquisitions import Moment, check_acquisition, values_of
from poise.distributed.apart import choose_apart
from poise.distributed.choice import choose
from poise.distributed.columns import Solved
from poise.distributed.partition import Partition
from poise.models.balance import factors_of_mass
from poise.models.harmonic import Model
from poise.models.poisson_weights import SHIFT
from poise.models.result import ScoreResult, normalise_scores
from poise.registry import known_name

PREDICTORS = ("balanced", "pwll")
#: Settings that are saved, see `poise.active.saved`.
SAVED = ("acquisition", "tau", "predict_tau", "predictor", "shift", "seed", "anticipate")


@dataclass(frozen=True)
class Guess:
    """What the labels say about a node.

    Attributes
    ----------
    node : Node
    shares : of the classes, in their order, balanced; empty without labels
    norm : of the node's scores; 1 at a label
    """

    node: int
    shares: tuple[float, ...] = ()
    norm: float = 0.0


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
        model: str = "pwll",
        shift: float = SHIFT,
        seed: int = 0,
        anticipate: bool = True,
        classes: Iterable[Any] = (),
    ) -> None:
        self.partition = partition
        known_name("predictor", predictor, PREDICTORS)
        self.settings = Settings(
            acquisition=acquisition,
            tau=tau,
            predict_tau=predict_tau,
            predictor=predictor,
            model=model,
            shift=shift,
            seed=seed,
            anticipate=anticipate,
        )
        self.acquisition = self.settings.acquisition
        check_acquisition(self.acquisition)
        self.start({} if labels is None else labels, classes)
        self._solved = Solved(partition)
        self._walks: dict[int, Floats] = {}

    # What the user does ---------------------------------------------------------------------

    def start(self, labels: Mapping[Any, Any], classes: Iterable[Any] = ()) -> None:
        """Start again with these initial labels."""
        self.session = Session(
            self.partition.n_nodes, labels, classes, anticipate=self.settings.anticipate
        )

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
                seed = [self.settings.seed, self.session.state.n_asked, 1]
                node = choose(self.partition, values, candidates, seed)
                self.session.ask(node, self._guess_at(moment, node))
                nodes.append(node)
        except BaseException:
            self.session = before
            raise
        if not nodes:
            raise self.session.nothing_left()
        return nodes

    def ask_apart(self, k: int) -> list[Guess]:
        """Up to `k` nodes to label, far from each other, now pending: one solve for all of them."""
        candidates = self._candidates()
        if candidates is None:
            return []
        moment = self._moment()
        values = values_of(self.acquisition, moment)
        seed = [self.settings.seed, self.session.state.n_asked, 1]
        return self._opened(moment, choose_apart(self.partition, values, candidates, k, seed))

    def ask_about(self, nodes: Sequence[int]) -> list[Guess]:
        """What the labels say about given nodes without a label, which are then pending."""
        state = self.session.state
        aside = {*state.pending, *state.skipped, *state.excluded}
        taken = [node for node in nodes if node in aside]
        if taken:
            self.session.set_aside("release", taken)
        return self._opened(self._moment(), nodes)

    def guesses(self, nodes: Sequence[int]) -> list[Guess]:
        """What the labels alone say about nodes; changes nothing."""
        return self._guesses(self._labelled(self._deciding(0)).scores, nodes)

    def prepare(self) -> bool:
        """Compute now what the next `ask` needs; whether that took a solve."""
        if not traits_of(self.acquisition).uses_scores:
            return False
        problem = self._open_layout().problem
        had_it = self._solved.has(problem)
        self._solved.columns(problem)
        return not had_it

    def to_json(self) -> str:
        """The session as text, with the graph's fingerprint."""
        return saved.dump(self.partition, self.settings, self.session, SAVED)

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
        beliefs = self._labelled(self.settings.predicting(self._deciding(0)))
        scores = beliefs.scores
        if self.settings.predicts_by == "balanced":
            mass = self.partition.ranks.total(scores.sum(axis=0)) / self.partition.n_nodes
            scores = scores * factors_of_mass(mass)
        reached = self.partition.reached(list(state.labels))
        shares = state.class_shares()
        return ScoreResult(scores, tuple(state.classes), reached, shares, beliefs.weights)

    # How it decides -------------------------------------------------------------------------

    def _deciding(self, n_pending: int) -> Model:
        n_answers = self.session.state.n_answers + n_pending
        return self.settings.deciding(n_answers, self.acquisition)

    def _open_layout(self) -> Layout:
        state = self.session.state
        return lay_out(state, self._deciding(len(state.pending)))

    def _labelled(self, model: Model) -> Beliefs:
        state = self.session.state.copy()
        layout = lay_out(state, model, with_pending=False)
        columns = self._solved.columns(layout.problem)
        state.pending = {}
        return merge(columns, layout, state)

    def _moment(self) -> Moment:
        state, layout = self.session.state, self._open_layout()
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
            compute=lambda: merge(self._solved.columns(layout.problem), layout, state),
            compute_weights=lambda: self._solved.weights(layout.problem),
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

    def _opened(self, moment: Moment, nodes: Sequence[int]) -> list[Guess]:
        """Open the questions about some nodes, all at the same moment."""
        if self.session.state.labels and traits_of(self.acquisition).uses_scores:
            guesses = self._guesses(moment.beliefs.scores, nodes)
        else:
            guesses = [Guess(node) for node in nodes]
        for node in nodes:
            self.session.ask(node, self._guess_at(moment, node))
        return guesses

    def _guesses(self, scores: Floats, nodes: Sequence[int]) -> list[Guess]:
        """What these scores, (rows, C), say about nodes at any rank."""
        partition, shares = self.partition, self.session.state.class_shares()
        listed, rows = partition.rows_of(list(nodes))
        own = np.zeros((len(nodes), scores.shape[1]))
        own[listed] = scores[rows]
        at_nodes = partition.ranks.total(own)
        mass = partition.ranks.total(scores.sum(axis=0)) / partition.n_nodes
        known = np.ones(len(nodes), dtype=bool)
        balanced = normalise_scores(at_nodes * factors_of_mass(mass), known, shares)
        norms = np.sqrt(np.einsum("ij,ij->i", at_nodes, at_nodes))
        return [
            Guess(int(node), tuple(row), float(norm))
            for node, row, norm in zip(nodes, balanced.tolist(), norms, strict=True)
        ]

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
