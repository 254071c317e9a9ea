"""
Compare ten strategies
======================

Which way of asking needs the fewest labels on data like yours? If you have data with known
classes, simulate.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import poise

X, y = load_digits(return_X_y=True)
graph = poise.knn_graph(X, k=10)

# %%
# Ten acquisitions, four sessions each. The sessions of an acquisition advance together, so that
# their linear systems are columns of one solve. Every session starts with one random label.

names = [
    "auto",
    "norm",
    "coverage",
    "vopt",
    "maxherding",
    "uncertainty-herding",
    "typiclust",
    "margin",
    "badge",
    "random",
]
curves = {}
for name in names:
    traces = poise.simulate_many(graph, y, acquisition=name, budget=60, seeds=range(4), initial=1)
    curves[name] = 100 * np.stack([trace.accuracy for trace in traces])

# %%
# One number per method: the area under its curve, which is its mean accuracy from the first
# answer to the last. The spread is the standard deviation over the sessions. If two methods
# differ by less than their spread, these sessions do not tell which is better.

area = {name: curve.mean(axis=1) for name, curve in curves.items()}
ranked = sorted(names, key=lambda name: -area[name].mean())
print("method                area   spread")
for name in ranked:
    print(f"{name:<21}{area[name].mean():5.1f}   {area[name].std(ddof=1):5.1f}")

# %%
# The curves of five methods with a band of one standard deviation, the others in grey. The points
# on the right are the key: the same colours, the best method on top.

shown = list(dict.fromkeys(["auto", ranked[0], ranked[1], "norm", "random"]))
colors = {name: f"C{shown.index(name)}" if name in shown else "#B8BCC4" for name in names}
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.4), width_ratios=[1.6, 1])
answers = np.arange(curves["auto"].shape[1])
for name in reversed(ranked):
    mean, spread = curves[name].mean(axis=0), curves[name].std(axis=0, ddof=1)
    left.plot(answers, mean, color=colors[name], linewidth=2 if name in shown else 1, label=name)
    if name in shown:
        band = {"color": colors[name], "alpha": 0.15, "linewidth": 0}
        left.fill_between(answers, mean - spread, mean + spread, **band)
for row, name in enumerate(ranked):
    wide = area[name].std(ddof=1)
    right.errorbar(area[name].mean(), row, xerr=wide, fmt="o", color=colors[name], elinewidth=2)
left.set(title="Right predictions, %", xlabel="answers", ylim=(30, 100))
right.set(title="Area under the curve", yticks=range(len(ranked)), yticklabels=ranked)
right.invert_yaxis()
plt.show()
