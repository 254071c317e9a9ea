import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.errors import InputError
from poise.experiments.plots import (
    HEIGHT,
    LEFT,
    RIGHT,
    WIDTH,
    Axis,
    Series,
    legend,
    line_chart,
    percent,
    ticks,
)


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


def test_the_chart_says_in_words_what_it_shows() -> None:
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


def test_series_differ_by_more_than_colour() -> None:
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


def test_marked_points_tell_their_value() -> None:
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
