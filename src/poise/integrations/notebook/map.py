"""The map in a notebook."""

from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import traitlets

from poise import Graph, Learner
from poise.active.state import Event
from poise.errors import InputError
from poise.integrations.notebook.bundle import HERE, PAGE, widget_module
from poise.integrations.notebook.contents import Items
from poise.integrations.notebook.following import Follower, Moment
from poise.integrations.notebook.page_widget import (
    PageWidget,
    Reply,
    class_named,
    content_reply,
    looks,
    whole,
)
from poise.linalg.turns import TURNS
from poise.studio.asking.background import in_background
from poise.studio.asking.layout import Plane, eigenmaps, principal_plane

#: The layouts of the app, by the names that the page knows them by.
LAYOUTS = {"pca": "Principal components", "eigenmaps": "Neighbourhoods"}


@dataclass(frozen=True, eq=False)
class Guesses:
    """What a learner says about all nodes.

    Attributes
    ----------
    codes : (n,) positions of the predicted classes plus one, 0 for none
    known : (n,) how well each node is known, 0 to 255
    moment : what they are based on
    """

    codes: npt.NDArray[np.uint16]
    known: npt.NDArray[np.uint8]
    moment: tuple[Event, ...] = ()

    @classmethod
    def none(cls, n_nodes: int) -> "Guesses":
        """Before there is a label."""
        return cls(np.zeros(n_nodes, dtype="<u2"), np.zeros(n_nodes, dtype=np.uint8))

    @classmethod
    def of(cls, learner: Learner, n_nodes: int) -> "Guesses":
        """The newest predictions of the first nodes; questions that somebody waits for come first.

        A learner that has grown has more.
        """
        now = learner.copy()  # all of it belongs to one moment
        if not now.labels:
            return replace(cls.none(n_nodes), moment=now.events)
        with TURNS.in_background():
            result = now.result
            codes = np.where(result.reached, result.codes + 1, 0).astype("<u2")
            known = np.rint(255 * np.minimum(now.norms, 1.0)).astype(np.uint8)
        return cls(codes[:n_nodes], known[:n_nodes], now.events)


