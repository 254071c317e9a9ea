"""Progress on stderr, as the ``progress(done, total)`` callback that the library calls.

On a terminal this is a set of bars. Elsewhere, as in a log, a line is printed every few seconds.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Protocol

import click

if TYPE_CHECKING:
    import rich.progress

    from poise.experiments.runner import MethodProgress

#: Without a terminal: seconds before the first line, and between lines.
QUIET_SECONDS = 10.0
LINE_SECONDS = 5.0


class StepProgress(Protocol):
    """Report how far a step is; `note` adds a few words."""

    def __call__(self, done: int, total: int, note: str = "", /) -> None: ...


@contextmanager
def progress_bar(first_step: str) -> Iterator[Callable[[str], StepProgress]]:
    """Show the progress of a job with several steps.

    Call the yielded function with a step's name to begin that step. Nothing is written to stdout.
    """
    with shown() as bars:
        task = bars.add_task(first_step, total=None)
        yield lambda step: next_step(bars, task, step)


@contextmanager
def resumable() -> Iterator[None]:
    """Explain how to resume a command that keeps its finished work, when it is interrupted."""
    try:
        yield
    except KeyboardInterrupt:
        raise click.Abort(
            "interrupted; finished work is kept: run the same command again to resume"
        ) from None


@contextmanager
def method_bars() -> Iterator[tuple[Callable[[str], StepProgress], "MethodProgress"]]:
    """Bars for an experiment: yields a function that begins a step and one for each method.

    Without a terminal, every step and every finished method also prints a line.
    """
    from poise.experiments.experiment import Method

    with shown(elapsed_when_finished=True) as bars:
        step = bars.add_task("", total=None)
        tasks: dict[str, rich.progress.TaskID] = {}

        def say(line: str) -> None:
            if not bars.console.is_terminal:
                click.echo(line, err=True)

        def begin(name: str) -> StepProgress:
            """Begin the next step and remove the bars of the previous one."""
            say(name)
            for task in tasks.values():
                bars.remove_task(task)
            tasks.clear()
            return next_step(bars, step, name)

        def progress(method: Method, done: int, total: int) -> None:
            bars.update(step, visible=False)
            if method.name not in tasks:
                # Trials from an earlier run say nothing about speed: the clock starts later.
                tasks[method.name] = bars.add_task(
                    method.title, total=total, completed=done, start=False
                )
                return
            task = tasks[method.name]
            if not bars.tasks[bars.task_ids.index(task)].started:
                bars.start_task(task)
            before = bars.tasks[bars.task_ids.index(task)].completed
            bars.update(task, completed=done)
            if before < done == total:
                say(f"{method.title}: done")

        yield begin, progress


@contextmanager
def shown(elapsed_when_finished: bool = False) -> Iterator["rich.progress.Progress"]:
    """Bars on stderr; if it is not a terminal, they only count, and lines are printed instead."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    bars = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(compact=True, elapsed_when_finished=elapsed_when_finished),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bars, nullcontext() if console.is_terminal else lines(bars):
        yield bars


def next_step(
    bars: "rich.progress.Progress", task: "rich.progress.TaskID", step: str
) -> StepProgress:
    """Begin a step on a bar; the returned function moves the bar."""
    bars.reset(task, description=step, total=None, visible=True)

    def advance(done: int, total: int, note: str = "", /) -> None:
        description = f"{step}, {note}" if note else step
        bars.update(task, completed=done, total=total, description=description)

    return advance


@contextmanager
def lines(bars: "rich.progress.Progress") -> Iterator[None]:
    """Print the state of `bars` every few seconds.

    A thread does this, because a step may take long without reporting anything.
    """
    ended = threading.Event()

    def talk() -> None:
        seconds = QUIET_SECONDS
        with suppress(OSError):  # stderr was closed
            while not ended.wait(seconds):
                seconds = LINE_SECONDS
                if line := one_line(bars.tasks):
                    click.echo(line, err=True)

    talker = threading.Thread(target=talk, name="progress", daemon=True)
    talker.start()
    try:
        yield
    finally:
        ended.set()
        talker.join()


def one_line(tasks: "Sequence[rich.progress.Task]") -> str:
    """The progress of all running tasks; if all are finished, of the last one."""
    visible = [task for task in tasks if task.visible and task.started]
    under_way = [task for task in visible if not task.finished] or visible[-1:]
    return "; ".join(map(how_far, under_way))


def how_far(task: "rich.progress.Task") -> str:
    """The progress of one task in words."""
    if not task.total:
        return f"{task.description}: {duration(task.elapsed or 0)} so far"
    left = task.time_remaining
    soon = f", about {duration(left)} left" if left else ""
    return f"{task.description}: {task.percentage:.0f}%{soon}"


def duration(seconds: float) -> str:
    """A length of time as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
