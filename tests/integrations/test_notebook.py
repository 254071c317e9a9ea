"""The Python side of the widgets: a message in, and the learner has changed."""

import io
import subprocess
import sys
import threading

import numpy as np
import pytest
import traitlets

import poise
from poise.errors import InputError

pytest.importorskip("anywidget", reason="needs anywidget: install the extra notebook")
from PIL import Image

from poise.integrations.notebook.bundle import HERE, PAGE, joined, scoped, widget_module
from poise.integrations.notebook.contents import Items
from poise.integrations.notebook.following import Follower

X = np.concatenate([np.random.default_rng(0).normal(c, 0.1, (30, 2)) for c in (0, 1)])
GRAPH = poise.knn_graph(X, k=5)
TEXTS = [f"text {number}" for number in range(60)]


def truth(node):
    return "left" if node < 30 else "right"


class Browser:
    """Stands for the page: sends requests to a widget, and collects what comes back."""

    def __init__(self, widget):
        self.widget, self.replies = widget, {}
        widget.send = self._take

    def _take(self, content, buffers=None):
        self.replies[content["id"]] = content, buffers

    def send(self, kind, buffers=(), **data):
        number = len(self.replies)
        self.widget._handle_custom_msg({"id": number, "kind": kind, **data}, list(buffers))
        reply, arrays = self.replies[number]
        return reply, arrays


@pytest.fixture
def learner():
    return poise.Learner(GRAPH, classes=["left", "right"])


@pytest.fixture
def widget(learner):
    made = learner.widget(TEXTS)
    yield made
    made.close()


@pytest.fixture
def page(widget):
    return Browser(widget)


# Labelling ------------------------------------------------------------------------------------


def test_an_answer_reaches_the_learner_the_callback_and_the_traits(learner, widget, page):
    heard, seen = [], []
    widget.on_answer(lambda item, label: heard.append((item, label)))
    widget.observe(lambda change: seen.append(change["new"]), "labels")
    first = widget.wait()
    assert widget._state["question"]["item"] == first == learner.pending[0]
    page.send("answer", item=first, label="left")
    assert heard == [(first, "left")]
    assert learner.labels == widget.labels == seen[-1] == {first: "left"}
    second = widget.wait()
    assert second != first
    assert widget._state["question"]["guess"] == "left"
    counts = [(shown["name"], shown["key"], shown["count"]) for shown in widget._state["classes"]]
    assert counts == [("left", "1", 1), ("right", "2", 0)]


def test_the_questions_are_those_that_the_learner_asks_by_itself(learner, widget, page):
    alone = poise.Learner(GRAPH, classes=["left", "right"])
    for _ in range(12):
        (expected,) = alone.ask()
        assert widget.wait() == expected
        alone.tell(expected, truth(expected))
        page.send("answer", item=widget.question, label=truth(expected))
    assert learner.labels == alone.labels
    assert widget._state["question"] is None or widget._state["question"]["confidence"] is None


def test_skip_unsure_undo_and_a_new_class(learner, widget, page):
    skipped = widget.wait()
    page.send("skip", item=skipped)
    unsure = widget.wait()
    page.send("unsure", item=unsure)
    answered = widget.wait()
    page.send("answer", item=answered, label="  a third  ")
    assert learner.labels == {answered: "a third"}
    assert widget.wait() not in (skipped, unsure, answered)
    page.send("undo")
    assert widget.wait() == answered  # here it is again
    assert "a third" not in learner.classes
    assert [event.kind for event in learner.events if event.kind != "ask"] == ["skip", "exclude"]


def test_what_other_cells_tell_shows(learner, widget):
    asked = widget.wait()
    learner.tell(asked, "right")
    assert widget.wait() != asked
    assert widget.labels == {asked: "right"}
    learner.undo()
    assert widget.wait() == asked


def test_a_widget_that_is_made_again_shows_the_same_item(learner, widget):
    asked = widget.wait()
    again = learner.widget(TEXTS)
    assert again.wait() == asked
    again.answer(asked, "left")
    assert widget.wait() == again.wait() != asked
    assert len(learner.pending) == 1
    again.close()
    widget.answer(widget.question, "left")  # its thread goes on
    assert widget.wait() not in learner.labels


