"""The tables of a report: claims, numbers, and the paper's own two tables."""

from collections.abc import Sequence
from html import escape
from itertools import groupby

from poise.experiments.drawing.page import table
from poise.experiments.drawing.plots import key
from poise.experiments.metrics import SummaryRow, area, by_seed, summary_rows
from poise.experiments.paper.claims import Claim
from poise.experiments.paper.report.styles import styles_of
from poise.experiments.paper.report.words import lower, model_name, seconds, words_of
from poise.experiments.paper.verdicts import Verdict
from poise.experiments.records import Records
from poise.experiments.summary import paired

#: Sign and style class of each verdict.
_MARKS = {
    Verdict.HOLDS: ("✓", "holds"),
    Verdict.FAILS: ("✕", "fails"),
    Verdict.UNDECIDED: ("?", "undecided"),
    Verdict.NOT_RUN: ("–", "not-run"),
    Verdict.UNTESTABLE: ("∅", "untestable"),
}
_BEATEN = ("↑", "beaten")

#: What each of the paper's claims is about.
TOPICS = {
    1: "Exploration on blobs",
    2: "From exploring to refining, on box",
    3: "Uncertainty on Isolet",
    4: "Larger data sets",
    5: "V-Opt with a truncated spectrum",
    6: "Policies",
    7: "The cost of V-Opt on 500 candidates",
}


def verdict_mark(verdict: Verdict, *, beaten: bool = False) -> str:
    """A verdict as a small label: a sign, its text, a colour; no failure if poise does better."""
    sign, looks = _BEATEN if beaten else _MARKS[verdict]
    better = '<span class="better">poise is faster</span>' if beaten else ""
    return (
        f'<span class="verdict {looks}"><span aria-hidden="true">{sign}</span> '
        f"{verdict.value}{better}</span>"
    )


def claims_table(claims: Sequence[Claim], linked: Sequence[str]) -> str:
    """The claims with their verdicts and numbers; names in `linked` link to their sections.

    Roles are explicit because a narrow page lays the table out as blocks, which would hide the
    table from screen readers.
    """
    parts = []
    for number, group in groupby(claims, key=lambda claim: claim.number):
        members = list(group)
        shown = [c for c in members if c.about in linked or c.verdict is not Verdict.NOT_RUN]
        rules = {claim.rule for claim in members}
        shared = len(rules) == 1 and len(members) > 1  # shown once, then
        rule = f'<p class="quiet">{_rule(members[0])}</p>' if shared and shown else ""
        parts.append(
            '<tr role="row" class="topic"><th role="rowheader" scope="rowgroup" colspan="3">'
            f"{number}. {escape(TOPICS[number])}{rule}</th></tr>"
        )
        explained: set[str] = set()
        for claim in shown:
            parts.append(
                _claim_row(
                    claim, linked, with_rule=not shared, with_differs=claim.about not in explained
                )
            )
            explained |= {claim.about} if claim.differs else set()
        # Claims on experiments that were not run share one row.
        not_run = [claim for claim in members if claim not in shown]
        if not_run:
            parts.append(_not_run_row(not_run))
    head = "".join(
        f'<th role="columnheader" scope="col">{name}</th>'
        for name in ("The paper says", "Here it", "Measured")
    )
    return (
        f'<table role="table" class="claims"><thead role="rowgroup"><tr role="row">{head}</tr>'
        f'</thead><tbody role="rowgroup">{"".join(parts)}</tbody></table>'
    )


def _claim_row(claim: Claim, linked: Sequence[str], *, with_rule: bool, with_differs: bool) -> str:
    name = escape(words_of(claim.about).heading)
    where = f'<a href="#{escape(claim.about)}">{name}</a>' if claim.about in linked else name
    rule = f'<p class="quiet">{_rule(claim)}</p>' if with_rule else ""
    differs = (
        f'<p class="quiet">Differs from the paper: {escape(lower(claim.differs))}</p>'
        if claim.differs and with_differs
        else ""
    )
    return (
        f'<tr role="row"><td role="cell"><b class="where">{where}</b> {escape(claim.statement)}'
        f'</td><td role="cell">{verdict_mark(claim.verdict, beaten=claim.beaten)}</td>'
        f'<td role="cell"><p>{escape(claim.numbers)}</p>{rule}{differs}</td></tr>'
    )


