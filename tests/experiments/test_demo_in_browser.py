"""The page in a real browser: it renders, says nothing, and asks nothing of the net."""

from pathlib import Path
from typing import Any

import pytest
from browsing import open_alone

from poise.experiments.demo.page import demo_page
from poise.experiments.demo.run import Demo


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_the_page_renders_without_other_files(
    browser: Any, demo: Demo, tmp_path: Path, width: int, scheme: str
) -> None:
    path = tmp_path / "index.html"
    path.write_text(demo_page(demo), encoding="utf-8")
    page = open_alone(browser, path, width, scheme)
    assert page.locator("svg.chart").count() == 2
    assert page.locator(".strip img").first.evaluate("image => image.naturalWidth") == 8
    # Nothing sticks out at the side, and the axes' words are large enough to read.
    assert page.evaluate("document.documentElement.scrollWidth") == width
    heights = page.locator("svg.chart text").evaluate_all(
        "all => all.map(text => text.getBoundingClientRect().height)"
    )
    assert min(heights) >= 12
    page.close()
