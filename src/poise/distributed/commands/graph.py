"""``python -m poise.distributed graph``: a neighbour graph on Dask."""

import json
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

REACH = 4
LINE_SECONDS = 5.0


@click.command()
@click.argument("source", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True,
    help="Folder of the graph, on a file system that all workers share.",
)  # fmt: skip
@click.option("-k", type=int, default=20, show_default=True, help="Neighbours of each point.")
@click.option(
    "--metric", default="euclidean", show_default=True, help="euclidean, cosine or manhattan."
)
@click.option("--kernel", default="gaussian", show_default=True, help="As for poise.knn_graph.")
@click.option(
    "--symmetrise", default="auto", show_default=True,
    help="mean, max or min; min keeps only mutual neighbours.",
)  # fmt: skip
@click.option(
    "--backend",
    default="auto",
    show_default=True,
    help="Search within a cell, as for poise.knn_graph.",
)
@click.option("--cells", type=int, help="Number of cells.  [default: one per 50,000 points]")
@click.option(
    "--reach", type=int, default=REACH, show_default=True,
    help="Maximum number of cells searched for a point.",
)  # fmt: skip
@click.option(
    "--most-incoming", default="auto", show_default=True,
    help="How many points may list the same point: a number, auto (100 k) or none.",
)  # fmt: skip
@click.option("--column", help="Column with the points as lists of numbers.")
@click.option(
    "--checked", type=int, default=1000, show_default=True,
    help="Number of points compared with an exact search for the report; 0: none.",
)  # fmt: skip
@click.option(
    "--workers", type=int, default=2, show_default=True, help="Processes to start on this machine."
)
@click.option(
    "--scheduler", help="Address of a Dask scheduler to use instead of processes on this machine."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed.")
@click.option("--keep-work", is_flag=True, help="Keep the files of all stages.")
@click.option("--json", "as_json", is_flag=True, help="Print the manifest without its shards.")
def graph(
    source: tuple[Path, ...],
    output: Path,
    most_incoming: str,
    scheduler: str | None,
    as_json: bool,
    **settings: Any,
) -> None:
    r"""Join the points of SOURCE to their nearest neighbours, in a partitioned graph on disk.

    SOURCE is a .npy file, a Parquet or Arrow file, a folder of such files, or several files, which
    are read in order. The same command resumes an interrupted run.

    \b
    Example:
      python -m poise.distributed graph X.npy -o big.graph -k 10 --workers 2
      python -m poise.distributed graph vectors/ -o /shared/big.graph --scheduler tcp://10.0.0.1:8786
    """
    from poise.distributed.build import neighbour_graph
    from poise.extras import needed

    distributed = needed("distributed", "dask", "building a graph on several machines")
    try:
        context = distributed.Client(scheduler) if scheduler else nullcontext()
    except (OSError, ValueError) as error:
        raise click.UsageError(
            f"no Dask scheduler answers at {scheduler!r} ({error}): expected an address such as "
            "tcp://10.0.0.1:8786"
        ) from None
    begun = time.monotonic()
    with context as client:
        manifest = neighbour_graph(
            list(source) if len(source) > 1 else source[0],
            output,
            most_incoming=incoming(most_incoming),  # type: ignore[arg-type]
            client=client,
            progress=reporter(),
            **settings,
        )
    if as_json:
        click.echo(json.dumps({k: v for k, v in asdict(manifest).items() if k != "shards"}))
        return
    report = manifest.report
    click.echo(
        f"{output}: {manifest.n_nodes:,} nodes, {manifest.n_entries // 2:,} edges, "
        f"{len(manifest.shards)} shards, {report['n_components']:,} component(s), "
        f"{time.monotonic() - begun:.0f} s"
    )
    if report["recall"] is not None:
        click.echo(
            f"recall {report['recall']:.4f} on {report['checked']:,} points; "
            f"{100 * report['covered']:.1f}% of all points are proved to have no neighbour in an "
            "unsearched cell"
        )
    for sentence in report["advice"]:
        click.echo(sentence)


def incoming(value: str) -> int | str | None:
    """The option --most-incoming: a number, auto or none."""
    if value in ("auto", "none"):
        return None if value == "none" else "auto"
    try:
        return int(value)
    except ValueError:
        raise click.UsageError(
            f"--most-incoming is {value!r}: expected a whole number, auto or none"
        ) from None


def reporter() -> Callable[[str, int, int], None]:
    """Progress as a line on stderr every few seconds."""
    last = [time.monotonic()]

    def report(stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now - last[0] >= LINE_SECONDS:
            last[0] = now
            click.echo(f"{stage}: {done} of {total}", err=True)
            sys.stderr.flush()

    return report
