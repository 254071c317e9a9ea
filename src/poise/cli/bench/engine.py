"""``poise bench engine``: speed, memory and accuracy, compared with graphlearning."""

import click

from poise.cli.bench.output import collect, show
from poise.cli.options import json_option

SECTIONS = ("agreement", "answers", "components", "speed", "parity")


@click.command()
@click.argument("sections", nargs=-1, type=click.Choice(SECTIONS))
@json_option()
def engine(sections: tuple[str, ...], as_json: bool) -> None:
    """Compare the engine with graphlearning.

    Measures speed, memory and accuracy. Without arguments, all sections run, which takes about 15
    minutes. Most sections read data sets from the folder that the environment variable POISE_DATA
    names. Figures are medians. Queries to poise and to graphlearning alternate, so that other load
    on the machine slows both.

    \b
    Example:
      poise bench engine
      poise bench engine speed components
      poise bench engine --json
    """
    from poise.experiments.bench.engine import SECTIONS as measured

    show(collect({name: measured[name] for name in sections or SECTIONS}), as_json)
