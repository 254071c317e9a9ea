"""The ``poise`` command: its subcommands, and what happens when something goes wrong."""

import os
import sys
from collections.abc import Sequence
from typing import NoReturn, cast

import click

from poise import __version__
from poise.cli.acquisitions import acquisitions
from poise.cli.backup import backup
from poise.cli.bench import bench
from poise.cli.dataset import dataset
from poise.cli.demo import demo
from poise.cli.embed import embed
from poise.cli.export import export
from poise.cli.label import label
from poise.cli.predict import predict
from poise.cli.reproduce import reproduce
from poise.cli.run import run
from poise.cli.theory import theory
from poise.errors import InputError, MissingExtraError, PoiseError

OK, FAILED, USER_MISTAKE, INTERRUPTED = 0, 1, 2, 130

# Errors of the file system that the person at the keyboard can mend by choosing another path.
PATH_MISTAKES = (FileExistsError, FileNotFoundError, IsADirectoryError, NotADirectoryError)


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="poise", message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Tell it a few labels; it asks for the next one worth knowing, and knows the rest.

    \b
    Example:
      poise demo
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for command in (
    acquisitions,
    backup,
    bench,
    dataset,
    demo,
    embed,
    export,
    label,
    predict,
    reproduce,
    run,
    theory,
):
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run ``poise`` and exit: 0 done, 1 failed, 2 the user's mistake, 130 interrupted.

    A mistake costs one line on stderr. Only an error that nobody foresaw shows its traceback,
    because then it is the developers who have to read it.
    """
    try:
        outcome = cli.main(arguments, prog_name="poise", standalone_mode=False)
        sys.stdout.flush()
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else named_command(arguments)
        message = sentence(error.format_message())
        stop(USER_MISTAKE, f"{message}{'' if message.endswith('?') else ';'} try '{path} --help'")
    except click.ClickException as error:
        stop(USER_MISTAKE, sentence(error.format_message()))
    except click.Abort as error:  # what click makes of Ctrl-C
        stop(INTERRUPTED, str(error) or "interrupted")
    except (InputError, MissingExtraError) as error:
        stop(USER_MISTAKE, str(error))
    except PoiseError as error:
        stop(FAILED, str(error))
    except BrokenPipeError:  # whoever read our output has had enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(FAILED)
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        mistake = isinstance(error, (*PATH_MISTAKES, PermissionError))
        stop(
            USER_MISTAKE if mistake else FAILED, f"{sentence(error.strerror or str(error))}{where}"
        )
    sys.exit(outcome if isinstance(outcome, int) else OK)


def named_command(arguments: Sequence[str] | None) -> str:
    """The command that `arguments` name, as far as they do: where to look for help."""
    path, command = "poise", cast(click.Command, cli)
    for word in sys.argv[1:] if arguments is None else arguments:
        if not isinstance(command, click.Group) or word not in command.commands:
            break
        path, command = f"{path} {word}", command.commands[word]
    return path


def sentence(message: str) -> str:
    """`message` as a clause that can follow ``poise:``."""
    message = message.strip().rstrip(".")
    return message[:1].lower() + message[1:]


def stop(code: int, message: str) -> NoReturn:
    """Say in one line what went wrong, and exit."""
    click.echo(f"poise: {' '.join(message.split())}", err=True)
    sys.exit(code)
