"""Run the tasks of a stage on Dask, and run them again when a worker dies."""

import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from poise.distributed.tasks import Facts, Task, perform
from poise.errors import PoiseError, RunError
from poise.extras import needed

StageProgress = Callable[[str, int, int], None]
"""Called with the stage, the number of tasks done, and the number of its tasks."""


Run = Callable[[str, Task, Iterable[int]], dict[int, Facts]]
"""Runs a stage: its name, its task and the numbers to run it for; returns all results."""


def run_stage(
    client: Any,
    folder: Path,
    progress: StageProgress | None,
    stage: str,
    task: Task,
    numbers: Iterable[int],
) -> dict[int, Facts]:
    """Run a task for each number, on any worker, and return the results.

    Dask sends the tasks of a worker that dies to others; finished tasks leave a record and are not
    run again.

    Raises
    ------
    RunError
        If workers die repeatedly on one task, or a task fails.
    """
    distributed = needed("distributed", "dask", "building a graph on several machines")
    wanted = [int(number) for number in numbers]
    run = uuid.uuid4().hex[:8]
    futures = {
        client.submit(
            perform, task, stage, folder, number, key=f"{stage}-{number}-{run}", pure=False
        ): number
        for number in wanted
    }
    facts: dict[int, Facts] = {}
    try:
        for future in distributed.as_completed(futures):
            facts[futures[future]] = future.result()
            if progress:
                progress(stage, len(facts), len(wanted))
    except distributed.KilledWorker as error:
        raise RunError(
            f"workers died repeatedly in the stage {stage} ({error.task}), probably for lack of "
            "memory: use more cells or fewer workers per machine, then run the command again; "
            "finished work is kept"
        ) from None
    except PoiseError:
        raise
    except Exception as error:
        raise RunError(
            f"the stage {stage} failed: {type(error).__name__}: {error}; finished work is kept: "
            "run the command again to resume"
        ) from error
    finally:
        client.cancel([future for future in futures if not future.done()])
    return facts