def _rule(claim: Claim) -> str:
    return f"Rule: {escape(lower(claim.rule))}"


def _not_run_row(claims: Sequence[Claim]) -> str:
    names = " · ".join(dict.fromkeys(words_of(claim.about).heading for claim in claims))
    statements = " ".join(dict.fromkeys(claim.statement for claim in claims))
    why = claims[0].numbers
    if len(claims) > 1:
        why = f"There are no records for {len(claims)} claims."
    return (
        f'<tr role="row"><td role="cell"><b class="where">{escape(names)}</b> '
        f'{escape(statements)}</td><td role="cell">{verdict_mark(Verdict.NOT_RUN)}</td>'
        f'<td role="cell"><p class="quiet">{escape(why)}</p></td></tr>'
    )


def numbers_table(records: Records, models: Sequence[str]) -> str:
    """Every method in some evaluation models, which are named if there are several."""
    rows = [row for row in summary_rows(records) if row.model in models]
    styles = styles_of(records.experiment.methods)
    titles = {method.name: method.title for method in records.experiment.methods}
    ahead = {model: _ahead(records, model) for model in models}
    several = len(models) > 1
    head = (
        "Method",
        *["Evaluated in"] * several,
        *("Area", "Final accuracy", "Labels to 90%", "to 95%", "to all clusters"),
        *("Time", "Trials"),
    )
    top = "".join(f'<th scope="col">{name}</th>' for name in head)
    body = "".join(
        f'<tr><th scope="row"><span class="named">{key(styles[row.method])}'
        f"{escape(titles[row.method])}</span></th>"
        + "".join(
            f"<td>{cell}</td>"
            for cell in [
                *[escape(model_name(row.model))] * several,
                *_cells(row, ahead=row.method == ahead[row.model]),
            ]
        )
        + "</tr>"
        for row in rows
    )
    name = escape(words_of(records.experiment.name).heading)
    return (
        f'<div class="scroll" role="group" aria-label="Numbers of {name}" tabindex="0">'
        f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _ahead(records: Records, model: str) -> str:
    """The method whose area is above every other's with 95% confidence, if there is one."""
    areas = {
        method.name: by_seed(records, method.name, area(records.accuracy(method.name, model)))
        for method in records.methods
    }
    for name, mine in areas.items():
        others = [theirs for other, theirs in areas.items() if other != name]
        if others and all(
            len(mine.keys() & theirs.keys()) > 1 and paired(mine, theirs).low > 0
            for theirs in others
        ):
            return name
    return ""


def _cells(row: SummaryRow, *, ahead: bool) -> list[str]:
    mean = f"{100 * row.area:.1f}%"
    margin = 50 * (row.final_high - row.final_low)
    marks = (row.labels_to_90, row.labels_to_95, row.labels_to_all_clusters)
    return [
        f"<b>{mean}</b>" if ahead else mean,
        f"{100 * row.final:.1f}% <span>± {margin:.1f}</span>",
        *("never" if mark is None else f"{mark:,g}" for mark in marks),
        seconds(row.seconds_per_question),
        str(row.trials),
    ]


def uncertainty_table() -> str:
    """The paper's table of uncertainty sampling methods, in other words."""
    return table(
        ["Method", "Asks the point where", "In the model"],
        [
            ["SM, smallest margin", "the two largest scores are closest", "PWLL, τ = 0"],
            ["Norm, minimum norm", "the norm of the scores is smallest", "PWLL-τ, τ fixed"],
            ["Norm, τ → 0", "the norm of the scores is smallest", "PWLL-τ, τ decays to 0"],
        ],
    )


def grouping_table() -> str:
    """The paper's table of clusters modulo k, computed by its rule."""
    rows = []
    for name, clusters, k in (("MNIST", 10, 3), ("Fashion-MNIST", 10, 3), ("EMNIST", 47, 5)):
        cells = []
        for rest in range(5):
            members = list(range(rest, clusters, k)) if rest < k else []
            listed = ", ".join(map(str, members))
            if len(members) > 4:
                listed = f"{members[0]}, {members[1]}, …, {members[-1]}"
            cells.append(listed or "–")
        rows.append([name, *cells])
    return table(["Clusters of class", "0", "1", "2", "3", "4"], rows)
