"""Take screenshots of the widgets in JupyterLab: ``python docs/images/notebook.py``.

A script labels digits correctly by keyboard, in a real browser, once for each theme.
"""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page
from sklearn.datasets import load_digits

HERE = Path(__file__).parent
TESTS = HERE.parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "studio")]  # how JupyterLab and chromium are started

from browser import until  # noqa: E402
from jupyter import RUN, Lab  # noqa: E402

from chromium import launched  # noqa: E402

LABEL = """import poise
from sklearn.datasets import load_digits

X, y = load_digits(return_X_y=True)
graph = poise.knn_graph(X, k=10)
learner = poise.Learner(graph, classes=[str(digit) for digit in range(10)])
learner.widget((X.reshape(-1, 8, 8) * 15).astype("uint8"))"""
MAP = "graph.map(learner=learner)"
ANSWERS = 30
SIZE = {"width": 1120, "height": 1330}


def main() -> None:
    truth = load_digits().target
    for theme, name in [("JupyterLab Light", "notebook"), ("JupyterLab Dark", "notebook-dark")]:
        with tempfile.TemporaryDirectory() as folder, launched() as browser:
            lab = Lab(Path(folder), [LABEL, MAP], theme)
            try:
                page = browser.new_page(viewport=SIZE)
                page.set_default_timeout(1000 * RUN)
                page.goto(lab.address)
                page.wait_for_selector(".jp-Notebook .jp-Cell")
                until(lab.is_idle, RUN)
                page.keyboard.press("Control+B")  # hides the list of files
                label(page, truth)
                page.locator(".jp-NotebookPanel").screenshot(path=HERE / f"{name}.png")
            finally:
                lab.end()


def label(page: Page, truth: list[int]) -> None:
    """Answer questions correctly, and show the predictions on the map."""
    cells = page.locator(".jp-Notebook .jp-Cell .cm-content")
    cells.nth(0).click()
    page.keyboard.press("Control+Enter")
    stage = page.locator(".label-widget #stage[data-item]")
    stage.click()
    for _ in range(ANSWERS):
        item = stage.get_attribute("data-item")
        assert item is not None
        page.keyboard.press(str(truth[int(item)]))
        until(lambda before=item: stage.get_attribute("data-item") != before)
    cells.nth(1).click()
    page.keyboard.press("Control+Enter")
    page.locator(".map-place[data-ready=yes]").wait_for()
    page.get_by_role("radio", name="Neighbourhoods").check()
    page.get_by_role("radio", name="Prediction").check()
    page.wait_for_timeout(4000)
    page.locator(".jp-Notebook .jp-Cell").nth(0).scroll_into_view_if_needed()
    stage.click()
    page.wait_for_timeout(1000)


if __name__ == "__main__":
    main()
