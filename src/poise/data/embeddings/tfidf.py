"""Texts by the words in them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from poise.checks import whole_number
from poise.data.embeddings.items import Items, are_texts
from poise.data.embeddings.registry import embeddings
from poise.errors import InputError


@embeddings.register("tfidf")
@dataclass(frozen=True)
class TfIdf:
    """Texts by their words and pairs of words, weighted by rarity, in few dimensions.

    Tf-idf with sublinear term frequencies, then a truncated singular value decomposition (latent
    semantic analysis), then rows of length 1. Needs no network and no model.

    Parameters
    ----------
    dimensions : int
    words : int
        Size of the vocabulary: the most frequent words and pairs.
    """

    dimensions: int = 100
    words: int = 50_000

    def __post_init__(self) -> None:
        for name in ("dimensions", "words"):
            whole_number(getattr(self, name), name, 1)

    def __call__(self, items: Items) -> npt.NDArray[np.float32]:
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.preprocessing import normalize

        if not are_texts(items):
            raise InputError("tfidf is for texts, and some items are not: use raw or pca")
        vectoriser = TfidfVectorizer(
            ngram_range=(1, 2), max_features=self.words, sublinear_tf=True, dtype=np.float32
        )
        try:
            words = vectoriser.fit_transform(items)
        except ValueError:
            raise InputError("the texts hold no words of two letters or more") from None
        d = min(self.dimensions, min(words.shape) - 1)
        if d < 1:
            return np.asarray(words.toarray(), dtype=np.float32)
        with np.errstate(divide="ignore", invalid="ignore"):  # shares of no variance
            X = TruncatedSVD(d, random_state=0).fit_transform(words)
        return np.asarray(normalize(X), dtype=np.float32)
