"""``poise label-studio``: keep a project of Label Studio current."""

import json
import os
from typing import TYPE_CHECKING

import click

from poise.cli.options import json_option

if TYPE_CHECKING:
    from poise.integrations.label_studio.sync import Round, Sync

#: Tasks named in the line about a round.
NAMED_TASKS = 3


@click.command("label-studio")
@click.argument("url")
@click.option(
    "--project",
    type=click.IntRange(min=1),
    required=True,
    help="Number of the project, as in the address of its page.",
)
@click.option("--once", is_flag=True, help="Do one round and stop.")
@click.option(
    "--interval",
    type=click.FloatRange(1, 86_400),
    default=10.0,
    show_default=True,
    help="Seconds between rounds.",
)
@click.option("--embed", "embedding", help="Embedding.  [default: chosen by the kind of item]")
@click.option("--control", help="Name of the tag Choices.  [default: the only one]")
@json_option("text: a line for each round")
def label_studio(
    url: str,
    project: int,
    once: bool,
    interval: float,
    embedding: str | None,
    control: str | None,
    as_json: bool,
) -> None:
    """Order the tasks of a Label Studio project.

    poise reads the texts or images of a project and the classes that people choose there. It writes
    a prediction for every task, with a score: sort by "Prediction score", ascending, and the task
    most worth labelling comes first. It keeps both current until you press Ctrl-C. URL is the
    address of Label Studio. Set the environment variable LABEL_STUDIO_API_KEY to your token.

    \b
    Example:
      poise label-studio http://localhost:8080 --project 1
      poise label-studio https://label.example --project 12 --once
      poise label-studio https://label.example --project 12 --interval 60 --json
    """
    from poise import embeddings
    from poise.cli.progress import progress_bar
    from poise.integrations.label_studio.api import Api
    from poise.integrations.label_studio.client import TOKEN_VARIABLE, Client
    from poise.integrations.label_studio.sync import UPDATES_OF_A_ROUND, Sync, keep_current

    if embedding is not None:
        embeddings.factory(embedding)  # an unknown name costs no request
    client = Client(url, os.environ.get(TOKEN_VARIABLE, ""))
    sync = Sync(Api(client, project), embedding=embedding, control=control)
    said: list[str] = []

    def step() -> "Round":
        with progress_bar("Reading tasks") as begin:
            done = sync.round(begin, most_updates=None if once else UPDATES_OF_A_ROUND)
        if not said and not as_json:
            for line in about(sync, once):
                click.echo(line, err=True)
        line = json.dumps(done._asdict()) if as_json else sentence(done)
        if done.sent or said[-1:] != [line]:
            click.echo(line)
        said[:] = [line]
        return done

    if once:
        step()
        return
    try:
        keep_current(step, sync.forget, lambda line: click.echo(line, err=True), interval)
    except KeyboardInterrupt:
        click.echo("\nStopped. Run the same command again to continue.", err=True)


def about(sync: "Sync", once: bool) -> list[str]:
    """What users should know after the first round, a line each."""
    from poise.integrations.label_studio.items import LEAST_TASKS
    from poise.integrations.label_studio_json import MODEL_VERSION

    lines = []
    if sync.pool.compared is not None:
        compared = sync.pool.compared
        lines.append(f"Tasks are compared by {compared.embedding}: {compared.why}.")
    else:
        lines.append(f"Fewer than {LEAST_TASKS} tasks can be compared: nothing is predicted yet.")
    if sync.pool.left_out:
        task, why = next(iter(sync.pool.left_out.items()))
        lines.append(f"Left out: {len(sync.pool.left_out):,} tasks. Of task {task}, {why}.")
    version = "" if sync.about is None else sync.about.version
    if version and version != MODEL_VERSION:
        lines.append(
            f"The project shows the predictions of {version!r}: choose {MODEL_VERSION!r} under "
            "Settings, else the score to sort by is the other model's."
        )
    elif not version and any(task.others for task in sync.tasks.values()):
        lines.append(
            f"Some tasks have predictions of other models, and Label Studio sorts by the mean: "
            f"choose {MODEL_VERSION!r} under Settings to sort by the score of poise alone."
        )
    if not once:
        lines.append('Sort by "Prediction score", ascending. Press Ctrl-C to stop.')
    return lines


def sentence(done: "Round") -> str:
    """A round in a line."""
    parts = [f"{done.tasks:,} tasks", f"{done.labelled:,} labelled"]
    if done.skipped:
        parts.append(f"{done.skipped:,} skipped")
    parts.append(f"{done.sent:,} predictions sent")
    if done.waiting:
        parts.append(f"{done.waiting:,} to send")
    if done.next:
        parts.append(f"next: {', '.join(map(str, done.next[:NAMED_TASKS]))}")
    return "; ".join(parts)
