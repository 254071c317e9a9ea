"""Predictions for every node: classes, probabilities, and advice to stop."""

from dataclasses import replace

import numpy as np

from poise.active.columns import lay_out, merge
from poise.active.moment import Moment
from poise.active.session import Session
from poise.active.state import unexpected
from poise.active.stopping import Advice, advise, checkpoint, first_half
from poise.arrays import Bools, Floats, Ints
from poise.graph import Graph
from poise.models.balance import balance_factors, balanced
from poise.models.calibration import Calibration
from poise.models.combined import LARGE_MIN_NODES, combine, held_out_combined, linear_power
from poise.models.held_out import held_out_scores, spread_evenly
from poise.models.labels import Label, Labels
from poise.models.result import ScoreResult

#: Growth of the labels after which what changes slowly is computed again on large graphs.
RENEWAL_FACTOR = 1.25


class Predictor:
    """Predictions from the labels of a moment; results are kept in its `Solutions`."""

    def __init__(self, moment: Moment) -> None:
        self.moment = moment
        self._settings, self._state = moment.settings, moment.state
        self._kept = moment.solutions

    @property
    def graph(self) -> Graph:
        return self.moment.graph

    @property
    def labels(self) -> dict[int, Label]:
        return dict(self._state.labels)

    @property
    def classes(self) -> tuple[Label, ...]:
        return tuple(self._state.classes)

    @property
    def reached(self) -> Bools:
        """(n,) mask of the nodes that some label reaches."""
        return self.moment.reached

    @property
    def result(self) -> ScoreResult:
        """Scores of the labels alone in the model that predicts, with what follows from them."""
        with self._kept.solving:  # one thread computes it, the others find it
            kept = self._kept.predicted
            if kept is None or kept[0] is not self._state or kept[1] is not self._settings:
                kept = self._kept.predicted = self._state, self._settings, self._result()
            return kept[2]

    def _result(self) -> ScoreResult:
        result = self.moment.labelled_result(self.moment.predicting)
        if self._settings.predicts_by != "pwll":
            result = balanced(result)
        if self._settings.predicts_by == "auto" and len(self._state.labels):
            labels = self.moment.labels
            result = combine(self.graph, labels, result, self._linear_power(labels))
        return result

    @property
    def probabilities(self) -> Floats:
        """(n, C) calibrated class probabilities; those of labelled nodes are not changed."""
        result = self.result
        known = ~result.reached
        known[list(self._state.labels)] = True
        return self.calibration.apply(result.probabilities, keep=known)

    @property
    def held_out_probabilities(self) -> dict[int, Floats]:
        """Labelled node -> its calibrated (C,) probabilities by a model without its label.

        Uniform where no other label reaches the node. The calibration knows all labels.
        """
        labels = self.moment.labels
        if not len(labels):
            return {}
        chosen, scores = self._held_out_scores(labels)
        total = scores.sum(axis=1, keepdims=True)
        shares = np.where(
            total > 0, scores / np.where(total > 0, total, 1.0), 1 / len(self.classes)
        )
        rows = self.calibration.apply(shares)
        return dict(zip(labels.nodes[chosen].tolist(), rows, strict=True))

    @property
    def calibration(self) -> Calibration:
        """Turns scores into probabilities; fitted to labels that were held out."""
        with self._kept.solving:  # one thread computes it, the others find it
            labels = self.moment.labels
            if len(labels.classes) < 2:
                return Calibration(1.0)
            kept = self._kept.calibrated
            if kept is None or kept[0] is not self._state or kept[1] is not self._settings:
                fitted = self._calibration(labels)
                kept = self._kept.calibrated = self._state, self._settings, fitted
            return kept[2]

    def _calibration(self, labels: Labels) -> Calibration:
        result = self.result
        chosen, held_out = self._held_out_scores(labels)
        rest = result.reached.copy()
        rest[labels.nodes] = False
        return Calibration.fit(result.probabilities[rest], held_out, labels.codes[chosen])

    def _held_out_scores(self, labels: Labels) -> tuple[Ints, Floats]:
        """Positions of labels, and their scores by a model that has not seen them."""
        if self._settings.predicts_by != "auto":
            return _held_out(self.moment)
        power, most = self._linear_power(labels), self._settings.most_held_out
        scores = held_out_combined(self.graph, labels, self.moment.predicting, power, most)
        return np.arange(len(labels)), scores

    def _linear_power(self, labels: Labels) -> float:
        """How much the linear model of the features counts; computed once for each state.

        On large graphs it is computed from the first labels alone, and again when the labels have
        grown by a quarter: it changes slowly, and each label is a column to solve for.
        """
        n_used = len(labels) if self.graph.n_nodes <= LARGE_MIN_NODES else last_renewal(len(labels))
        used = {node: self._state.labels[node] for node in list(self._state.labels)[:n_used]}
        kept = self._kept.power
        if kept is None or kept[0] != used or kept[1] is not self._settings:
            earlier = self.moment if n_used == len(labels) else _with_first(self.moment, used)
            chosen, held_out = _held_out(earlier)
            power = linear_power(self.graph.features, earlier.labels, held_out, chosen)
            kept = self._kept.power = used, self._settings, power
        return kept[2]

    def advice(self) -> Advice:
        """Whether more labels are worth the effort: one sentence, and its reason.

        Compares the predictions with those from the first half of the answers; costs one solve.
        """
        state = self._state
        surprising = unexpected(self.moment.session.events, state.labels, self.classes)
        if not state.labels:
            return advise([])
        answered = list(state.labels)
        before = self._codes_by(answered[: first_half(len(answered))])
        now = self.moment.labelled_result(self.moment.predicting)
        nodes = np.array(answered, dtype=np.int64)
        return advise([checkpoint(now.probabilities, before, before, surprising, nodes)])

    def _codes_by(self, answered: list[int]) -> Ints:
        """(n,) predicted classes by some of the labels."""
        if not answered:
            return np.zeros(self.graph.n_nodes, dtype=np.int64)
        early = replace(
            self._state,
            labels={node: self._state.labels[node] for node in answered},
            pending={},
            own=(),
            constrained=dict.fromkeys(answered),
        )
        layout = lay_out(early, self.moment.predicting)
        columns = self._kept.columns(self.graph, layout.problem)
        return np.asarray(np.argmax(merge(columns, layout, early).scores, axis=1))


def _with_first(moment: Moment, labels: dict[int, Label]) -> Moment:
    """The moment with only these labels; what is solved is shared."""
    session = Session(
        moment.graph.n_nodes,
        labels,
        moment.state.classes,
        anticipate=moment.settings.anticipate,
    )
    return replace(moment, session=session)


def _held_out(moment: Moment) -> tuple[Ints, Floats]:
    """Positions of some labels, and the scores of each without itself."""
    labels, settings = moment.labels, moment.settings
    chosen = spread_evenly(len(labels), settings.most_held_out)
    held_out = held_out_scores(
        moment.graph,
        labels,
        chosen,
        tau=settings.predict_tau or 0.0,
        shift=settings.shift,
        reweighted=moment.predicting.reweighted,
    )
    if settings.predicts_by != "pwll":
        plain = moment.labelled_result(moment.predicting)
        held_out = held_out * balance_factors(plain.scores)
    return chosen, held_out


def last_renewal(count: int) -> int:
    """The largest of 1, 2, 3, ... up to `count`, each `RENEWAL_FACTOR` times the one before."""
    last = 0
    while (following := max(last + 1, round(RENEWAL_FACTOR * last))) <= count:
        last = following
    return last
