"""Sets of figures that share a legend: curves of methods, heat maps, models, policies."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from html import escape
from typing import Any

from poise import knn_graph
from poise.experiments.drawing.figure_files import Figure, panel_figure
from poise.experiments.drawing.planes import classes_panel, values_panel
from poise.experiments.drawing.plots import legend
from poise.experiments.experiment import CHOOSING
from poise.experiments.paper.experiments import (
    OTHERS,
    PAPER,
    POLICIES,
    RIVALS,
    SUBSETS,
    paper_model,
)
from poise.experiments.paper.heatmaps import STAGES, heat_maps
from poise.experiments.paper.report.figures import (
    Line,
    chart_figure,
    heat_map_figure,
    method_lines,
)
from poise.experiments.paper.report.styles import MODELS, styles_of
from poise.experiments.paper.report.words import counted, lower, model_name, sentence, words_of
from poise.experiments.records import Records

#: Methods that are repeated in the charts of methods that the paper leaves out.
REFERENCES = ("norm", "random")
#: Groups of those methods, and the heading of each set of charts.
LEFT_OUT = {
    RIVALS: "auto and its strongest rivals",
    OTHERS: "Other methods that the paper leaves out",
}

#: A part of the page, and the figures in it.
Part = tuple[str, list[Figure]]


def method_sets(records: Records) -> list[Part]:
    """Sets of charts with one legend each: the paper's methods, heat maps, other methods."""
    experiment = records.experiment
    named = [method.name for method in records.methods]
    groups = {method.name: method.group for method in records.methods}
    known = (PAPER, SUBSETS, POLICIES, RIVALS, OTHERS)
    paper = [n for n in named if groups[n] in (PAPER, SUBSETS) or groups[n] not in known]
    planar = records.about.get("features") == 2 and experiment.name in STAGES
    data = experiment.load() if planar else None
    sets = []
    if paper:
        truth = [_ground_truth(records, data)] if data is not None else []
        charts = _charts(records, paper, "", balanced=not planar)
        sets.append(_set("Methods of the paper", _legend(records, paper), [*truth, *charts]))
    if data is not None:
        heat = _heat_maps(records, data)
        if heat is not None:
            sets.append(
                (f'<div class="card"><h3>What is asked first</h3>{heat.html}</div>', [heat])
            )
    for group, heading in LEFT_OUT.items():
        members = [name for name in named if groups[name] == group]
        if members:
            shown = [name for name in REFERENCES if name in named] + members
            charts = _charts(records, shown, f"{group}-", subject=heading)
            sets.append(_set(heading, _legend(records, shown), charts))
    return sets


def _charts(
    records: Records,
    methods: Sequence[str],
    prefix: str,
    *,
    balanced: bool = False,
    subject: str = "",
) -> list[Figure]:
    """Accuracy as in the paper, clusters found, and other accuracies.

    `subject` says which methods are shown if they are not the paper's own.
    """
    experiment = records.experiment
    name, heading = experiment.name, words_of(experiment.name).heading
    model = paper_model(experiment)
    styles = styles_of(experiment.methods)
    about = f"{heading}, {lower(subject)}" if subject else heading

    def accuracy(kind: str, model: str, heading: str, *, balanced: bool = False) -> Figure:
        curves = partial(records.accuracy, model=model, balanced=balanced)
        return chart_figure(
            f"{name}-{prefix}{kind}",
            method_lines(records, methods, styles, curves),
            heading=heading,
            y="Mean accuracy over classes" if balanced else "Accuracy, unlabelled points",
            title=f"{about}: {lower(heading)}",
            note=_note(records),
        )

    charts = [accuracy("accuracy", model, f"Accuracy in {model_name(model)}")]
    own = []
    if CHOOSING in experiment.evaluate and model != CHOOSING and not subject:
        own = [accuracy("choosing", CHOOSING, "Accuracy in the model that chose")]
    if all(records.explored(method).min() == 1 for method in methods):
        balanced = True  # every cluster has a label from the start: none is left to find
    else:
        clusters = chart_figure(
            f"{name}-{prefix}clusters",
            method_lines(records, methods, styles, records.explored),
            heading="Clusters found",
            y="Share of clusters with a label",
            title=f"{about}: clusters found",
            note=_note(records),
        )
        # The paper puts clusters next to accuracy, unless the ground truth is shown there.
        charts += [clusters, *own] if balanced else [*own, clusters]
        own = []
    charts += own
    if balanced:
        heading = f"Every class counts the same, in {model_name(model)}"
        charts.append(accuracy("balanced", model, heading, balanced=True))
    return charts


