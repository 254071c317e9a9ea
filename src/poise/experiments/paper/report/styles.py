"""The line styles of all methods, the same throughout a report."""

from collections.abc import Sequence

from poise.experiments.drawing.plots import Style
from poise.experiments.experiment import Method

SOLID, LONG, DASHED, DOTTED, DASH_DOT = "", "11 4", "6 3", "2 3", "9 3 2 3"

#: Methods that share a chart differ in colour, and also in dashes or marker.
STYLES: dict[str, Style] = {
    # the paper's own, and its references
    "norm": Style(0, SOLID, "circle"),
    "norm-decay": Style(1, SOLID, "square"),
    "sm": Style(2, DASHED, "diamond"),
    "random": Style(7, DOTTED, "triangle"),
    "sm-laplace": Style(8, DASH_DOT, "diamond"),
    # the variance family
    "vopt": Style(3, LONG, "down"),
    "sigmaopt": Style(4, DASH_DOT, "plus"),
    "mcvopt-truncated": Style(6, DASHED, "cross"),
    "vopt-truncated": Style(3, DASH_DOT, "down"),
    "sigmaopt-truncated": Style(4, LONG, "plus"),
    "vopt-subset": Style(9, DASHED, "down"),
    "sigmaopt-subset": Style(5, DOTTED, "plus"),
    # policies
    "norm-kde": Style(9, DASHED, "diamond"),
    "norm-proportional": Style(2, DOTTED, "triangle"),
    "norm-decay-kde": Style(4, DASHED, "diamond"),
    "norm-decay-proportional": Style(8, DOTTED, "triangle"),
    # poise's default and its rivals
    "auto": Style(1, SOLID, "diamond"),
    "uncertainty-herding": Style(2, SOLID, "down"),
    "maxherding": Style(4, DASHED, "cross"),
    "dial": Style(6, DASH_DOT, "plus"),
    "typiclust": Style(8, DOTTED, "diamond"),
    "probcover": Style(9, DASHED, "square"),
    # what the paper leaves out
    "land": Style(2, LONG, "square"),
    "cal": Style(4, DASHED, "down"),
    "s2": Style(5, DASH_DOT, "cross"),
    "coreset": Style(6, DOTTED, "plus"),
}

#: Evaluation models have styles that the methods next to them do not have.
MODELS: dict[str, Style] = {
    "pwll": Style(3, SOLID, "circle"),
    "laplace": Style(4, DASHED, "square"),
    "poisson": Style(9, DASH_DOT, "diamond"),
    "wnll": Style(6, LONG, "down"),
    "properly-weighted": Style(8, DOTTED, "triangle"),
}

_DASHES = (LONG, DASHED, DOTTED, DASH_DOT)
_MARKERS = ("cross", "triangle", "circle", "plus", "square", "down", "diamond")


def styles_of(methods: Sequence[Method]) -> dict[str, Style]:
    """The styles of `methods`; a method that is not in `STYLES` gets one by its position."""
    unstyled = [method.name for method in methods if method.name not in STYLES]
    return {m.name: STYLES[m.name] for m in methods if m.name in STYLES} | {
        name: Style((2 + position) % 10, _DASHES[position % 4], _MARKERS[position % 7])
        for position, name in enumerate(unstyled)
    }
