"""The data sets on which label efficiency is measured, and those on which rules may be tuned."""

from dataclasses import dataclass
from typing import Literal

from poise import Dataset, load_dataset

Role = Literal["tuning", "reporting"]


@dataclass(frozen=True)
class Pool:
    """A data set with its features; its groupings share points, graphs and label-free questions.

    Attributes
    ----------
    dataset, embedding : as for `load_dataset`
    metric : metric between items: cosine for encoders and words
    groupings : 0 for the classes as they are, K for clusters modulo K
    role : "tuning" sets may be used to choose a rule, "reporting" sets may not
    seen : whether figures on a reporting set were known before the rule was chosen
    note : what to know about the data; shown with pictures
    """

    dataset: str
    embedding: str = "raw"
    metric: str = "euclidean"
    groupings: tuple[int, ...] = (0,)
    role: Role = "tuning"
    seen: bool = False
    note: str = ""

    def load(self) -> Dataset:
        return load_dataset(self.dataset, embedding=self.embedding)

    def name(self, grouping: int) -> str:
        """Name in tables of this pool with its clusters grouped."""
        return f"{self.dataset}-mod{grouping}" if grouping else self.dataset


#: The file that was measured.
EMNIST = "A class-balanced part of 42,300 points, not the official 131,600."

POOLS: dict[str, Pool] = {
    pool.dataset: pool
    for pool in (
        Pool("blobs"),
        Pool("box"),
        Pool("digits"),
        Pool("banking77", "use", "cosine"),
        Pool("cifar10", "eff", "cosine"),
        Pool("isolet"),
        Pool("mnist-imb", "vae", groupings=(0, 3)),
        Pool("20news", "tfidf", "cosine", role="reporting"),
        Pool("mnist", "vae", groupings=(0, 3), role="reporting", seen=True),
        Pool("fashionmnist", "vae", groupings=(0, 3), role="reporting", seen=True),
        Pool("emnist", "vae", role="reporting", note=EMNIST),
        Pool("emnist-bymerge", "vae", role="reporting"),
    )
}


def set_names(role: Role | None = None) -> list[str]:
    """Names of all pools and groupings of a role, or of both."""
    return [
        pool.name(grouping)
        for pool in POOLS.values()
        if role in (None, pool.role)
        for grouping in pool.groupings
    ]
