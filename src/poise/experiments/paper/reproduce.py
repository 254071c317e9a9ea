"""Run experiments of the paper and write the report: what ``poise reproduce`` does."""

import json
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from poise import Learner, knn_graph
from poise.errors import DataError, InputError, MissingExtraError, RunError
from poise.experiments.experiment import Experiment
from poise.experiments.paper.estimate import trial_seconds
from poise.experiments.paper.experiments import EXPERIMENTS, SUBSET
from poise.experiments.paper.report import write_report
from poise.experiments.records import Records, Store, recorded
from poise.experiments.runner import MethodProgress, run
from poise.progress import Begin, no_steps

#: The experiment on which V-Opt on 500 candidates is timed, and the number of questions.
TIMED, TIMED_QUESTIONS = "mnist-imb", 3


def records_folder(output: Path, experiment: Experiment) -> Path:
    """The folder of an experiment's records in the folder of a report."""
    return output / "records" / experiment.name


def kept(output: Path, experiments: Sequence[Experiment] = ()) -> dict[str, Records]:
    """All records in the folder of a report by experiment, in the paper's order.

    Those of `experiments` have their trials, the others all that were asked for before. Records
    with other parameters are refused, before any work is done.
    """
    asked = {experiment.name: experiment for experiment in experiments}
    found = {}
    for experiment in (EXPERIMENTS | asked).values():
        folder = records_folder(output, experiment)
        if experiment.name not in asked:
            records = recorded(folder, experiment)
        else:
            store = Store(folder, experiment)
            records = store.read() if store.header.exists() else None
        if records is not None:
            found[experiment.name] = records
    return found


def reproduce(
    experiments: Sequence[Experiment],
    output: Path,
    *,
    jobs: int = 1,
    progress: MethodProgress | None = None,
    begin: Begin = no_steps,
    command: str = "",
) -> tuple[Path, list[str]]:
    """Run what is missing of some experiments and write the report on all records in `output`.

    Returns
    -------
    The page, and a line for each experiment that could not run, for example without its data.
    """
    problems, reasons = [], {}
    for experiment in experiments:
        folder = records_folder(output, experiment)
        try:
            run(
                experiment,
                folder,
                jobs=jobs,
                seconds=trial_seconds(experiment),
                progress=progress,
                begin=begin,
            )
        except (DataError, MissingExtraError, RunError) as error:
            problems.append(f"{experiment.name}: {error}")
            if not isinstance(error, RunError):
                reasons[experiment.name] = str(error)
    finished = list(kept(output, experiments).values())
    if not finished:
        raise DataError("; ".join(problems))
    timings = _timings(output, experiments, begin)
    begin("writing the report")
    page = write_report(finished, output, timings=timings, command=command, problems=reasons)
    return page, problems


def report_only(output: Path, *, begin: Begin = no_steps, command: str = "") -> Path:
    """Write the report on all records in `output`, finished or not, without running anything."""
    finished = list(kept(output).values())
    if not finished:
        raise InputError(
            f"there are no records in {output / 'records'}: choose the folder of a report with -o, "
            "or leave out --report-only to run the experiments"
        )
    begin("writing the report")
    return write_report(finished, output, timings=_timings(output, (), begin), command=command)


def _timings(output: Path, experiments: Sequence[Experiment], begin: Begin) -> dict[str, float]:
    """Seconds per question of V-Opt on 500 candidates, measured once if `TIMED` is included."""
    path = output / "records" / "timings.json"
    if path.exists():
        known: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))
        return known
    timed = [e for e in experiments if e.name == TIMED]
    if not timed:
        return {}
    begin("timing V-Opt on 500 candidates")
    try:
        data = timed[0].load()
    except (DataError, MissingExtraError):
        return {}
    graph = knn_graph(data.X, k=timed[0].k)
    rng = np.random.default_rng(0)
    labelled = [rng.choice(np.flatnonzero(data.classes == c)) for c in range(data.n_classes)]
    timings = {}
    for method in SUBSET:
        labels = {int(i): int(data.classes[i]) for i in labelled}
        learner = Learner(graph, labels, acquisition=method.acquisition, tau=0.0)
        seconds = []
        for _ in range(TIMED_QUESTIONS):
            before = time.perf_counter()
            node = int(learner.ask()[0])
            learner.tell(node, int(data.classes[node]))
            seconds.append(time.perf_counter() - before)
        timings[method.name] = round(float(np.median(seconds)), 2)
    path.write_text(json.dumps(timings, indent=1) + "\n", encoding="utf-8")
    return timings
