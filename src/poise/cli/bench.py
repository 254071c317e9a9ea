"""``poise bench``: poise against others, side by side in one run."""

from importlib import import_module

import click


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
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def engine(as_json: bool) -> None:
    """Compare the engine's speed and memory with graphlearning's.

    \b
    Example:
      poise bench engine
      poise bench engine --json
    """
    main = import_module("poise.experiments.bench_engine").main

    main(as_json=as_json)
