"""A group of commands whose help lists them in sections, by what people want to do."""

from collections.abc import Iterable, Mapping
from typing import Any

import click


class SectionedGroup(click.Group):
    """A `click.Group` whose help has one list of commands per section.

    Parameters
    ----------
    sections : mapping
        Title of each section -> its commands, in the order shown.
    """

    def __init__(self, *args: Any, sections: Mapping[str, Iterable[click.Command]], **options: Any):
        super().__init__(*args, **options)
        self.sections = {title: tuple(commands) for title, commands in sections.items()}
        for commands in self.sections.values():
            for command in commands:
                self.add_command(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections; click calls this for ``--help``."""
        width = max(map(len, self.commands))
        for title, commands in self.sections.items():
            with formatter.section(title):
                limit = formatter.width - width - 6
                formatter.write_dl(
                    [
                        (f"{command.name:{width}}", command.get_short_help_str(limit))
                        for command in commands
                    ]
                )
