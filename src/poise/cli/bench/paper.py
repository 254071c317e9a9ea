"""``poise bench paper``: the time that the paper's experiment on MNIST takes."""

import click

from poise.cli.bench.output import collect, show
from poise.cli.options import json_option


@click.command()
@json_option()
def paper(as_json: bool) -> None:
    """Compare the time of the paper's MNIST experiment.

    The comparison is with the authors' route. Times a few questions of every method, except those
    on 500 candidates, in one thread with ten trials in lockstep, next to a few of graphlearning's,
    and extrapolates to 100 questions and 10 trials. Takes about 10 minutes. mnist_vae is read from
    the folder that the environment variable POISE_DATA names.

    \b
    Example:
      poise bench paper
      poise bench paper --json
    """
    from poise.experiments.bench.paper import paper as measured

    show(collect({"paper": measured}), as_json)
