"""Symbols and powers of ten in the texts of figures."""

import re
from xml.etree import ElementTree

import pytest

from poise.experiments.drawing import typeset
from poise.experiments.drawing.plots import HEIGHT, Axis, Series, line_chart
from poise.experiments.theory.chapter import above, chart, powers

TEXTS = {
    "plain & simple": ("plain &amp; simple", "plain &amp; simple", "plain & simple"),
    "$τ$ → 0": ('<tspan font-style="italic">τ</tspan> → 0', "<i>τ</i> → 0", "τ → 0"),
    "min $A_s$": (
        'min <tspan font-style="italic">A</tspan><tspan font-size="72%" dy="3.5">s</tspan>',
        "min <i>A</i><sub>s</sub>",
        "min Aₛ",
    ),
    "$R_o²$": (
        '<tspan font-style="italic">R</tspan><tspan font-size="72%" dy="3.5">o</tspan>'
        '<tspan dy="-3.5">²</tspan>',
        "<i>R</i><sub>o</sub>²",
        "Rₒ²",
    ),
    "5 $ or 6 $": ("5 $ or 6 $", "5 $ or 6 $", "5 $ or 6 $"),
    "a_b": ("a_b", "a_b", "a_b"),
}


@pytest.mark.parametrize("words", TEXTS)
def test_a_text_in_three_forms(words: str) -> None:
    assert (typeset.svg(words), typeset.html(words), typeset.plain(words)) == TEXTS[words]
    ElementTree.fromstring(f"<text>{typeset.svg(words)}</text>")


@pytest.mark.parametrize(
    ("exponent", "written"),
    [
        (-3, "10⁻³"),
        (0, "1"),
        (1, "10"),
        (12, "10¹²"),
        (-9.4693, "3.4·10⁻¹⁰"),
        (-0.2, "0.63"),
        (0.5, "3.2"),
        (3.60206, "4.0·10³"),
    ],
)
def test_powers_of_ten(exponent: float, written: str) -> None:
    assert typeset.power(exponent) == written


def test_a_chart_is_typeset() -> None:
    drawn = chart(
        "one",
        [Series("min $A_s$", [0, 1], [-3, 0], marked=[0])],
        title="Over $τ$",
        x=Axis("$R_s$", 0, 1),
        y=powers("$A$", -3, 0),
        caption="$R_o$ = 1.",
    )
    for text in (drawn.svg, drawn.html):
        read = re.sub(r"<style>.*?</style>|<[^>]*>", "", text, flags=re.DOTALL)
        assert "10⁻³" in read
        assert not re.search(r"\$|_|\de-?\d", read)
    assert "min Aₛ: 10⁻³ at 0" in drawn.svg
    assert "<i>R</i><sub>o</sub> = 1." in drawn.html


def test_a_line_ends_where_it_leaves_the_range() -> None:
    whole = above("a", [0.0, 1.0, 2.0], [0.0, -1.0, -3.0], -3)
    assert list(whole.y) == [0.0, -1.0, -3.0]
    cut = above("a", [0.0, 1.0, 2.0], [0.0, -1.0, -5.0], -3)
    assert list(cut.x) == [0.0, 1.0, 1.5]
    assert list(cut.y) == [0.0, -1.0, -3]
    assert list(cut.marked) == [0.0, 1.0]
    svg = line_chart([cut], title="", description="", x=Axis("x", 0, 2), y=Axis("y", -3, 0))
    assert f" {HEIGHT - 50:.1f}" in svg.split('class="line')[1]


def test_long_names_and_titles_stay_inside() -> None:
    long = "unexplored, the cluster that is asked last of all"
    axis = Axis("x", 0, 1)
    drawn = chart(
        "one",
        [Series(long, [0, 1], [0, 1]), Series("short", [0, 1], [1, 0])],
        title="A title that is too long for one line of a picture of this width: two lines",
        x=axis,
        y=axis,
        caption="",
    )
    assert drawn.svg.count('class="title"') == 2
    keys = re.findall(r'<svg x="(\d+)" y="(\d+)" width="34"', drawn.svg)
    assert len({x for x, _ in keys}) == 1
    assert len({y for _, y in keys}) == 2
