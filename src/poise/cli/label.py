"""``poise label``: the labelling app."""

import sys
from pathlib import Path
from typing import Any

import click

from poise.cli.options import feature_names_option, key_option
from poise.errors import InputError


@click.command()
@click.argument("source")
@click.option("--classes", default="", help="Class names, separated by commas.")
@click.option(
    "--column", help="Table column with texts or image paths; title,body joins two text columns."
)
@key_option
@click.option("--label-column", help="Table column with labels.  [default: label]")
@click.option(
    "--ignore-labels", is_flag=True, help="Ignore labels in the source: sub-folders, a column."
)
@click.option("--embed", "embedding", help="Embedding.  [default: chosen by the kind of item]")
@click.option("--vectors", help="Table column with your own vectors, instead of --embed.")
@click.option(
    "--features",
    type=click.Path(path_type=Path),
    help="Your own vectors: .npy file with one row per item, images in order of their paths.",
)
@feature_names_option
@click.option(
    "--metric",
    type=click.Choice(["euclidean", "cosine"]),
    help="Distance between vectors.  [default: euclidean for your own, else set by the embedding]",
)
@click.option(
    "--k",
    type=click.IntRange(1, 500),
    help="Neighbours per item.  [default: 10, or the project's setting]",
)
@click.option(
    "--import",
    "labels",
    type=click.Path(path_type=Path),
    help="Import labels from an export of poise, Label Studio (.json), Hugging Face, FiftyOne or "
    "cleanlab, or from a folder per class.",
)
@click.option(
    "--project",
    "folder",
    type=click.Path(path_type=Path),
    help="Project folder.  [default: NAME.poise]",
)
@click.option("--annotators", is_flag=True, help="Let several people label; each enters a name.")
@click.option(
    "--overlap",
    type=click.IntRange(1, 100),
    help="Number of people who label each item.  [default: 1]",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Port to listen on.  [default: any free port]",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; 0.0.0.0 lets other computers connect, with a password.",
)
@click.option(
    "--password",
    envvar="POISE_PASSWORD",
    help="Password for remote users; better set in the environment variable POISE_PASSWORD.",
)
@click.option(
    "--certfile",
    type=click.Path(path_type=Path),
    help="TLS certificate for HTTPS, a PEM file; needs --keyfile.",
)
@click.option(
    "--keyfile",
    type=click.Path(path_type=Path),
    help="Private key of the certificate, a PEM file.",
)
@click.option(
    "--root-path",
    default="",
    help="Path or full address behind a reverse proxy: /poise or https://label.example/poise.",
)
@click.option("--no-browser", is_flag=True, help="Print the address without opening a browser.")
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

    SOURCE is a folder of images, a .csv, .tsv, .jsonl or .parquet table with a column of texts or
    image paths, a .npy or .npz file of vectors, or the name of a data set. Each answer is saved
    before the next question appears. Run the same command again to continue where you stopped.

    \b
    Example:
      poise label digits
      poise label photos/ --classes cat,dog
      poise label reviews.csv --column text --no-browser
      poise label items.parquet --column title,body --vectors embedding
      poise label photos/ --features X.npy
      poise label photos/ --import tasks.json
      poise label photos/ --annotators --host 0.0.0.0
      poise label photos/ --host 0.0.0.0 --certfile cert.pem --keyfile key.pem
    """
    from poise.cli.progress import progress_bar

    names = tuple(name.strip() for name in classes.split(",") if name.strip())
    if len(set(names)) < len(names):
        raise InputError(f"--classes lists a class twice: {classes}")
    if host != "127.0.0.1" and not password:
        password = asked_password(host)
    if overlap is not None and overlap > 1 and not annotators:
        raise InputError("--overlap needs --annotators: one person labels an item only once")
    if (certfile is None) != (keyfile is None):
        raise InputError("--certfile and --keyfile must be used together")
    from poise.integrations.imports.formats import read_labels
    from poise.studio.opening import Opening, Source
    from poise.studio.web.serve import serve

    settings = {} if overlap is None else {"overlap": overlap}
    wanted = Source(
        source, classes=names, use_labels=not ignore_labels, settings=settings, **options
    )
    wanted = wanted.as_before()
    wanted.check()
    labels = [] if wanted.labels is None else read_labels(wanted.labels, Path(source))

    def ready(addresses: list[str]) -> None:
        show_addresses(source, addresses)
        if not no_browser:
            click.launch(addresses[0])

    def failed(error: Exception) -> None:
        click.echo(f"Could not prepare {source}: {error}\nPress Ctrl-C to quit.", err=True)

    serve(
        Opening(
            wanted,
            tell=lambda line: click.echo(line, err=True),
            read_labels=lambda path: labels,  # read before the page opens
        ),
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


def show_addresses(source: str, addresses: list[str]) -> None:
    """Print where the app is: first for this machine, then for others."""
    click.echo(f"Label {source} at\n\n  {addresses[0]}\n")
    if len(addresses) > 1:
        others = "\n  ".join(addresses[1:])
        click.echo(f"From other machines, with the password:\n\n  {others}\n")
    click.echo("Press Ctrl-C to stop; every answer is saved.")


def asked_password(host: str) -> str:
    """The password for remote users, typed at the terminal."""
    if not sys.stdin.isatty():
        raise InputError(
            f"others can reach {host}, and there is no terminal to ask for a password: set it in "
            "the environment variable POISE_PASSWORD"
        )
    password: str = click.prompt("Password for remote users", hide_input=True)
    return password
