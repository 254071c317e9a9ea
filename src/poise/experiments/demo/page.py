"""The page of the demonstration, one self-contained file."""

from html import escape

import numpy as np
from numpy.typing import NDArray

from poise.experiments.demo.run import METHODS, Demo, accuracy_rows, checkpoints
from poise.experiments.drawing.images import ink_uri
from poise.experiments.drawing.page import compared, facts, figure, page, table
from poise.experiments.drawing.plots import Axis, Series, legend, line_chart, percent
from poise.experiments.summary import mean_band, steps_to_reach
from poise.experiments.versions import versions

GOAL = 0.9


def demo_page(demo: Demo) -> str:
    """The page: summary, curves, images in the order of the questions, settings."""
    return page(
        "poise demo: labelling handwritten digits",
        "<main>",
        _opening(demo),
        _cards(demo),
        _curves(demo),
        _questions(demo),
        _numbers_and_next(demo),
        "</main>",
        "<footer>This page is one file and loads nothing, so you can send it to anybody. "
        "The images are scikit-learn's copy of the test set of the optical recognition of "
        "handwritten digits data (UCI, CC BY 4.0).</footer>",
    )


def _opening(demo: Demo) -> str:
    row = min(accuracy_rows(demo), key=lambda row: abs(row.labels - 20))
    auto, random = (row.accuracy[method][0] for method in ("auto", "random"))
    return (
        '<header><p class="eyebrow">poise demo</p>'
        f"<h1>With {row.labels} labels, {percent(auto)} of the other digits are right. "
        f"With random labels: {percent(random)}.</h1>"
        f"<p>There are {len(demo.digits):,} images of handwritten digits, and one of them has a "
        "label. poise asks where a whole region is uncertain: where no label is near, or where "
        "labels disagree. It gets the label of one image there and predicts all the others again. "
        "It does not know that there are ten digits: it finds them by asking. Here the data set "
        f"answers the questions. It is labelled {_times(demo.settings.trials)}, from a random "
        "first label, and accuracy is measured on the images without a label.</p></header>"
    )


def _cards(demo: Demo) -> str:
    step = min(20, demo.settings.budget + 1) - 1
    accuracy = {
        name: (value := float(demo.accuracy(method)[:, step].mean()), f"{100 * value:.1f}%")
        for method, name in METHODS.items()
    }
    to_goal = {METHODS[m]: _labels_to_reach(demo.accuracy(m), GOAL) for m in METHODS}
    to_all = {METHODS[m]: _labels_to_reach(demo.explored(m), 1.0) for m in METHODS}
    last = demo.settings.budget + 1

    def bars(labels: dict[str, float]) -> str:
        longest = max((value for value in labels.values() if np.isfinite(value)), default=last)
        return compared(
            {
                name: (min(value, longest) / longest, _written(value, last))
                for name, value in labels.items()
            }
        )

    cards = (
        (f"Accuracy with {step + 1} labels", compared(accuracy)),
        (f"Labels to get {percent(GOAL)} right", bars(to_goal)),
        ("Labels to see all ten digits", bars(to_all)),
    )
    return '<div class="columns three">{}</div>'.format(
        "".join(f'<div class="card"><h3>{escape(head)}</h3>{body}</div>' for head, body in cards)
    )


def _curves(demo: Demo) -> str:
    last = demo.settings.budget + 1
    across = Axis("Number of labels", 0, last)
    names = list(METHODS.values())
    return '<div class="columns two">{}{}</div>'.format(
        figure(
            "Accuracy",
            legend(names),
            line_chart(
                _series(demo, {method: demo.accuracy(method) for method in METHODS}),
                title="Accuracy by number of labels",
                description=_spoken(demo, "accuracy"),
                x=across,
                y=Axis("Accuracy, unlabelled images", 0, 1, percent),
            ),
            f"Mean of {demo.settings.trials} trials."
            + (" The bands hold the true mean with 95% confidence." * (demo.settings.trials > 1))
            + " The sooner a curve rises, the fewer labels it needs.",
        ),
        figure(
            "Digits found",
            legend(names),
            line_chart(
                _series(demo, {method: demo.explored(method) for method in METHODS}),
                title="Share of the ten digits seen by number of labels",
                description=_spoken(demo, "explored"),
                x=across,
                y=Axis("Share of the ten digits seen", 0, 1, percent),
            ),
            "A digit without any label is always predicted wrong, so the first task is to find all "
            "ten: poise starts with regions that no label reaches.",
        ),
    )


