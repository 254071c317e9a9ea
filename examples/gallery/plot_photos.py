"""
Label a folder of photos
========================

Two thousand photos of ten kinds of things, no class known at the start, and sixty questions. A
data set answers here in place of a person; ``poise label photos/`` asks you the same questions in
the browser.
"""

import os
import tarfile
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import poise

# %%
# The folder: here a fifth of the test photos of CIFAR-10, which ``POISE_DATA`` holds as an
# archive. With photos of your own, only the first two lines differ.

folder = Path(tempfile.mkdtemp())
with tarfile.open(Path(os.environ["POISE_DATA"], "cifar10_test.tar")) as archive:
    archive.extractall(folder, filter="data")

paths = sorted(folder.rglob("*.jpg"))[::5]
photos = np.stack([np.asarray(Image.open(path).convert("RGB")) for path in paths])
truth = np.array([path.parent.name for path in paths])
print(len(photos), "photos in the folders", *np.unique(truth))

# %%
# An encoder turns each photo into a row of numbers, such that photos of similar things are close.
# It comes with ``poise[app]`` and needs no network. The graph joins each photo to its ten
# nearest.

X = poise.embed(photos)
graph = poise.knn_graph(X, k=10, metric="cosine")

# %%
# Sixty questions. The first line in the loop is the question, the second one is the answer.

learner = poise.Learner(graph)
for _ in range(60):
    (i,) = learner.ask()
    learner.tell(i, truth[i])
right = (learner.predictions == truth).mean()
print(f"{len(learner.classes)} kinds found, {right:.0%} of the photos have the right class")

# %%
# The first twenty photos that poise asked about. Early questions jump from region to region, so
# most kinds of things appear soon.

figure, axes = plt.subplots(2, 10, figsize=(9, 2.5))
for i, axis in zip(learner.labels, axes.flat, strict=False):
    axis.imshow(photos[i])
    axis.set_title(truth[i], fontsize=8, loc="center")
    axis.axis("off")

# %%
# What the labels make of the rest: for each class the twelve photos without a label of which the
# model is most sure. Wrong ones have a red frame.

# sphinx_gallery_thumbnail_number = 2
unlabelled = np.setdiff1d(np.arange(len(photos)), list(learner.labels))
classes = np.array(learner.classes)
figure, axes = plt.subplots(len(classes), 12, figsize=(9, 0.78 * len(classes)))
for row, (name, sure) in enumerate(zip(classes, learner.probabilities.T, strict=True)):
    best = unlabelled[np.argsort(-sure[unlabelled], kind="stable")[:12]]
    for axis, i in zip(axes[row], best, strict=True):
        axis.imshow(photos[i])
        axis.set(xticks=[], yticks=[])
        wrong = truth[i] != name
        axis.spines[:].set(visible=wrong, color="#D55E00", linewidth=3)
    axes[row, 0].set_ylabel(name, rotation=0, ha="right", va="center")
figure.suptitle(f"After {len(learner.labels)} answers: {right:.0%} of all photos right")
plt.show()
