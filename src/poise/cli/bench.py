"""``poise bench``: poise against others, side by side in one run."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.table import Table

    from poise.experiments.bench.acquisitions import Cost
    from poise.experiments.bench.row import Row
    from poise.progress import Progress

    Section = Callable[[Progress], Iterator[Row]]
    Rows = list[tuple[str, Row]]

SECTIONS = ("agreement", "answers", "components", "speed", "parity")
VOPT_SECTIONS = ("speed", "quality")
ACQUISITION_SECTIONS = ("costs", "coverage", "batches")
REPRESENTATION_SETS = ("cifar10", "banking77", "20news")
ACCURACY_PARTS = ("rivals", "peers", "estimation", "stopping", "noise")


@click.group(invoke_without_command=True)
@click.pass_context
def bench(context: click.Context) -> None:
    """Measure poise against others, side by side in one run.

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


@bench.command()
@click.argument("sections", nargs=-1, type=click.Choice(SECTIONS))
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def engine(sections: tuple[str, ...], as_json: bool) -> None:
    """Compare the engine's speed, memory and accuracy with graphlearning's.

    Without SECTIONS all are run, about 15 minutes. Most read data sets from the folder that the
    variable POISE_DATA names. Figures are medians; with a peer, queries of both alternate, so that
    a busy machine slows both.

    \b
    Example:
      poise bench engine
      poise bench engine speed components
      poise bench engine --json
    """
    from poise.experiments.bench.engine import SECTIONS as measured

    show(collect({name: measured[name] for name in sections or SECTIONS}), as_json)


@bench.command()
@click.argument("parts", nargs=-1, type=click.Choice((*ACCURACY_PARTS, "all")))
@click.option(
    "--quick", is_flag=True, help="Five small sets, three trials; rivals in under 20 minutes."
)
@click.option("--ablation", is_flag=True, help="Variants of auto instead of rivals.")
@click.option("--sets", multiple=True, metavar="NAME", help="Only this data set; repeatable.")
@click.option("--only", multiple=True, metavar="NAME", help="Only this rival or peer; repeatable.")
@click.option("--trials", type=click.IntRange(1, 100), help="Trials of each; 10 by default.")
@click.option("--jobs", type=click.IntRange(1), help="Parallel processes; one per core by default.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("out/accuracy"),
    show_default=True,
    help="Folder for the records and the report.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def accuracy(
    parts: tuple[str, ...],
    quick: bool,
    ablation: bool,
    sets: tuple[str, ...],
    only: tuple[str, ...],
    trials: int | None,
    jobs: int | None,
    output: Path,
    as_json: bool,
) -> None:
    """Compare what poise knows after few labels with every rival.

    A trial is a random 80% of a data set, at most 20,000 points, with a graph of its own, the same
    for every method. "rivals", the part that is measured if none is named, asks 100 questions from
    no label by each method, and measures accuracy on the rest at 5 to 100 labels and the
    calibration of the probabilities. "peers" runs other libraries with their own classifiers;
    "estimation" audits the estimated accuracy; "stopping" tries the rules that advise when to stop
    in sessions of 300 answers; "noise" flips a tenth of the answers. All sets take some hours on
    two cores: what is finished is kept, and the same command goes on. Data sets are read from the
    folder that the variable POISE_DATA names, or fetched.

    \b
    Example:
      poise bench accuracy --quick
      poise bench accuracy all --quick
      poise bench accuracy stopping noise --sets digits --trials 3
      poise bench accuracy --sets digits --only auto --only norm --only random
      poise bench accuracy --quick --ablation -o out/ablation
    """
    from poise.cli.progress import progress_bar, resumable
    from poise.experiments.efficiency.bench import (
        DEFAULT,
        QUICK_POOLS,
        QUICK_TRIALS,
        TRIALS,
        Plan,
        run,
    )
    from poise.experiments.efficiency.methods import ABLATIONS, METHODS
    from poise.experiments.efficiency.peers import PEERS
    from poise.experiments.efficiency.report import write_report
    from poise.experiments.efficiency.sets import POOLS
    from poise.machine import cores
    from poise.registry import known_name

    for name in sets:
        known_name("data set of this benchmark", name, POOLS)
    methods = ABLATIONS if ablation else METHODS
    for name in only:
        known_name("method", name, [*methods, *PEERS])
    plan = Plan(
        output,
        sets or (QUICK_POOLS if quick else tuple(POOLS)),
        tuple(name for name in only if name in methods) or tuple(methods),
        trials or (QUICK_TRIALS if quick else TRIALS),
        jobs or cores(),
        ACCURACY_PARTS if "all" in parts else tuple(dict.fromkeys(parts)) or (DEFAULT,),
        tuple(name for name in only if name in PEERS) or tuple(PEERS),
    )
    with resumable(), progress_bar("Starting") as begin:
        run(plan, begin)
    show_accuracy(output, plan.parts, as_json)
    if not as_json:
        click.echo(f"\nreport: {write_report(output, output / 'report').as_posix()}")


