"""The Learner: ask for labels, tell it the answers, read its predictions, undo."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from poise.active import saved
from poise.active.certificate import TAUS, Certificate, exploration_certificate
from poise.active.graphs import check_graph, check_grown
from poise.active.new_points import class_table, predict_points
from poise.active.policies import as_policy
from poise.active.predicting import Predictor
from poise.active.session import Session
from poise.active.settings import Settings
from poise.active.shared import Shared
from poise.active.snapshot import Snapshot
from poise.active.solutions import Solutions
from poise.active.state import Event
from poise.active.stopping import Advice
from poise.arrays import Bools, Floats, Ints
from poise.checks import whole_number
from poise.errors import LabelError
from poise.extras import bridge
from poise.graph import Graph
from poise.models.calibration import Calibration
from poise.models.poisson_weights import SHIFT
from poise.models.result import ScoreResult


class Learner(Shared):
    """Asks for the labels worth having and predicts the rest.

    Several threads may use it: no question is given out twice, whatever is read belongs to one
    moment, and answers do not wait for solves. A call that raises an error changes nothing.

    Parameters
    ----------
    graph : Graph
    labels : {node: class}, optional
        Labels known at the start; may be empty.
    acquisition : name or function of a Snapshot
        What is worth asking; see ``poise.acquisitions()``.
    policy : name or function
        How nodes are chosen from the values; see ``poise.policies()``.
    tau : float, name or schedule, optional
        Decay of the model that decides, by number of answers; see ``poise.schedules()``. By
        default the decay that the acquisition declares: ``Relative(0.01)`` for "auto", 0.001 for
        those that declare none.
    predict_tau : float or None
        Decay of the model that predicts, 0 as in the paper's evaluation; None predicts with the
        model that decides.
    predictor : {"auto", "balanced", "pwll"}
        "balanced" puts the classes' scores on a more equal footing, see `poise.models.balance`.
        "auto" also multiplies them by what a linear model of the features says, and averages over
        a short walk, see `poise.models.combined`. "pwll" does neither. While `predict_tau` is
        None, all of them do as "pwll" does.
    model : {"pwll", "laplace"}
        The model that decides and predicts: Poisson reweighted Laplace learning, or plain Laplace
        learning.
    shift : float > 0
        Smallest Poisson weight of the model "pwll".
    seeding : name or function, optional
        Chooses the first questions instead of `acquisition`, while fewer than `n_seeding` nodes
        are labelled or asked.
    n_seeding : int
    seed : int
    anticipate : bool
        Give every open question a column of its own, so that its answer costs no solve. False
        waits for the answer and solves one column less: for simulations, where no person waits.
    classes : sequence, optional
        Classes known in advance, in the order wanted; others may still appear.

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
        model: str = "pwll",
        shift: float = SHIFT,
        seeding: Any = None,
        n_seeding: int = 10,
        seed: int = 0,
        anticipate: bool = True,
        classes: Iterable[Any] = (),
    ) -> None:
        check_graph(graph)
        settings = Settings(
            acquisition=acquisition,
            policy=policy,
            tau=tau,
            predict_tau=predict_tau,
            predictor=predictor,
            model=model,
            shift=shift,
            seeding=seeding,
            n_seeding=n_seeding,
            seed=seed,
            anticipate=anticipate,
        )
        known = {} if labels is None else labels
        session = Session(graph.n_nodes, known, classes, anticipate=settings.anticipate)
        super().__init__(graph, settings, session)

    # Changes ----------------------------------------------------------------------------------

    def ask(self, k: int = 1, *, policy: Any = None) -> Ints:
        """The next `k` nodes to label, now pending; fewer if fewer are left.

        Each is chosen with the earlier ones answered in expectation, so that a batch spreads;
        a policy for batches chooses all at once.

        Parameters
        ----------
        k : int
        policy : name or function, optional
            Another policy for these nodes alone.
        """
        wanted = whole_number(k, "k", 1)
        chosen_by = self.policy if policy is None else as_policy(policy)
        return np.array(self._open(lambda now: now.ask(wanted, chosen_by)), dtype=np.int64)

    def pend(self, nodes: Any) -> None:
        """Open questions that were chosen elsewhere, as if `ask` had chosen them; all or none."""
        self._open(lambda now: now.pend(nodes))

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
        """Return pending, skipped or excluded nodes to the pool."""
        with self._changing:
            self._session.set_aside("release", nodes)

    def undo(self) -> Event:
        """Undo the last tell, relabel, skip, exclude or release, and return it."""
        with self._changing:
            return self._session.undo()

    def grow(self, graph: Graph) -> None:
        """Continue with a graph that has more nodes, usually ``learner.graph.extend(X_new)``.

        The first nodes of `graph` must be those of the graph so far, in the same order. Labels,
        open questions, skipped and excluded nodes and everything that can be undone stay; growing
        itself is not undone. Nothing is solved now: `prepare`, the next `ask` or reading solves on
        the new graph.

        Raises
        ------
        WrongGraphError
            If `graph` has fewer nodes, or features that differ from those so far.
        """
        with self._solutions.solving, self._changing:  # a solve under way is for the old graph
            check_grown(self.graph, graph)
            self._session.grow(graph.n_nodes)
            self.graph, self._solutions = graph, Solutions(self._solutions.solving)

    def prepare(self) -> bool:
        """Solve now what the next `ask` or `tell` needs, for example in a background thread.

        Returns
        -------
        bool, whether anything had to be solved
        """
        with self._solutions.solving:
            return self._now().prepare()

    # Readings ---------------------------------------------------------------------------------

    @property
    def scores(self) -> Floats:
        """(n, C) scores of the labels alone, in the model that decides."""
        now = self._now()
        return now.labelled_result(now.deciding()).scores

    @property
    def norms(self) -> Floats:
        """(n,) norms of `scores`."""
        now = self._now()
        return now.labelled_result(now.deciding()).norms

    @property
    def result(self) -> ScoreResult:
        """Scores of the labels alone in the model that predicts, with what follows from them."""
        return Predictor(self._now()).result

    @property
    def predictions(self) -> npt.NDArray[Any]:
        """(n,) class of every node, in the model that predicts."""
        predictor = Predictor(self._now())
        if not predictor.labels:
            raise LabelError("nothing is labelled yet: there is no class to predict")
        result = predictor.result
        return class_table(result.classes)[result.codes]

    @property
    def probabilities(self) -> Floats:
        """(n, C) calibrated class probabilities of every node, in the model that predicts.

        Until ``calibration.has_evidence`` is true they are rough guesses: do not show them.
        """
        return Predictor(self._now()).probabilities

    @property
    def held_out_probabilities(self) -> dict[int, Floats]:
        """Labelled node -> its (C,) calibrated probabilities by a model without its label.

        To find wrong labels, or to measure the model; see also `poise.models.suspicion`.
        """
        return Predictor(self._now()).held_out_probabilities

    @property
    def calibration(self) -> Calibration:
        """Turns scores into probabilities; fitted to labels that were held out."""
        return Predictor(self._now()).calibration

    def predict(self, X_new: Any, *, return_reached: bool = False) -> Any:
        """Classes of new points, which are not added to the graph; as ``poise predict`` does.

        Parameters
        ----------
        X_new : array-like or sparse, shape (m, d)
            In the features of the graph.
        return_reached : bool
            Also return which points the labels reach. The others get the most frequent class: they
            lie far from all nodes, or are most similar to nodes that no label reaches.

        Returns
        -------
        (m,) array of classes, with `return_reached` also the (m,) mask

        Raises
        ------
        GraphError
            If the graph holds no features, or it is not known how it was made.
        """
        predictor = Predictor(self._now())
        predicted = predict_points(predictor, X_new)
        classes = class_table(predictor.classes)[predicted.codes]
        return (classes, predicted.reached) if return_reached else classes

    def advice(self) -> Advice:
        """Whether more labels are worth the effort: one sentence, and its reason.

        Compares the predictions with those from the first half of the answers; costs one solve.
        """
        return Predictor(self._now()).advice()

    @property
    def reached(self) -> Bools:
        """(n,) mask of the nodes that some label reaches: those in its component."""
        return self._now().reached

    @property
    def values(self) -> Floats:
        """(n,) current values of the acquisition function; NaN for nodes that cannot be asked."""
        return self._now().values()

    def snapshot(self) -> Snapshot:
        """What an acquisition function sees now; nothing is solved before it is read."""
        return self._now().snapshot()

    def certificate(
        self, radius: float, groups: npt.ArrayLike | None = None, taus: Sequence[float] = TAUS
    ) -> Certificate:
        """For which tau unexplored groups are asked before any node within `radius` of a label.

        See `poise.active.certificate`; groups are clusters, or the graph's components.
        """
        now = self._now()
        return exploration_certificate(
            now.graph, now.labels, radius=radius, groups=groups, taus=taus, shift=self.shift
        )

    # Saving -----------------------------------------------------------------------------------

    def to_json(self) -> str:
        """The whole session as text, with its history and the graph's fingerprint; no arrays."""
        now = self._now()
        return saved.dump(now.graph, now.settings, now.session)

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

    # In a notebook ----------------------------------------------------------------------------

    def widget(self, items: Any) -> Any:
        """A `LabelWidget`: the label screen in a notebook (``poise[notebook]``).

        `items` are what the nodes stand for, in their order: texts, image files, PIL images, an
        array of uint8 images, or a function that returns one of these for a node.
        """
        return bridge("notebook").LabelWidget(self, items)

    def __repr__(self) -> str:
        state = self._session.state
        return (
            f"Learner({self.graph.n_nodes} nodes, {len(state.labels)} labelled in "
            f"{len(state.classes)} classes, {len(state.pending)} pending, {self.acquisition!r})"
        )
