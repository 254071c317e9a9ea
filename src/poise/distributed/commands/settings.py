"""Options shared by the commands with a learner."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from poise.distributed.ranks import TIMEOUT_SECONDS

F = TypeVar("F", bound=Callable[..., Any])


items_option = click.option(
    "--items",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A text file with one line per item, shown with the questions. Without it, items are "
    "numbered.",
)


def distributed_settings(command: F) -> F:
    """The options --acquisition, --tau, --seed and --timeout."""
    options = (
        click.option(
            "--acquisition",
            default="auto",
            show_default=True,
            help="How questions are chosen: auto, coverage, diffused, margin or norm.",
        ),
        click.option(
            "--tau",
            help="Decay: a number or the name of a schedule.  [default: that of the acquisition]",
        ),
        click.option("--seed", default=0, show_default=True, help="Random seed."),
        click.option(
            "--timeout",
            default=TIMEOUT_SECONDS,
            show_default=True,
            help="Seconds without an answer after which another rank counts as lost.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def tau_of(text: str | None) -> float | str | None:
    """The option --tau as an argument of the learner."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text
