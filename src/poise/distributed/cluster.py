"""Dask workers: several processes of this machine, or a cluster that is already running."""

import platform
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise.errors import InputError
from poise.extras import needed


@contextmanager
def local_client(workers: int, memory: int | None = None) -> Iterator[Any]:
    """A client with worker processes on this machine, which end with it.

    Parameters
    ----------
    workers : int
        Processes, of one thread each.
    memory : int, optional
        Bytes that each may use; by default an equal share of the memory of this machine.
    """
    distributed = needed("distributed", "dask", "building a graph on several processes")
    with (
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # any free port
            memory_limit=memory or "auto",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def versions() -> dict[str, str]:
    """Versions that must agree, so that the graph does not depend on where a cell is searched."""
    import faiss

    return {
        "poise": poise.__version__,
        "numpy": np.__version__,
        "faiss": faiss.__version__,
        "Python": platform.python_version(),
    }


def check_workers(client: Any, folder: Path) -> int:
    """Check that all workers have these versions and see this folder; the number of workers.

    Raises
    ------
    InputError
        Names a worker that does not.
    """
    own = versions()
    token = folder / f".seen-by-all-{uuid.uuid4().hex}"
    token.touch()
    try:
        seen = client.run(_look, token)
    except ModuleNotFoundError as error:
        raise InputError(
            f"a worker lacks {error.name}: install the same version of poise[dask] on every machine"
        ) from None
    finally:
        token.unlink()
    if not seen:
        raise InputError("the Dask cluster has no workers: start some, then run the command again")
    for address, (theirs, visible) in seen.items():
        names = [name for name in own if theirs[name] != own[name]]
        different = [f"{name} {theirs[name]} and {own[name]}" for name in names]
        if different:
            raise InputError(
                f"the worker {address} has other versions than this process "
                f"({', '.join(different)}): install the same versions on every machine"
            )
        if not visible:
            raise InputError(
                f"the worker {address} does not see {folder}: use a folder on a file system that "
                "all machines share"
            )
    return len(seen)


def worker_memory(client: Any) -> int | None:
    """The smallest memory limit of a worker in bytes; None if there is none."""
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    limits = [worker["memory_limit"] for worker in workers if worker.get("memory_limit")]
    return min(limits) if limits else None


def _look(token: Path) -> tuple[dict[str, str], bool]:
    return versions(), token.exists()