def test_closing_ends_the_thread(learner):
    def threads():
        return [thread for thread in threading.enumerate() if thread.name == "poise-widget"]

    before = len(threads())
    made = learner.widget(TEXTS)
    assert len(threads()) == before + 1
    made.close()
    made.close()
    assert len(threads()) == before


def test_when_nothing_is_left_the_widget_says_so(widget, page):
    for _ in range(60):
        page.send("answer", item=widget.wait(), label="left")
    assert widget.wait() is None
    assert widget._state["exhausted"]


def test_an_acquisition_that_fails_is_shown_and_does_not_end_the_widget(caplog):
    failing = True

    def acquisition(snapshot):
        if failing:
            raise ValueError("my own mistake")
        return np.where(snapshot.candidates, 1.0, np.nan)

    learner = poise.Learner(GRAPH, acquisition=acquisition)
    made = learner.widget(TEXTS)
    assert made.wait() is None
    assert "my own mistake" in made._state["problem"]
    failing = False
    learner.tell(3, "left")
    assert made.wait() is not None
    assert made._state["problem"] == ""
    made.close()


def test_a_callback_that_fails_does_not_end_the_thread(learner, widget, caplog):
    def fail(change):
        raise ValueError("in a callback")

    widget.wait()
    widget.observe(fail, "question")
    learner.tell(5, "left")
    widget.wait()
    widget.unobserve(fail, "question")
    learner.tell(6, "left")
    widget.wait()
    assert widget.labels == {5: "left", 6: "left"}


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        ("answer", {"item": 0.5, "label": "left"}, "expected the number of an item"),
        ("answer", {"item": -1, "label": "left"}, "expected the number of an item"),
        ("answer", {"item": True, "label": "left"}, "expected the number of an item"),
        ("answer", {"item": 10_000, "label": "left"}, "is not asked about"),
        ("answer", {"item": 0, "label": " "}, "a class needs a name"),
        ("answer", {"item": 0, "label": "x" * 201}, "a class needs a name"),
        ("content", {"item": "0"}, "expected the number of an item"),
        ("undo", {}, "nothing to undo"),
        ("steal", {}, "unknown request 'steal'"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_in_one_line(learner, page, kind, data, words):
    reply, _ = page.send(kind, **data)
    assert words in reply["problem"]
    assert "\n" not in reply["problem"]
    assert learner.labels == {}


@pytest.mark.parametrize(
    ("classes", "name", "expected"),
    [([1, 2], "2", 2), ([1, 2], "3", 3), ([True, False], "True", True), (["1"], "1", "1")],
)
def test_a_class_keeps_its_kind(classes, name, expected):
    learner = poise.Learner(GRAPH, classes=classes)
    made = learner.widget(TEXTS)
    Browser(made).send("answer", item=made.wait(), label=name)
    (label,) = learner.labels.values()
    assert label == expected
    assert type(label) is type(expected)
    made.close()


@pytest.mark.parametrize(("classes", "words"), [([1], "are numbers"), ([True], "True and False")])
def test_a_class_of_another_kind_is_refused(classes, words):
    made = poise.Learner(GRAPH, classes=classes).widget(TEXTS)
    reply, _ = Browser(made).send("answer", item=made.wait(), label="cat")
    assert words in reply["problem"]
    made.close()


def test_a_confidence_appears_once_there_is_evidence(learner, widget):
    def confident():
        question = widget._state["question"]
        return question is not None and question["confidence"] is not None

    appeared = threading.Event()
    widget.observe(lambda _: confident() and appeared.set(), "_state")
    for _ in range(40):
        widget.answer(widget.wait(), truth(widget.question))
        if appeared.is_set():
            break
    assert appeared.wait(30)


# Items ------------------------------------------------------------------------------------------


def test_only_the_item_that_is_wanted_is_read():
    read = []

    def item(node):
        read.append(node)
        return f"number {node}"

    made = poise.Learner(GRAPH).widget(item)
    asked = made.wait()
    assert read == []
    reply, _ = Browser(made).send("content", item=asked)
    assert reply["text"] == f"number {asked}"
    assert read == [asked]
    made.close()


def test_every_kind_of_item_is_shown(tmp_path):
    grey = np.arange(60 * 8 * 9, dtype=np.uint32).reshape(60, 8, 9).astype(np.uint8)
    colour = np.stack([grey, grey, grey], axis=3)
    pictures = [Image.fromarray(pixels) for pixels in colour]
    for number, picture in enumerate(pictures):
        picture.save(tmp_path / f"{number}.png")
    paths = [tmp_path / f"{number}.png" for number in range(60)]
    for items in (grey, colour, list(grey), pictures, paths, list(map(str, paths))):
        content = Items(items, 60).content(7)
        assert content.media == "image/png"
        shown = np.asarray(Image.open(io.BytesIO(content.data)).convert("RGB"))
        np.testing.assert_array_equal(shown, colour[7])
    for items in (TEXTS, np.array(TEXTS), tuple(TEXTS)):
        assert Items(items, 60).content(7).text == "text 7"


def test_a_large_image_is_made_smaller_and_a_palette_is_understood():
    large = Image.new("P", (3000, 200))
    content = Items([large], 1).content(0)
    assert max(Image.open(io.BytesIO(content.data)).size) == 1200
    assert large.size == (3000, 200)


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ("text", "come as str"),
        ({1: "a"}, "come as dict"),
        (7, "come as int"),
        (TEXTS[:5], "5 items and 60 nodes"),
        ([*TEXTS[:-1], 3.5], "item 59 is of type float"),
        (np.zeros((60, 4, 4)), "array of float64 of shape (60, 4, 4)"),
        (np.zeros((60, 4), dtype=np.uint8), "of shape (60, 4)"),
        (np.zeros((60, 4, 4, 2), dtype=np.uint8), "of shape (60, 4, 4, 2)"),
        ([np.zeros((4, 4))] * 60, "item 0 is of type ndarray"),
    ],
)
def test_other_items_are_refused_in_one_line(learner, items, words):
    with pytest.raises(InputError) as error:
        learner.widget(items)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_an_item_that_cannot_be_shown_says_why(tmp_path):
    def fail(node):
        raise KeyError("lost")

    (tmp_path / "bad.png").write_bytes(b"not an image")
    for items, words in [
        ([tmp_path / "missing.png"], "No such file"),
        ([tmp_path / "bad.png"], "it is not an image"),
        (fail, "item 0 cannot be shown: 'lost'"),
        (lambda node: 3, "it is of type int"),
    ]:
        with pytest.raises(InputError, match=words):
            Items(items, 1).content(0)


