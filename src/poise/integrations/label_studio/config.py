"""The labelling configuration of a project: which question poise answers, and what a task shows."""

import xml.etree.ElementTree as ElementTree
from typing import NamedTuple
from xml.etree.ElementTree import Element

from poise.errors import InputError
from poise.integrations.label_studio_json import Tags

#: Tags whose data poise can embed -> whether it is an image.
SHOWN = {"image": True, "text": False, "hypertext": False}
MOST_CONFIG_CHARACTERS = 1 << 20


class Question(NamedTuple):
    """The choice that people make for each task.

    Attributes
    ----------
    tags : names of the tags, and the key of the data that is shown
    shows_images : whether that data are addresses of images, else they are texts
    classes : in the order of the configuration
    """

    tags: Tags
    shows_images: bool
    classes: tuple[str, ...]


def read_config(config: str, control: str | None = None) -> Question:
    """The single choice in a labelling configuration.

    Parameters
    ----------
    config : XML
    control : name of the tag Choices, needed where there are several

    Raises
    ------
    InputError
        If there is no single choice over an image or a text.
    """
    root = _parsed(config)
    tag = _control([element for element in root.iter() if _is(element, "choices")], control)
    name = tag.get("name", "")
    if tag.get("choice", "single") not in ("single", "single-radio"):
        raise InputError(f"Choices {name!r} allows several classes per task: poise needs one")
    if tag.get("perRegion", "false").lower() == "true":
        raise InputError(f"Choices {name!r} is for regions: poise needs a class for each task")
    shown = _object(root, name, tag.get("toName", ""))
    choices = [element for element in tag.iter() if _is(element, "choice")]
    if any(_is(child, "choice") for element in choices for child in element):
        raise InputError(f"Choices {name!r} is a tree of classes: poise needs a plain list")
    # Annotations hold the alias of a choice that has one.
    classes = [element.get("alias", "") or element.get("value", "") for element in choices]
    if not classes or not all(classes) or len(set(classes)) < len(classes):
        raise InputError(
            f"Choices {name!r} needs a list of different classes in the configuration: poise "
            "predicts no classes that come with the tasks"
        )
    key = shown.get("value", "")[1:]
    kind = shown.tag.lower()
    return Question(Tags(name, shown.get("name", ""), key), SHOWN[kind], tuple(classes))


def _parsed(config: str) -> Element:
    if len(config) > MOST_CONFIG_CHARACTERS or "<!DOCTYPE" in config.upper():
        raise InputError("the labelling configuration is too long or has a DOCTYPE: shorten it")
    try:
        return ElementTree.fromstring(config)
    except ElementTree.ParseError as error:
        raise InputError(
            f"the labelling configuration is no XML ({error}): save it again in Label Studio"
        ) from None


def _control(found: list[Element], control: str | None) -> Element:
    names = ", ".join(element.get("name", "") for element in found)
    if not found:
        raise InputError("the labelling configuration has no Choices: poise predicts classes only")
    if control is not None:
        found = [element for element in found if element.get("name") == control]
        if not found:
            raise InputError(f"there is no Choices {control!r}: choose one of {names}")
    if len(found) > 1:
        raise InputError(f"there are several Choices: choose one with --control, of {names}")
    return found[0]


def _object(root: Element, name: str, wanted: str) -> Element:
    """The tag that shows what is classified."""
    for element in root.iter():
        if element.get("name") == wanted and not _is(element, "choices"):
            key = element.get("value", "")
            if element.tag.lower() not in SHOWN:
                raise InputError(
                    f"Choices {name!r} is about a tag {element.tag}: poise reads Image, Text and "
                    "HyperText"
                )
            if not key.startswith("$") or len(key) < 2:
                raise InputError(
                    f"the tag {element.tag} {wanted!r} has no value such as $text: poise needs to "
                    "know which data it shows"
                )
            return element
    raise InputError(f"Choices {name!r} has toName {wanted!r}, but no tag is called so: correct it")


def _is(element: Element, tag: str) -> bool:
    return element.tag.lower() == tag
