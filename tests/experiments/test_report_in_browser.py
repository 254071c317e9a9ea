"""The report in a real browser: it renders, says nothing, and asks nothing of the net."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browsing import open_alone
from hand_made import hand_made, of_paper

from poise.experiments.paper.experiments import EXPERIMENTS
from poise.experiments.paper.report import write_report
from poise.experiments.runner import run


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    experiment = EXPERIMENTS["blobs"].with_trials(2).only("norm", "norm-decay", "sm", "random")
    blobs = run(replace(experiment, k=20, budget=9), Path(tmp_path_factory.mktemp("blobs")))
    mnist = hand_made(of_paper("mnist", trials=3), {}, explored={"sm": 0.5})
    models = hand_made(of_paper("models", trials=3), {})
    return write_report([blobs, mnist, models], Path(tmp_path_factory.mktemp("report")))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_the_report_renders_without_other_files(
    browser: Any, written: Path, width: int, scheme: str
) -> None:
    page = open_alone(browser, written, width, scheme)
    assert page.locator("svg.plane.values").count() == 6  # three methods at the start and at 9
    assert page.locator("svg.chart").count() == 3 + 4 + 2 + 2 + 2 + 2
    # Nothing sticks out at the side, closed or open, and words are large enough to read.
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    heights = page.locator("svg.chart text").evaluate_all(
        "all => all.map(text => text.getBoundingClientRect().height)"
    )
    assert min(heights) >= 12
    # A table of claims whatever the layout: every row still has its cells.
    rows = page.get_by_role("table").first.get_by_role("row")
    assert rows.count() > 7
    page.close()


def test_the_keyboard_reaches_all_controls(browser: Any, written: Path) -> None:
    page = browser.new_page(viewport={"width": 1024, "height": 900})
    page.goto(written.as_uri())
    reached = []
    for _ in range(6):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent"))
    assert reached[:3] == ["Claims", "Blobs", "MNIST"]
    page.locator("summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("details").first.get_attribute("open") is not None
    page.close()


@pytest.mark.parametrize(
    "name", ["blobs-heat-maps", "blobs-truth", "mnist-accuracy", "mnist-others-accuracy"]
)
def test_figure_files_render_on_their_own(browser: Any, written: Path, name: str) -> None:
    page = browser.new_page(viewport={"width": 1000, "height": 1100}, color_scheme="dark")
    page.goto((written.parent / "figures" / f"{name}.svg").as_uri())
    assert (
        page.locator(".paper").evaluate("it => getComputedStyle(it).fill") == "rgb(255, 255, 255)"
    )
    # All words are within the picture.
    width = page.evaluate("document.documentElement.viewBox.baseVal.width")
    ends = page.locator("text").evaluate_all("all => all.map(t => t.getBoundingClientRect().right)")
    assert max(ends) <= width
    page.close()
