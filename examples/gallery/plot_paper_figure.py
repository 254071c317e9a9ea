"""
A figure of the paper
=====================

The experiment Blobs of *Poisson reweighted Laplacian uncertainty sampling for graph-based active
learning*: eight clouds, two classes in turn. A method that does not explore finds a boundary and
never learns that there are six more clouds.
"""

import matplotlib.pyplot as plt
import numpy as np

import poise

data = poise.load_dataset("blobs")
graph = poise.knn_graph(data.X, k=100)

# %%
# The paper's own rule, minimum norm, with a constant decay and with one that falls to 0; the
# smallest margin without decay; V-Opt; and random questions. A session starts with one label per
# class and asks 100 questions. The paper has ten sessions of each; five are enough to see the
# difference. ``poise reproduce blobs`` runs all of it, with every claim checked.

methods = {
    "minimum norm": {"acquisition": "norm", "tau": 1e-3},
    "minimum norm, τ → 0": {"acquisition": "norm", "tau": poise.Geometric(tau_0=1e-3, K=8)},
    "smallest margin": {"acquisition": "margin", "tau": 0.0},
    "V-Opt": {"acquisition": "vopt", "tau": 0.0},
    "random": {"acquisition": "random", "tau": 0.0},
}
traces = {
    name: poise.simulate_many(
        graph,
        data.classes,
        clusters=data.clusters,
        budget=100,
        seeds=range(5),
        **options,
    )
    for name, options in methods.items()
}
for name, sessions in traces.items():
    seen = [np.flatnonzero(trace.clusters_seen == 8) for trace in sessions]
    needed = [
        trace.n_answers[found[0]] for trace, found in zip(sessions, seen, strict=True) if len(found)
    ]
    when = f"after {np.median(needed):.0f} answers (median)" if needed else "in no session"
    print(f"{name:<21} all eight clouds in {len(needed)} of 5 sessions, {when}")

# %%
# Left, the clouds and the first 24 questions of minimum norm. Right, the accuracy on the points
# without a label: means over the sessions, and their range.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6))
left.scatter(
    *data.X.T, s=6, c=np.where(data.classes, "#E69F00", "#0072B2"), alpha=0.35, linewidths=0
)
trace = traces["minimum norm"][0]
left.scatter(*data.X[trace.initial].T, s=60, marker="s", color="black")
left.scatter(*data.X[trace.queries[:24]].T, s=120, color="white", edgecolors="black", zorder=3)
for number, i in enumerate(trace.queries[:24], start=1):
    left.annotate(number, data.X[i], ha="center", va="center", fontsize=7, zorder=4)
left.set(title="Questions of minimum norm", xticks=[], yticks=[])
left.set_aspect("equal")
for name, sessions in traces.items():
    accuracy = 100 * np.stack([trace.accuracy for trace in sessions])
    (line,) = right.plot(sessions[0].n_answers, accuracy.mean(axis=0), label=name)
    low, high = accuracy.min(axis=0), accuracy.max(axis=0)
    right.fill_between(
        sessions[0].n_answers, low, high, color=line.get_color(), alpha=0.12, linewidth=0
    )
right.set(title="Right predictions, %", xlabel="answers", ylim=(25, 101))
right.legend(loc="lower right")
plt.show()
