"""The ``poise`` command: its subcommands, and how errors are reported."""

import os
import sys
from collections.abc import Sequence
from typing import NoReturn, cast

import click

from poise import __version__
from poise.cli.acquisitions import acquisitions
from poise.cli.assist import assist
from poise.cli.backup import backup
from poise.cli.bench import bench
from poise.cli.dataset import dataset
from poise.cli.demo import demo
from poise.cli.embed import embed
from poise.cli.export import export
from poise.cli.label import label
from poise.cli.label_studio import label_studio
from poise.cli.plot import plot
from poise.cli.predict import predict
from poise.cli.reproduce import reproduce
from poise.cli.run import run
from poise.cli.sections import SectionedGroup
from poise.cli.theory import theory
from poise.errors import InputError, MissingExtraError, PoiseError

OK, FAILED, USER_ERROR, INTERRUPTED = 0, 1, 2, 130

# File system errors that the user can fix by choosing another path.
PATH_ERRORS = (FileExistsError, FileNotFoundError, IsADirectoryError, NotADirectoryError)


# The commands as `poise --help` groups them.
SECTIONS = {
    "Label": (label, export, predict, assist, backup),
    "Work with other tools": (label_studio,),
    "Look at data": (dataset, embed),
    "Compare methods": (demo, acquisitions, run, plot, bench),
    "Reproduce the paper": (reproduce, theory),
}


@click.group(
    cls=SectionedGroup,
    sections=SECTIONS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="poise", message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Label a few items; poise picks the ones worth labelling and predicts the rest.

    \b
    Example:
      poise label photos/
      poise export photos.poise -o labels.csv
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run ``poise`` and exit: 0 success, 1 failure, 2 user error, 130 interrupted.

    Errors take one line on stderr. Only an unexpected error shows its traceback, because a
    developer has to read it.
    """
    try:
        outcome = cli.main(arguments, prog_name="poise", standalone_mode=False)
        sys.stdout.flush()
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else named_command(arguments)
        message = sentence(error.format_message())
        stop(USER_ERROR, f"{message}{'' if message.endswith('?') else ';'} try '{path} --help'")
    except click.ClickException as error:
        stop(USER_ERROR, sentence(error.format_message()))
    except click.Abort as error:  # click raises this on Ctrl-C
        stop(INTERRUPTED, str(error) or "interrupted")
    except (InputError, MissingExtraError) as error:
        stop(USER_ERROR, str(error))
    except PoiseError as error:
        stop(FAILED, str(error))
    except BrokenPipeError:  # the reader of our output has stopped, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(FAILED)
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        user_error = isinstance(error, (*PATH_ERRORS, PermissionError))
        stop(
            USER_ERROR if user_error else FAILED, f"{sentence(error.strerror or str(error))}{where}"
        )
    sys.exit(outcome if isinstance(outcome, int) else OK)


def named_command(arguments: Sequence[str] | None) -> str:
    """The longest command path that `arguments` name, for the advice to look at its help."""
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
    """Print one line that says what went wrong, and exit."""
    click.echo(f"poise: {' '.join(message.split())}", err=True)
    sys.exit(code)
