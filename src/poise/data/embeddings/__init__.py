"""Embeddings: from items to rows of numbers whose distances mean something. One file each."""

from poise.data.embeddings.encoders import ImageEncoder, TextEncoder
from poise.data.embeddings.hog import HOG
from poise.data.embeddings.items import Images
from poise.data.embeddings.pca import PCA
from poise.data.embeddings.raw import Raw
from poise.data.embeddings.registry import Embedding, embed, embeddings
from poise.data.embeddings.sentence import Sentence
from poise.data.embeddings.tfidf import TfIdf
from poise.data.embeddings.vae import VAE

__all__ = [
    "HOG",
    "PCA",
    "VAE",
    "Embedding",
    "ImageEncoder",
    "Images",
    "Raw",
    "Sentence",
    "TextEncoder",
    "TfIdf",
    "embed",
    "embeddings",
]
