"""Writes a report."""

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from poise.errors import InputError
from poise.experiments.drawing.page import page
from poise.experiments.metrics import summary_csv, summary_rows
from poise.experiments.paper.claims import Claim, claims_csv, judge
from poise.experiments.paper.report.section import section
from poise.experiments.paper.report.sets import policies
from poise.experiments.paper.report.tables import claims_table, grouping_table, uncertainty_table
from poise.experiments.paper.report.words import EXPERIMENTS, code_of, counted, words_of
from poise.experiments.paper.verdicts import Verdict
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
    problems: Mapping[str, str] | None = None,
) -> Path:
    """Write ``index.html``, ``summary.csv``, ``claims.csv`` and ``figures/*.svg`` into `folder`.

    Parameters
    ----------
    records : one for each experiment, finished or not
    timings : seconds per query of the forms on 500 candidates, by method name
    command : the command line that makes this report
    problems : experiment -> why it cannot be run here

    Returns
    -------
    The path of ``index.html``. An existing report is replaced when the new one is complete, and
    kept if anything fails before.
    """
    files = report_files(records, timings=timings, command=command, problems=problems)
    write_together(folder, files)
    return folder / "index.html"


def report_files(
    records: Sequence[Records],
    *,
    timings: Mapping[str, float] | None = None,
    command: str = "",
    problems: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The files of a report by name, the page last."""
    if not records:
        raise InputError("a report needs the records of at least one experiment")
    claims = judge(records, timings, problems)
    parts = [section(run) for run in records]
    parts.append(policies(records))
    files = {f"figures/{figure.name}.svg": figure.svg for _, figures in parts for figure in figures}
    rows = [row for run in records for row in summary_rows(run)]
    names = [run.experiment.name for run in records]
    n_figures = len(files)
    files["summary.csv"] = summary_csv(rows)
    files["claims.csv"] = claims_csv(claims)
    files["index.html"] = page(
        "The paper's experiments, repeated",
        "<main>",
        _opening(claims, records),
        _contents(names, with_policies=bool(parts[-1][0])),
        _verdicts(claims, names),
        *(html for html, _ in parts),
        _tables(),
        _ending(command, n_figures, records),
        "</main>",
        f"<footer>This page is one file: it loads nothing. It repeats {escape(PAPER)}.</footer>",
        sheets=("report.css",),
    )
    for words in ("τ → 0", " ± "):  # no line break inside
        files["index.html"] = files["index.html"].replace(words, words.replace(" ", "\u00a0"))
    return files


def _opening(claims: Sequence[Claim], records: Sequence[Records]) -> str:
    count = Counter(claim.verdict for claim in claims)
    words = {verdict: verdict.value for verdict in Verdict}
    if count[Verdict.HOLDS] != 1:
        words[Verdict.HOLDS] = "hold"
    if count[Verdict.FAILS] != 1:
        words[Verdict.FAILS] = "do not hold"
    counts = [f"{count[verdict]} {said}".replace(" ", "\u00a0") for verdict, said in words.items()]
    headline = f"{counted(len(claims), 'claim')}: {', '.join(counts)}"
    beaten = sum(claim.beaten for claim in claims)
    better = f" {_beaten(beaten)}" * bool(beaten)
    return (
        '<header><p class="eyebrow">poise reproduce</p>'
        f"<h1>{headline}</h1>"
        "<p>The experiments of the paper on Poisson reweighted Laplacian uncertainty sampling, "
        f"simulated again: {counted(len(records), 'experiment')}. Every claim below comes with its "
        f"rule and numbers.{better}</p>{_gaps(records)}</header>"
    )


def _beaten(number: int) -> str:
    if number == 1:
        return "One claim that does not hold is a time that poise beats."
    return f"{number} of the claims that do not hold are times that poise beats."


def _gaps(records: Sequence[Records]) -> str:
    """What is missing: experiments of the paper without records, and unfinished ones."""
    run = [one.experiment.name for one in records]
    lists = {
        "Not run.": ([name for name in EXPERIMENTS if name not in run], "There are no records of"),
        "Not finished.": (
            [one.experiment.name for one in records if not one.complete],
            "Trials are missing in",
        ),
    }
    return "".join(
        f'<p class="missing"><b>{word}</b> {said} '
        f"{escape(', '.join(words_of(name).heading for name in names))}.</p>"
        for word, (names, said) in lists.items()
        if names
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
        "same seed start from the same labels. A claim <b>holds</b> if the whole interval agrees "
        "with it, and <b>does not hold</b> if the whole interval contradicts it. It is "
        "<b>undecided</b> if the trials do not tell, <b>not run</b> if trials that it needs are "
        "missing, and <b>not testable here</b> for the reason that is given.</p>"
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


def _ending(command: str, n_figures: int, records: Sequence[Records]) -> str:
    again = f"<p>This command makes the report:</p><pre>{escape(command)}</pre>" if command else ""
    return (
        f'<section class="card ending"><h2>Files</h2>{again}'
        '<p>All numbers are in <a href="summary.csv">summary.csv</a>, one line per method and '
        'model, and all verdicts in <a href="claims.csv">claims.csv</a>. All '
        f"{n_figures} figures are in the folder <code>figures</code>, one file each.</p>"
        f"{_commits(records)}</section>"
    )


def _commits(records: Sequence[Records]) -> str:
    """The code that made the records."""
    made: dict[str, list[str]] = {}
    for one in records:
        for run in one.about.get("runs", []):
            code = made.setdefault(code_of(run), [])
            code.append(words_of(one.experiment.name).heading)
    listed = "; ".join(f"{code}: {', '.join(dict.fromkeys(names))}" for code, names in made.items())
    return f"<p>The records were made with {escape(listed)}.</p>" if listed else ""
