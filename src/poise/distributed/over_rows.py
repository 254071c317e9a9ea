"""What `DistributedLearner` computes from the rows of all ranks; every rank does its share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from poise.active.new_points import class_table
from poise.distributed.replica import Replica


def _gather(replica: Replica, what: str) -> Any:
    partition = replica.partition
    if what in ("scores", "norms"):
        values: Any = replica.scores()
        if what == "norms":
            values = np.sqrt(np.einsum("ij,ij->i", values, values))
    elif what == "values":
        values = replica.values()
    elif what == "reached":
        values = partition.reached(list(replica.session.state.labels))
    else:
        values = replica.result().codes
    return partition.in_order(values)


def _save_codes(replica: Replica, folder: str) -> None:
    codes, partition = replica.result().codes, replica.partition
    pairs = np.stack([partition.nodes, codes], axis=1)
    np.save(Path(folder) / f"codes-{partition.ranks.rank:05d}.npy", pairs)


def _share_right(replica: Replica, path: str) -> float:
    partition, state = replica.partition, replica.session.state
    true = np.load(path, mmap_mode="r")[partition.nodes]
    counts = true != (-1 if true.dtype.kind in "if" else "-1")
    counts[partition.rows_of(list(state.labels))[1]] = False
    right = (class_table(tuple(state.classes))[replica.result().codes] == true) & counts
    sums = partition.ranks.total(np.array([right.sum(), counts.sum()]))
    return float(sums[0] / max(sums[1], 1))


def _safe(replica: Replica, answers: str) -> None:
    replica.partition.ranks.watchdog.safe(answers)


#: Name of a command of rank 0 -> what each rank does.
OVER_ROWS: dict[str, Callable[..., Any]] = {
    "safe": _safe,
    "gather": _gather,
    "save_codes": _save_codes,
    "share_right": _share_right,
}
