"""
Find a rare class
=================

One image in a hundred shows what you are looking for. First find one of them, then the others.
"""

import matplotlib.pyplot as plt
import numpy as np
import poise
from sklearn.datasets import load_digits

# %%
# Handwritten digits, of which only fifteen eights are kept.

RARE = 8
X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
eights = rng.permutation(np.flatnonzero(y == RARE))
kept = np.delete(np.arange(len(y)), eights[15:])
X, y = X[kept], y[kept]
graph = poise.knn_graph(X, k=10)
print(f"{(y == RARE).sum()} of {len(y)} images are an eight")

# %%
# How long until the first one?
# ------------------------------
#
# Ten sessions from no label, for each of three ways to ask. The first question depends on the seed only
# where there is a tie, so each session leaves out a random tenth of the images.


def first_find(acquisition, seed):
    rng = np.random.default_rng(seed)
    part = np.sort(rng.permutation(len(y))[: len(y) * 9 // 10])
    trace = poise.simulate(
        poise.knn_graph(X[part], k=10),
        y[part],
        acquisition=acquisition,
        budget=200,
        initial=0,
        seed=seed,
    )
    found = np.flatnonzero(trace.answers == RARE)
    return found[0] + 1 if len(found) else 200


ways = ("auto", "norm", "random")
waits = {way: [first_find(way, seed) for seed in range(10)] for way in ways}
for way, wait in waits.items():
    print(f"{way:<8} median {np.median(wait):.0f} questions, longest {max(wait)}")

# %%
# Then the others
# ---------------
#
# Ask until the first eight appears. From there on, look at the images that are most likely an eight, five at
# a time, and tell what they are: ``tell`` takes answers that were never asked.

learner = poise.Learner(graph)
while RARE not in learner.classes:
    (i,) = learner.ask()
    learner.tell(i, y[i])
n_until_first = len(learner.labels)

for _ in range(5):
    column = learner.classes.index(RARE)
    likely = learner.probabilities[:, column].copy()
    likely[list(learner.labels)] = -1.0
    best = np.argsort(-likely, kind="stable")[:5]
    learner.tell(best, y[best])

labelled = np.array(list(learner.labels))
found = labelled[y[labelled] == RARE]
print(f"{len(found)} of {(y == RARE).sum()} found with {len(labelled)} answers")

# %%
# Above, the wait for the first eight, a dot for each session. Below, the 25 images looked at afterwards; eights have a
# green frame.

figure = plt.figure(figsize=(8, 6))
above, below = figure.subfigures(2, 1, height_ratios=[1, 1.7])
axis = above.subplots()
for row, (way, wait) in enumerate(waits.items()):
    axis.scatter(wait, np.full(10, row), s=60, alpha=0.6, color=f"C{row}", linewidths=0)
    axis.scatter(np.median(wait), row, s=260, marker="|", color="black", linewidths=2)
axis.set(yticks=range(3), yticklabels=ways, ylim=(2.6, -0.6), xlim=(0, None))
axis.set(title="Questions until the first eight (bar: median)")
below.suptitle(f"The next 25, after {n_until_first} questions")
for axis, i in zip(below.subplots(3, 9).flat, [*labelled[n_until_first:], None, None], strict=True):
    if i is None:
        axis.axis("off")
        continue
    axis.imshow(X[i].reshape(8, 8))
    axis.set(xticks=[], yticks=[])
    axis.spines[:].set(visible=y[i] == RARE, color="#009E73", linewidth=4)
plt.show()
