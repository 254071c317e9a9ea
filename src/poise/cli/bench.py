"""``poise bench``: poise against others, side by side in one run."""

import json

import click

SECTIONS = ("agreement", "answers", "components", "speed", "scaling", "accuracy")


@click.group(invoke_without_command=True)
@click.pass_context
def bench(context: click.Context) -> None:
    """Measure poise against others, side by side in one run.

    \b
    Example:
      poise bench engine
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@bench.command()
@click.argument("sections", nargs=-1, type=click.Choice(SECTIONS))
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def engine(sections: tuple[str, ...], as_json: bool) -> None:
    """Compare the engine's speed, memory and accuracy with graphlearning's.

    Without SECTIONS all are run, about 15 minutes. Most read data sets from the folder that the
    variable POISE_DATA names. Figures are medians; with a peer, queries of both alternate, so that
    a busy machine slows both.

    \b
    Example:
      poise bench engine
      poise bench engine speed components
      poise bench engine --json
    """
    from poise.cli.progress import progress_bar
    from poise.experiments.bench.engine import run

    rows = []
    with progress_bar("Starting") as begin:
        for section, row in run(sections or SECTIONS, begin):
            rows.append((section, row))
    if as_json:
        click.echo(json.dumps([{"section": s} | r.to_dict() for s, r in rows], indent=2))
        return

    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    table.add_column("")
    for heading in ("poise", "peer", "ratio", "goal", ""):
        table.add_column(heading, justify="right")
    for section in dict.fromkeys(s for s, _ in rows):
        for name, row in rows:
            if name == section:
                sign = "<=" if row.at_most else ">="
                table.add_row(
                    row.what,
                    figure(row.ours),
                    figure(row.peer),
                    figure(row.ratio),
                    "" if row.goal is None else f"{sign} {row.goal:g}",
                    {None: "", True: "met", False: "missed"}[row.met],
                )
        table.add_section()
    Console().print(table)


def figure(value: float | None) -> str:
    """Three significant digits."""
    return "" if value is None else f"{value:,.3g}"
