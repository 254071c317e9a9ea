"""What both widgets share: messages from the browser, and a learner that other cells may change."""

import logging
import threading
from collections.abc import Callable
from typing import Any

import anywidget
import traitlets

from poise import Learner
from poise.errors import InputError, PoiseError
from poise.integrations.notebook.contents import Items
from poise.models.labels import Label
from poise.studio.log.classes import Classes
from poise.studio.log.events import Event

#: What a handler returns: a JSON object, and arrays beside it.
Reply = tuple[dict[str, Any], list[bytes]]
log = logging.getLogger(__name__)
Handler = Callable[[dict[str, Any], list[memoryview]], Reply]


class PageWidget(anywidget.AnyWidget):
    """A widget whose browser side sends numbered requests.

    Attributes
    ----------
    labels : dict, item -> class
        What the learner knows. It is replaced when it changes, so it can be observed.
    """

    labels: "traitlets.Dict[Any, Any]" = traitlets.Dict(read_only=True)
    _state = traitlets.Dict().tag(sync=True)

    def __init__(self, handlers: dict[str, Handler]) -> None:
        super().__init__()
        self._handlers = handlers
        #: Ends the thread; None if there is none.
        self._end: Callable[[], None] | None = None
        #: Held while traits change: they change in several threads.
        self._showing = threading.RLock()
        self.on_msg(self._receive)

    def close(self) -> None:
        """Remove the widget from the notebook, and end its thread."""
        # The garbage collector calls this too, in any thread: then there is nothing left to end.
        end, self._end = getattr(self, "_end", None), None
        if end is not None:
            end()
        super().close()

    def _receive(self, _: Any, message: Any, buffers: list[memoryview]) -> None:
        """Answer a request; its number goes with the answer."""
        content = message if isinstance(message, dict) else {}
        handler = self._handlers.get(str(content.get("kind")))
        try:
            if handler is None:
                raise InputError(f"unknown request {content.get('kind')!r}: show the widget again")
            reply, arrays = handler(content, buffers)
        except PoiseError as error:
            reply, arrays = {"problem": str(error)}, []
        except Exception as error:  # whoever waits for the answer must get one
            log.exception("a widget could not answer")
            reply, arrays = {"problem": repr(error)}, []
        self.send({"id": content.get("id"), **reply}, arrays)

    def _show(self, state: dict[str, Any], labels: dict[int, Label]) -> None:
        with self._showing:
            if labels != self.labels:
                self.set_trait("labels", labels)
            self._state = state


def content_reply(items: Items, message: dict[str, Any]) -> Reply:
    """What is shown of the item that a request names."""
    content = items.content(whole(message, "item"), bool(message.get("small")))
    if content.media:
        return {"media": content.media}, [content.data]
    return {"text": content.text}, []


def whole(message: dict[str, Any], name: str) -> int:
    """A whole number in a message."""
    value = message.get(name)
    if type(value) is not int or value < 0:
        raise InputError(f"{name} is {value!r}: expected the number of an item")
    return value


def class_named(name: str, classes: tuple[Label, ...]) -> Label:
    """The class with this name; a new one is of the kind of the others."""
    for known in classes:
        if str(known) == name:
            return known
    kinds = {type(known) for known in classes}
    if kinds == {int}:
        try:
            return int(name)
        except ValueError:
            raise InputError(f"the classes are numbers, and {name!r} is none") from None
    if kinds == {bool}:
        raise InputError(f"the classes are True and False, and {name!r} is neither")
    return name


def looks(learner: Learner) -> list[dict[str, Any]]:
    """The classes with keys and colours, chosen as the app does, and their numbers of labels."""
    made, counts = Classes(), dict.fromkeys(map(str, learner.classes), 0)
    for name in counts:
        made.apply(made.with_key(Event("class", {"name": name}), None))
    for label in learner.labels.values():
        counts[str(label)] = counts.get(str(label), 0) + 1
    return [
        {
            "name": shown.name,
            "key": shown.key,
            "code": shown.code,
            "colour": shown.colour,
            "count": counts[shown.name],
        }
        for shown in made.shown()
    ]
