"""The section of the page on one experiment."""

from html import escape
from typing import Any

from poise.experiments.drawing.figure_files import Figure
from poise.experiments.drawing.page import facts
from poise.experiments.experiment import Experiment
from poise.experiments.paper.experiments import EXPERIMENTS, paper_model
from poise.experiments.paper.report.sets import Part, method_sets, model_set
from poise.experiments.paper.report.styles import MODELS
from poise.experiments.paper.report.tables import numbers_table
from poise.experiments.paper.report.words import (
    code_of,
    counted,
    model_name,
    seconds,
    sentence,
    words_of,
)
from poise.experiments.records import Records


def section(records: Records) -> Part:
    """The section of an experiment, and the figures in it."""
    experiment = records.experiment
    words = words_of(experiment.name)
    parts = [
        f"<h2>{escape(words.heading)}</h2>",
        f"<p>{escape(words.about)}</p>" if words.about else "",
        f'<p class="quiet">{escape(_setting(records))}</p>',
        _missing(records),
    ]
    figures: list[Figure] = []
    if records.methods:
        sets = model_set(records) if experiment.name == "models" else method_sets(records)
        for html, figures_of_set in sets:
            parts.append(html)
            figures += figures_of_set
        parts.append(_numbers(records))
    parts.append(_made_with(records))
    return f'<section id="{escape(experiment.name)}">{"".join(parts)}</section>', figures


def _numbers(records: Records) -> str:
    experiment = records.experiment
    model = paper_model(experiment)
    if experiment.name == "models":
        models = [name for name in experiment.evaluate if name in MODELS]
        where = ""
    else:
        models = [model]
        where = f", in {model_name(model)}; other models are in summary.csv"
    return (
        f'<div class="card"><h3>Numbers</h3>{numbers_table(records, models)}'
        f'<p class="quiet note">Accuracy on the unlabelled points{where}. An area in bold is '
        "ahead of every other, trial by trial, with 95% confidence. Labels are those that the "
        "median trial needed, including those at the start. "
        "Time is that of the median question and includes measuring the accuracy."
        f"{_not_run(records)}</p></div>"
    )


def _not_run(records: Records) -> str:
    """A sentence on methods without a trial, also those of the paper that nobody asked for."""
    original = EXPERIMENTS.get(records.experiment.name, records.experiment)
    done = [method.name for method in records.methods]
    left = [method.title for method in original.methods if method.name not in done]
    return f" Not run: {escape(', '.join(left))}." if left else ""


def _setting(records: Records) -> str:
    about, experiment = records.about, records.experiment
    done = [len(records.seeds(method.name)) for method in records.methods] or [0]
    trials = counted(max(done), "trial")
    if min(done) < max(done):
        trials = f"{min(done)} to {trials}"
    spread = " Bands hold the true mean with 95% confidence." if max(done) > 1 else ""
    return (
        f"{about['points']:,} points, {counted(about['clusters'], 'cluster')}, "
        f"{counted(about['classes'], 'class', 'classes')}; {experiment.k} neighbours; "
        f"{_start(experiment)} and {counted(experiment.budget, 'question')}; "
        f"means of {trials}.{spread} " + sentence(str(about.get("note") or ""))
    ).strip()


def _start(experiment: Experiment) -> str:
    if experiment.initial == "one-per-class":
        return "one label per class at the start"
    return f"{counted(int(experiment.initial), 'label')} at the start"


def _missing(records: Records) -> str:
    """A note on trials that are missing, for example after an interrupted run."""
    if records.complete:
        return ""
    wanted = len(records.experiment.seeds)
    left = [
        f"{method.title} ({len(records.seeds(method.name))} of {wanted})"
        for method in records.experiment.methods
        if len(records.seeds(method.name)) < wanted
    ]
    return (
        '<p class="missing"><b>Not finished.</b> Trials are missing for '
        f"{escape(', '.join(left))}. The figures show the finished trials. "
        f"<code>poise reproduce {escape(records.experiment.name)}</code> resumes.</p>"
    )


def _made_with(records: Records) -> str:
    """Parameters, seeds, versions and dates, which determine the numbers."""
    experiment, about = records.experiment, records.about
    runs: list[dict[str, Any]] = about.get("runs", [])
    described: dict[str, object] = {
        "Data": f"{experiment.data}, embedding {experiment.embedding}, "
        f"{about['points']:,} points x {counted(about['features'], 'feature')}",
        "Source": about.get("source", ""),
        "Licence": about.get("licence", ""),
        "Note": about.get("note", ""),
        "Graph": f"{experiment.k} nearest neighbours, Gaussian weights",
        "Start": _start(experiment),
        "Questions": f"{experiment.budget:,}",
        "Seeds": ", ".join(map(str, experiment.seeds)),
        "Evaluated in": ", ".join(map(model_name, experiment.evaluate)),
    }
    for method in experiment.methods:
        described[method.title] = _parameters(method.described())
    for run in runs:
        took = f", took {seconds(run['seconds'])}" if "seconds" in run else ", interrupted"
        described[f"Run of {str(run['when'])[:10]}"] = (
            f"{run['when']}{took}, with {counted(run['jobs'], 'process', 'processes')} on "
            f"{counted(run['cores'], 'core')} ({run['machine']}); "
            + ", ".join(
                [
                    code_of(run),
                    *(f"{n} {version}" for n, version in run["versions"].items() if n != "poise"),
                ]
            )
        )
    shown = {name: value for name, value in described.items() if value}
    return f"<details><summary>How this was made</summary>{facts(shown)}</details>"


def _parameters(described: dict[str, Any]) -> str:
    return ", ".join(f"{name} {_setting_text(value)}" for name, value in described.items())


def _setting_text(value: Any) -> str:
    """A setting of a method: its name, and its parameters if it has any."""
    if not isinstance(value, dict):
        return str(value)
    rest = {name: x for name, x in value.items() if name not in ("name", "parameters")}
    rest |= value.get("parameters") or {}
    inner = ", ".join(f"{name} = {x}" for name, x in rest.items())
    name = str(value.get("name", ""))
    return f"{name} ({inner})" if inner else name
