"""The page of ``poise plot`` and the files beside it."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from poise.experiments.drawing.figure_files import Figure
from poise.experiments.drawing.page import facts, page, table
from poise.experiments.drawing.plots import Style, legend
from poise.experiments.metrics import summary_csv, summary_rows
from poise.experiments.paper.report.figures import chart_figure, method_lines
from poise.experiments.paper.report.styles import styles_of
from poise.experiments.plot.ranking import Ranked, curves_csv, ranking, verdict
from poise.experiments.plot.runs import Run
from poise.experiments.summary import Estimate
from poise.files import write_together

HEAD = ("", "trials", "mean accuracy", "behind first", "at the end", "labels to 90%")
MORE = ("to all clusters", "s per question")


def write_plots(runs: Sequence[Run], folder: Path) -> Path:
    """Write ``index.html``, ``summary.csv``, ``curves.csv`` and ``figures/*.svg`` into `folder`.

    Returns
    -------
    The path of ``index.html``. Files of an earlier call are replaced when the new ones are
    complete.
    """
    write_together(folder, plot_files(runs))
    return folder / "index.html"


def plot_files(runs: Sequence[Run]) -> dict[str, str]:
    """The files by name, the page last."""
    methods = {method.name: method for run in runs for method in run.records.methods}
    styles = styles_of(list(methods.values()))
    shown = _charts(runs, styles)
    files = {f"figures/{each.name}.svg": each.svg for _, figures in shown for each in figures}
    files["summary.csv"] = summary_csv(
        row for run in runs for row in summary_rows(run.records) if row.model in run.models
    )
    files["curves.csv"] = curves_csv(runs)
    keys = legend(list(methods), [styles[name] for name in methods])
    charts = "".join(
        f'<section><h2>{escape(heading)}</h2><div class="card">{keys}<div class="charts">'
        f"{''.join(figure.html for figure in figures)}</div></div></section>"
        for heading, figures in shown
    )
    files["index.html"] = page(
        f"poise plot: {_listed(runs)}",
        "<main>",
        f'<header><p class="eyebrow">poise plot</p><h1>{escape(_listed(runs))}</h1>'
        "<p>Each line is the mean of the trials. The band around it holds the true mean with 95% "
        "confidence; a single trial has no band. Mean accuracy is the mean of a curve over all "
        "questions.</p></header>",
        charts,
        *(_numbers(run) for run in runs),
        "</main>",
        "<footer>This page is one file and loads nothing. The figures are also in the folder "
        "figures, the numbers in summary.csv, and the curves in curves.csv.</footer>",
        sheets=("report.css",),
    )
    return files


def model_words(model: str) -> str:
    """An evaluation model within a sentence."""
    return "the method's own model" if model == "choosing" else f"the model {model}"


def cells(ranked: Ranked) -> tuple[str, ...]:
    """A method's row of the table, as text; the columns are `HEAD` and `MORE`."""
    row = ranked.row
    return (
        row.method,
        str(row.trials),
        _share(Estimate(row.area, row.area_low, row.area_high, row.trials)),
        "" if ranked.behind is None else _share(ranked.behind),
        _share(Estimate(row.final, row.final_low, row.final_high, row.trials)),
        _labels(row.labels_to_90),
        _labels(row.labels_to_all_clusters),
        f"{row.seconds_per_question:.3g}",
    )


def _charts(runs: Sequence[Run], styles: dict[str, Style]) -> list[tuple[str, list[Figure]]]:
    """Headings and figures: for each measure, all experiments side by side."""
    measures = {model: f"Accuracy in {model_words(model)}" for run in runs for model in run.models}
    measures |= {"": "Clusters found"}
    if len(runs) == 1:
        charts = [_chart(runs[0], model, words, words, styles) for model, words in measures.items()]
        return [("Curves", charts)]
    return [
        (
            words,
            [
                _chart(run, model, words, run.label, styles)
                for run in runs
                if not model or model in run.models
            ],
        )
        for model, words in measures.items()
    ]


def _chart(run: Run, model: str, words: str, heading: str, styles: dict[str, Style]) -> Figure:
    """Accuracy in an evaluation model, or without one the share of the clusters seen."""
    records = run.records
    names = [method.name for method in records.methods]
    curves = (lambda m: records.accuracy(m, model)) if model else records.explored
    return chart_figure(
        f"{run.file}-{model or 'clusters'}",
        method_lines(records, names, styles, curves),
        heading=heading,
        y="Accuracy on the unlabelled points" if model else "Share of the clusters seen",
        title=f"{run.label}: {words[0].lower()}{words[1:]}",
    )


def _numbers(run: Run) -> str:
    """Tables and facts of one experiment."""
    experiment, about = run.records.experiment, run.records.about
    parts = []
    for model in run.models:
        ranked = ranking(run, model)
        parts.append(
            f'<div class="card"><h3>Accuracy in {escape(model_words(model))}</h3>'
            f"<p>{escape(verdict(ranked))}</p>{table(HEAD + MORE, map(cells, ranked))}</div>"
        )
    data = experiment.data if isinstance(experiment.data, str) else experiment.data["name"]
    known = {
        "data": f"{data}, {about['points']:,} points, {about['classes']} classes",
        "embedding": experiment.embedding,
        "neighbours": experiment.k,
        "questions": experiment.budget,
        "source": about["source"],
        "licence": about["licence"],
        "note": about["note"],
    }
    told = facts({name: value for name, value in known.items() if value})
    return (
        f"<section><h2>{escape(run.label)}</h2>{''.join(parts)}"
        f'<div class="card">{told}</div></section>'
    )


def _listed(runs: Sequence[Run]) -> str:
    return ", ".join(run.label for run in runs)


def _share(value: Estimate) -> str:
    spread = f" ± {100 * value.margin:.1f}" if value.trials > 1 else ""
    return f"{100 * value.mean:.1f}{spread}%"


def _labels(needed: float | None) -> str:
    return "never" if needed is None else f"{needed:g}"
