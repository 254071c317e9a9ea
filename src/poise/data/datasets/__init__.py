"""Data sets by name."""

from poise.data.datasets import bundled, generated, photos, public, texts
from poise.data.datasets.dataset import Dataset
from poise.data.datasets.registry import datasets, load_dataset

__all__ = [
    "Dataset",
    "bundled",
    "datasets",
    "generated",
    "load_dataset",
    "photos",
    "public",
    "texts",
]