def _ground_truth(records: Records, data: Any) -> Figure:
    name = records.experiment.name
    size = f"{data.n_points:,} points in {data.n_classes} classes"
    panel = classes_panel(
        data.X,
        data.classes,
        title=f"{words_of(name).heading}: ground truth",
        description=f"{size} and {data.n_clusters} clusters.",
    )
    caption = f"{size}, dots and plus signs."
    return panel_figure(f"{name}-truth", panel, heading="Ground truth", caption=caption)


def _heat_maps(records: Records, data: Any) -> Figure | None:
    maps = heat_maps(records, data, knn_graph(data.X, k=records.experiment.k))
    if not maps:
        return None
    heading = words_of(records.experiment.name).heading
    panels = [
        values_panel(
            data.X,
            heat_map.values,
            heat_map.labelled,
            title=f"{heading}: {heat_map.method.title} after {heat_map.answers} answers",
            description="Brighter points are asked first; "
            f"{counted(len(heat_map.labelled), 'label')} in "
            f"{len(set(data.clusters[heat_map.labelled].tolist()))} of "
            f"{data.n_clusters} clusters.",
        )
        for heat_map in maps
    ]
    title = f"{heading}: what is asked first (trial with seed {maps[0].seed})"
    return heat_map_figure(f"{records.experiment.name}-heat-maps", maps, panels, title=title)


def model_set(records: Records) -> list[Part]:
    """A chart for each method, with a line for each evaluation model."""
    experiment = records.experiment
    models = [model for model in experiment.evaluate if model in MODELS]
    figures = []
    for method in records.methods:
        (line,) = method_lines(
            records, [method.name], styles_of([method]), partial(records.accuracy, model=models[0])
        )
        lines = [
            Line(model_name(m), MODELS[m], line.labels, records.accuracy(method.name, m))
            for m in models
        ]
        figures.append(
            chart_figure(
                f"{experiment.name}-{method.name}",
                lines,
                heading=f"Questions of {method.title}",
                y="Accuracy, unlabelled points",
                title=f"Questions of {method.title}, predictions of each model",
                note=_note(records),
            )
        )
    names = [model_name(model) for model in models]
    return [_set("Accuracy by model", legend(names, [MODELS[model] for model in models]), figures)]


def policies(every: Sequence[Records]) -> Part:
    """The supplement's comparison of policies: a row per data set, a column per method."""
    figures, rows = [], []
    for records in every:
        named = [method.name for method in records.methods if method.group == POLICIES]
        if not named:
            continue
        heading = words_of(records.experiment.name).heading
        styles = styles_of(records.experiment.methods)
        row = []
        for method, title in (("norm", "Norm"), ("norm-decay", "Norm, τ → 0")):
            lines = [
                replace(line, name=policy)
                for suffix, policy in (
                    ("", "max"),
                    ("-kde", "KDE"),
                    ("-proportional", "proportional"),
                )
                for line in method_lines(records, [method + suffix], styles, records.accuracy)
            ]
            if len(lines) < 2:
                continue
            figure = chart_figure(
                f"{records.experiment.name}-policies-{method}",
                lines,
                heading=f"{heading}, {title}",
                y="Accuracy, unlabelled points",
                title=f"{heading}: policies for {title}",
                caption=_note(records),
                note=_note(records),
            )
            key = legend([line.name for line in lines], [line.style for line in lines])
            row.append(figure.html.replace("</h4>", f"</h4>{key}", 1))
            figures.append(figure)
        rows += row
    if not figures:
        return "", []
    return (
        '<section id="policies"><h2>Policies</h2><p>Instead of the largest value of all points, '
        "the largest among the points that are not outliers (KDE, without the least dense tenth), "
        "or a random point, in proportion to the exponential of its value.</p>"
        '<div class="card"><h3>Accuracy in PWLL</h3>'
        f'<div class="charts">{"".join(rows)}</div></div></section>'
    ), figures


def _note(records: Records) -> str:
    return sentence(str(records.about.get("note") or ""))


def _set(heading: str, key: str, figures: Sequence[Figure]) -> Part:
    head = f"<h3>{escape(heading)}</h3>"
    charts = "".join(figure.html for figure in figures)
    return f'<div class="card">{head}{key}<div class="charts">{charts}</div></div>', list(figures)


def _legend(records: Records, methods: Sequence[str]) -> str:
    titles = {method.name: method.title for method in records.experiment.methods}
    styles = styles_of(records.experiment.methods)
    return legend([titles[name] for name in methods], [styles[name] for name in methods])
