"""Embeddings: from items to rows of numbers whose distances mean something. One file each."""

from poise.data.embeddings.pca import PCA
from poise.data.embeddings.raw import Raw
from poise.data.embeddings.registry import Embedding, embed, embeddings
from poise.data.embeddings.tfidf import TfIdf

__all__ = ["PCA", "Embedding", "Raw", "TfIdf", "embed", "embeddings"]
