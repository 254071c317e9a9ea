"""``python -m poise.distributed label``: questions and answers in the terminal."""

import sys
from pathlib import Path

import click

from poise.distributed.answers import Answers
from poise.distributed.app.lines import Lines, lines_of
from poise.distributed.commands.settings import distributed_settings, items_option, tau_of
from poise.distributed.learner import DistributedLearner, run
from poise.errors import InputError

HELP = "a class, or :undo, :skip, :never, :classes, :quit"


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("project", type=click.Path(path_type=Path))
@items_option
@distributed_settings
def label(
    folder: Path,
    project: Path,
    items: Path | None,
    acquisition: str,
    tau: str | None,
    seed: int,
    timeout: float,
) -> None:
    r"""Label the items of a partitioned graph; answers are lines of text.

    Every answer is on disk, in PROJECT/events.db, before the next question is chosen. The same
    command continues from there.

    \b
    Example:
      mpiexec -n 2 python -m poise.distributed label big.graph answers.poise --items texts.txt
    """

    def main(learner: DistributedLearner) -> None:
        names = None if items is None else lines_of(items, learner.partition.n_nodes)
        with Answers(project, learner) as answers:
            converse(learner, answers, names)

    run(main, folder, timeout=timeout, acquisition=acquisition, tau=tau_of(tau), seed=seed)


def converse(learner: DistributedLearner, answers: Answers, names: Lines | None) -> None:
    """Ask questions until the input ends or the user quits."""
    click.echo(f"{len(learner.labels)} labels so far. Type {HELP}.")
    while True:
        node = answers.question()
        shown = f"item {node}" if names is None else f"item {node}: {names[node]}"
        click.echo(f"{shown} ?", nl=False)
        line = sys.stdin.readline()
        click.echo()
        word = line.strip()
        if not line or word == ":quit":
            break
        try:
            click.echo(answered(answers, node, word), nl=False)
        except InputError as error:
            click.echo(error)
    click.echo(f"{len(learner.labels)} labels are safe in {answers.path}")


def answered(answers: Answers, node: int, word: str) -> str:
    """Execute a line of input; the reply."""
    match word:
        case ":undo":
            undone = answers.undo()
            return f"undone: {undone}\n" if undone else "there is nothing to undo\n"
        case ":classes":
            return (", ".join(map(str, answers.learner.classes)) or "none so far") + "\n"
        case ":skip" | ":never":
            answers.set_aside(node, for_good=word == ":never")
        case "":
            pass
        case _ if word.startswith(":"):
            return f"{word} is not a command: type {HELP}\n"
        case _:
            answers.tell(node, word)
    return ""
