import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.errors import InputError
from poise.experiments.drawing.plots import (
    HEIGHT,
    LEFT,
    RIGHT,
    WIDTH,
    Axis,
    Series,
    Style,
    key,
    legend,
    line_chart,
    percent,
    ticks,
)
from poise.experiments.experiment import Method
from poise.experiments.paper.experiments import EXPERIMENTS
from poise.experiments.paper.report.styles import STYLES, styles_of


def chart(*series: Series, y: Axis | None = None) -> ElementTree.Element:
    text = line_chart(
        series,
        title="Rise & fall",
        description="It rises.",
        x=Axis("Labels", 0, 10),
        y=y or Axis("Accuracy", 0, 1, percent),
    )
    return ElementTree.fromstring(text)


def points(path: str) -> list[tuple[float, float]]:
    return [(float(a), float(b)) for a, b in re.findall(r"(-?[\d.]+) (-?[\d.]+)", path)]


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(2, 10))
def test_ticks_are_even_and_inside(low: float, width: float, wanted: int) -> None:
    found = ticks(low, low + width, wanted)
    slack = 1e-6 * (abs(low) + width)
    assert (found >= low - slack).all()
    assert (found <= low + width + slack).all()
    assert wanted / 2.5 - 1 <= len(found) <= wanted + 1
    if len(found) > 2:
        np.testing.assert_allclose(np.diff(found), np.diff(found)[0], rtol=1e-6, atol=slack)


def test_ticks_are_round_numbers() -> None:
    assert ticks(0, 1).tolist() == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])
    assert ticks(0, 101).tolist() == [0, 20, 40, 60, 80, 100]
    assert str(ticks(0, 1)[0]) == "0.0"


def test_an_axis_without_width_is_refused() -> None:
    with pytest.raises(InputError, match="low < high"):
        ticks(1, 1)


def test_the_chart_has_a_description() -> None:
    svg = chart(Series("a", [0, 10], [0, 1]))
    assert svg.findtext("title") == "Rise & fall"
    assert svg.findtext("desc") == "It rises."
    texts = [text.text for text in svg.iter("text")]
    assert {"Labels", "Accuracy", "0%", "100%", "0", "10"} <= set(texts)


def test_lines_run_from_corner_to_corner() -> None:
    svg = chart(Series("a", [0, 10], [0, 1]))
    (line,) = [path for path in svg.iter("path") if "line" in path.get("class", "")]
    (x0, y0), (x1, y1) = points(line.get("d", ""))
    assert (x0, x1) == (LEFT, WIDTH - RIGHT)
    assert y1 < y0 < HEIGHT


def test_the_band_encloses_its_line() -> None:
    svg = chart(Series("a", [0, 5, 10], [0.5, 0.6, 0.7], [0.4, 0.5, 0.6], [0.6, 0.7, 0.8]))
    (band,) = [path for path in svg.iter("path") if "band" in path.get("class", "")]
    assert len(points(band.get("d", ""))) == 6


def test_values_out_of_range_stay_within_the_frame() -> None:
    svg = chart(Series("a", [-5, 5, 50], [-1, 0.5, 9]))
    (line,) = [path for path in svg.iter("path") if "line" in path.get("class", "")]
    for x, y in points(line.get("d", "")):
        assert LEFT <= x <= WIDTH - RIGHT
        assert 0 <= y <= HEIGHT


def test_series_differ_in_more_than_colour() -> None:
    lines = [Series(name, [0, 10], [0, 1], marked=[10]) for name in "abcdefgh"]
    svg = chart(*lines)
    looks = {
        (path.get("class"), path.get("stroke-dasharray"))
        for path in svg.iter("path")
        if "line" in path.get("class", "")
    }
    assert len(looks) == 8
    dashes = [
        path.get("stroke-dasharray") for path in svg.iter("path") if "line" in path.get("class", "")
    ]
    assert len(set(dashes[:4])) == 4
    assert len({tuple(group)[1].tag for group in svg.iter("g")}) == 3  # circle, rect, path


def test_marked_points_show_their_value() -> None:
    svg = chart(Series("Random", [0, 5, 10], [0, 0.25, 1], marked=[5, 7]))
    assert [title.text for title in svg.iter("title")][1:] == ["Random: 25% at 5"]


def test_names_are_escaped() -> None:
    assert "<b>" not in legend(["<b>"])
    chart(Series("<b> & co", [0, 10], [0, 1], marked=[0]))


def test_no_colour_is_fixed() -> None:
    text = line_chart(
        [Series("a", [0, 10], [0, 1], [0, 0.9], [0, 1])],
        title="t",
        description="d",
        x=Axis("x", 0, 10),
        y=Axis("y", 0, 1),
    )
    assert not re.search(r"(fill|stroke)=|#[0-9a-f]{3}|style=", text)


def test_a_series_can_have_its_own_style() -> None:
    style = Style(9, "5 5", "plus")
    svg = chart(
        Series("a", [0, 10], [0, 1], marked=[10], style=style), Series("b", [0, 10], [1, 0])
    )
    first, second = [path for path in svg.iter("path") if "line" in path.get("class", "")]
    assert (first.get("class"), first.get("stroke-dasharray")) == ("line c9", "5 5")
    assert second.get("class") == "line c1"  # by its place
    assert "c9" in legend(["a"], [style])


@pytest.mark.parametrize(
    "marker", ["circle", "square", "diamond", "triangle", "down", "plus", "cross"]
)
def test_markers_are_drawn_about_their_point(marker: str) -> None:
    drawn = ElementTree.fromstring(key(Style(0, "", marker)))
    assert [len(group) for group in drawn.iter("g")] == [1]


def test_many_lines_have_fainter_bands() -> None:
    few = chart(*[Series(name, [0, 10], [0, 1]) for name in "abcd"])
    many = chart(*[Series(name, [0, 10], [0, 1]) for name in "abcde"])
    assert (few.get("class"), many.get("class")) == ("chart", "chart many")


def test_methods_that_share_a_chart_differ() -> None:
    for experiment in EXPERIMENTS.values():
        styles = styles_of(experiment.methods)
        by_group = {
            group: [m.name for m in experiment.methods if m.group == group]
            for group in ("paper", "subsets", "policies", "others")
        }
        charts = [
            by_group["paper"] + by_group["subsets"],
            ["norm", "random", *by_group["others"]],
            ["norm", *(name for name in by_group["policies"] if "decay" not in name)],
            ["norm-decay", *(name for name in by_group["policies"] if "decay" in name)],
        ]
        for shown in charts:
            looks = [styles[name] for name in shown if name in styles]
            assert len({style.colour for style in looks}) == len(looks), shown
            assert len({(style.dashes, style.marker) for style in looks}) == len(looks), shown


def test_no_two_methods_have_the_same_style() -> None:
    assert len(set(STYLES.values())) == len(STYLES)


def test_a_method_has_the_same_style_in_every_experiment() -> None:
    found: dict[str, set[Style]] = {}
    for experiment in EXPERIMENTS.values():
        for name, style in styles_of(experiment.methods).items():
            found.setdefault(name, set()).add(style)
    assert {len(styles) for styles in found.values()} == {1}


def test_unknown_methods_get_styles_by_position() -> None:
    mine = [Method(f"mine-{i}") for i in range(6)]
    styles = styles_of([*mine, Method("norm")])
    assert styles == styles_of([Method("norm"), *mine])
    assert len(set(styles.values())) == 7
    assert styles["norm"] == STYLES["norm"]
