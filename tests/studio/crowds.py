"""A small project: two crowds of points, every answer known."""

from dataclasses import replace

import numpy as np

import poise
from poise.studio.log.events import Event
from poise.studio.log.store import EventStore
from poise.studio.opening import Opening, Source
from poise.studio.project import Project
from poise.studio.source.catalogue import Catalogue


def make_project(folder, n=60, seed=0, known=None, X=None, **options):
    rng = np.random.default_rng(seed)
    if X is None:
        X = np.concatenate([rng.normal(c, 0.4, (n // 2, 2)) for c in (0.0, 3.0)])
    ids = tuple(f"item{i}" for i in range(n))
    catalogue = replace(Catalogue("crowds", "vector", ids, X), known=known or {})
    graph = poise.knn_graph(X, k=8)
    store = EventStore(folder / "crowds.poise" / "events.db")
    return Project(catalogue, X, graph, store, **options)


def opened(project):
    """As if the project had been opened by the app."""
    opening = Opening(Source("crowds"))
    opening.project, opening.catalogue = project, project.catalogue
    return opening


def truth(item):
    return "left" if int(item.removeprefix("item")) < 30 else "right"


def asked(project, annotator=""):
    """The item that somebody is asked about, when it is known; None if nothing is left."""
    question = project.wait(annotator, 30.0)
    return None if question is None else project.catalogue.ids[question.node]


def answer(project, item, annotator="", label=None, **data):
    event = Event("label", {"items": [item], "label": label or truth(item)} | data, annotator)
    return project.record(event)