def _questions(demo: Demo) -> str:
    strips = "".join(
        f'<div class="card"><h3>{escape(name)}</h3>'
        f'<ol class="strip c{position}" aria-label="{escape(name)}: the images in order of the '
        'questions">'
        f"{_strip(demo, method)}</ol></div>"
        for position, (method, name) in enumerate(METHODS.items())
    )
    return (
        "<section><h2>The questions, in order</h2>"
        '<p class="quiet">The first trial. The first image is the label at the start. '
        "A bold frame marks a digit that is seen for the first time.</p>"
        f'<div class="columns">{strips}</div></section>'
    )


def _strip(demo: Demo, method: str) -> str:
    trace = demo.traces[method][0]
    seen: set[int] = set()
    items = []
    for number, node in enumerate(np.concatenate([trace.initial, trace.queries])):
        digit = int(demo.digits[node])
        is_new = digit not in seen
        seen.add(digit)
        text = f"{'at the start' if number == 0 else f'question {number}'}: {digit}"
        text += ", seen for the first time" if is_new else ""
        items.append(
            f'<li{" class=new" if is_new else ""} title="{text}">'
            f'<img src="{ink_uri(demo.images[node])}" width="8" height="8" alt="{text}">'
            f'<span aria-hidden="true">{digit}</span></li>'
        )
    return "".join(items)


def _numbers_and_next(demo: Demo) -> str:
    rows = [
        [f"{row.labels}"]
        + [
            f"{100 * mean:.1f}% ± {50 * (high - low):.1f}"
            for mean, low, high in row.accuracy.values()
        ]
        for row in accuracy_rows(demo)
    ]
    head = ["Labels", *METHODS.values()]
    settings = demo.settings
    described: dict[str, object] = {
        "Data": f"scikit-learn's digits, {len(demo.digits):,} images of 8 x 8 pixels",
        "Graph": f"{settings.k} nearest neighbours, Gaussian weights",
        "Questions": f"{settings.budget} after the first label, chosen by the acquisition auto "
        "(the default) or at random",
        "Predictions": "Poisson reweighted Laplace learning (PWLL)",
        "Trials": f"{settings.trials}, seeds {settings.seed} to "
        f"{settings.seed + settings.trials - 1}",
        "Versions": ", ".join(f"{name} {value}" for name, value in versions().items()),
    }
    return (
        '<div class="columns two">'
        f'<section class="card"><h2>Numbers</h2>{table(head, rows)}'
        '<p class="quiet note">Accuracy on the images without a label: mean over the trials, and '
        "half the width of its 95% confidence interval in percentage points. The numbers of labels "
        "needed, above, are those of the median trial.</p></section>"
        '<section class="card"><h2>What next</h2>'
        "<p>Label your own images, texts or vectors in the browser:</p>"
        "<pre>poise label FOLDER</pre>"
        "<p>Or in Python, with an array of features, one row per item:</p>"
        f"<pre>{escape(SNIPPET)}</pre>"
        "<p>List other ways to choose questions:</p><pre>poise acquisitions</pre>"
        "<p>Run this again with other settings:</p><pre>poise demo --trials 20 --seed 7</pre>"
        "</section></div>"
        f'<section class="card"><h2>How this was made</h2>{facts(described)}</section>'
    )


SNIPPET = """\
import poise

graph = poise.knn_graph(X, k=20)
learner = poise.Learner(graph, {12: "cat"})
i, = learner.ask()
learner.tell(i, "dog")
learner.predictions"""


def _series(demo: Demo, values: dict[str, NDArray[np.float64]]) -> list[Series]:
    marked = checkpoints(demo.settings.budget)
    series = []
    for method, trials in values.items():
        band = mean_band(trials)
        low, high = np.clip(band.low, 0, 1), np.clip(band.high, 0, 1)
        series.append(Series(METHODS[method], demo.labels, band.mean, low, high, marked))
    return series


def _spoken(demo: Demo, what: str) -> str:
    """The chart in words, for screen readers."""
    values = {m: getattr(demo, what)(m).mean(axis=0) for m in METHODS}
    return " ".join(
        f"With {labels} labels: "
        + ", ".join(
            f"{METHODS[m].lower()} {percent(mean[labels - 1])}" for m, mean in values.items()
        )
        + "."
        for labels in checkpoints(demo.settings.budget)
    )


def _labels_to_reach(values: NDArray[np.float64], mark: float) -> float:
    """Median over trials of the labels needed; a trial that never reached the mark is infinite."""
    return float(np.median(steps_to_reach(values, mark))) + 1


def _written(labels: float, last: int) -> str:
    return f"{labels:g}" if np.isfinite(labels) else f"over {last}"


def _times(trials: int) -> str:
    return {1: "once", 2: "twice"}.get(trials, f"{trials} times")
