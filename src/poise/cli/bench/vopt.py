"""``poise bench vopt``: V-Opt and Sigma-Opt on all points."""

import click

from poise.cli.bench.output import collect, show
from poise.cli.options import json_option

SECTIONS = ("speed", "quality")


@click.command()
@click.argument("sections", nargs=-1, type=click.Choice(SECTIONS))
@json_option()
def vopt(sections: tuple[str, ...], as_json: bool) -> None:
    """Compare V-Opt and Sigma-Opt with the authors' route.

    poise chooses among all points, the authors' route among 500 of them. "speed" times 100 queries
    of each on mnist_imb_vae, and two of graphlearning's, which take a minute or more each.
    "quality" compares every choice with dense linear algebra on 3,000 points. Both together take
    about 10 minutes. Data sets are read from the folder that the environment variable POISE_DATA
    names.

    \b
    Example:
      poise bench vopt
      poise bench vopt quality --json
    """
    from poise.experiments.bench.vopt import quality, speed

    measured = {"speed": speed, "quality": quality}
    show(collect({name: measured[name] for name in sections or SECTIONS}), as_json)
