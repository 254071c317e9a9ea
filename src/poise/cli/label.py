"""``poise label``: the labelling app."""

from pathlib import Path
from typing import Any

import click

from poise.errors import InputError


@click.command()
@click.argument("source")
@click.option("--classes", default="", help="Names of classes, with commas between them.")
@click.option(
    "--column", help="Column of a table with texts or paths of images; title,body joins texts."
)
@click.option("--key", help="Column of a table whose values name the items.")
@click.option("--label-column", help="Column of a table that holds labels.  [default: label]")
@click.option(
    "--ignore-labels", is_flag=True, help="Leave out labels of the source: sub-folders, a column."
)
@click.option("--embed", "embedding", help="Embedding; by the kind of the items if not given.")
@click.option("--vectors", help="Column of a table with vectors of your own, instead of --embed.")
@click.option(
    "--features",
    type=click.Path(path_type=Path),
    help="Vectors of your own: .npy, a row per item, images in the order of their paths.",
)
@click.option(
    "--feature-names",
    type=click.Path(path_type=Path),
    help="CSV file whose first column names the image of each row of --features.",
)
@click.option(
    "--metric",
    type=click.Choice(["euclidean", "cosine"]),
    help="How vectors are compared; your own by euclidean distance if not given.",
)
@click.option(
    "--k",
    type=click.IntRange(1, 500),
    help="Neighbours an item.  [default: 10, or what the project has]",
)
@click.option(
    "--import",
    "labels",
    type=click.Path(path_type=Path),
    help="Labels exported before: .csv, .jsonl or .parquet.",
)
@click.option(
    "--project",
    "folder",
    type=click.Path(path_type=Path),
    help="Folder of the project.  [default: NAME.poise]",
)
@click.option("--annotators", is_flag=True, help="Several people: each gives a name.")
@click.option(
    "--overlap",
    type=click.IntRange(1, 100),
    help="How many people are asked about an item.  [default: 1]",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Any free one by default.")
@click.option("--host", default="127.0.0.1", help="Address for others to reach; needs a password.")
@click.option(
    "--password",
    envvar="POISE_PASSWORD",
    help="Of those who come from elsewhere; better in the variable POISE_PASSWORD.",
)
@click.option(
    "--certfile",
    type=click.Path(path_type=Path),
    help="Certificate, to serve by HTTPS; with --keyfile. PEM files.",
)
@click.option(
    "--keyfile",
    type=click.Path(path_type=Path),
    help="Private key of the certificate.",
)
@click.option(
    "--root-path",
    default="",
    help="Where a proxy serves it: /poise, or the whole address, https://label.example/poise.",
)
@click.option("--no-browser", is_flag=True, help="Print the address, and open nothing.")
def label(
    source: str,
    classes: str,
    ignore_labels: bool,
    overlap: int | None,
    annotators: bool,
    port: int,
    host: str,
    password: str | None,
    certfile: Path | None,
    keyfile: Path | None,
    root_path: str,
    no_browser: bool,
    **options: Any,
) -> None:
    """Label your own data in the browser.

    SOURCE is a folder of images, a .csv, .tsv, .jsonl or .parquet file with a column of texts or of
    paths of images, a .npy or .npz file of vectors, or the name of a data set. Every answer is on
    disk before the page goes on; start the same command again to go on where you stopped.

    \b
    Example:
      poise label digits
      poise label photos/ --classes cat,dog
      poise label reviews.csv --column text --no-browser
      poise label items.parquet --column title,body --vectors embedding
      poise label photos/ --features X.npy
      poise label photos/ --annotators --host 0.0.0.0
      poise label photos/ --host 0.0.0.0 --certfile cert.pem --keyfile key.pem
    """
    from poise.cli.progress import progress_bar

    names = tuple(name.strip() for name in classes.split(",") if name.strip())
    if len(set(names)) < len(names):
        raise InputError(f"classes names a class twice: {classes}")
    if host != "127.0.0.1" and not password:
        password = click.prompt("Password for those who come from elsewhere", hide_input=True)
    if overlap is not None and overlap > 1 and not annotators:
        raise InputError("--overlap needs --annotators: one person is asked once")
    if (certfile is None) != (keyfile is None):
        raise InputError("--certfile and --keyfile go together: give both, or neither")
    from poise.studio.opening import Opening, Source
    from poise.studio.web.serve import serve

    settings = {} if overlap is None else {"overlap": overlap}
    wanted = Source(
        source, classes=names, use_labels=not ignore_labels, settings=settings, **options
    )
    wanted = wanted.as_before()
    wanted.check()

    def ready(addresses: list[str]) -> None:
        click.echo(f"Label {source} at\n\n  {addresses[0]}\n")
        if len(addresses) > 1:
            others = "\n  ".join(addresses[1:])
            click.echo(f"From other machines, with the password:\n\n  {others}\n")
        click.echo("Ctrl-C ends it; nothing is lost.")
        if not no_browser:
            click.launch(addresses[0])

    def failed(error: Exception) -> None:
        click.echo(f"Could not prepare {source}: {error}\nCtrl-C ends poise.", err=True)

    serve(
        Opening(wanted, tell=lambda line: click.echo(line, err=True)),
        host=host,
        port=port,
        password=password or "",
        names=annotators,
        certificate=None if certfile is None or keyfile is None else (certfile, keyfile),
        root_path=root_path,
        ready=ready,
        failed=failed,
        bar=progress_bar,
    )
