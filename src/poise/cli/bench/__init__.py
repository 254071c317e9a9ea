"""``poise bench``: a thin file for each part."""

import click

from poise.cli.bench.accuracy import accuracy
from poise.cli.bench.acquisitions import acquisitions
from poise.cli.bench.certificate import certificate
from poise.cli.bench.engine import engine
from poise.cli.bench.paper import paper
from poise.cli.bench.representations import representations
from poise.cli.bench.scale import scale
from poise.cli.bench.vopt import vopt


@click.group(invoke_without_command=True)
@click.pass_context
def bench(context: click.Context) -> None:
    """Compare poise with other libraries.

    poise and the other library are measured side by side in one run.

    \b
    Example:
      poise bench accuracy --quick
      poise bench engine
      poise bench scale --quick
      poise bench vopt
      poise bench acquisitions
      poise bench paper
      poise bench certificate
      poise bench representations
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for part in (accuracy, acquisitions, certificate, engine, paper, representations, scale, vopt):
    bench.add_command(part)
