"""``python -m poise.distributed serve``: the labelling app in a browser."""

import signal
from pathlib import Path

import click

from poise.distributed.app.lines import numbered_items
from poise.distributed.app.project import open_project
from poise.distributed.app.serving import serve_until_lost
from poise.distributed.commands.settings import distributed_settings, items_option, tau_of
from poise.distributed.learner import DistributedLearner, run
from poise.distributed.ranks import mpi


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("project", type=click.Path(path_type=Path))
@items_option
@click.option("--port", default=0, help="Port of the page.  [default: any free port]")
@distributed_settings
def serve(
    folder: Path,
    project: Path,
    items: Path | None,
    port: int,
    acquisition: str,
    tau: str | None,
    seed: int,
    timeout: float,
) -> None:
    r"""Label the items of a partitioned graph in a browser at the machine of rank 0.

    Every answer is on disk, in PROJECT/events.db, before the page shows "saved". The same command
    continues from there, and so does `label`. The page has no map, review, search or audit, and
    exports labels without predictions: those need features, or all scores in one process.

    \b
    Example:
      mpiexec -n 2 python -m poise.distributed serve big.graph answers.poise --items texts.txt
    """
    if mpi().COMM_WORLD.rank:
        # The launcher passes Ctrl-C on to all ranks: rank 0 ends them when the app has ended.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)

    def main(learner: DistributedLearner) -> None:
        shown = numbered_items(project.stem, items, learner.partition.n_nodes)
        opened = open_project(project, shown, learner, acquisition)

        def ready(addresses: list[str]) -> None:
            click.echo(f"Label {folder} at\n\n  {addresses[0]}\n")
            click.echo("Press Ctrl-C to stop; every answer is saved.")

        serve_until_lost(opened, learner, port, ready)

    run(main, folder, timeout=timeout, acquisition=acquisition, tau=tau_of(tau), seed=seed)
