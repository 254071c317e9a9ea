"""Which embedding suits items, when nobody said which: the same for the app and for poise embed."""

from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from poise.data.embeddings import sentence
from poise.data.embeddings.efficientnet import LITE0
from poise.data.embeddings.items import Items, are_images, are_texts
from poise.data.images import UnreadableError, decode, on_white
from poise.extras import install

#: Longest side of images that principal components of grey pixels serve best.
SMALL = 64
#: Numbers an item from which on principal components are taken.
MANY = 128
#: Image files that are looked at.
LOOKED_AT = 24
#: Difference of two colours of a pixel, of 255, below which it passes for grey; a JPEG's rounding.
GREY = 12

#: What each of the encoders needs.
NEEDED = {
    "photo": (LITE0.package, ("onnx", "onnxruntime", "PIL")),
    "sentence": (sentence.PACKAGE, ("sentencepiece",)),
}


class Stronger(NamedTuple):
    """An encoder that can be fetched: its name, what it is, megabytes, and what it gains."""

    name: str
    what: str
    size: int
    gain: str


#: What could stand in the place of each; where the figures come from is told in
#: docs/decisions/encoders.md.
STRONGER = {
    "photo": Stronger(
        "image-encoder",
        "CLIP ViT-B/32",
        340,
        "What it gains was not measured by us. Its authors report 95.1% on CIFAR-10 with all "
        "labels, and 92.5% for EfficientNet-B0, which is close to photo's network",
    ),
    "sentence": Stronger(
        "text-encoder",
        "bge-small, for English only",
        67,
        "What it gains was not measured by us. MiniLM, a smaller network of its kind, found the "
        "right class of short English questions by the nearest one in 89% instead of 83%, and of "
        "long posts no more often than sentence",
    ),
}


class Choice(NamedTuple):
    """An embedding's name, and why it was chosen, as a sentence without its full stop."""

    name: str
    why: str


def suited(items: Items) -> Choice:
    """The embedding for items of a kind, and the reason.

    Texts are compared by their meaning, photographs and drawings by what they show; small grey
    images and rows of numbers by principal components. Where an encoder is not installed, the
    choice falls on what is (docs/decisions/offline-encoders.md).
    """
    if are_texts(items):
        if is_installed("sentence"):
            return Choice("sentence", "texts are compared by what they mean")
        return Choice("tfidf", f"the encoder of texts is not installed: {install('app')}")
    if isinstance(items, np.ndarray) and not are_images(items):
        if items[0].size > MANY:
            return Choice("pca", f"{items[0].size:,} numbers an item are many")
        return Choice("raw", "numbers are compared as they are")
    if _small_and_grey(items):
        return Choice("pca", "small grey images are compared by their pixels")
    if is_installed("photo"):
        return Choice("photo", "images are compared by what they show")
    return Choice("pca", f"the encoder of images is not installed: {install('app')}")


def stronger(name: str) -> str:
    """Which larger encoder could be fetched in the place of one, in words; empty if there is none.

    Nothing is asked of the network to find that out.
    """
    if name not in STRONGER:
        return ""
    other = STRONGER[name]
    return (
        f"Where there is a network, a larger encoder ({other.what}; {other.size} MB, fetched once) "
        f"can be tried: {install('encoders')}, then poise label with --embed {other.name} "
        f"and another --project. {other.gain}. It depends on the items: compare by an audit"
    )


def is_installed(name: str) -> bool:
    """Whether an encoder and all that it needs are there; nothing is imported."""
    package, modules = NEEDED[name]
    try:
        distribution(package)
    except PackageNotFoundError:
        return False
    return all(find_spec(module) is not None for module in modules)


def _small_and_grey(items: Any) -> bool:
    """Whether all images, or those that are looked at, are."""
    if isinstance(items, np.ndarray):
        return max(items.shape[1:3]) <= SMALL and (items.ndim == 3 or items.shape[3] == 1)
    some = np.unique(np.linspace(0, len(items) - 1, LOOKED_AT).astype(int)).tolist()
    for i in some:
        try:
            content = items.paths[i].read_bytes()
            if not decode(content, ("RGB", SMALL), _is_small_and_grey):
                return False
        except (OSError, UnreadableError):
            continue  # it is named where it is read
    return True


def _is_small_and_grey(picture: Any, side: int) -> bool:
    if side > SMALL:
        return False
    if picture.mode == "L":
        return True
    colours = np.asarray(on_white(picture).convert("RGB"), dtype=np.int16)
    return int(np.ptp(colours, axis=2).max()) <= GREY
