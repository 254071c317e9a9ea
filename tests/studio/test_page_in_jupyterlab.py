"""The widgets in a real JupyterLab: keys label, and the notebook's own shortcuts stay quiet."""

import json
import re

import pytest
from browser import Visits, until
from jupyter import RUN, Lab, missing_lab

# The kernel's learner, its widget, and a map of another graph that looks for nothing but a lasso.
LABEL = """
import json, numpy as np, poise
rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(c, 0.1, (50, 2)) for c in (0, 1)])
graph = poise.knn_graph(X, k=5)
learner = poise.Learner(graph, classes=["left", "right"])
heard = []
widget = learner.widget([f"{'left' if x < 0.5 else 'right'} {i}" for i, (x, _) in enumerate(X)])
widget.on_answer(lambda item, label: heard.append([int(item), label]))
widget
"""
TOLD = """
kinds = [event.kind for event in learner.events if event.kind != "ask"]
print(json.dumps([list(learner.labels.items()), heard, kinds]))
"""
TELL = """
learner.tell(widget.question, "right")
"""
MAP = """
chart = graph.map(learner=learner)
chart
"""
SELECTED = """
print(json.dumps([chart.selected, len(learner.labels)]))
"""
CELLS = [LABEL, TOLD, TELL, TOLD, MAP, SELECTED, SELECTED]
#: Complaints of JupyterLab itself.
FOREIGN = (r"Failed to load resource.*(404|403)",)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    missing_lab()
    made = Lab(tmp_path_factory.mktemp("lab"), CELLS)
    yield made
    made.end()


@pytest.fixture
def notebook(browser, lab):
    visits = Visits(browser)
    page = visits.open(lab.address, visits.context(viewport={"width": 1400, "height": 1000}))
    page.set_default_timeout(1000 * RUN)
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]")
    until(lab.is_idle, RUN)
    yield page
    visits.allow(*FOREIGN)
    visits.close()


def run(page, number):
    """Run a cell, and return what it printed."""
    cell = page.locator(".jp-Notebook .jp-Cell").nth(number)
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    cell.locator(".jp-InputPrompt", has_text=re.compile(r"\[\d+\]")).wait_for()
    printed = cell.locator(".jp-OutputArea-output pre")
    words = printed.first.inner_text() if printed.count() else "null"
    assert "Traceback" not in words, words
    return json.loads(words)


def item(page, other_than=None):
    """The text on the label screen, once it is another one."""
    stage = page.locator(".label-widget #stage")
    until(lambda: stage.inner_text() not in ("", other_than))
    return stage.inner_text()


def answer(page, key):
    """Press a key for the item that is shown; return its number."""
    text = item(page)
    page.keyboard.press(key(text))
    item(page, text)
    return int(text.split()[1])


def test_keys_label_in_a_notebook_and_nothing_else_happens(notebook):
    page = notebook
    cells = page.locator(".jp-Notebook .jp-Cell")
    run(page, 0)
    item(page)
    hint = page.locator(".label-widget .hint")
    assert hint.is_visible()
    page.locator(".label-widget #stage").click()
    until(lambda: not hint.is_visible())

    def by_class(text):
        return "1" if text.startswith("left") else "2"

    answered = [[answer(page, by_class), None] for _ in range(4)]
    guess = page.locator(".label-widget #guess b")
    kind = item(page).split()[0]
    assert guess.inner_text() in ("left", "right")
    if guess.inner_text() == kind:
        answered.append([answer(page, lambda _: "Enter"), None])
    skipped = answer(page, lambda _: "s")
    unsure = answer(page, lambda _: "x")
    undone = answer(page, by_class)
    before = item(page)
    page.keyboard.press("u")
    assert int(item(page, before).split()[1]) == undone
    page.keyboard.press("n")
    page.keyboard.type("sixth class")
    page.keyboard.press("Enter")
    page.locator(".label-widget .class .name", has_text="sixth class").wait_for()
    item(page, f"left {undone}" if undone < 50 else f"right {undone}")

    # In command mode, x would have cut a cell, 1 and 2 made headings, and Enter edited the cell.
    assert cells.count() == len(CELLS)
    assert page.locator(".jp-Notebook .jp-MarkdownCell").count() == 0

    labels, heard, kinds = run(page, 1)
    names = {number: "left" if number < 50 else "right" for number, _ in answered}
    assert labels == [*([number, names[number]] for number in names), [undone, "sixth class"]]
    assert heard == [
        *labels[:-1],
        [undone, names.get(undone, "left" if undone < 50 else "right")],
        labels[-1],
    ]
    assert kinds == [*["tell"] * len(answered), "skip", "exclude", "tell"]
    assert {skipped, unsure}.isdisjoint(dict(labels))
    now = item(page)
    run(page, 2)
    item(page, now)  # what another cell tells the learner shows
    assert len(run(page, 3)[0]) == len(labels) + 1


def test_a_lasso_on_the_map_selects_and_labels(notebook):
    page = notebook
    run(page, 0)  # JupyterLab may have started another kernel for this page
    run(page, 4)
    place = page.locator(".map-widget .map-place[data-ready=yes]")
    place.wait_for()
    canvas = page.locator(".map-widget canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    canvas.click(position={"x": 3, "y": 3})
    page.keyboard.press("l")
    corners = [(0.01, 0.01), (0.99, 0.01), (0.99, 0.99), (0.01, 0.99), (0.01, 0.02)]
    for number, (across, down) in enumerate(corners):
        page.mouse.move(box["x"] + across * box["width"], box["y"] + down * box["height"], steps=5)
        if number == 0:
            page.mouse.down()
    page.mouse.up()
    page.locator(".map-widget .map-chosen", has_text="100 items").wait_for()
    assert run(page, 5)[0] == list(range(100))
    canvas.focus()
    page.keyboard.press("Escape")
    page.locator(".map-widget .map-chosen").wait_for(state="hidden")
    page.keyboard.press("Enter")  # with the lasso on: everything in view
    page.locator(".map-widget .map-chosen", has_text="100 items").wait_for()
    page.keyboard.press("1")
    page.locator(".map-widget .map-chosen").wait_for(state="hidden")
    assert run(page, 6) == [[], 100]