# The map ----------------------------------------------------------------------------------------


def nodes(*numbers):
    return [memoryview(np.array(numbers, dtype="<u4").tobytes())]


def wait_until(condition):
    for _ in range(1000):
        if condition():
            return
        threading.Event().wait(0.02)
    raise AssertionError("the condition did not hold within 20 s")


def test_the_map_sends_positions_as_numbers():
    chart = GRAPH.map()
    page = Browser(chart)
    for layout in page.send("layouts")[0]["layouts"]:
        wait_until(lambda name=layout["name"]: page.send("points", layout=name)[1])
        _, (points,) = page.send("points", layout=layout["name"])
        plane = np.frombuffer(points, dtype="<f4").reshape(60, 2)
        assert np.abs(plane).max() <= 1
        assert np.linalg.norm(plane[:30].mean(axis=0) - plane[30:].mean(axis=0)) > 0.5
    assert page.send("values")[1] == [bytes(5 * 60)]
    chart.close()


def test_the_map_of_weights_alone_keeps_components_apart():
    blocks = np.kron(np.eye(3), np.ones((5, 5))) - np.eye(15)
    chart = poise.Graph.from_weights(blocks).map()
    page = Browser(chart)
    assert [layout["name"] for layout in page.send("layouts")[0]["layouts"]] == ["eigenmaps"]
    wait_until(lambda: page.send("points", layout="eigenmaps")[1])
    plane = np.frombuffer(page.send("points", layout="eigenmaps")[1][0], dtype="<f4").reshape(
        3, 5, 2
    )
    middles = plane.mean(axis=1)
    assert min(np.linalg.norm(middles[a] - middles[b]) for a, b in [(0, 1), (0, 2), (1, 2)]) > 0.3
    assert "expected pca or eigenmaps" in page.send("points", layout="umap")[0]["problem"]
    chart.close()


