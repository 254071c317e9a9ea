"""
Two annotators
==============

Anna and Ben label together. Each has a question of their own, neither waits for the other, and
afterwards the graph says which answers to look at again.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import cohen_kappa_score

import poise

# %%
# Anna is always right. Ben is in a hurry: one of his answers in five is a random digit.

X, y = load_digits(return_X_y=True)
graph = poise.knn_graph(X, k=10)
rng = np.random.default_rng(1)


def anna(i):
    return int(y[i])


def ben(i):
    return int(rng.integers(10)) if rng.random() < 1 / 5 else int(y[i])


# %%
# ``ask`` never gives out a question that is still open, so two people can work at the same time.
# Answers may come in any order. Here Anna answers two questions while Ben answers one.

learner = poise.Learner(graph)
by = {}
for _ in range(40):
    (for_ben,) = learner.ask()
    for _ in range(2):
        (for_anna,) = learner.ask()
        learner.tell(for_anna, anna(for_anna))
        by[int(for_anna)] = "Anna"
    learner.tell(for_ben, ben(for_ben))
    by[int(for_ben)] = "Ben"
print(len(by), "items labelled by two people, no item twice")

# %%
# Do they agree?
# --------------
#
# Only items that both have answered can tell. Thirty of them, drawn at random:

both = rng.choice(len(y), 30, replace=False)
hers, his = [anna(i) for i in both], [ben(i) for i in both]
print(f"the same answer for {np.mean(np.equal(hers, his)):.0%}")
print(f"Cohen's kappa {cohen_kappa_score(hers, his):.2f}, where 1 is perfect and 0 is chance")

# %%
# Which answers look wrong?
# -------------------------
#
# Predict each labelled item from all the other labels. Where the prediction is another class, one
# of the two is wrong. The app shows such labels under Review.

given = np.full(len(y), -1)
given[list(learner.labels)] = list(learner.labels.values())
suspicious = []
for i, label in learner.labels.items():
    others = given.copy()
    others[i] = -1
    guess = poise.PWLL().fit(graph, others).transduction_[i]
    if guess != label:
        suspicious.append((i, label, guess))
wrong = [i for i, label in learner.labels.items() if label != y[i]]
caught = [i for i, _, _ in suspicious if i in wrong]
print(
    f"{len(wrong)} labels are wrong; {len(suspicious)} are suspicious, {len(caught)} of them wrong"
)

# %%
# The suspicious labels. A red frame marks a label that is wrong indeed.

columns = 8
rows = -(-len(suspicious) // columns)
figure, axes = plt.subplots(rows, columns, figsize=(9, 1.5 * rows), squeeze=False)
for axis in axes.flat:
    axis.axis("off")
for (i, label, guess), axis in zip(suspicious, axes.flat, strict=False):
    axis.axis("on")
    axis.imshow(X[i].reshape(8, 8))
    axis.set(xticks=[], yticks=[])
    axis.set_title(f"{by[i]}: {label}\nmodel: {guess}", fontsize=9, loc="center")
    axis.spines[:].set(visible=label != y[i], color="#D55E00", linewidth=4)
plt.show()
