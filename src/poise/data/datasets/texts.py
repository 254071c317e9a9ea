"""Data sets of texts: `X` is always an embedding, by default tf-idf."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from poise.data import folders
from poise.data.datasets.dataset import Dataset
from poise.data.datasets.embedded import stored_embedding
from poise.data.datasets.registry import datasets
from poise.data.download import fetch, silent_retries
from poise.data.embeddings.registry import embed
from poise.data.tables import read_columns
from poise.errors import DataError, InputError
from poise.progress import Progress, without_note

#: A commit, so that the files stay as they are.
BANKING = (
    "https://raw.githubusercontent.com/PolyAI-LDN/task-specific-datasets/"
    "57ec275d8078af65b7731c2a98be812d844a6d6b/banking_data"
)
BANKING_FILES = {
    "train.csv": "cec64185f4197906aabce0781ef9a19b",
    "test.csv": "8dcd9dc31b686c75ec1f24bf23c140cb",
}
BANKING_ORIGIN = (
    "I. Casanueva et al., Efficient Intent Detection with Dual Sentence Encoders, 2020 (PolyAI)",
    "CC BY 4.0",
)
N_QUESTIONS, N_TEST_QUESTIONS = 13_083, 3_080
N_POSTS = 18_846
NEWS_ORIGIN = (
    "K. Lang, NewsWeeder: Learning to Filter Netnews, 1995 (20 Newsgroups, sorted by date)",
    "none stated; a public research set",
)
#: Embeddings of numbers, refused early: they would first make one large array of all texts.
NUMBER_EMBEDDINGS = ("hog", "image-encoder", "pca", "photo", "vae")

#: Texts, and the class of each.
Table = tuple[Sequence[str], Sequence[str]]


@datasets.register("banking77")
def banking77(embedding: str = "raw", progress: Progress | None = None) -> Dataset:
    """13,083 short questions to a bank, 77 intents, training questions first; tf-idf by default.

    Clusters are the intents in alphabetical order. White space around questions is removed.
    """

    def questions() -> Table:
        own = _own("banking77.csv")
        if own is not None:
            texts, intents = _columns(own, "text", "intent")
        else:
            texts, intents = [], []
            for file, md5 in BANKING_FILES.items():
                path = folders.cache() / "downloads" / "banking77" / file
                part = _columns(fetch(f"{BANKING}/{file}", path, md5, progress), "text", "category")
                texts, intents = texts + part[0], intents + part[1]
        return [text.strip() for text in texts], intents

    dataset = _embedded("banking77", questions, embedding, BANKING_ORIGIN, progress)
    if dataset.n_points == N_QUESTIONS:
        return dataset
    if dataset.n_points == N_TEST_QUESTIONS:
        return dataset.noted(f"the {N_TEST_QUESTIONS:,} questions of the test split")
    return dataset.noted(f"{dataset.n_points:,} of the {N_QUESTIONS:,} questions")


@datasets.register("20news")
def twenty_news(embedding: str = "raw", progress: Progress | None = None) -> Dataset:
    """18,846 posts to 20 newsgroups, training posts first; tf-idf by default.

    Clusters are the newsgroups in alphabetical order. Posts are complete, with headers, quotations
    and signatures, so some words give the newsgroup away.
    """

    def posts() -> Table:
        own = _own("20news.parquet")
        return _fetched_news() if own is None else _columns(own, "text", "newsgroup")

    dataset = _embedded("20news", posts, embedding, NEWS_ORIGIN, progress)
    dataset = dataset.noted("posts with headers, quotations and signatures")
    if dataset.n_points == N_POSTS:
        return dataset
    return dataset.noted(f"{dataset.n_points:,} posts instead of scikit-learn's {N_POSTS:,}")


def _embedded(
    name: str,
    table: Callable[[], Table],
    embedding: str,
    origin: tuple[str, str],
    progress: Progress | None,
) -> Dataset:
    """Texts by an embedding: from NAME_EMBEDDING.npz if there is one, else computed once."""
    embedding = "tfidf" if embedding == "raw" else embedding
    note = f"embedded with {embedding}"
    pair = stored_embedding(name, embedding)
    if pair is not None:
        X, y = pair
        return Dataset(name, X, y, y, *origin, None, note)
    if embedding in NUMBER_EMBEDDINGS:
        raise InputError(
            f"{name} holds texts, and {embedding} is for numbers: use tfidf or sentence"
        )
    texts, classes = table()
    X = embed(texts, embedding, progress=without_note(progress))
    y = np.unique(np.asarray(classes), return_inverse=True)[1].astype(np.int64)
    return Dataset(name, X, y, y, *origin, None, note, tuple(texts))


def _own(file: str) -> Path | None:
    """A file in the folder named by POISE_DATA, if there is one."""
    folder = folders.own_files()
    return folder / file if folder is not None and (folder / file).is_file() else None


def _columns(path: Path, text: str, label: str) -> tuple[list[str], list[str]]:
    """Texts and classes of a table in which every row has both."""

    def both(names: Sequence[str]) -> list[str]:
        if text not in names or label not in names:
            raise DataError(
                f"{path} has the columns {', '.join(names)}: expected {text} and {label}"
            )
        return [text, label]

    columns = read_columns(path, both)
    for number, row in enumerate(zip(columns[text], columns[label], strict=True), start=1):
        if not all(isinstance(value, str) for value in row):
            raise DataError(f"row {number} of {path} has no {text} or no {label}: correct it")
    return columns[text], columns[label]


def _fetched_news() -> Table:
    """The posts, downloaded by scikit-learn, which verifies and keeps them."""
    from sklearn.datasets import fetch_20newsgroups

    texts: list[str] = []
    groups: list[str] = []
    for split in ("train", "test"):
        try:
            with silent_retries():
                news = fetch_20newsgroups(subset=split, shuffle=False, data_home=folders.cache())
        except OSError as error:
            raise DataError(
                f"cannot fetch 20news ({getattr(error, 'reason', error)}): connect to a network "
                "and try again, or set POISE_DATA to a folder that holds 20news.parquet"
            ) from None
        names = [Path(file).parts[-2:] for file in news.filenames]
        for i in sorted(range(len(names)), key=names.__getitem__):  # scikit-learn shuffles
            texts.append(news.data[i])
            groups.append(news.target_names[news.target[i]])
    return texts, groups
