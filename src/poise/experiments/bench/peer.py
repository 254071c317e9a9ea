"""graphlearning 1.7.5 as a peer: the authors' way to the same decision."""

from typing import Any

import numpy as np
from scipy import sparse

from poise.active.schedules import Schedule
from poise.arrays import Floats, Ints
from poise.extras import needed
from poise.graph import Graph


def graphlearning() -> Any:
    """The module, or an error that says how to install it."""
    return needed("graphlearning", "bench", "this comparison")


class Peer:
    """`laplace(reweighting="poisson", tau)` with `active_learner`, by default with `unc_2norm`."""

    def __init__(
        self,
        graph: Graph,
        initial: Ints,
        codes: Ints,
        tau: Schedule,
        acquisition: str = "unc_sampling",
        **parameters: Any,
    ) -> None:
        gl = graphlearning()
        self.codes, self.tau = codes, tau
        self.n_answers = 0
        weights = sparse.csr_matrix(graph.weights)
        self.model = gl.ssl.laplace(weights, reweighting="poisson", tau=float(tau(0)))
        self.learner = gl.active_learning.active_learner(
            self.model,
            getattr(gl.active_learning, acquisition),
            np.asarray(initial),
            codes[initial],
            **(parameters or {"unc_method": "unc_2norm"}),
        )

    def query(self) -> int:
        """Choose, answer, refit and predict, like the authors' scripts."""
        node = int(self.learner.select_queries()[0])
        self.n_answers += 1
        self.model.tau = np.full(len(self.codes), self.tau(self.n_answers))
        self.learner.update(np.array([node]), self.codes[[node]])
        self.model.predict()
        return node

    def accuracy(self, tau: float = 0.0) -> float:
        """Accuracy on the unlabelled nodes in PWLL-tau, fitted to the labels so far."""
        labelled = self.learner.labeled_ind
        self.model.tau = np.full(len(self.codes), tau)
        scores: Floats = self.model.fit(labelled, self.learner.labels)
        rest = np.ones(len(self.codes), dtype=bool)
        rest[labelled] = False
        return float((scores.argmax(axis=1) == self.codes)[rest].mean())
