"""Predictions of a labelled project for new items, which are not added to it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from poise import Graph, embed, knn_graph
from poise.active.new_points import predict_points
from poise.data.embeddings.registry import embeddings
from poise.data.tables import TABLES
from poise.errors import InputError
from poise.progress import Progress, no_progress, without_note
from poise.studio.asking.predictions import MAX_UNSEEN_SHARE, unseen
from poise.studio.asking.setup import setup_of
from poise.studio.project import Project
from poise.studio.source.catalogue import Catalogue
from poise.studio.source.centring import is_centred, uncentred
from poise.studio.source.comparing import GIVEN
from poise.studio.source.preparing import embeddable, encoder
from poise.studio.source.reading import read_catalogue

#: Columns of the result. "near" says whether similar items are labelled.
FIELDS = ("id", "source", "label", "probability", "near")

Row = tuple[str, str, str, float | None, bool]
Features = npt.NDArray[np.float32]


def read_new(
    source: str, about: Mapping[str, Any], progress: Progress, **options: Any
) -> Catalogue:
    """New items, read as the project's own unless the options say otherwise.

    Parameters
    ----------
    about : what ``project.toml`` says
    **options : of `read_catalogue`; a table's columns are the project's if they are None
    """
    if Path(source).suffix.lower() in TABLES:
        if options.get("column") is None:
            options["column"] = about.get("column")
        if options.get("vectors") is None and options.get("features") is None:
            options["vectors"] = about.get("vectors")
    encode = encoder(str(about.get("embedding")))
    return read_catalogue(source, use_labels=False, progress=progress, encode=encode, **options)


def predict_new(
    project: Project,
    embedding: str,
    new: Catalogue,
    progress: Progress = no_progress,
) -> list[Row]:
    """A row for each new item: its class, how likely that is right, and whether a label is near.

    A new item gets the average of the predictions for its k nearest items in the project. Near
    means that one of these, or one of their neighbours, is labelled, and that the new item is not
    farther from all of them than they are from their own neighbours. A probability is given once
    there is evidence for one, as in the app.

    Parameters
    ----------
    embedding : the one that the project was made with
    progress : called with (done, total) while new items are embedded
    """
    if not project.state.labels:
        raise InputError("nothing is labelled in this project yet: label some items first")
    graph, X = _placed(project, embedding, new, progress)
    learner = setup_of(project.state, project.nodes).learner(graph, 0)
    predicted = predict_points(learner, X)
    codes, weights = predicted.codes, predicted.placement.weights
    labelled = np.zeros(graph.n_nodes)
    labelled[list(learner.labels)] = 1.0
    among = weights @ (labelled + (graph.weights @ labelled > 0)) > 0
    near = (among & predicted.placement.near).tolist()
    shown = learner.calibration.has_evidence and unseen(learner.labels) <= MAX_UNSEEN_SHARE
    shares = predicted.probabilities[np.arange(len(codes)), codes]
    return [
        (
            item,
            source,
            str(learner.classes[code]),
            round(min(float(share), 1.0), 4) if shown else None,
            is_near,
        )
        for item, source, code, share, is_near in zip(
            new.ids, new.sources, codes.tolist(), shares.tolist(), near, strict=True
        )
    ]


def _placed(
    project: Project, embedding: str, new: Catalogue, progress: Progress
) -> tuple[Graph, Features]:
    """The project's graph, and the new items in the same features."""
    noted = without_note(progress)
    old = project.catalogue
    if embedding == GIVEN:
        if new.vectors is None:
            raise InputError(
                "this project compares items by your own vectors: give those of the new items too, "
                "with --vectors COLUMN or --features X.npy"
            )
        return project.graph, np.ascontiguousarray(new.vectors, dtype=np.float32)
    if new.kind != old.kind:
        raise InputError(
            f"{new.name} holds items of kind {new.kind}, and the project's are {old.kind}: give "
            "items of the same kind"
        )
    made: Any = embeddings.factory(embedding)
    if embedding == "raw" or getattr(made, "itemwise", False):
        rows = embed(new.items, embedding, progress=noted, **uncentred(embedding))
        if is_centred(embedding) and project.centre is not None:
            return project.graph, rows - project.centre
        return project.graph, rows
    # Fitted to all items, such as principal components: fitted again, to old and new together.
    together = embed(_joined(old, new, embedding), embedding, cached=False, progress=noted)
    X, X_new = together[: len(old)], together[len(old) :]
    made_by = project.graph.construction
    assert made_by is not None  # projects join neighbours themselves
    return knn_graph(X, made_by.k or 1, metric=made_by.metric), X_new


def _joined(old: Catalogue, new: Catalogue, embedding: str) -> Any:
    """Items of both, in the form that the embedding wants."""
    parts: list[Any] = [embeddable(old, embedding), embeddable(new, embedding)]
    if old.kind == "text":
        return [*parts[0], *parts[1]]
    try:
        return np.concatenate(parts)
    except ValueError:
        raise InputError(
            f"items of {new.name} differ in size from the project's: give items of the same size"
        ) from None
