"""``poise acquisitions``: what can be chosen by name."""

import json

import click


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def acquisitions(as_json: bool) -> None:
    """List what can be chosen by name.

    An acquisition says how much is to be learned from each point, a policy picks from these values
    what to ask, and a schedule says how tau changes with the number of answers.

    \b
    Example:
      poise acquisitions
      poise acquisitions --json
    """
    import poise

    listing = {
        "acquisitions": poise.acquisitions(),
        "policies": poise.policies(),
        "schedules": poise.schedules(),
    }
    if as_json:
        click.echo(json.dumps(listing, indent=2))
        return

    from rich.console import Console
    from rich.table import Table

    console = Console()
    for kind, described in listing.items():
        table = Table(title=kind.capitalize(), title_justify="left", box=None, show_header=False)
        table.add_column(style="bold", no_wrap=True, min_width=12)
        table.add_column()
        for name, description in described.items():
            table.add_row(name, description)
        console.print(table)
        console.print()
    console.print('Use one: poise.Learner(graph, labels, acquisition="norm")', highlight=False)
