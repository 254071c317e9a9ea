"""The Learner: ask, tell, and everything a person may want to take back."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from poise.active import saved
from poise.active.acquisition import Acquisition, as_acquisition, usual_tau
from poise.active.beliefs import Beliefs, merge
from poise.active.certificate import TAUS, Certificate, exploration_certificate
from poise.active.memories import Memories
from poise.active.policies import Policy, as_policy
from poise.active.schedules import Schedule, as_schedule
from poise.active.session import Event, Question, Session, unexpected
from poise.active.snapshot import Snapshot
from poise.active.stopping import Advice, advise, checkpoint, first_half
from poise.checks import decay, whole_number
from poise.errors import GraphError, InputError, LabelError, PoolExhausted, WrongGraphError
from poise.graph import Graph
from poise.linalg.status import Bools, Floats, Ints
from poise.models.balance import balance_factors, balanced
from poise.models.calibration import Calibration
from poise.models.combined import combine, held_out_combined, linear_power
from poise.models.components import reached
from poise.models.harmonic import Columns, Model, Problem, solve_problems
from poise.models.held_out import MOST, held_out_scores, spread_evenly
from poise.models.labels import Label, Labels
from poise.models.poisson_weights import SHIFT, poisson_weights
from poise.models.result import ScoreResult, normalise_scores
from poise.registry import known_name

PREDICTORS = ("auto", "balanced", "pwll")
#: Solved problems kept: the open questions', the labels', the predicting model's, and that after
#: a skip.
KEPT = 4


@dataclass(frozen=True, eq=False)
class Prediction:
    """A problem, and what its solution says of the classes of all nodes."""

    problem: Problem
    finish: Callable[[Columns], ScoreResult]


class Learner:
    """Asks for the labels worth having and knows the rest.

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
        if not isinstance(graph, Graph):
            raise GraphError(
                f"graph is a {type(graph).__name__}: make a Graph with poise.knn_graph(X, k=20) "
                "or poise.Graph.from_weights(W)"
            )
        self.graph = graph
        self.acquisition: Acquisition = as_acquisition(acquisition)
        self.policy: Policy = as_policy(policy)
        self.tau: Schedule = as_schedule(usual_tau(self.acquisition) if tau is None else tau)
        self.predict_tau = None if predict_tau is None else decay(predict_tau, "predict_tau")
        known_name("predictor", predictor, PREDICTORS)
        self.predictor = predictor
        self.shift = shift
        self.seeding: Acquisition | None = None if seeding is None else as_acquisition(seeding)
        self.n_seeding = whole_number(n_seeding, "n_seeding", 1)
        self.seed = whole_number(seed, "seed", 0)
        self.anticipate = bool(anticipate)
        self._session = Session(graph.n_nodes, labels or {}, classes, anticipate=self.anticipate)
        self._solving = threading.RLock()
        self._forget()

    def _forget(self) -> None:
        """Start with nothing computed; what a copy shares is left to it."""
        self._solved: OrderedDict[Problem, Columns] = OrderedDict()
        self._merged: tuple[tuple[int, Question], Beliefs] | None = None
        self._predicted: tuple[tuple[int, str], ScoreResult] | None = None
        self._calibrated: tuple[tuple[int, str], Calibration] | None = None
        self._power: tuple[int, float] | None = None
        #: Labels that are held out one by one at most: each is a column of n numbers.
        self.most_held_out = MOST
        self._memories = Memories()

    # What a person does ---------------------------------------------------------------------

    def ask(self, k: int = 1) -> Ints:
        """The next `k` nodes to label, now pending; fewer if fewer are left.

        Each is chosen with the earlier ones answered in expectation, so that a batch spreads;
        a policy for batches chooses all at once.
        """
        wanted = whole_number(k, "k", 1)
        at_once = wanted if getattr(self.policy, "batch", False) else 1
        nodes: list[int] = []
        while len(nodes) < wanted:
            snapshot = self.snapshot()
            if not snapshot.candidates.any():
                break
            for node in self._choose(snapshot, min(at_once, wanted - len(nodes))):
                self._session.ask(int(node), self._guess(snapshot, int(node)))
                nodes.append(int(node))
        if not nodes:
            state = self._session.state
            raise PoolExhausted(
                f"there is nothing left to ask: of {self.graph.n_nodes} nodes {len(state.labels)} "
                f"are labelled, {len(state.pending)} pending and {len(state.excluded)} excluded; "
                "answer or release some"
            )
        return np.array(nodes, dtype=np.int64)

    def pend(self, nodes: Any) -> None:
        """Open questions that were chosen elsewhere, as if `ask` had chosen them."""
        for node in self._session.askable(nodes):
            snapshot = self.snapshot()
            if len(snapshot.labels) and getattr(self._chooser(), "uses_scores", True):
                _ = snapshot.scores
            self._session.ask(node, self._guess(snapshot, node))

    def copy(self) -> "Learner":
        """A learner at the same place, which goes its own way; what is solved is shared.

        To look at what would follow from an answer. Not to be used by two threads at once.
        """
        twin = copy(self)
        twin._session = self._session.copy()
        return twin

    def tell(self, nodes: Any, labels: Any) -> None:
        """Answer: ``tell(i, "cat")`` or ``tell([i, j], ["cat", "dog"])``; asked or not.

        Never solves anything: the work is done by `prepare`, or by the next `ask` or reading.
        """
        self._session.tell(nodes, labels)

    def relabel(self, nodes: Any, labels: Any) -> None:
        """Change earlier answers."""
        self._session.relabel(nodes, labels)

    def skip(self, nodes: Any) -> None:
        """Postpone nodes: asked again after 20 more answers, or when nothing else is left."""
        self._session.set_aside("skip", nodes)

    def exclude(self, nodes: Any) -> None:
        """Never ask these nodes."""
        self._session.set_aside("exclude", nodes)

    def release(self, nodes: Any) -> None:
        """Give pending, skipped or excluded nodes back to the pool."""
        self._session.set_aside("release", nodes)

    def undo(self) -> Event:
        """Take back the last tell, relabel, skip, exclude or release, and say which it was."""
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
        _check_grown(self.graph, graph)
        with self._solving:  # a solve under way is for the old graph
            self.graph = graph
            self._session.grow(graph.n_nodes)
            self._forget()

    def prepare(self) -> None:
        """Solve now what the next `ask` or `tell` needs, for example in a background thread."""
        with self._solving:
            self._solve(self.open_problems())
            self._memory()

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
    def scores(self) -> Floats:
        """(n, C) scores of the labels alone, in the model that decides."""
        return self._labelled_result(self._deciding(0)).scores

    @property
    def norms(self) -> Floats:
        """(n,) norms of `scores`."""
        return self._labelled_result(self._deciding(0)).norms

    @property
    def predictions(self) -> npt.NDArray[Any]:
        """(n,) class of every node, in the model that predicts."""
        result = self.result
        if not len(self._session.state.labels):
            raise LabelError("nothing is labelled yet: there is no class to predict")
        kinds = {type(name) for name in result.classes}
        table = np.array(result.classes, dtype=None if len(kinds) == 1 else object)
        return np.asarray(table[result.codes])

    @property
    def probabilities(self) -> Floats:
        """(n, C) calibrated class probabilities of every node, in the model that predicts.

        Before ``calibration.has_evidence`` they are no more than a guess: show no number.
        """
        result = self.result
        known = ~result.reached
        known[list(self._session.state.labels)] = True
        return self.calibration.apply(result.probabilities, keep=known)

    @property
    def calibration(self) -> Calibration:
        """What makes probabilities of the scores, fitted to labels left out one at a time."""
        labels, result = self._labels(), self.result
        if len(labels.classes) < 2:
            return Calibration(1.0)
        version = self._session.version, self.predictor
        if self._calibrated is None or self._calibrated[0] != version:
            power = 0.0
            if self._predicts_by() == "auto":
                chosen, power = np.arange(len(labels)), self._linear_power(labels)
                held_out = held_out_combined(
                    self.graph, labels, self._predicting(), power, self.most_held_out
                )
            else:
                chosen, held_out = self._held_out(labels)
            rest = result.reached.copy()
            rest[labels.nodes] = False
            fitted = Calibration.fit(
                result.probabilities[rest], held_out, labels.codes[chosen], linear_power=power
            )
            self._calibrated = version, fitted
        return self._calibrated[1]

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
            scores = merge(self._columns(question.problem), question, early).scores
            before = np.argmax(scores, axis=1)
        now = self._labelled_result(self._predicting())
        nodes = np.array(answered, dtype=np.int64)
        return advise([checkpoint(now.probabilities, before, before, surprising, nodes)])

    @property
    def reached(self) -> Bools:
        """(n,) mask of the nodes that some label speaks about."""
        return reached(self.graph, np.array(list(self._session.state.labels), dtype=np.int64))

    @property
    def result(self) -> ScoreResult:
        """Scores of the labels alone in the model that predicts, with all that follows."""
        version = self._session.version, self.predictor
        if self._predicted is None or self._predicted[0] != version:
            found = self._labelled_result(self._predicting())
            if self._predicts_by() != "pwll":
                found = balanced(found)
            if self._predicts_by() == "auto" and len(self._session.state.labels):
                labels = self._labels()
                found = combine(self.graph, labels, found, self._linear_power(labels))
            self._predicted = version, found
        return self._predicted[1]

    def _linear_power(self, labels: Labels) -> float:
        """How much the linear model of the features counts; found once for each state."""
        if self._power is None or self._power[0] != self._session.version:
            chosen, held_out = self._held_out(labels)
            found = linear_power(self.graph.features, labels, held_out, chosen)
            self._power = self._session.version, found
        return self._power[1]

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
    def values(self) -> Floats:
        """(n,) what the acquisition function says of every node now: NaN where none is asked."""
        snapshot = self.snapshot()
        return self._values(snapshot)

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
        return (
            self._deciding(0) if self.predict_tau is None else Model(self.predict_tau, self.shift)
        )

    def _open_question(self) -> Question:
        state = self._session.state
        return state.problem(self._deciding(len(state.pending)))

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

    def open_problems(self) -> list[Problem]:
        """Problems not solved yet that the next decision needs.

        Several learners on one graph can be advanced together by solving all of theirs at once
        with `solve_problems` and handing the solutions back with `supply`.
        """
        if not getattr(self._chooser(), "uses_scores", True):
            return []
        problem = self._open_question().problem
        return [problem] if problem.sources and problem not in self._solved else []

    def supply(self, problems: Sequence[Problem], columns: Sequence[Columns]) -> None:
        """Accept solutions of problems that `open_problems` named."""
        for problem, solution in zip(problems, columns, strict=True):
            if len(solution.values) != self.graph.n_nodes:
                continue  # of the graph before it grew
            self._solved[problem] = solution
            while len(self._solved) > KEPT:
                self._solved.popitem(last=False)

    def _solve(self, problems: Sequence[Problem]) -> None:
        if problems:
            self.supply(problems, solve_problems(self.graph, problems, self._solved))

    def _columns(self, problem: Problem) -> Columns:
        if not problem.sources:
            n = self.graph.n_nodes
            return Columns(np.zeros((n, 0)), np.full(n, problem.shift or 1.0))
        with self._solving:  # if a background thread is at it, wait for its solution
            if problem not in self._solved:
                self._solve([problem])
            self._solved.move_to_end(problem)
            return self._solved[problem]

    def _beliefs(self, question: Question) -> Beliefs:
        # The values, the choice and the guess read the same columns: merged once.
        key = (self._session.version, question)
        if self._merged is None or self._merged[0] != key:
            beliefs = merge(self._columns(question.problem), question, self._session.state)
            self._merged = key, beliefs
        return self._merged[1]

    def _weights(self, question: Question) -> Floats:
        """Poisson weights alone, from a solution for the same nodes if there is one."""
        wanted = question.problem
        shift = SHIFT if wanted.shift is None else wanted.shift
        for problem, solution in self._solved.items():
            if (problem.constrained, problem.shift, problem.relative, problem.rtol) == (
                wanted.constrained,
                shift,
                wanted.relative,
                wanted.rtol,
            ):
                return solution.weights
        weights = poisson_weights(
            self.graph,
            [np.array(wanted.constrained, dtype=np.int64)],
            shift=shift,
            relative=wanted.relative,
            rtol=wanted.rtol,
        )
        return np.asarray(weights[:, 0])

    def _memory(self) -> Any:
        """What the acquisition function remembers, rebuilt as far as it must be."""
        state = self._session.state
        with self._solving:
            return self._memories.after(
                self._chooser(), self.graph, tuple(state.constrained), state.n_given, self.seed
            )

    def _labels(self) -> Labels:
        state = self._session.state
        return Labels.of(state.labels, self.graph.n_nodes, state.classes)

    def _labelled_result(self, model: Model) -> ScoreResult:
        prediction = self.prediction(model)
        return prediction.finish(self._columns(prediction.problem))

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
            compute=lambda: self._beliefs(question),
            compute_weights=lambda: self._weights(question),
            recall=self._memory,
        )

    def _values(self, snapshot: Snapshot) -> Floats:
        values = np.asarray(self._chooser()(snapshot), dtype=np.float64)
        if values.shape != (self.graph.n_nodes,):
            raise InputError(
                f"the acquisition function returned shape {values.shape}: expected one value per "
                f"node, ({self.graph.n_nodes},)"
            )
        return np.where(snapshot.candidates, values, np.nan)

    def _choose(self, snapshot: Snapshot, k: int) -> Ints:
        values = self._values(snapshot)
        if np.isnan(values).all():
            raise InputError("the acquisition function gave NaN for every candidate")
        rng = np.random.default_rng([self.seed, self._session.state.n_asked, 1])
        chosen = np.asarray(self.policy(values, snapshot, k, rng), dtype=np.int64)
        distinct = len(set(chosen.tolist())) == len(chosen)
        if not 1 <= len(chosen) <= k or not distinct or not snapshot.candidates[chosen].all():
            raise InputError(
                f"the policy chose {chosen.tolist()}: expected 1 to {k} different candidates"
            )
        return chosen

    def _guess(self, snapshot: Snapshot, node: int) -> tuple[float, ...]:
        """Class probabilities at a node about to be asked, if the decision looked at scores."""
        if not snapshot.looked_at_scores:
            return ()
        shares = self._session.state.class_shares()
        row = normalise_scores(snapshot.scores[[node]], np.ones(1, dtype=bool), shares)
        return tuple(float(p) for p in row[0])

    def __repr__(self) -> str:
        state = self._session.state
        return (
            f"Learner({self.graph.n_nodes} nodes, {len(state.labels)} labelled in "
            f"{len(state.classes)} classes, {len(state.pending)} pending, {self.acquisition!r})"
        )


def _check_grown(old: Graph, new: Graph) -> None:
    """Refuse a graph whose first nodes are seen not to be those of `old`."""
    if not isinstance(new, Graph):
        raise GraphError(
            f"graph is a {type(new).__name__}: give a Graph, e.g. learner.graph.extend(X_new)"
        )
    if new.n_nodes < old.n_nodes:
        raise WrongGraphError(
            f"the graph has {new.n_nodes} nodes and the one so far {old.n_nodes}: nodes are added, "
            "never removed; for a graph without some nodes make a new Learner with the labels"
        )
    if old.features is None or new.features is None or old.features is new.features:
        return
    first: Any = new.features[: old.n_nodes]
    if first.shape != old.features.shape or (first != old.features).sum():
        raise WrongGraphError(
            f"the graph's first {old.n_nodes} nodes have other features than those so far: new "
            "nodes come after the old ones, as in learner.graph.extend(X_new)"
        )
