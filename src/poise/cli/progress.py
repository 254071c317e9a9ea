"""A progress bar on stderr, as the ``progress(done, total)`` callback that the library calls."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
