"""``poise assist``: a program answers open questions."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from poise.cli.options import json_option, project_argument
from poise.errors import InputError

if TYPE_CHECKING:
    from poise.integrations.assistant.http import Endpoint
    from poise.integrations.assistant.program import Program
    from poise.integrations.assistant.run import Job


@click.command()
@project_argument
@click.option("--command", help="Program and arguments; it reads and writes lines of JSON.")
@click.option("--url", help="HTTP endpoint that gets each question by POST, instead of --command.")
@click.option("--name", help="Name of the assistant.  [default: the program's file name]")
@click.option(
    "--audit",
    type=click.IntRange(10, 1000),
    default=20,
    show_default=True,
    help="Answers that people judge before the others count.",
)
@click.option("--budget", type=click.IntRange(1), help="Most answers.  [default: all items]")
@click.option(
    "--timeout",
    "seconds",
    type=click.FloatRange(0.1, 3600),
    default=60.0,
    show_default=True,
    help="Seconds per answer.",
)
@click.option(
    "--failures",
    type=click.IntRange(0, 50),
    default=10,
    show_default=True,
    help="Failures after which the command gives up.",
)
@click.option("--new-classes", is_flag=True, help="Let the assistant name new classes.")
@click.option("--status", is_flag=True, help="Only show how right the assistants are.")
@json_option("sentences")
def assist(
    project: Path,
    command: str | None,
    url: str | None,
    name: str | None,
    audit: int,
    budget: int | None,
    seconds: float,
    failures: int,
    new_classes: bool,
    status: bool,
    as_json: bool,
) -> None:
    """Let a program answer open questions.

    Its answers are kept apart from those of people. They count in predictions once people have
    judged a random sample of them in the app and enough were right. PROJECT is the folder created
    by `poise label`, NAME.poise; the app may be running. Run the same command again to continue.

    \b
    Example:
      poise assist photos.poise --command ./ask.sh
      poise assist reviews.poise --command 'python ask.py --model small' --budget 500
      poise assist reviews.poise --url http://127.0.0.1:8000/classify --name small-model
      poise assist photos.poise --status --json
    """
    from poise.integrations.assistant.run import Job
    from poise.studio.log.events import check_name

    if not status:
        assistant, default = _assistant(command, url, seconds)
        job = Job(check_name(name or default), audit, budget, new_classes, failures)
        _run(project, assistant, job)
    _show(project, as_json)


def _assistant(
    command: str | None, url: str | None, seconds: float
) -> "tuple[Endpoint | Program, str]":
    """Who answers, and its name unless another one is given."""
    from poise.integrations.assistant.http import Endpoint
    from poise.integrations.assistant.program import Program

    if (command is None) == (url is None):
        raise InputError("give either --command or --url, to say who answers")
    if url is not None:
        return Endpoint(url, seconds), urlsplit(url).netloc
    words = _words(command or "")
    return Program(words, seconds), Path(words[0]).name


def _run(project: Path, assistant: "Endpoint | Program", job: "Job") -> None:
    from poise.cli.progress import progress_bar, resumable
    from poise.integrations.assistant.desks import desk_of
    from poise.integrations.assistant.run import Run

    try:
        with resumable(), progress_bar("Loading") as begin, desk_of(project, begin) as desk:
            done = Run(desk, assistant, job).all(begin("answering"))
    finally:
        assistant.close()
    failed = f", {done.failed:,} failed" if done.failed else ""
    click.echo(f"{done.answered:,} answered, {done.passed:,} not known{failed}", err=True)


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"--command cannot be split into words: {error}") from None
    if not words:
        raise InputError("--command is empty: give a program and its arguments")
    return words


def _show(project: Path, as_json: bool) -> None:
    from poise.studio.asking.assistants import standings
    from poise.studio.borrowing import borrowed_state

    found = standings(borrowed_state(project))
    if as_json:
        click.echo(json.dumps([each.as_json() for each in found]))
        return
    for each in found:
        click.echo(each.sentence)
    if not found:
        click.echo("No assistant has answered yet.")
