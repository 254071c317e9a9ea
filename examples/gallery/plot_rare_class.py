"""
Find a rare class
=================

One image in a hundred shows what you are looking for. First find one of them, then the others.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import poise

# %%
# Handwritten digits, of which only fifteen eights are kept.

RARE = 8
X, y = load_digits(return_X_y=True)
eights = np.random.default_rng(0).permutation(np.flatnonzero(y == RARE))
kept = np.delete(np.arange(len(y)), eights[15:])
X, y = X[kept], y[kept]
graph = poise.knn_graph(X, k=10)
print(f"{(y == RARE).sum()} of {len(y)} images are an eight")

# %%
# How long until the first one?
# -----------------------------
#
# Six sessions of at most 100 questions for each of four ways to ask. Each session starts with one
# random label.

MOST = 100


def first_find(trace):
    found = np.flatnonzero(trace.answers == RARE)
    return found[0] + 1 if len(found) else MOST


waits = {}
for way in ("auto", "dial", "norm", "random"):
    traces = poise.simulate_many(graph, y, acquisition=way, budget=MOST, seeds=range(6), initial=1)
    waits[way] = [first_find(trace) for trace in traces]
for way, wait in waits.items():
    print(f"{way:<8} median {np.median(wait):3.0f} questions, longest {max(wait):3}")

# %%
# A rare class is a small part of the graph, and how soon a way of asking comes by depends on where
# it lies. Compare a few ways on a class that you know.
#
# Then the others
# ---------------
#
# Ask in the way with the shortest median until the first eight appears. From there on, look at the
# images that are most likely an eight, five at a time. ``tell`` also takes answers that were never
# asked.

best_way = min(waits, key=lambda way: np.median(waits[way]))
learner = poise.Learner(graph, acquisition=best_way)
while RARE not in learner.classes:
    (i,) = learner.ask()
    learner.tell(i, y[i])
n_until_first = len(learner.labels)

for _ in range(5):
    likely = learner.probabilities[:, learner.classes.index(RARE)].copy()
    likely[list(learner.labels)] = -1.0
    best = np.argsort(-likely, kind="stable")[:5]
    learner.tell(best, y[best])

labelled = np.array(list(learner.labels))
found = labelled[y[labelled] == RARE]
print(f"{len(found)} of {(y == RARE).sum()} found with {len(labelled)} answers")

# %%
# Above, the wait for the first eight, a dot for each session. Below, the 25 images looked at
# afterwards, in their order; eights have a green frame.

figure = plt.figure(figsize=(8, 6))
above, below = figure.subfigures(2, 1, height_ratios=[1, 1.5])
axis = above.subplots()
for row, wait in enumerate(waits.values()):
    axis.scatter(wait, [row] * len(wait), s=70, alpha=0.55, color=f"C{row}", linewidths=0)
    axis.scatter(np.median(wait), row, s=260, marker="|", color="black", linewidths=2)
axis.set(yticks=range(len(waits)), yticklabels=waits, ylim=(len(waits) - 0.4, -0.6), xlim=(0, 102))
axis.set_title("Questions until the first eight (bar: median)")
below.suptitle(f"The 25 images after the first eight ({best_way}, {n_until_first} questions)")
axes = below.subplots(3, 9)
for axis in axes.flat:
    axis.axis("off")
for axis, i in zip(axes.flat, labelled[n_until_first:], strict=False):
    axis.axis("on")
    axis.imshow(X[i].reshape(8, 8))
    axis.set(xticks=[], yticks=[])
    axis.spines[:].set(visible=y[i] == RARE, color="#009E73", linewidth=4)
plt.show()
