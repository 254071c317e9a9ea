"""``python -m poise.distributed``: the commands for graphs that need several processes."""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import click

from poise import __version__
from poise.errors import InputError, MissingExtraError, PoiseError

COMMANDS = ("graph", "label", "serve", "simulate")
"""Each is the function of that name in a file of that name in `poise.distributed.commands`, loaded
when it is asked for: the engine of one command need not be installed to run another."""

FAILED, USER_MISTAKE, INTERRUPTED = 1, 2, 130


class Commands(click.Group):
    """A group that imports a command when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"poise.distributed.commands.{cmd_name}")
        command: click.Command = getattr(module, cmd_name)
        return command


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="poise", message="%(prog)s %(version)s")
def cli() -> None:
    r"""Build and use graphs that are too large for one process.

    \b
    Example:
      python -m poise.distributed graph X.npy -o big.graph -k 10 --workers 2
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit: 0 success, 1 failure, 2 mistake of the user, 130 interrupted."""
    try:
        cli.main(arguments, prog_name="python -m poise.distributed", standalone_mode=False)
    except click.Abort:
        stop(INTERRUPTED, "interrupted; finished work is kept: run the same command to resume")
    except click.ClickException as error:
        stop(USER_MISTAKE, error.format_message())
    except (InputError, MissingExtraError) as error:
        stop(USER_MISTAKE, str(error))
    except PoiseError as error:
        stop(FAILED, str(error))
    sys.exit(0)


def stop(code: int, message: str) -> NoReturn:
    """Print what went wrong in one line, and exit."""
    click.echo(f"poise: {' '.join(message.split())}", err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
