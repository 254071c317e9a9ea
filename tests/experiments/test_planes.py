import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from poise.errors import InputError
from poise.experiments.drawing.planes import (
    EDGE,
    LEVELS,
    SIDE,
    Panel,
    classes_panel,
    colours,
    levels_of,
    values_panel,
)


def drawn(panel: Panel) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(panel.svg()).iter("path"))


def places(path: str) -> list[tuple[int, int]]:
    """Positions of the dots of a path."""
    steps = [tuple(map(int, pair)) for pair in re.findall(r"m(-?\d+) ?(-?\d+)h0", path)]
    return [tuple(place) for place in np.cumsum(steps, axis=0).tolist()]


def luminance(colour: str) -> float:
    red, green, blue = ((int(colour[i : i + 2], 16) / 255) ** 2.2 for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_larger_is_brighter() -> None:
    light = [luminance(colour) for colour in colours()]
    assert len(light) == LEVELS
    assert all(np.diff(light) > 0)


def test_levels_run_from_the_smallest_to_the_largest() -> None:
    levels = levels_of([*np.linspace(-5, 5, 1000), np.nan])
    assert levels[-1] == -1
    assert levels[0] == 0
    assert levels[-2] == LEVELS - 1
    assert (np.diff(levels[:-1]) >= 0).all()
    assert set(levels_of([np.nan, np.nan])) == {-1}


def test_an_outlier_does_not_darken_the_other_points() -> None:
    values = np.concatenate([np.linspace(0, 1, 1000), [1e9]])
    assert len(set(levels_of(values))) == LEVELS


def test_equal_values_have_one_colour() -> None:
    assert len(set(levels_of(np.zeros(7)))) == 1


def test_every_point_is_drawn_where_it_is() -> None:
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, 0.5]])
    panel = values_panel(X, [0, 1, 2, 3, np.nan], [4], title="t", description="d")
    *dots, stars = drawn(panel)
    found = {place for path in dots for place in places(path.get("d", ""))}
    near, far = EDGE, SIDE - EDGE
    assert found == {(near, far), (far, far), (near, near), (far, near)}  # up is up
    assert stars.get("class") == "stars"
    assert stars.get("d", "").startswith("M500 466l")  # the tip, above the labelled point
    assert dots[-1].get("stroke") == colours()[-1]


def test_classes_differ_in_shape_and_colour() -> None:
    X = np.random.default_rng(0).random((40, 2))
    paths = drawn(classes_panel(X, np.arange(40) % 2, title="t", description="d"))
    first, second = (path.get("d", "") for path in paths)
    assert [path.get("class") for path in paths] == ["k0", "k1"]
    assert len(places(first)) == 20
    assert second.count("v") == 20


def test_thousands_of_points_stay_small() -> None:
    rng = np.random.default_rng(0)
    panel = values_panel(
        rng.normal(size=(4000, 2)), rng.random(4000), range(100), title="t", description="d"
    )
    assert len(panel.svg()) < 60_000


def test_points_outside_the_plane_are_refused() -> None:
    with pytest.raises(InputError, match="plane"):
        values_panel(np.zeros((3, 3)), [0, 0, 0], [], title="t", description="d")
