"""Values of the acquisition functions at every point of the plane, at the stages of the paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise import Dataset, Graph, Learner
from poise.experiments.experiment import Method
from poise.experiments.records import Records

#: Experiment -> numbers of answers at which the paper shows heat maps.
STAGES: dict[str, tuple[int, ...]] = {"blobs": (0, 9, 100), "box": (0, 15, 50)}
#: The methods in those figures, one per row.
METHODS = ("sm", "norm", "norm-decay")


@dataclass(frozen=True, eq=False)
class HeatMap:
    """The values of a method in one trial after some answers.

    Attributes
    ----------
    values : (n,) values of the acquisition function, the largest is asked first; NaN if labelled
    labelled : labelled nodes, in the order of their answers
    """

    method: Method
    seed: int
    answers: int
    values: NDArray[np.floating[Any]]
    labelled: NDArray[np.int64]


def heat_maps(
    records: Records,
    data: Dataset,
    graph: Graph,
    *,
    methods: Sequence[str] = METHODS,
    stages: Sequence[int] | None = None,
) -> list[HeatMap]:
    """Values of `methods` at `stages` in the first trial that all of them have finished.

    A session depends only on its answers, so it is replayed from the recorded questions. Methods
    without a finished trial and stages beyond the budget are left out.
    """
    wanted = STAGES.get(records.experiment.name, ()) if stages is None else stages
    reached = sorted(stage for stage in wanted if stage <= records.experiment.budget)
    present = [method for method in records.methods if method.name in methods]
    present.sort(key=lambda method: list(methods).index(method.name))
    shared = [
        seed
        for seed in records.experiment.seeds
        if all(seed in records.seeds(method.name) for method in present)
    ]
    if not shared:
        return []
    return [
        heat_map
        for method in present
        for heat_map in _of_trial(records, method, shared[0], data, graph, reached)
    ]


def _of_trial(
    records: Records,
    method: Method,
    seed: int,
    data: Dataset,
    graph: Graph,
    stages: Sequence[int],
) -> list[HeatMap]:
    initial, asked = records.queries(method.name, seed)
    learner = Learner(
        graph,
        {node: int(data.classes[node]) for node in initial},
        acquisition=method.acquisition,
        policy=method.policy,
        tau=method.tau,
        model=method.model,
        seed=seed,
        anticipate=False,
    )
    maps = []
    for stage in stages:
        more = asked[learner.n_answers : stage]
        if more:
            learner.tell(more, [int(data.classes[node]) for node in more])
        labelled = np.array([*initial, *asked[:stage]], dtype=np.int64)
        maps.append(HeatMap(method, seed, stage, learner.values, labelled))
    return maps
