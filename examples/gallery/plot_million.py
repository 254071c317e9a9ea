"""
A million points
================

A graph of a million points on two cores, a handful of questions, and a class for every point.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

import poise

# %%
# Five arms of a spiral, 200,000 points each. Neither a straight line nor the distance to a few
# centres separates them.

N_ARMS, PER_ARM = 5, 200_000
rng = np.random.default_rng(0)
arm = np.repeat(np.arange(N_ARMS), PER_ARM)
radius = np.sqrt(rng.uniform(0.1, 1, len(arm)))
angle = 2 * np.pi * (arm / N_ARMS + 0.65 * radius) + rng.normal(0, 0.09, len(arm)) / (0.25 + radius)
X = (radius * np.array([np.cos(angle), np.sin(angle)])).T.astype(np.float32)

# %%
# The search for neighbours is done once. ``save`` keeps the graph, and the next start maps it
# into memory.

start = time.perf_counter()
graph = poise.knn_graph(X, k=10)
print(f"{graph!r} in {time.perf_counter() - start:.0f} s")

# %%
# ``ask(8)`` with the policy ``local-max`` takes eight questions from one solve, spread over the
# points.

start = time.perf_counter()
learner = poise.Learner(graph, policy="local-max", predictor="balanced")
for _ in range(2):
    batch = learner.ask(8)
    learner.tell(batch, arm[batch])
print(f"{len(learner.labels)} questions in {time.perf_counter() - start:.0f} s")

start = time.perf_counter()
predicted = learner.predictions
seconds = time.perf_counter() - start
print(f"predictions for all points in {seconds:.0f} s, {(predicted == arm).mean():.1%} right")

# %%
# Every pixel has the colour of the most frequent predicted class among its points. Circles are
# the labelled points.

side = 520
pixel = np.clip(((X + 1.05) / 2.1 * side).astype(int), 0, side - 1)
counts = np.zeros((N_ARMS, side, side))
np.add.at(counts, (predicted, pixel[:, 1], pixel[:, 0]), 1)
colors = np.array([plt.matplotlib.colors.to_rgb(f"C{c}") for c in range(N_ARMS)])
density = np.minimum(counts.sum(axis=0) / 8, 1)[..., None] ** 0.6
picture = 1 - density * (1 - colors[counts.argmax(axis=0)])

figure, axis = plt.subplots(figsize=(6.4, 6.4))
axis.imshow(picture, extent=(-1.05, 1.05, -1.05, 1.05), origin="lower")
axis.scatter(*X[list(learner.labels)].T, s=50, color="white", edgecolors="black")
axis.set(title=f"{len(X):,} points, {len(learner.labels)} labels")
axis.axis("off")
plt.show()
