"""Options that the commands with a learner share."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from poise.distributed.ranks import TIMEOUT_SECONDS

F = TypeVar("F", bound=Callable[..., Any])


def distributed_settings(command: F) -> F:
    """The options --acquisition, --tau, --seed and --timeout."""
    options = (
        click.option(
            "--acquisition",
            default="auto",
            show_default=True,
            help="What is worth asking: auto, coverage, diffused, margin or norm.",
        ),
        click.option(
            "--tau",
            help="Decay: a number, or the name of a schedule. By default the acquisition's own.",
        ),
        click.option("--seed", default=0, show_default=True, help="Fixes every random choice."),
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
    """A decay as the learner takes it."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text
