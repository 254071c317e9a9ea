"""``poise acquisitions``: list acquisitions, policies and schedules."""

import json
from pathlib import Path
from typing import Any

import click

from poise.cli.options import import_option, json_option


@click.command()
@import_option
@json_option()
def acquisitions(own_files: tuple[Path, ...], as_json: bool) -> None:
    """List acquisitions, policies and schedules.

    An acquisition scores each point by how useful its label would be, a policy uses these scores to
    pick the points to ask about, and a schedule sets tau from the number of answers.

    \b
    Example:
      poise acquisitions
      poise acquisitions --json
      poise acquisitions --import mine.py
    """
    import poise
    from poise.own_files import load_files

    load_files(own_files)
    listing: dict[str, dict[str, Any]] = {
        "acquisitions": {
            name: {"description": description} | traits(poise.acquisitions.factory(name))
            for name, description in poise.acquisitions().items()
        },
        "policies": poise.policies(),
        "schedules": poise.schedules(),
    }
    if as_json:
        click.echo(json.dumps(listing, indent=2))
        return

    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table(title="Acquisitions", title_justify="left", box=None, header_style="bold")
    table.add_column("", style="bold", no_wrap=True)
    for heading in ("needs", "costs", "when to use it"):
        table.add_column(heading)
    for name, about in listing["acquisitions"].items():
        table.add_row(name, about["needs"], about["cost"], about["use"] or about["description"])
    console.print(table)
    console.print()
    for kind in ("policies", "schedules"):
        table = Table(title=kind.capitalize(), title_justify="left", box=None, show_header=False)
        table.add_column(style="bold", no_wrap=True, min_width=12)
        table.add_column()
        for name, description in listing[kind].items():
            table.add_row(name, description)
        console.print(table)
        console.print()
    console.print(
        'The default is auto. To use another: poise.Learner(graph, labels, acquisition="norm")',
        highlight=False,
    )
    console.print(
        "To start without labels: poise.Learner(graph, {}, seeding=...) with dac, typicality,"
        " kmeans++ or land",
        highlight=False,
    )


def traits(factory: Any) -> dict[str, str]:
    """The optional descriptions that an acquisition class declares."""
    from poise.active.acquisition import traits_of

    declared = traits_of(factory)
    return {"needs": declared.needs, "cost": declared.cost, "use": declared.use}
