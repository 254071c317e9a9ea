"""
Write an acquisition
====================

What should be asked next? An acquisition answers with a number for each point. Writing your own
takes ten lines.
"""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

import poise

# %%
# Five clusters of different size, some outliers between them, two classes.

rng = np.random.default_rng(4)
centres = np.array([(0, 0), (3, 0.4), (1.4, 2.4), (4.4, 2.6), (-1.6, 2.2)])
sizes = (420, 260, 110, 60, 40)
X = np.concatenate(
    [rng.normal(c, 0.45, (n, 2)) for c, n in zip(centres, sizes, strict=True)]
    + [rng.uniform((-3, -1.6), (6, 4), (16, 2))]
)
distance = np.linalg.norm(X[:, None] - centres, axis=2)
cluster = distance.argmin(axis=1)
y = cluster % 2
graph = poise.knn_graph(X, k=10)

# %%
# The paper's rule asks where the scores of all classes are small, which is far from every label,
# and therefore likes outliers. This acquisition is the same rule with a preference for points
# that have strong edges. A snapshot holds what may be used: the graph, the scores and their
# norms, the labels.


@poise.register.acquisition("central-norm")
@dataclass(frozen=True)
class CentralNorm:
    """Smallest norm of the scores first, but well-connected points before outliers."""

    share: float = 0.5

    def __call__(self, snapshot):
        degrees = snapshot.graph.degrees
        outlying = degrees < np.quantile(degrees, self.share)
        return np.where(outlying, -1.0, 0.0) - snapshot.norms


# %%
# That is all. The name now works everywhere: in ``Learner``, in ``simulate``, in ``poise run``
# with ``--import``.


def first_questions(acquisition):
    learner = poise.Learner(graph, {0: "even", 420: "odd"}, acquisition=acquisition)
    for _ in range(15):
        (i,) = learner.ask()
        learner.tell(i, "odd" if y[i] else "even")
    return learner


sessions = {name: first_questions(name) for name in ("norm", "central-norm")}

# %%
# Squares are the two labels at the start, numbers are the order of the questions. Colours are the
# predicted classes.

figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.3), sharex=True, sharey=True)
for (name, learner), axis in zip(sessions.items(), axes, strict=True):
    odd = learner.predictions == "odd"
    axis.scatter(*X.T, s=9, color=np.where(odd, "#E69F00", "#0072B2"), alpha=0.45, linewidths=0)
    start, asked = list(learner.labels)[:2], list(learner.labels)[2:]
    axis.scatter(*X[start].T, s=60, marker="s", color="black", zorder=3)
    axis.scatter(*X[asked].T, s=130, color="white", edgecolors="black", zorder=3)
    for number, i in enumerate(asked, start=1):
        axis.annotate(number, X[i], ha="center", va="center", fontsize=7, zorder=4)
    outliers = sum(i >= sum(sizes) for i in asked)
    found = len(set(cluster[list(learner.labels)]))
    axis.set(title=f"{name}: clusters labelled {found}, outliers asked {outliers}")
    axis.set(xticks=[], yticks=[])
    axis.set_aspect("equal")
plt.show()
