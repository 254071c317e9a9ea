"""A small project: two crowds of points, every answer known."""

import numpy as np

import poise
from poise.studio.catalogue import Catalogue
from poise.studio.project import Project
from poise.studio.store import EventStore


def make_project(folder, n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(c, 0.4, (n // 2, 2)) for c in (0.0, 3.0)])
    ids = tuple(f"item{i}" for i in range(n))
    catalogue = Catalogue("crowds", "vector", ids, X)
    graph = poise.knn_graph(X, k=8)
    return Project(catalogue, graph, EventStore(folder / "crowds.poise" / "events.db"))


def truth(item):
    return "left" if int(item.removeprefix("item")) < 30 else "right"
