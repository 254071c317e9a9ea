"""Accuracy on photographs and texts with the default settings.

Items are embedded, the graph is built and questions are asked as in the app, starting without
labels, with truthful answers. For comparison, scikit-learn's logistic regression gets the same
number of random labels, on the same features and on features that need no encoder.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from poise import Learner, embed, knn_graph, load_dataset
from poise.arrays import Ints
from poise.data.embeddings.choosing import suited
from poise.data.embeddings.items import Items
from poise.experiments.bench.row import Row
from poise.models.combined import linear_probabilities
from poise.models.labels import Labels
from poise.progress import Progress

#: Numbers of answers at which accuracy is measured.
ANSWERS = (20, 50, 100)
#: Trials, draws of random labels per trial, and maximal number of items in a trial.
TRIALS, DRAWS, ITEMS = 3, 5, 6_000
#: Neighbours per item, and the metric for features of encoders and words, as in the app.
NEIGHBOURS, METRIC = 10, "cosine"
#: Goal of sets without goals of their own: accuracy above logistic regression on random labels.
ABOVE = 0.05


@dataclass(frozen=True)
class Set:
    """A data set of original items.

    Attributes
    ----------
    name : the name in tables
    load : () -> items, classes
    plain : the embedding that needs no encoder
    goals : accuracies at `ANSWERS`; empty if `ABOVE` is the goal
    """

    name: str
    load: Callable[[], tuple[Items, Ints]]
    plain: str
    goals: tuple[float, ...] = ()


def photos() -> tuple[Items, Ints]:
    """The test photos of CIFAR-10."""
    data = load_dataset("cifar10")
    return data.X.reshape(-1, 32, 32, 3), data.classes


def questions() -> tuple[Items, Ints]:
    """The test split of banking77, its last 3,080 questions."""
    data = load_dataset("banking77", embedding="tfidf")
    return list((data.texts or ())[-3080:]), data.classes[-3080:]


def posts() -> tuple[Items, Ints]:
    """20 Newsgroups without headers, quotations and signatures, and without empty posts."""
    data = load_dataset("20news", embedding="tfidf")
    bodies = [body(text) for text in data.texts or ()]
    kept = [i for i, text in enumerate(bodies) if text]
    return [bodies[i] for i in kept], data.classes[kept]


def body(post: str) -> str:
    """A post without its header, quotations and signature."""
    lines = re.split(r"\r?\n|\t", post)
    start = lines.index("") if "" in lines else 0
    lines = lines[start:]
    if "--" in (marks := [line.strip() for line in lines]):
        lines = lines[: marks.index("--")]
    quoted = re.compile(r"^\s*[>|:}]|writes?( in .*)?:\s*$|wrote:\s*$|^In article")
    return "\n".join(line for line in lines if not quoted.search(line)).strip()


SETS = {
    "cifar10": Set("cifar10 test photos", photos, "pca", (0.52, 0.57, 0.60)),
    "banking77": Set("banking77 test questions", questions, "tfidf", (0.22, 0.43, 0.58)),
    "20news": Set("20news posts", posts, "tfidf"),
}


def representations(progress: Progress, names: Sequence[str] = ()) -> Iterator[Row]:
    """Accuracy on the rest at 20, 50 and 100 answers, on the named sets or all of `SETS`."""
    chosen_sets = [SETS[name] for name in names or SETS]
    for done, subject in enumerate(chosen_sets):
        progress(done, len(chosen_sets))
        items, classes = subject.load()
        X = embed(items)
        plain = embed(items, subject.plain)
        name = suited(items).name
        ours, random, plain_random = [], [], []
        for number in range(TRIALS):
            rng = np.random.default_rng([number, 14])
            size = min(len(classes), ITEMS)
            chosen = np.sort(rng.choice(len(classes), size, replace=False))
            codes = np.unique(classes[chosen], return_inverse=True)[1].astype(np.int64)
            ours.append(curve(X[chosen], codes, number))
            draws = [rng.permutation(size)[: ANSWERS[-1]] for _ in range(DRAWS)]
            random.append(np.mean([regression(X[chosen], codes, d) for d in draws], axis=0))
            plain_random.append(
                np.mean([regression(plain[chosen], codes, d) for d in draws], axis=0)
            )
        means = [np.mean(values, axis=0) for values in (ours, random, plain_random)]
        for at, answers in enumerate(ANSWERS):
            ours_at, random_at, plain_at = (float(mean[at]) for mean in means)
            goal = subject.goals[at] if subject.goals else random_at + ABOVE
            what = (
                f"{subject.name}, {answers} answers, by {name}; random labels, logistic regression"
            )
            yield Row(what, ours_at, random_at, goal=goal)
            yield Row(
                f"{subject.name}, {answers} random labels, the same on {subject.plain}", plain_at
            )
    progress(len(chosen_sets), len(chosen_sets))


def curve(X: npt.NDArray[Any], codes: Ints, seed: int) -> list[float]:
    """Accuracy on the rest at each of `ANSWERS`, as the app asks and predicts."""
    learner = Learner(knn_graph(X, NEIGHBOURS, metric=METRIC), seed=seed, anticipate=False)
    accuracies = []
    for answers in range(1, ANSWERS[-1] + 1):
        (node,) = learner.ask().tolist()
        learner.tell(node, int(codes[node]))
        if answers in ANSWERS:
            rest = np.ones(len(codes), dtype=bool)
            rest[list(learner.labels)] = False
            accuracies.append(float((learner.predictions == codes)[rest].mean()))
    return accuracies


def regression(X: npt.NDArray[Any], codes: Ints, nodes: Ints) -> list[float]:
    """Accuracy of logistic regression with random labels at each of `ANSWERS`."""
    accuracies = []
    for answers in ANSWERS:
        known = {int(i): int(codes[i]) for i in nodes[:answers]}
        labels = Labels.of(known, len(codes), range(int(codes.max()) + 1))
        probabilities = linear_probabilities(X, labels)
        rest = np.ones(len(codes), dtype=bool)
        rest[labels.nodes] = False
        guess = labels.codes[0] if probabilities is None else probabilities.argmax(axis=1)
        accuracies.append(float((guess == codes)[rest].mean()))
    return accuracies
