"""The default embedding for items: the same in the app and in poise embed."""

from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from poise.data.embeddings import sentence
from poise.data.embeddings.efficientnet import LITE0
from poise.data.embeddings.items import Items, are_images, are_texts
from poise.data.image_files import load_file
from poise.data.images import UnreadableError, decode, on_white
from poise.extras import install

#: Longest side of images that principal components of grey pixels serve best.
SMALL_SIDE = 64
#: Items with more numbers than this are compared by principal components.
MANY_NUMBERS = 128
#: Image files that are checked for size and colour.
CHECKED_FILES = 24
#: Largest difference of a pixel's colours, of 255, that counts as grey: JPEG files round.
GREY_TOLERANCE = 12

#: What each encoder needs: a package of weights, and modules.
NEEDED = {
    "photo": (LITE0.package, ("onnx", "onnxruntime", "PIL")),
    "sentence": (sentence.PACKAGE, ("sentencepiece",)),
}


class Stronger(NamedTuple):
    """An encoder that can be downloaded: its name, what it is, megabytes, and what it gains."""

    name: str
    what: str
    size: int
    gain: str


#: A larger encoder than each; docs/decisions/encoders.md says where the figures come from.
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
    """The embedding that suits items of this kind, and why.

    Texts are compared by their meaning, photographs and drawings by what they show; small grey
    images and rows of numbers by principal components. Encoders that are not
    installed are passed over (docs/decisions/offline-encoders.md).
    """
    if are_texts(items):
        if is_installed("sentence"):
            return Choice("sentence", "texts are compared by what they mean")
        return Choice("tfidf", f"the encoder of texts is not installed: {install('app')}")
    if isinstance(items, np.ndarray) and not are_images(items):
        if items[0].size > MANY_NUMBERS:
            return Choice("pca", f"{items[0].size:,} numbers per item are many")
        return Choice("raw", "numbers are compared as they are")
    if _small_and_grey(items):
        return Choice("pca", "small grey images are compared by their pixels")
    if is_installed("photo"):
        return Choice("photo", "images are compared by what they show")
    return Choice("pca", f"the encoder of images is not installed: {install('app')}")


def stronger(name: str) -> str:
    """Which larger encoder could be used instead, in words; empty if there is none.

    This makes no network request.
    """
    if name not in STRONGER:
        return ""
    other = STRONGER[name]
    return (
        f"Where there is a network, a larger encoder ({other.what}; {other.size} MB, downloaded "
        f"once) can be tried: {install('encoders')}, then poise label with --embed {other.name} "
        f"and another --project. {other.gain}. It depends on the items: compare by an audit"
    )


def is_installed(name: str) -> bool:
    """Whether an encoder and all that it needs are installed; nothing is imported."""
    package, modules = NEEDED[name]
    try:
        distribution(package)
    except PackageNotFoundError:
        return False
    return all(find_spec(module) is not None for module in modules)


def _small_and_grey(items: Any) -> bool:
    """Whether all images are small and grey, as far as they are checked."""
    if isinstance(items, np.ndarray):
        return max(items.shape[1:3]) <= SMALL_SIDE and (items.ndim == 3 or items.shape[3] == 1)
    some = np.unique(np.linspace(0, len(items) - 1, CHECKED_FILES).astype(int)).tolist()
    for i in some:
        try:
            content, _ = load_file(items.paths[i])
            if not decode(content, ("RGB", SMALL_SIDE), _is_small_and_grey):
                return False
        except UnreadableError:
            continue  # reported when the items are read
    return True


def _is_small_and_grey(picture: Any, side: int) -> bool:
    if side > SMALL_SIDE:
        return False
    if picture.mode == "L":
        return True
    colours = np.asarray(on_white(picture).convert("RGB"), dtype=np.int16)
    return int(np.ptp(colours, axis=2).max()) <= GREY_TOLERANCE
