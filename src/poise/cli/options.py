"""Options that several commands share, and the check of where a page goes."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from poise.errors import InputError

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

jobs_option = click.option(
    "--jobs", type=click.IntRange(1, 256), help="Parallel processes.  [default: one per core]"
)

import_option = click.option(
    "--import",
    "own_files",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE.py",
    help="Run this Python file first, which adds acquisitions or other parts; repeatable.",
)

project_argument = click.argument("project", type=click.Path(path_type=Path))

key_option = click.option("--key", help="Table column that identifies each item.")

feature_names_option = click.option(
    "--feature-names",
    type=click.Path(path_type=Path),
    help="CSV file whose first column names the image for each row of --features.",
)


def json_option(instead_of: str = "a table") -> Decorator:
    """``--json``, passed on as `as_json`."""
    return click.option(
        "--json", "as_json", is_flag=True, help=f"Print JSON instead of {instead_of}."
    )


def file_option(help_text: str) -> Decorator:
    """``-o``: the file to write, which is required."""
    return click.option(
        "-o", "--output", type=click.Path(path_type=Path), required=True, help=help_text
    )


def output_option(default: str, what: str, *, file_okay: bool = True) -> Decorator:
    """``-o``: the folder for `what`. With `file_okay` the command itself refuses a file."""
    return click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path, file_okay=file_okay),
        default=Path(default),
        show_default=True,
        help=f"Folder for {what}.",
    )


def page_in(output: Path) -> Path:
    """The path of the page in a folder, which is created.

    Call it before the work, so that a path that cannot be written is refused at once.
    """
    page = output / "index.html"
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(
            f"cannot create the folder {output} ({reason}): choose another with -o"
        ) from error
    if page.is_dir() or not os.access(page if page.exists() else output, os.W_OK):
        raise InputError(f"cannot write {page}: choose another folder with -o")
    return page
