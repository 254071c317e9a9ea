"""`poise bench accuracy`: ask, measure, and compare with the goals; resumable at every step.

The questions of every method are asked once. A `Part` measures something, with or without these
questions, in steps with one file of records each, and shows its records in tables.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poise.experiments.efficiency import (
    accuracy,
    estimation,
    needed,
    noise,
    peers,
    questions,
    rivals,
    stopping,
    trust,
)
from poise.experiments.efficiency.methods import AUTO, METHODS
from poise.experiments.efficiency.records import Lines, Row
from poise.experiments.efficiency.run import in_processes
from poise.experiments.efficiency.sets import POOLS, set_names
from poise.experiments.efficiency.tables import Table
from poise.experiments.efficiency.trials import BUDGETS
from poise.progress import Begin, Progress, no_steps

#: Sets and trials of a quick run; the part "rivals" then takes under 20 minutes on two cores.
QUICK_POOLS, QUICK_TRIALS = ("blobs", "digits", "banking77", "cifar10", "isolet"), 3
TRIALS = 10
#: The part that is measured if no part is named.
DEFAULT = "rivals"


@dataclass(frozen=True)
class Plan:
    """What to measure.

    Attributes
    ----------
    folder : folder of the records
    pools, methods, peers : names in `POOLS`, `METHODS` and `peers.PEERS`
    trials : trials of each
    jobs : processes
    parts : names in `PARTS`
    """

    folder: Path
    pools: tuple[str, ...] = tuple(POOLS)
    methods: tuple[str, ...] = tuple(METHODS)
    trials: int = TRIALS
    jobs: int = 1
    parts: tuple[str, ...] = (DEFAULT,)
    peers: tuple[str, ...] = tuple(peers.PEERS)


@dataclass(frozen=True)
class Step:
    """A file of records, and how to complete it.

    Attributes
    ----------
    title : its name in the progress bar
    lines : folder -> the records
    units : (plan, questions, records) -> pieces of work without a record
    work : a piece of work -> its records; runs in a separate process
    """

    title: str
    lines: Callable[[Path], Lines]
    units: Callable[[Plan, Lines, Lines], Iterable[Any]]
    work: Callable[[Any], list[Row]]


@dataclass(frozen=True)
class Part:
    """A part of the benchmark, with its tables.

    Attributes
    ----------
    name : its name on the command line
    heading : its heading in the report
    asks : plan -> method -> number of questions that must be on record
    steps : the measurements, in order
    tables : (folder, names of sets) -> tables of the records on these sets
    """

    name: str
    heading: str
    asks: Callable[[Plan], Mapping[str, int]]
    steps: tuple[Step, ...]
    tables: Callable[[Path, Collection[str]], list[Table]]


_ACCURACY = Step(
    "Measuring accuracy",
    accuracy.accuracy_lines,
    lambda plan, asked, lines: accuracy.missing_units(asked, lines),
    accuracy.measure_unit,
)
_CALIBRATION = Step(
    "Measuring calibration",
    trust.calibration_lines,
    lambda plan, asked, lines: trust.missing_units(asked, lines),
    trust.measure_unit,
)
_CEILINGS = Step(
    "Measuring accuracy with all labels",
    needed.ceiling_lines,
    lambda plan, asked, lines: needed.missing_units(asked, lines),
    needed.measure_unit,
)
_PEERS = Step(
    "Running other libraries",
    peers.peer_lines,
    lambda plan, asked, lines: peers.missing_peer_units(
        lines, plan.pools, plan.peers, plan.trials, BUDGETS[-1]
    ),
    peers.run_peer_unit,
)
_ESTIMATION = Step(
    "Auditing",
    estimation.estimation_lines,
    lambda plan, asked, lines: estimation.missing_units(asked, lines, plan.pools, plan.trials),
    estimation.measure_unit,
)
_STOPPING = Step(
    "Applying the rules for stopping",
    stopping.stopping_lines,
    lambda plan, asked, lines: stopping.missing_units(asked, lines, plan.pools, plan.trials),
    stopping.measure_unit,
)
_NOISE = Step(
    "Flipping answers",
    noise.noise_lines,
    lambda plan, asked, lines: noise.missing_units(asked, lines, plan.pools, plan.trials),
    noise.measure_unit,
)

PARTS: dict[str, Part] = {
    part.name: part
    for part in (
        Part(
            DEFAULT,
            "Rivals",
            lambda plan: dict.fromkeys(plan.methods, BUDGETS[-1]),
            (_ACCURACY, _CALIBRATION, _CEILINGS),
            rivals.tables,
        ),
        Part(
            "peers",
            "Other libraries",
            lambda plan: {AUTO: BUDGETS[-1]},
            (_ACCURACY, _PEERS),
            peers.tables,
        ),
        Part(
            "estimation",
            "Estimated accuracy",
            lambda plan: {AUTO: estimation.QUESTIONS},
            (_ESTIMATION,),
            estimation.tables,
        ),
        Part(
            "stopping",
            "When to stop",
            lambda plan: {AUTO: stopping.BUDGET},
            (_STOPPING,),
            stopping.tables,
        ),
        Part(
            "noise",
            "Wrong answers",
            lambda plan: dict.fromkeys(noise.CHOSEN, noise.LABELS),
            (_NOISE,),
            noise.tables,
        ),
    )
}


def run(plan: Plan, begin: Begin = no_steps) -> None:
    """Run what is missing of a plan."""
    parts = [PARTS[name] for name in plan.parts]
    asked = questions.question_lines(plan.folder)
    wanted: dict[str, int] = {}
    for part in parts:
        for method, budget in part.asks(plan).items():
            wanted[method] = max(budget, wanted.get(method, 0))
    todo = [
        unit
        for method, budget in wanted.items()
        for unit in questions.missing_units(asked, plan.pools, (method,), plan.trials, budget)
    ]
    # Trial by trial, so that a process builds a graph once for all methods.
    todo.sort(key=lambda unit: (unit.trial, plan.pools.index(unit.pool)))
    _do(begin("Asking"), questions.ask_unit, todo, asked, plan.jobs)
    for step in dict.fromkeys(step for part in parts for step in part.steps):
        lines = step.lines(plan.folder)
        units = list(step.units(plan, asked, lines))
        _do(begin(step.title), step.work, units, lines, plan.jobs)


def _do(
    progress: Progress,
    work: Callable[[Any], list[Row]],
    units: Sequence[Any],
    lines: Lines,
    jobs: int,
) -> None:
    progress(0, len(units))
    for done, rows in enumerate(in_processes(work, units, jobs), start=1):
        lines.add(rows)
        progress(done, len(units))


def tables(folder: Path, parts: Iterable[str], sets: Collection[str] | None = None) -> list[Table]:
    """The tables of some parts, on all sets or some; tables without rows are left out."""
    names = set_names() if sets is None else sets
    measured = [table for name in parts for table in PARTS[name].tables(folder, names)]
    return [table for table in measured if table.rows]
