"""A progress bar on stderr, as the ``progress(done, total)`` callback that the library calls."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from poise.experiments.runner import Progress

Report = Callable[[int, int], None]


@contextmanager
def progress_bar(first_step: str) -> Iterator[Callable[[str], Report]]:
    """A bar for a job of several steps: call what this gives with a step's name to begin it.

    stdout stays free for results. Where stderr is not a terminal there is no bar.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(compact=True),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(first_step, total=None)

        def begin(step: str) -> Report:
            bar.reset(task, description=step, total=None)
            return lambda done, total: bar.update(task, completed=done, total=total)

        yield begin


@contextmanager
def resumable() -> Iterator[None]:
    """Say, when a command that keeps what it finished is interrupted, how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        raise click.Abort(
            "interrupted; what is finished is kept: run the same command again to go on"
        ) from None


@contextmanager
def method_bars() -> Iterator[tuple[Callable[[str], Report], "Progress"]]:
    """Bars for an experiment: a function that begins a step, and one for the methods' progress.

    Where stderr is not a terminal, a line for every step and every method that is done.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    from poise.experiments.experiment import Method

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bars:
        step = bars.add_task("", total=None)
        tasks: dict[str, TaskID] = {}

        def say(line: str) -> None:
            if not console.is_terminal:
                click.echo(line, err=True)

        def begin(name: str) -> Report:
            """The next step; bars of an experiment before it go."""
            say(name)
            for task in tasks.values():
                bars.remove_task(task)
            tasks.clear()
            bars.reset(step, description=name, total=None, visible=True)
            return lambda done, total: bars.update(step, completed=done, total=total)

        def progress(method: Method, done: int, total: int) -> None:
            bars.update(step, visible=False)
            if method.name not in tasks:
                # What was kept from before says nothing about the speed: it is not begun yet.
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
