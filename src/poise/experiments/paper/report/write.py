"""Writes a report."""

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from poise.errors import InputError
from poise.experiments.drawing.page import page
from poise.experiments.metrics import summary_csv, summary_rows
from poise.experiments.paper.claims import Claim, Verdict, judge
from poise.experiments.paper.report.section import section
from poise.experiments.paper.report.sets import policies
from poise.experiments.paper.report.tables import claims_table, grouping_table, uncertainty_table
from poise.experiments.paper.report.words import counted, words_of
from poise.experiments.paper.rules import TRIALS
from poise.experiments.records import Records
from poise.files import write_together

PAPER = (
    "K. Miller and J. Calder, Poisson reweighted Laplacian uncertainty sampling for graph-based "
    "active learning, SIAM Journal on Mathematics of Data Science, 2023"
)


def write_report(
    records: Sequence[Records],
    folder: Path,
    *,
    timings: Mapping[str, float] | None = None,
    command: str = "",
) -> Path:
    """Write ``index.html``, ``summary.csv`` and ``figures/*.svg`` into `folder`.

    Parameters
    ----------
    records : one for each experiment, finished or not
    timings : seconds per query of the forms on 500 candidates, by method name
    command : the command line that makes this report

    Returns
    -------
    The path of ``index.html``. An existing report is replaced when the new one is complete, and
    kept if anything fails before.
    """
    files = report_files(records, timings=timings, command=command)
    write_together(folder, files)
    return folder / "index.html"


def report_files(
    records: Sequence[Records],
    *,
    timings: Mapping[str, float] | None = None,
    command: str = "",
) -> dict[str, str]:
    """The files of a report by name, the page last."""
    if not records:
        raise InputError("a report needs the records of at least one experiment")
    claims = judge(records, timings)
    parts = [section(run) for run in records]
    parts.append(policies(records))
    files = {f"figures/{figure.name}.svg": figure.svg for _, figures in parts for figure in figures}
    rows = [row for run in records for row in summary_rows(run)]
    names = [run.experiment.name for run in records]
    files["summary.csv"] = summary_csv(rows)
    files["index.html"] = page(
        "The paper's experiments, repeated",
        "<main>",
        _opening(claims, records),
        _contents(names, with_policies=bool(parts[-1][0])),
        _verdicts(claims, names),
        *(html for html, _ in parts),
        _tables(),
        _ending(command, len(files) - 1),
        "</main>",
        f"<footer>This page is one file: it loads nothing. It repeats {escape(PAPER)}.</footer>",
        sheets=("report.css",),
    )
    for words in ("τ → 0", " ± "):  # no line break inside
        files["index.html"] = files["index.html"].replace(words, words.replace(" ", "\u00a0"))
    return files


def _opening(claims: Sequence[Claim], records: Sequence[Records]) -> str:
    count = Counter(claim.verdict for claim in claims)
    tested = count[Verdict.HOLDS] + count[Verdict.FAILS]
    if not tested:
        headline = "None of the paper's claims could be tested here."
    elif not count[Verdict.FAILS]:
        headline = (
            f"All {tested} claims that were tested hold."
            if tested > 1
            else "The one claim that was tested holds."
        )
    else:
        headline = f"{count[Verdict.HOLDS]} of {tested} claims that were tested hold."
    untested = count[Verdict.UNTESTED]
    rest = f" {counted(untested, 'claim')} could not be tested with these records." * bool(untested)
    open_names = [words_of(run.experiment.name).heading for run in records if not run.complete]
    unfinished = (
        '<p class="missing"><b>Not finished.</b> Trials are missing in '
        f"{escape(', '.join(open_names))}.</p>"
        if open_names
        else ""
    )
    return (
        '<header><p class="eyebrow">poise reproduce</p>'
        f"<h1>{headline}</h1>"
        "<p>The experiments of the paper on Poisson reweighted Laplacian uncertainty sampling, "
        f"simulated again: {counted(len(records), 'experiment')}. Every claim below comes with its "
        f"rule and numbers.{rest}</p>{unfinished}</header>"
    )


def _contents(names: Sequence[str], *, with_policies: bool) -> str:
    links = [("claims", "Claims"), *((name, words_of(name).heading) for name in names)]
    links += [("policies", "Policies")] * with_policies + [("setting", "Setting")]
    items = "".join(f'<li><a href="#{escape(at)}">{escape(word)}</a></li>' for at, word in links)
    return f'<nav aria-label="Contents"><ul class="contents">{items}</ul></nav>'


def _verdicts(claims: Sequence[Claim], names: Sequence[str]) -> str:
    return (
        '<section id="claims"><h2>Claim by claim</h2>'
        '<p class="quiet">Area is the mean accuracy over the questions. Intervals hold the true '
        "mean with 95% confidence. Differences are taken trial by trial, because trials with the "
        "same seed start from the same labels. If there are fewer than "
        f"{TRIALS} trials and they leave both outcomes possible, a claim is open.</p>"
        f'<div class="card">{claims_table(claims, names)}</div></section>'
    )


def _tables() -> str:
    return (
        '<section id="setting"><h2>Setting</h2><div class="columns words">'
        f'<div class="card"><h3>Uncertainty, three ways</h3>{uncertainty_table()}</div>'
        f'<div class="card"><h3>Clusters and classes</h3>{grouping_table()}'
        '<p class="quiet note">The class of a cluster is its number modulo 3 or 5.</p></div>'
        "</div></section>"
    )


def _ending(command: str, n_files: int) -> str:
    again = f"<p>This command makes the report:</p><pre>{escape(command)}</pre>" if command else ""
    return (
        f'<section class="card ending"><h2>Files</h2>{again}'
        '<p>All numbers are in <a href="summary.csv">summary.csv</a>, one line per method and '
        f"model. All {n_files - 1} figures are in the folder <code>figures</code>, one file "
        "each.</p></section>"
    )
