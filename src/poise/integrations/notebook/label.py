"""The label screen in a notebook."""

from collections.abc import Callable
from typing import Any

import traitlets
from ipywidgets import CallbackDispatcher

from poise import Learner
from poise.errors import InputError, PoiseError
from poise.integrations.notebook.asking import Asking
from poise.integrations.notebook.bundle import HERE, PAGE, widget_module
from poise.integrations.notebook.contents import Items
from poise.integrations.notebook.page_widget import (
    PageWidget,
    Reply,
    class_named,
    content_reply,
    looks,
    whole,
)
from poise.models.labels import Label

#: Longest name of a class, as in the app.
MAX_NAME_CHARACTERS = 200


class LabelWidget(PageWidget):
    """Shows the items that a learner asks about, and tells it the answers.

    The learner can be used in other cells as well: what it is told there shows here. A thread asks
    and thinks ahead until `close` is called.

    Parameters
    ----------
    learner : Learner
    items : list, array or function
        What the nodes stand for, in their order: texts, image files, PIL images, an array of uint8
        images, or a function that returns one of these for a node.

    Attributes
    ----------
    labels : dict, item -> class
    question : int or None
        The item that is shown. Like `labels`, it can be observed, for example with
        ``widget.observe(work, "question")``.
    """

    _esm = widget_module(
        "label-widget.js", PAGE / "studio.css", PAGE / "classes.css", HERE / "widget.css"
    )

    question = traitlets.Int(None, allow_none=True, read_only=True)

    def __init__(self, learner: Learner, items: Any) -> None:
        self._items = Items(items, learner.graph.n_nodes)
        self._learner = learner
        self._answered = CallbackDispatcher()
        super().__init__(
            {
                "content": lambda message, _: content_reply(self._items, message),
                "answer": lambda message, _: self._answer(message),
                "skip": lambda message, _: self._do(self.skip, whole(message, "item")),
                "unsure": lambda message, _: self._do(self.unsure, whole(message, "item")),
                "undo": lambda _, __: self._do(self.undo),
            }
        )
        with self._showing:  # the thread must find it
            self._asking = Asking.join(learner, self._update)
        self._end = lambda: self._asking.leave(self._update)
        self._update()

    # What a person can do, which Python can do as well ---------------------------------------

    def answer(self, item: int, label: Label) -> None:
        """Answer the question about an item, as the key of the class does."""
        self._check_open(item)
        self._learner.tell(item, label)
        self._changed()
        self._answered(item, label)

    def skip(self, item: int) -> None:
        """Ask about this item later."""
        self._check_open(item)
        self._learner.skip(item)
        self._changed()

    def unsure(self, item: int) -> None:
        """Set this item aside: it is never asked again (`Learner.exclude`)."""
        self._check_open(item)
        self._learner.exclude(item)
        self._changed()

    def undo(self) -> None:
        """Undo the last thing that the learner was told, here or in another cell."""
        self._learner.undo()
        self._changed()

    def on_answer(self, callback: Callable[[int, Label], Any], remove: bool = False) -> None:
        """Call ``callback(item, label)`` for every answer that is given in this widget."""
        self._answered.register_callback(callback, remove=remove)

    def wait(self, seconds: float = 60.0) -> int | None:
        """Wait until the next question is known, and return it; None if nothing is left to ask."""
        if not self._asking.wait(seconds):
            raise PoiseError(f"there is no question after {seconds:g} s: call wait again")
        return self.question

    # Requests of the browser --------------------------------------------------------------------

    def _answer(self, message: dict[str, Any]) -> Reply:
        name = message.get("label")
        name = name.strip() if isinstance(name, str) else ""
        if not 0 < len(name) <= MAX_NAME_CHARACTERS:
            raise InputError(f"a class needs a name of 1 to {MAX_NAME_CHARACTERS} characters")
        self.answer(whole(message, "item"), class_named(name, self._learner.classes))
        return {}, []

    def _do(self, work: Callable[..., None], *arguments: Any) -> Reply:
        work(*arguments)
        return {}, []

    def _check_open(self, item: int) -> None:
        if item not in self._learner.pending:
            raise InputError(f"item {item} is not asked about: it was answered or set aside")

    # What is shown --------------------------------------------------------------------------------

    def _changed(self) -> None:
        self._asking.wake()
        self._update()

    def _update(self) -> None:
        """Show the learner as it is; called in this thread and in the one that asks."""
        with self._showing:
            learner, shown = self._learner, self._asking.shown
            labels = learner.labels
            node = shown.node if shown.node in learner.pending else None
            question = {
                "item": node,
                "guess": None if shown.guess is None else str(shown.guess),
                "confidence": shown.confidence,
            }
            state = {
                "question": None if node is None else question,
                "ahead": list(shown.ahead),
                "exhausted": shown.exhausted,
                "problem": shown.problem,
                "classes": looks(learner),
                "answers": len(labels),
                "items": learner.graph.n_nodes,
                "undoable": any(event.kind != "ask" for event in learner.events),
            }
            self._show(state, labels)
            self.set_trait("question", node)