def show_accuracy(folder: Path, parts: tuple[str, ...], as_json: bool) -> None:
    """Print what is on record about some parts."""
    from poise.experiments.efficiency import tables
    from poise.experiments.efficiency.bench import tables as tables_of

    found = tables_of(folder, parts)
    if as_json:
        click.echo(json.dumps(tables.as_json(found), indent=2))
        return
    for one in found:
        table = new_table(one.title, *one.head)
        table.caption = one.note or None
        table.caption_justify = "left"
        for row in one.rows:
            table.add_row(*row)
        print_table(table)


@bench.command()
@click.option(
    "--sizes", multiple=True, metavar="N|NAME", help="Only this many points, or set; repeatable."
)
@click.option("--quick", is_flag=True, help="10,000 and 100,000 points, a few questions.")
@click.option("--only", multiple=True, metavar="NAME", help="Only this acquisition; repeatable.")
@click.option(
    "--questions", type=click.IntRange(0), help="After the first, 10 by default; 0: search alone."
)
@click.option("--no-peer", is_flag=True, help="Without graphlearning.")
@click.option("--again", is_flag=True, help="Measure anew what is on record, with new graphs.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("out/scale"),
    show_default=True,
    help="Folder for the records.",
)
@click.option(
    "--cache",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for points and graphs; that of the records by default.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def scale(
    sizes: tuple[str, ...],
    quick: bool,
    only: tuple[str, ...],
    questions: int | None,
    no_peer: bool,
    again: bool,
    output: Path,
    cache: Path | None,
    as_json: bool,
) -> None:
    """Measure how time and memory grow, from 10,000 to 4,000,000 points.

    Points with cluster structure in 64 dimensions, and the data sets mnist and emnist-bymerge, each
    with 10 neighbours, in a process of its own: neighbour search and its recall, graph, set-up, the
    first question and further ones (choose, answer, predict) with "norm" and "auto". Beside them,
    in turn, graphlearning's search and its refit per question on the same graph. What is finished
    is kept, and the same command goes on.

    \b
    Example:
      poise bench scale --quick
      poise bench scale --sizes 1000000 --no-peer
      poise bench scale --sizes 300000 --only auto --questions 5
      poise bench scale --sizes mnist --sizes emnist-bymerge
    """
    from poise.cli.progress import progress_bar, resumable
    from poise.experiments.bench.scale import run as measured
    from poise.experiments.bench.scale.tables import exponents, rows_of
    from poise.registry import known_name

    usual = tuple(map(str, measured.QUICK_SIZES if quick else measured.SIZES))
    names = tuple(name.replace(",", "").replace("_", "") for name in sizes)
    for name in names:
        if not name.isdecimal():
            known_name("data set of this benchmark", name, measured.REAL)
    plan = measured.Plan(
        output,
        cache or output / "cache",
        names or usual + (() if quick else tuple(measured.REAL)),
        only or measured.ACQUISITIONS,
        (4 if quick else measured.QUESTIONS) if questions is None else questions,
        not no_peer,
        again,
    )
    for line in measured.estimates(plan):
        click.echo(line, err=True)
    records = []
    with resumable(), progress_bar("Starting") as begin:
        for record in measured.run(plan, begin):
            records.append(record)
    if as_json:
        click.echo(json.dumps(records, indent=2))
        return
    for record in records:
        table = new_table(f"{record['name']}: {record['n']:,} points", "poise", "peer", "ratio")
        lacking = record.get("their_search", {}).get("missing"), record.get("without_peer")
        table.caption, table.caption_justify = "\n".join(filter(None, lacking)) or None, "left"
        for what, ours, peer in rows_of(record):
            ratio = peer / ours if ours and peer else None
            table.add_row(what, figure(ours), figure(peer), figure(ratio))
        print_table(table)
    powers = exponents(records)
    if powers:
        table = new_table("fitted power of n", "poise", "peer")
        for what, mine, other in powers:
            table.add_row(what, figure(mine), figure(other))
        print_table(table)


@bench.command()
@click.argument("sections", nargs=-1, type=click.Choice(VOPT_SECTIONS))
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def vopt(sections: tuple[str, ...], as_json: bool) -> None:
    """Compare V-Opt and Sigma-Opt on all points with the authors' route on 500 of them.

    "speed" times 100 queries of each on mnist_imb_vae and two of graphlearning's, a minute or more
    each; "quality" compares every choice with dense linear algebra on 3,000 points. About 10
    minutes in all; data sets are read from the folder that the variable POISE_DATA names.

    \b
    Example:
      poise bench vopt
      poise bench vopt quality --json
    """
    from poise.experiments.bench.vopt import quality, speed

    measured = {"speed": speed, "quality": quality}
    show(collect({name: measured[name] for name in sections or VOPT_SECTIONS}), as_json)


@bench.command()
@click.argument("sections", nargs=-1, type=click.Choice(ACQUISITION_SECTIONS))
@click.option("--only", multiple=True, metavar="NAME", help="Costs of this one; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def acquisitions(sections: tuple[str, ...], only: tuple[str, ...], as_json: bool) -> None:
    """Measure what every acquisition costs at 70,000 points; run two comparisons.

    "costs" gives set-up, seconds per question and peak memory of each acquisition on mnist_vae, in
    a process of its own; "coverage" compares the smallest Poisson weight with the smallest norm;
    "batches" compares batches of 20 with one question at a time. About 20 minutes in all; data sets
    are read from the folder that the variable POISE_DATA names.

    \b
    Example:
      poise bench acquisitions
      poise bench acquisitions costs --only vopt --only land
      poise bench acquisitions batches --json
    """
    from poise.cli.progress import progress_bar
    from poise.experiments.bench.acquisitions import costs
    from poise.experiments.bench.batches import batches
    from poise.experiments.bench.coverage import coverage

    chosen = sections or ACQUISITION_SECTIONS
    found: list[Cost] = []
    if "costs" in chosen:
        with progress_bar("costs") as begin:
            found = sorted(costs(only, begin("costs")), key=lambda cost: cost.query)
    measured: dict[str, Section] = {"coverage": coverage, "batches": batches}
    rows = collect({name: measured[name] for name in chosen if name in measured})
    if as_json:
        listed: list[dict[str, Any]] = [{"section": "costs"} | cost.to_dict() for cost in found]
        click.echo(json.dumps(listed + as_dicts(rows), indent=2))
        return
    if found:
        table = new_table("70,000 points", "set-up, s", "a question, s", "peak, MB")
        for cost in found:
            table.add_row(cost.name, figure(cost.set_up), figure(cost.query), f"{cost.peak:,.0f}")
        print_table(table)
    if rows:
        show(rows, as_json)


@bench.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def paper(as_json: bool) -> None:
    """Compare the time of the paper's experiment on MNIST with the authors' route.

    A few questions of every method but those on 500 candidates are timed in one thread, ten trials
    in lockstep, beside a few of graphlearning's, and extrapolated to 100 questions and 10 trials.
    About 10 minutes; mnist_vae is read from the folder that the variable POISE_DATA names.

    \b
    Example:
      poise bench paper
      poise bench paper --json
    """
    from poise.experiments.bench.paper import paper as measured

    show(collect({"paper": measured}), as_json)


@bench.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def certificate(as_json: bool) -> None:
    """Measure how tight the decay bound and the exploration certificate are.

    On blobs, mnist-imb and isolet, with one label in every second cluster. Under a minute; data
    sets are read from the folder that the variable POISE_DATA names.

    \b
    Example:
      poise bench certificate
    """
    from poise.experiments.bench.certificate import certificate as measured

    show(collect({"certificate": measured}), as_json)


@bench.command()
@click.argument("sets", nargs=-1, type=click.Choice(REPRESENTATION_SETS))
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def representations(sets: tuple[str, ...], as_json: bool) -> None:
    """Measure how well photographs and texts are labelled with the default settings.

    Items are embedded, joined to neighbours and asked about as in the app, from no label, with
    truthful answers. For comparison, scikit-learn's logistic regression gets as many random labels,
    on the same features and on those that need no encoder. Without SETS all are measured, about
    five minutes each; they are read from the folder that the variable POISE_DATA names.

    \b
    Example:
      poise bench representations
      poise bench representations banking77
    """
    from poise.experiments.bench.representations import representations as measured

    show(collect({"representations": lambda progress: measured(progress, sets)}), as_json)


def collect(sections: "dict[str, Section]") -> "Rows":
    """Run sections of a benchmark, with a progress bar each."""
    from poise.cli.progress import progress_bar

    rows: Rows = []
    if sections:
        with progress_bar("Starting") as begin:
            for name, section in sections.items():
                rows += [(name, row) for row in section(begin(name))]
    return rows


def as_dicts(rows: "Rows") -> "list[dict[str, Any]]":
    """Rows as JSON can hold them."""
    return [{"section": name} | row.to_dict() for name, row in rows]


def show(rows: "Rows", as_json: bool) -> None:
    """Print rows as one table, a block per section, or as JSON."""
    if as_json:
        click.echo(json.dumps(as_dicts(rows), indent=2))
        return
    table = new_table(None, "poise", "peer", "ratio", "goal", "")
    for section in dict.fromkeys(name for name, _ in rows):
        for row in (row for name, row in rows if name == section):
            sign = "<=" if row.at_most else ">="
            table.add_row(
                row.what,
                figure(row.ours),
                figure(row.peer),
                figure(row.ratio),
                "" if row.goal is None else f"{sign} {row.goal:g}",
                {None: "", True: "met", False: "missed"}[row.met],
            )
        table.add_section()
    print_table(table)


def new_table(title: str | None, *headings: str) -> "Table":
    """A plain table: names on the left, figures to the right."""
    from rich.table import Table

    table = Table(box=None, header_style="bold", title=title, title_justify="left")
    table.add_column("")
    for heading in headings:
        table.add_column(heading, justify="right")
    return table


def print_table(table: "Table") -> None:
    """Print to the terminal, as wide as it is."""
    from rich.console import Console

    Console().print(table)


def figure(value: float | None) -> str:
    """Three significant digits."""
    return "" if value is None else f"{value:,.3g}"
