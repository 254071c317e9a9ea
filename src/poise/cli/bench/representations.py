"""``poise bench representations``: photographs and texts with the default settings."""

import click

from poise.cli.bench.output import collect, show
from poise.cli.options import json_option

SETS = ("cifar10", "banking77", "20news")


@click.command()
@click.argument("sets", nargs=-1, type=click.Choice(SETS))
@json_option()
def representations(sets: tuple[str, ...], as_json: bool) -> None:
    """Measure the accuracy on photographs and texts.

    All settings are the defaults. Embeds the items, builds the graph and asks questions as the app
    does, starting without labels, and answers truthfully. For comparison, scikit-learn's logistic
    regression gets the same number of random labels, on the same features and on features that need
    no encoder. Without arguments, all data sets are measured, about five minutes each. They are
    read from the folder that the environment variable POISE_DATA names.

    \b
    Example:
      poise bench representations
      poise bench representations banking77
    """
    from poise.experiments.bench.representations import representations as measured

    show(collect({"representations": lambda progress: measured(progress, sets)}), as_json)
