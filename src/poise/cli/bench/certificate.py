"""``poise bench certificate``: how tight the theory's bounds are on data."""

import click

from poise.cli.bench.output import collect, show
from poise.cli.options import json_option


@click.command()
@json_option()
def certificate(as_json: bool) -> None:
    """Measure how tight the theory's bounds are.

    Measures the decay bound and the exploration certificate. Uses blobs, mnist-imb and isolet, with
    one label in every second cluster. Takes under a minute. Data sets are read from the folder that
    the environment variable POISE_DATA names.

    \b
    Example:
      poise bench certificate
    """
    from poise.experiments.bench.certificate import certificate as measured

    show(collect({"certificate": measured}), as_json)