class MapWidget(PageWidget):
    """Shows the nodes of a graph as points, near to those that resemble them.

    Parameters
    ----------
    graph : Graph
    learner : Learner, optional
        Colours the points by its labels, predictions or certainty, follows it, and is told the
        labels that are given on the map.
    items : list, array or function, optional
        What the nodes stand for, as in `LabelWidget`: shown beside the pointer.

    Attributes
    ----------
    selected : list of int
        The nodes inside the lasso, or the one that was clicked. Can be observed.
    labels : dict, item -> class
    """

    _esm = widget_module(
        "map-widget.js", PAGE / "studio.css", PAGE / "map.css", HERE / "widget.css"
    )

    selected: "traitlets.List[int]" = traitlets.List(read_only=True)

    def __init__(self, graph: Graph, *, learner: Learner | None = None, items: Any = None) -> None:
        if learner is not None and learner.graph.n_nodes != graph.n_nodes:
            raise InputError(
                f"the learner's graph has {learner.graph.n_nodes:,} nodes and this one "
                f"{graph.n_nodes:,}: call map on the learner's graph, learner.graph.map(...)"
            )
        self._items = None if items is None else Items(items, graph.n_nodes)
        self._graph, self._learner = graph, learner
        self._planes: dict[str, Future[Plane]] = {}
        self._guesses = Guesses.none(graph.n_nodes)
        self._guessing: Future[None] | None = None
        self._version = 0
        super().__init__(
            {
                "layouts": lambda _, __: self._layouts(),
                "points": lambda message, _: self._points(message),
                "values": lambda _, __: self._values(),
                "item": lambda message, _: self._item(message),
                "content": lambda message, _: self._content(message),
                "label": self._label,
                "selected": lambda _, buffers: self._select(buffers),
            }
        )
        self._follower = None if learner is None else Follower(learner, self._follow)
        self._changed()
        if self._follower is not None:
            self._follower.start()
            self._end = self._follower.close

    # Layouts --------------------------------------------------------------------------------------

    def _layouts(self) -> Reply:
        # Without features there are no principal components.
        names = [name for name in LAYOUTS if name != "pca" or self._dense() is not None]
        self._plane(names[0])
        layouts = [
            {"name": name, "title": LAYOUTS[name], "ready": self._is_ready(name)} for name in names
        ]
        return {"n": self._graph.n_nodes, "layouts": layouts}, []

    def _points(self, message: dict[str, Any]) -> Reply:
        name = message.get("layout")
        if name not in LAYOUTS:
            raise InputError(f"layout is {name!r}: expected {' or '.join(LAYOUTS)}")
        future = self._plane(name)
        return {}, [future.result().astype("<f4").tobytes()] if future.done() else []

    def _is_ready(self, name: str) -> bool:
        return name in self._planes and self._planes[name].done()

    def _plane(self, name: str) -> "Future[Plane]":
        """A layout, computed in a thread when it is first asked for."""
        if name not in self._planes:
            graph, features = self._graph, self._dense()
            if name == "pca" and features is not None:
                self._planes[name] = in_background(lambda: principal_plane(features))
            else:
                apart = _circle(graph) if features is None else features
                self._planes[name] = in_background(lambda: eigenmaps(graph, apart))
        return self._planes[name]

    def _dense(self) -> npt.NDArray[Any] | None:
        features = self._graph.features
        return features if isinstance(features, np.ndarray) else None

    # What is known --------------------------------------------------------------------------------

    def _values(self) -> Reply:
        """The labels of now and the newest guesses, as the page reads them."""
        self._guess_again()
        labels = np.zeros(self._graph.n_nodes, dtype="<u2")
        if self._learner is not None:
            codes = {label: code + 1 for code, label in enumerate(self._learner.classes)}
            for node, label in self._learner.labels.items():
                if node < len(labels):
                    labels[node] = codes.get(label, 0)
        guesses = self._guesses
        return {}, [labels.tobytes() + guesses.codes.tobytes() + guesses.known.tobytes()]

    def _guess_again(self) -> None:
        """Start to predict in a thread if the guesses are out of date; one thread at a time."""
        learner = self._learner
        if learner is None or learner.events == self._guesses.moment:
            return
        if self._guessing is None or self._guessing.done():
            self._guessing = in_background(lambda: self._guess(learner))

    def _guess(self, learner: Learner) -> None:
        self._guesses = Guesses.of(learner, self._graph.n_nodes)
        self._changed()

    def _item(self, message: dict[str, Any]) -> Reply:
        """What stands on the card of a node."""
        node = self._node(whole(message, "node"))
        label = guess = None
        if self._learner is not None:
            label = self._learner.labels.get(node)
            classes, code = self._learner.classes, int(self._guesses.codes[node])
            guess = classes[code - 1] if 0 < code <= len(classes) else None
        return {
            "item": node,
            "source": f"node {node}",
            "label": None if label is None else str(label),
            "guess": None if guess is None else str(guess),
            "confidence": None,
        }, []

    def _content(self, message: dict[str, Any]) -> Reply:
        return ({"text": ""}, []) if self._items is None else content_reply(self._items, message)

    # What a person does ---------------------------------------------------------------------------

    def label(self, nodes: list[int], label: Any) -> None:
        """Tell the learner the class of some nodes, whether they have one or not."""
        learner = self._learner
        if learner is None:
            raise InputError("this map has no learner: make it by graph.map(learner=learner)")
        now = learner.snapshot()
        may_be_told = now.candidates.copy()
        may_be_told[now.pending] = True
        labelled = set(now.labels.nodes.tolist())
        changed = [node for node in nodes if node in labelled]
        new = [node for node in nodes if node not in labelled]
        if set_aside := [node for node in new if not may_be_told[node]]:
            learner.release(set_aside)
        if changed:
            learner.relabel(changed, [label] * len(changed))
        if new:
            learner.tell(new, [label] * len(new))
        if self._follower is not None:
            self._follower.wake()

    def _label(self, message: dict[str, Any], buffers: list[memoryview]) -> Reply:
        classes = () if self._learner is None else self._learner.classes
        self.label(self._nodes(buffers), class_named(str(message.get("label")), classes))
        return {}, []

    def _select(self, buffers: list[memoryview]) -> Reply:
        with self._showing:
            self.set_trait("selected", self._nodes(buffers))
        return {}, []

    def _nodes(self, buffers: list[memoryview]) -> list[int]:
        """Nodes that come as an array of 32-bit numbers."""
        nodes = np.frombuffer(buffers[0] if buffers else b"", dtype="<u4").tolist()
        return [self._node(node) for node in nodes]

    def _node(self, node: int) -> int:
        if node >= self._graph.n_nodes:
            raise InputError(f"there is no node {node}: the graph has {self._graph.n_nodes:,}")
        return node

    # What is shown --------------------------------------------------------------------------------

    def _follow(self, moment: Moment) -> None:
        self._changed()
        if self._follower is not None:
            self._follower.done(moment)

    def _changed(self) -> None:
        """Let the page read the values again."""
        with self._showing:
            self._version += 1
            learner = self._learner
            pending = () if learner is None else learner.pending
            state = {
                "items": self._graph.n_nodes,
                "last": self._version,
                "classes": [] if learner is None else looks(learner),
                "learner": learner is not None,
                "content": self._items is not None,
                "question": {"node": pending[0]} if pending else None,
            }
            self._show(state, {} if learner is None else learner.labels)


def _circle(graph: Graph) -> npt.NDArray[np.float64]:
    """(n, 2) a place on a circle for each component, for graphs that hold no features."""
    angle = 2 * np.pi * graph.components / graph.n_components
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)
