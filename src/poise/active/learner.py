"""The Learner: ask, tell, and everything a person may want to take back."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from poise.active import saved
from poise.active.acquisition import Acquisition, as_acquisition, usual_tau
from poise.active.beliefs import Beliefs, merge
from poise.active.certificate import TAUS, Certificate, exploration_certificate
from poise.active.decision import guess_at, nodes_by, values_of
from poise.active.graphs import check_graph, check_grown
from poise.active.kept import Kept
from poise.active.moment import at_one_moment
from poise.active.new_points import class_table, predict_points
from poise.active.policies import Policy, as_policy
from poise.active.schedules import Schedule, as_schedule
from poise.active.session import Session
from poise.active.snapshot import Snapshot
from poise.active.state import Event, Question, State, unexpected
from poise.active.stopping import Advice, advise, checkpoint, first_half
from poise.arrays import Bools, Floats, Ints
from poise.checks import decay, whole_number
from poise.errors import LabelError, PoolExhausted
from poise.graph import Graph
from poise.linalg.breakdown import named_breakdown
from poise.models.balance import balance_factors, balanced
from poise.models.calibration import Calibration
from poise.models.combined import MANY, combine, held_out_combined, linear_power
from poise.models.components import reached
from poise.models.harmonic import Columns, Model, Problem
from poise.models.held_out import MOST, held_out_scores, spread_evenly
from poise.models.labels import Label, Labels
from poise.models.poisson_weights import SHIFT, check_shift
from poise.models.result import ScoreResult
from poise.registry import known_name

PREDICTORS = ("auto", "balanced", "pwll")
#: Growth of the labels after which what changes slowly is found again on large graphs.
RENEWAL = 1.25
#: Decisions that are made in vain because answers came meanwhile, before answers have to wait.
PATIENCE = 2


@dataclass(frozen=True, eq=False)
class Prediction:
    """A problem, and what its solution says of the classes of all nodes."""

    problem: Problem
    finish: Callable[[Columns], ScoreResult]


class Learner:
    """Asks for the labels worth having and knows the rest.

    May be used by several threads: no question is given out twice, whatever is read belongs to one
    moment, and answers do not wait for solves. What raises an error changes nothing.

    Parameters
    ----------
    graph : Graph
    labels : {node: class}, optional
        What is known at the start; may be empty.
    acquisition : name or function of a Snapshot
        What is worth asking; see ``poise.acquisitions()``.
    policy : name or function
        How nodes are chosen from the values; see ``poise.policies()``.
    tau : float, name or schedule, optional
        Decay of the model that decides, by number of answers; see ``poise.schedules()``. By
        default what the acquisition was made for: ``Relative(0.01)`` for "auto", 0.001 for those
        that do not say.
    predict_tau : float or None
        Decay of the model that predicts, 0 as in the paper's evaluation; None predicts with the
        model that decides.
    predictor : {"auto", "balanced", "pwll"}
        "balanced" puts the classes' scores on a more equal footing, see `poise.models.balance`.
        "auto" also multiplies them by what a linear model of the features says, and averages over
        a short walk, see `poise.models.combined`. "pwll" does neither, nor does any of them while
        `predict_tau` is None.
    shift : float or None
        Smallest Poisson weight; None leaves the weights away, which is plain Laplace learning.
    seeding : name or function, optional
        What chooses the first questions instead of `acquisition`, while fewer than `n_seeding`
        nodes are labelled or asked.
    n_seeding : int
    seed : int
    anticipate : bool
        Give every open question a column of its own, so that its answer costs no solve. False
        waits for the answer and solves a column less: for simulations, where nobody waits.
    classes : sequence, optional
        Classes known beforehand, in the order wanted; others may still appear.

    Examples
    --------
    >>> import numpy as np, poise
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 0.1, (50, 2)) for c in (0, 1)])
    >>> learner = poise.Learner(poise.knn_graph(X, k=5), {0: "left"})
    >>> (i,) = learner.ask()
    >>> learner.tell(i, "left" if X[i, 0] < 0.5 else "right")
    >>> sorted(set(learner.predictions.tolist()))
    ['left', 'right']
    """

    def __init__(
        self,
        graph: Graph,
        labels: Mapping[Any, Any] | None = None,
        *,
        acquisition: Any = "auto",
        policy: Any = "max",
        tau: Any = None,
        predict_tau: float | None = 0.0,
        predictor: str = "auto",
        shift: float | None = SHIFT,
        seeding: Any = None,
        n_seeding: int = 10,
        seed: int = 0,
        anticipate: bool = True,
        classes: Iterable[Any] = (),
    ) -> None:
        check_graph(graph)
        self.graph = graph
        self.acquisition: Acquisition = as_acquisition(acquisition)
        self.policy: Policy = as_policy(policy)
        self.tau: Schedule = as_schedule(usual_tau(self.acquisition) if tau is None else tau)
        self.predict_tau = None if predict_tau is None else decay(predict_tau, "predict_tau")
        known_name("predictor", predictor, PREDICTORS)
        self.predictor = predictor
        if shift is not None:
            check_shift(shift)
        self.shift = shift
        self.seeding: Acquisition | None = None if seeding is None else as_acquisition(seeding)
        self.n_seeding = whole_number(n_seeding, "n_seeding", 1)
        self.seed = whole_number(seed, "seed", 0)
        self.anticipate = bool(anticipate)
        #: Labels that are held out one by one at most: each is a column of n numbers.
        self.most_held_out = MOST
        given = {} if labels is None else labels
        self._session = Session(graph.n_nodes, given, classes, anticipate=self.anticipate)
        self._start_threads()

    def _start_threads(self) -> None:
        """Locks, and nothing computed yet. Who needs both locks takes `_kept.solving` first."""
        self._kept = Kept()
        #: Held for the moment of a change; never while something is solved, but see `_open`.
        self._changing = threading.RLock()
        #: Whether this is a twin that one call works with, see `_still`.
        self._private = False

    # What a person does ---------------------------------------------------------------------

    def ask(self, k: int = 1) -> Ints:
        """The next `k` nodes to label, now pending; fewer if fewer are left.

        Each is chosen with the earlier ones answered in expectation, so that a batch spreads;
        a policy for batches chooses all at once.
        """
        wanted = whole_number(k, "k", 1)
        return np.array(self._open(lambda twin: twin._ask(wanted)), dtype=np.int64)

    def _ask(self, wanted: int) -> list[int]:
        at_once = wanted if getattr(self.policy, "batch", False) else 1
        nodes: list[int] = []
        while len(nodes) < wanted:
            snapshot = self.snapshot()
            if not snapshot.candidates.any():
                break
            values = values_of(self._chooser(), snapshot)
            rng = np.random.default_rng([self.seed, self._session.state.n_asked, 1])
            wanted_now = min(at_once, wanted - len(nodes))
            for node in nodes_by(self.policy, values, snapshot, wanted_now, rng):
                self._session.ask(node, guess_at(snapshot, node))
                nodes.append(node)
        if not nodes:
            state = self._session.state
            raise PoolExhausted(
                f"there is nothing left to ask: of {self.graph.n_nodes} nodes {len(state.labels)} "
                f"are labelled, {len(state.pending)} pending and {len(state.excluded)} excluded; "
                "answer or release some"
            )
        return nodes

    def pend(self, nodes: Any) -> None:
        """Open questions that were chosen elsewhere, as if `ask` had chosen them; all or none."""
        self._open(lambda twin: twin._pend(nodes))

    def _pend(self, nodes: Any) -> list[int]:
        names = self._session.askable(nodes)
        for node in names:
            snapshot = self.snapshot()
            if len(snapshot.labels) and getattr(self._chooser(), "uses_scores", True):
                _ = snapshot.scores
            self._session.ask(node, guess_at(snapshot, node))
        return names

    def _open(self, choose: "Callable[[Learner], list[int]]") -> list[int]:
        """Open the questions that a twin chooses: all of them or, after an error, none.

        A choice is made again if something changed meanwhile. If that keeps happening, changes
        wait for the choice.
        """
        with self._kept.solving:  # one choice at a time: nobody gets what somebody else got
            for attempt in range(PATIENCE + 1):
                with self._changing if attempt == PATIENCE else nullcontext():
                    twin = self._still()
                    before = twin._session.state
                    nodes = choose(twin)
                    with self._changing:
                        if self._session.state is before:
                            self._session = twin._session
                            break
            return nodes

    def _still(self) -> "Learner":
        """A twin at this moment, for one call that nobody disturbs; what it computes is kept."""
        return self if self._private else self._twin(private=True)

    def _twin(self, *, private: bool) -> "Learner":
        twin = object.__new__(type(self))
        with self._changing:
            vars(twin).update(vars(self))
            twin._session = self._session.copy()
        twin._private = private
        return twin

    def copy(self) -> "Learner":
        """A learner at the same place, which goes its own way; what is solved is shared.

        To look at what would follow from an answer.
        """
        twin = self._twin(private=False)
        twin._kept, twin._changing = twin._kept.copy(), threading.RLock()
        return twin

    __copy__ = copy

    def __getstate__(self) -> dict[str, Any]:
        """Without locks and solutions, which are made again."""
        shared = ("_kept", "_changing", "_private")
        with self._changing:
            return {name: value for name, value in vars(self).items() if name not in shared}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._start_threads()

    def tell(self, nodes: Any, labels: Any) -> None:
        """Answer: ``tell(i, "cat")`` or ``tell([i, j], ["cat", "dog"])``; asked or not.

        Never solves anything: the work is done by `prepare`, or by the next `ask` or reading.
        """
        with self._changing:
            self._session.tell(nodes, labels)

    def relabel(self, nodes: Any, labels: Any) -> None:
        """Change earlier answers."""
        with self._changing:
            self._session.relabel(nodes, labels)

    def skip(self, nodes: Any) -> None:
        """Postpone nodes: asked again after 20 more answers, or when nothing else is left."""
        with self._changing:
            self._session.set_aside("skip", nodes)

    def exclude(self, nodes: Any) -> None:
        """Never ask these nodes."""
        with self._changing:
            self._session.set_aside("exclude", nodes)

    def release(self, nodes: Any) -> None:
        """Give pending, skipped or excluded nodes back to the pool."""
        with self._changing:
            self._session.set_aside("release", nodes)

    def undo(self) -> Event:
        """Take back the last tell, relabel, skip, exclude or release, and say which it was."""
        with self._changing:
            return self._session.undo()

    def grow(self, graph: Graph) -> None:
        """Go on with a graph that has more nodes, usually ``learner.graph.extend(X_new)``.

        The first nodes of `graph` must be those of the graph so far, in the same order. Labels,
        open questions, skipped and excluded nodes and everything that can be undone stay; growing
        itself is not undone. Nothing is solved now: `prepare`, the next `ask` or reading solves on
        the new graph.

        Raises
        ------
        WrongGraphError
            If `graph` has fewer nodes, or features that differ from those so far.
        """
        with self._kept.solving, self._changing:  # a solve under way is for the old graph
            check_grown(self.graph, graph)
            self._session.grow(graph.n_nodes)
            self.graph, self._kept = graph, Kept(self._kept.solving)

    def prepare(self) -> None:
        """Solve now what the next `ask` or `tell` needs, for example in a background thread."""
        with self._kept.solving:
            now = self._still()
            now._kept.solve(now.graph, now.open_problems())
            now._memory(now._session.state)

    # What is known --------------------------------------------------------------------------

    @property
    def labels(self) -> dict[int, Label]:
        return dict(self._session.state.labels)

    @property
    def classes(self) -> tuple[Label, ...]:
        return tuple(self._session.state.classes)

    @property
    def pending(self) -> tuple[int, ...]:
        return tuple(self._session.state.pending)

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything that happened, in order."""
        return tuple(self._session.events)

    @property
    def n_answers(self) -> int:
        """Answers so far, labels given at the start not counted."""
        return self._session.state.n_answers

    @property
    @at_one_moment
    def scores(self) -> Floats:
        """(n, C) scores of the labels alone, in the model that decides."""
        return self._labelled_result(self._deciding(0)).scores

    @property
    @at_one_moment
    def norms(self) -> Floats:
        """(n,) norms of `scores`."""
        return self._labelled_result(self._deciding(0)).norms

    @property
    @at_one_moment
    def predictions(self) -> npt.NDArray[Any]:
        """(n,) class of every node, in the model that predicts."""
        result = self.result
        if not len(self._session.state.labels):
            raise LabelError("nothing is labelled yet: there is no class to predict")
        return class_table(result.classes)[result.codes]

    @at_one_moment
    def predict(self, X_new: Any, *, return_reached: bool = False) -> Any:
        """Classes of new points, which are not added: what ``poise predict`` says of them.

        Parameters
        ----------
        X_new : array-like or sparse, shape (m, d)
            In the features of the graph.
        return_reached : bool
            Also say which points the labels speak about. The others get the most frequent class:
            they lie far from all nodes, or are most like nodes that no label reaches.

        Returns
        -------
        (m,) array of classes, with `return_reached` also the (m,) mask

        Raises
        ------
        GraphError
            If the graph holds no features, or it is not known how it was made.
        """
        found = predict_points(self, X_new)
        classes = class_table(self.classes)[found.codes]
        return (classes, found.reached) if return_reached else classes

    @property
    @at_one_moment
    def probabilities(self) -> Floats:
        """(n, C) calibrated class probabilities of every node, in the model that predicts.

        Before ``calibration.has_evidence`` they are no more than a guess: show no number.
        """
        result = self.result
        known = ~result.reached
        known[list(self._session.state.labels)] = True
        return self.calibration.apply(result.probabilities, keep=known)

    @property
    @at_one_moment
    def calibration(self) -> Calibration:
        """What makes probabilities of the scores, fitted to labels left out one at a time."""
        with self._kept.solving:  # one thread computes it, the others find it
            return self._calibration()

    def _calibration(self) -> Calibration:
        labels, result = self._labels(), self.result
        if len(labels.classes) < 2:
            return Calibration(1.0)
        state, kept = self._session.state, self._kept.calibrated
        if kept is None or kept[0] is not state or kept[1] != self.predictor:
            if self._predicts_by() == "auto":
                chosen = np.arange(len(labels))
                held_out = held_out_combined(
                    self.graph,
                    labels,
                    self._predicting(),
                    self._linear_power(labels),
                    self.most_held_out,
                )
            else:
                chosen, held_out = self._held_out(labels)
            rest = result.reached.copy()
            rest[labels.nodes] = False
            fitted = Calibration.fit(result.probabilities[rest], held_out, labels.codes[chosen])
            kept = self._kept.calibrated = state, self.predictor, fitted
        return kept[2]

    @at_one_moment
    def advice(self) -> Advice:
        """Whether more labels are worth it: one sentence, and its reason.

        Compares the predictions with those that the first half of the answers give, one solve.
        """
        state = self._session.state
        surprising = unexpected(self.events, state.labels, tuple(state.classes))
        if not state.labels:
            return advise([])
        answered = list(state.labels)
        half = dict.fromkeys(answered[: first_half(len(answered))])
        early = replace(
            state,
            labels={node: state.labels[node] for node in half},
            pending={},
            own=(),
            constrained=half,
        )
        before = np.zeros(self.graph.n_nodes, dtype=np.int64)
        if half:
            question = early.problem(self._predicting())
            scores = merge(self._kept.columns(self.graph, question.problem), question, early).scores
            before = np.argmax(scores, axis=1)
        now = self._labelled_result(self._predicting())
        nodes = np.array(answered, dtype=np.int64)
        return advise([checkpoint(now.probabilities, before, before, surprising, nodes)])

    @property
    @at_one_moment
    def reached(self) -> Bools:
        """(n,) mask of the nodes that some label speaks about."""
        return reached(self.graph, np.array(list(self._session.state.labels), dtype=np.int64))

    @property
    @at_one_moment
    def result(self) -> ScoreResult:
        """Scores of the labels alone in the model that predicts, with all that follows."""
        with self._kept.solving:
            return self._result()

    def _result(self) -> ScoreResult:
        state, kept = self._session.state, self._kept.predicted
        if kept is None or kept[0] is not state or kept[1] != self.predictor:
            found = self._labelled_result(self._predicting())
            if self._predicts_by() != "pwll":
                found = balanced(found)
            if self._predicts_by() == "auto" and len(self._session.state.labels):
                labels = self._labels()
                found = combine(self.graph, labels, found, self._linear_power(labels))
            kept = self._kept.predicted = state, self.predictor, found
        return kept[2]

    def _linear_power(self, labels: Labels) -> float:
        """How much the linear model of the features counts; found once for each state.

        On large graphs from the first labels alone, so many that it is found again whenever they
        have grown by a quarter: it changes slowly, and each label is a column to solve for.
        """
        state, kept = self._session.state, self._kept.power
        n_used = len(labels) if self.graph.n_nodes <= MANY else last_renewal(len(labels))
        used = {node: state.labels[node] for node in list(state.labels)[:n_used]}
        if kept is None or kept[0] != used:
            earlier = self if n_used == len(labels) else self._with_first(used)
            chosen, held_out = earlier._held_out(earlier._labels())
            features = self.graph.features
            found = linear_power(features, earlier._labels(), held_out, chosen)
            kept = self._kept.power = used, found
        return kept[1]

    def _with_first(self, labels: dict[int, Label]) -> "Learner":
        """A learner that knows no more than these of the labels; what is solved is shared."""
        twin = self._twin(private=True)
        twin._session = Session(
            self.graph.n_nodes, labels, self.classes, anticipate=self.anticipate
        )
        return twin

    def _held_out(self, labels: Labels) -> tuple[Ints, Floats]:
        """Positions of some labels, and what PWLL says of each without it."""
        chosen = spread_evenly(len(labels), self.most_held_out)
        held_out = held_out_scores(
            self.graph, labels, chosen, tau=self.predict_tau or 0.0, shift=self.shift
        )
        if self._predicts_by() != "pwll":
            plain = self._labelled_result(self._predicting())
            held_out = held_out * balance_factors(plain.scores)
        return chosen, held_out

    def _predicts_by(self) -> str:
        """The predictor; while the model that decides predicts too, the paper's."""
        return "pwll" if self.predict_tau is None else self.predictor

    @property
    @at_one_moment
    def values(self) -> Floats:
        """(n,) what the acquisition function says of every node now: NaN where none is asked."""
        return values_of(self._chooser(), self.snapshot())

    @at_one_moment
    def certificate(
        self,
        radius: float,
        groups: npt.ArrayLike | None = None,
        taus: Sequence[float] = TAUS,
    ) -> Certificate:
        """For which tau unexplored groups come before anything within `radius` of a label.

        See `poise.active.certificate`; groups are clusters, or the graph's components.
        """
        return exploration_certificate(
            self.graph,
            self._labels(),
            radius=radius,
            groups=groups,
            taus=taus,
            shift=SHIFT if self.shift is None else self.shift,
        )

    # Saving ---------------------------------------------------------------------------------

    @at_one_moment
    def to_json(self) -> str:
        """The whole session, undo included, with the graph's fingerprint; no arrays."""
        return saved.dump(self._settings(), self._session)

    @classmethod
    def from_json(
        cls, graph: Graph, text: str, *, grown: bool = False, **replacements: Any
    ) -> "Learner":
        """Continue a saved session on the same graph.

        With `grown`, also on a graph that was extended since: its first nodes are taken to be
        those of the graph that the session was saved with, as `grow` requires. `replacements` are
        settings of the constructor, for acquisition functions, policies or schedules of your own
        that are not registered under a name.
        """
        settings, session = saved.load(graph, text, replacements, grown=grown)
        learner = cls(graph, **settings)
        learner._session = session
        return learner

    def _settings(self) -> dict[str, Any]:
        return {
            "graph": self.graph,
            "acquisition": self.acquisition,
            "policy": self.policy,
            "tau": self.tau,
            "predict_tau": self.predict_tau,
            "predictor": self.predictor,
            "shift": self.shift,
            "seeding": self.seeding,
            "n_seeding": self.n_seeding,
            "seed": self.seed,
            "anticipate": self.anticipate,
        }

    # How it decides -------------------------------------------------------------------------

    def _chooser(self) -> Acquisition:
        """What chooses the next question."""
        if self.seeding is not None and len(self._session.state.constrained) < self.n_seeding:
            return self.seeding
        return self.acquisition

    def _deciding(self, n_pending: int) -> Model:
        """The model of the decision that follows the open questions' answers."""
        tau = decay(self.tau(self.n_answers + n_pending), "the schedule's tau")
        relative = bool(getattr(self.tau, "relative", False))
        return Model(tau, self.shift, relative, getattr(self._chooser(), "rtol", None))

    def _predicting(self) -> Model:
        if self.predict_tau is None:
            return self._deciding(0)
        # As accurate as what decides, so that both share the solution of the Poisson equation.
        return Model(self.predict_tau, self.shift, rtol=self._deciding(0).rtol)

    def _open_question(self) -> Question:
        state = self._session.state
        return state.problem(self._deciding(len(state.pending)))

    @at_one_moment
    def prediction(self, model: Model | None = None) -> Prediction:
        """What the labels alone say now, in the model that predicts or another, not solved yet.

        The prediction can be finished later: answers that come meanwhile do not change it.
        """
        now = self._session.state
        question = now.problem(self._predicting() if model is None else model, with_pending=False)
        state = replace(now, labels=dict(now.labels), classes=dict(now.classes), pending={})
        known, shares = self.reached, now.class_shares()

        def finish(columns: Columns) -> ScoreResult:
            beliefs = merge(columns, question, state)
            classes = tuple(state.classes)
            return ScoreResult(beliefs.scores, classes, known, shares, beliefs.weights)

        return Prediction(question.problem, finish)

    @at_one_moment
    def open_problems(self) -> list[Problem]:
        """Problems not solved yet that the next decision needs.

        Several learners on one graph can be advanced together by solving all of theirs at once
        with `solve_problems` and handing the solutions back with `supply`.
        """
        if not getattr(self._chooser(), "uses_scores", True):
            return []
        problem = self._open_question().problem
        return [problem] if problem.sources and problem not in self._kept.solved else []

    def supply(self, problems: Sequence[Problem], columns: Sequence[Columns]) -> None:
        """Accept solutions of problems that `open_problems` named."""
        self._kept.supply(self.graph, problems, columns)

    def _beliefs(self, question: Question, state: State) -> Beliefs:
        # The values, the choice and the guess read the same columns: merged once.
        kept = self._kept.merged
        if kept is None or kept[0] is not state or kept[1] != question:
            beliefs = merge(self._kept.columns(self.graph, question.problem), question, state)
            kept = self._kept.merged = state, question, beliefs
        return kept[2]

    def _memory(self, state: State) -> Any:
        """What the acquisition function remembers, rebuilt as far as it must be."""
        with self._kept.solving, named_breakdown():
            return self._kept.memories.after(
                self._chooser(), self.graph, tuple(state.constrained), state.n_given, self.seed
            )

    def _labels(self) -> Labels:
        state = self._session.state
        return Labels.of(state.labels, self.graph.n_nodes, state.classes)

    def _labelled_result(self, model: Model) -> ScoreResult:
        prediction = self.prediction(model)
        return prediction.finish(self._kept.columns(self.graph, prediction.problem))

    @at_one_moment
    def snapshot(self) -> Snapshot:
        """What an acquisition function sees now; nothing is solved before it is read."""
        state = self._session.state
        question = self._open_question()
        return Snapshot(
            graph=self.graph,
            labels=self._labels(),
            pending=np.array(list(state.pending), dtype=np.int64),
            constrained=np.array(list(state.constrained), dtype=np.int64),
            candidates=state.candidates(),
            tau=question.problem.tau,
            n_answers=state.n_answers,
            rng=np.random.default_rng([self.seed, state.n_asked, 0]),
            compute=lambda: self._beliefs(question, state),
            compute_weights=lambda: self._kept.weights(self.graph, question.problem),
            recall=lambda: self._memory(state),
        )

    def __repr__(self) -> str:
        state = self._session.state
        return (
            f"Learner({self.graph.n_nodes} nodes, {len(state.labels)} labelled in "
            f"{len(state.classes)} classes, {len(state.pending)} pending, {self.acquisition!r})"
        )


def last_renewal(count: int) -> int:
    """The largest of 1, 2, 3, ..., each at least `RENEWAL` times the one before, up to `count`."""
    last = 0
    while (following := max(last + 1, round(RENEWAL * last))) <= count:
        last = following
    return last
