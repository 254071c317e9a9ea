"""
77 intents from a CSV
=====================

A table of short questions to a bank, 77 things that people want, and more classes than anybody
can keep in mind. Which questions should be labelled first?
"""

import csv
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import poise

# %%
# The table has a column ``text``. The column ``intent`` plays the part of the person who answers.

table = Path(os.environ["POISE_DATA"], "banking77.csv")
with table.open(encoding="utf-8", newline="") as file:
    rows = [row for row in csv.DictReader(file) if row["split"] == "test"]
texts = [row["text"].strip() for row in rows]
intents = np.array([row["intent"].replace("_", " ") for row in rows])
print(len(texts), "questions,", len(np.unique(intents)), "intents, for example:")
for text in texts[::600]:
    print("-", text)

# %%
# Texts become numbers by their meaning, with an encoder that comes with ``poise[app]``.

graph = poise.knn_graph(poise.embed(texts), k=10, metric="cosine")

# %%
# Label 150 questions, chosen by poise or at random. ``simulate`` asks and answers, and measures the
# accuracy on the questions without a label after every answer.

traces = {
    name: poise.simulate(graph, intents, acquisition=name, budget=150, initial=0)
    for name in ("auto", "random")
}

# %%
# A learner gives each unlabelled question its intent. Here are five that it is least sure of:
# they are the ones to look at next.

asked = traces["auto"].queries
learner = poise.Learner(graph, {int(i): intents[i] for i in asked})
predicted = learner.predictions
sure = learner.probabilities.max(axis=1)
sure[asked] = 1.0
for i in np.argsort(sure)[:5]:
    print(f"- {texts[i]}\n  looks like: {predicted[i]}, and is: {intents[i]}")

# %%
# With so many classes, most of the work is to meet each of them once. Questions chosen by poise do
# that with far fewer answers than random ones.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
for name, trace in traces.items():
    left.plot(trace.n_answers, 100 * trace.accuracy, label=name)
    right.plot(trace.n_answers, trace.clusters_seen, label=name)
left.set(title="Right predictions, %", xlabel="answers", ylim=(0, 100))
right.axhline(77, color="#8A8F98", linewidth=1, linestyle="--")
right.set(title="Intents seen, of 77", xlabel="answers", ylim=(0, 80))
left.legend()
plt.show()
