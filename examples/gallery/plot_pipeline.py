"""
New items in a scikit-learn pipeline
====================================

poise's models are scikit-learn estimators: they fit on labelled and unlabelled items together,
and predict items that they have never seen.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import poise

X, y = load_digits(return_X_y=True)
X_seen, X_new, y_seen, y_new = train_test_split(X, y, test_size=500, random_state=0)

# %%
# An item whose class is -1 is unlabelled. The pipeline reduces the images to thirty numbers,
# links them in a graph, and spreads forty labels over it.

given = np.full(len(y_seen), -1)
given[:40] = y_seen[:40]
pipeline = make_pipeline(PCA(30, random_state=0), poise.PWLL(k=10)).fit(X_seen, given)
print(f"{pipeline.score(X_new, y_new):.0%} of the new items right")
print("shape of the probabilities:", pipeline.predict_proba(X_new).shape)

# %%
# Classifiers without a graph learn from the labelled items only. How does that compare?

labels = (10, 20, 40, 80, 160)
models = {
    "PWLL": lambda: poise.PWLL(k=10),
    "LaplaceLearning": lambda: poise.LaplaceLearning(k=10),
    "logistic regression": lambda: LogisticRegression(max_iter=2000),
    "nearest neighbour": lambda: KNeighborsClassifier(1),
}
scores = {name: np.zeros((3, len(labels))) for name in models}
for seed in range(3):
    order = np.random.default_rng(seed).permutation(len(y_seen))
    for column, n in enumerate(labels):
        some = order[:n]
        partly = np.full(len(y_seen), -1)
        partly[some] = y_seen[some]
        for name, model in models.items():
            pipe = make_pipeline(PCA(30, random_state=0).fit(X_seen), model())
            if hasattr(poise, name):
                pipe.fit(X_seen, partly)
            else:
                pipe[-1].fit(pipe[0].transform(X_seen[some]), y_seen[some])
            scores[name][seed, column] = 100 * pipe.score(X_new, y_new)

# %%
# Right predictions on the 500 new items: means of three random choices of the labels, and their
# range.

figure, axis = plt.subplots()
for name, score in scores.items():
    (line,) = axis.plot(labels, score.mean(axis=0), marker="o", label=name)
    low, high = score.min(axis=0), score.max(axis=0)
    axis.fill_between(labels, low, high, color=line.get_color(), alpha=0.08, linewidth=0)
axis.set_xscale("log", base=2)
axis.set(xticks=labels, xticklabels=labels, xlabel="random labels", title="New items right, %")
axis.legend(loc="lower right")
plt.show()