def test_a_lasso_comes_back_as_a_trait_and_labels(learner):
    chart = GRAPH.map(learner=learner, items=TEXTS)
    page = Browser(chart)
    seen = []
    chart.observe(lambda change: seen.append(change["new"]), "selected")
    page.send("selected", nodes(4, 5, 6))
    assert chart.selected == [4, 5, 6] == seen[-1]
    assert "there is no node 60" in page.send("selected", nodes(60))[0]["problem"]
    learner.tell(4, "right")
    learner.exclude(5)
    page.send("label", nodes(4, 5, 6), label="left")
    assert learner.labels == dict.fromkeys([4, 5, 6], "left")
    wait_until(lambda: chart.labels == learner.labels)
    assert page.send("content", item=6)[0]["text"] == "text 6"

    def values():
        (sent,) = page.send("values")[1]
        return np.frombuffer(sent[:240], dtype="<u2").reshape(2, 60), sent[240:]

    labels, _ = values()[0]
    assert np.flatnonzero(labels).tolist() == [4, 5, 6]
    wait_until(lambda: values()[0][1].any())  # the guesses follow
    (_, guesses), known = values()
    codes = np.array([learner.classes.index(name) + 1 for name in learner.predictions])
    assert learner.reached.any()
    assert not learner.reached.all()  # there is no guess where no label reaches
    assert guesses.tolist() == np.where(learner.reached, codes, 0).tolist()
    assert max(known) == 255
    assert page.send("item", node=6)[0]["label"] == "left"
    assert page.send("item", node=7)[0]["guess"] == "left"
    chart.close()


def test_a_map_without_a_learner_labels_nothing():
    chart = GRAPH.map()
    with pytest.raises(InputError, match="has no learner"):
        chart.label([1], "left")
    other = poise.Learner(poise.knn_graph(X[:40], k=5))
    with pytest.raises(InputError, match="has 40 nodes and this one 60"):
        GRAPH.map(learner=other)
    chart.close()


# Parts ------------------------------------------------------------------------------------------


def test_a_follower_that_is_waited_for_too_short_says_so(learner):
    follower = Follower(learner, lambda moment: None)  # never done
    follower.start()
    assert not follower.wait(0.01)
    follower.close()


def test_the_joined_modules_are_one_module():
    for entry in ("label-widget.js", "map-widget.js"):
        text = widget_module(entry, PAGE / "studio.css", HERE / "widget.css")
        assert not [line for line in text.splitlines() if line.startswith("import ")]
        assert text.count("export default") == 1
        assert ":root" not in text.split("export default")[1]


def test_what_cannot_be_joined_is_refused(tmp_path):
    for name, text in {
        "default.js": "export default 3;\n",
        "late.js": 'const part = await import("./x.js");\n',
        "package.js": 'import { x } from "x";\n',
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match="cannot be joined"):
            joined(tmp_path / name)
    (tmp_path / "a.js").write_text('import { b } from "./b.js";\n', encoding="utf-8")
    (tmp_path / "b.js").write_text('import { a } from "./a.js";\n', encoding="utf-8")
    with pytest.raises(ValueError, match="imports itself"):
        joined(tmp_path / "a.js")


def test_colours_of_the_dark_theme_hang_on_the_host():
    css = scoped(
        ":root {\n  --a: 1;\n}\n"
        "@media (prefers-color-scheme: dark) {\n  :root {\n    --a: 2;\n  }\n}\n"
        "@media (prefers-color-scheme: dark) {\n  .map { --b: 3; }\n}\n"
    )
    assert "prefers-color-scheme" not in css
    assert ':host([data-theme="dark"]) {' in css
    assert ':host([data-theme="dark"]) .map { --b: 3; }' in css
    for name in ("studio.css", "map.css", "classes.css"):
        assert "prefers-color-scheme" not in scoped((PAGE / name).read_text(encoding="utf-8"))


def test_the_widgets_are_widgets(widget):
    assert isinstance(widget, traitlets.HasTraits)
    assert set(widget.keys) >= {"_esm", "_state"}
    assert not {"labels", "question"} & set(widget.keys)  # they stay in Python


def test_without_anywidget_the_error_names_the_extra():
    code = (
        "import sys; sys.modules['anywidget'] = None\n"
        "import numpy as np, poise\n"
        "graph = poise.knn_graph(np.random.default_rng(0).normal(size=(20, 2)), k=3)\n"
        "for show in (lambda: poise.Learner(graph).widget([]), graph.map):\n"
        "    try:\n"
        "        show()\n"
        "    except poise.errors.MissingExtraError as error:\n"
        "        print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = run.stdout.splitlines()
    assert len(lines) == 2
    assert all("pip install 'poise[notebook]'" in line for line in lines)
