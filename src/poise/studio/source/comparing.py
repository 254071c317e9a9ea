"""How the items of a project are compared: by which embedding, neighbours and metric."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from poise import embeddings
from poise.data.embeddings.choosing import stronger, suited
from poise.data.embeddings.items import Items

#: Neighbours per item, unless the user says otherwise.
NEIGHBOURS = 10
#: Embeddings whose vectors differ in direction: compared by angle, the others by distance.
BY_ANGLE = frozenset({"image-encoder", "photo", "sentence", "text-encoder", "tfidf"})
EUCLIDEAN = "euclidean"
#: Why an embedding is used that the user named.
ASKED = "it was asked for"
#: What ``project.toml`` calls the embedding where users bring vectors of their own.
GIVEN = "given"


class Compared(NamedTuple):
    """How items are compared.

    Attributes
    ----------
    embedding : its name
    why : why this one, as a sentence without its full stop
    k : neighbours per item
    metric : "euclidean" or "cosine"
    """

    embedding: str
    why: str
    k: int
    metric: str

    @property
    def is_itemwise(self) -> bool:
        """Whether each item is embedded by itself."""
        name = self.embedding
        return name in embeddings and getattr(embeddings.factory(name), "itemwise", False)


def comparison(
    items: Items,
    before: Mapping[str, Any],
    *,
    embedding: str | None,
    k: int | None,
    metric: str | None,
    own_vectors: bool = False,
) -> Compared:
    """How a project compares its items.

    Parameters
    ----------
    before : what ``project.toml`` says
    embedding : raw, pca, tfidf, ...; None: the project's own, or by the kind of the items
    k : neighbours per item; all others if there are fewer. None: as many as the project has
        already, so that a new default never changes the graph under existing answers, else
        `NEIGHBOURS`
    metric : "euclidean" or "cosine"; None: the project's own, or by the embedding
    own_vectors : whether users bring vectors of their own
    """
    n = len(items)
    name, why = (GIVEN, "vectors were given") if own_vectors else _chosen(items, embedding, before)
    k = min(_neighbours(before) if k is None else k, n - 1)
    return Compared(name, why, k, metric or _metric(before, name))


def comparison_sentence(about: Mapping[str, Any]) -> str:
    """What items are compared by, why, and what could be tried instead, in sentences.

    Parameters
    ----------
    about : what ``project.toml`` says
    """
    name = str(about.get("embedding", ""))
    if name == GIVEN:
        return "Items are compared by the vectors that you gave."
    sentence = f"Items are compared by {name}: {about.get('why', '')}."
    return f"{sentence} {stronger(name)}." if stronger(name) else sentence


def _chosen(items: Items, wanted: str | None, before: Mapping[str, Any]) -> tuple[str, str]:
    """The embedding, and why: the one asked for, the project's own, or what suits the items.

    A project keeps the embedding it was made with: another would change every distance under
    existing answers.
    """
    if wanted is not None:
        embeddings.factory(wanted)  # an unknown name costs no work
        return wanted, before.get("why", ASKED) if before.get("embedding") == wanted else ASKED
    kept = before.get("embedding")
    if isinstance(kept, str) and kept in embeddings:
        return kept, str(before.get("why", "the project was made with it"))
    return suited(items)


def _neighbours(before: Mapping[str, Any]) -> int:
    """As many as the project has, unless it had too few items for more."""
    kept = before.get("k")
    good = type(kept) is int and kept >= 1 and before.get("items") != kept + 1
    return int(kept) if good else NEIGHBOURS  # type: ignore[arg-type]


def _metric(before: Mapping[str, Any], embedding: str) -> str:
    """How vectors are compared: as the project has done so far with this embedding.

    A project that does not say was made when all were compared by their distance.
    """
    usual = "cosine" if embedding in BY_ANGLE else EUCLIDEAN
    if before.get("embedding") != embedding:
        return usual
    kept = before.get("metric", EUCLIDEAN)
    return kept if kept in (EUCLIDEAN, "cosine") else usual
