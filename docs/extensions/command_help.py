"""The directive ``command-help``: the output of ``poise COMMAND --help`` for every command."""

from collections.abc import Iterator
from typing import Any

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

WIDTH = 88


def help_texts(
    command: click.Command, name: str = "poise", parent: click.Context | None = None
) -> Iterator[tuple[str, str]]:
    """The path and help of each command, a group before its commands."""
    settings = command.context_settings | {"terminal_width": WIDTH}
    context = click.Context(command, parent=parent, info_name=name, **settings)
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for part_name, part in sorted(command.commands.items()):
            yield from help_texts(part, part_name, context)


class CommandHelp(SphinxDirective):
    """A section per command, generated from the commands."""

    def run(self) -> list[nodes.Node]:
        from poise.cli.main import cli

        sections: list[nodes.Node] = []
        for path, text in help_texts(cli):
            section = nodes.section(ids=[nodes.make_id(path)], names=[path])
            title = nodes.title()
            title += nodes.literal(text=path)
            block = nodes.literal_block(text, text, language="text")
            section += [title, block]
            self.set_source_info(block)
            self.state.document.note_explicit_target(section)
            sections.append(section)
        return sections


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
