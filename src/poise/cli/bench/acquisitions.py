"""``poise bench acquisitions``: what every acquisition costs, and two comparisons."""

import json
from typing import TYPE_CHECKING, Any

import click

from poise.cli.bench.output import as_dicts, collect, figure, new_table, print_table, show
from poise.cli.options import json_option

if TYPE_CHECKING:
    from poise.cli.bench.output import Section
    from poise.experiments.bench.acquisitions import Cost

SECTIONS = ("costs", "coverage", "batches")


@click.command()
@click.argument("sections", nargs=-1, type=click.Choice(SECTIONS))
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="Measure the costs of this acquisition only; repeatable.",
)
@json_option("tables")
def acquisitions(sections: tuple[str, ...], only: tuple[str, ...], as_json: bool) -> None:
    """Measure what every acquisition costs.

    "costs" measures set-up time, time per question and peak memory of each acquisition on the
    70,000 points of mnist_vae, each in its own process. "coverage" compares the smallest Poisson
    weight with the smallest norm. "batches" compares batches of 20 with one question at a time.
    Without arguments, all three run, which takes about 20 minutes. Data sets are read from the
    folder that the environment variable POISE_DATA names.

    \b
    Example:
      poise bench acquisitions
      poise bench acquisitions costs --only vopt --only land
      poise bench acquisitions batches --json
    """
    from poise.cli.progress import progress_bar
    from poise.experiments.bench.acquisitions import costs
    from poise.experiments.bench.batches import batches
    from poise.experiments.bench.coverage import coverage

    chosen = sections or SECTIONS
    measured_costs: list[Cost] = []
    if "costs" in chosen:
        with progress_bar("costs") as begin:
            measured_costs = sorted(costs(only, begin("costs")), key=lambda cost: cost.query)
    comparisons: dict[str, Section] = {"coverage": coverage, "batches": batches}
    rows = collect({name: comparisons[name] for name in chosen if name in comparisons})
    if as_json:
        listed: list[dict[str, Any]] = [
            {"section": "costs"} | cost.to_dict() for cost in measured_costs
        ]
        click.echo(json.dumps(listed + as_dicts(rows), indent=2))
        return
    if measured_costs:
        table = new_table("70,000 points", "set-up, s", "per question, s", "peak, MB")
        for cost in measured_costs:
            table.add_row(cost.name, figure(cost.set_up), figure(cost.query), f"{cost.peak:,.0f}")
        print_table(table)
    if rows:
        show(rows, as_json)
