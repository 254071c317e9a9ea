"""Descriptions of the experiments, and how models and numbers are written."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from poise.experiments.experiment import CHOOSING


@dataclass(frozen=True)
class Words:
    """A heading, and what to know before looking at the figures."""

    heading: str
    about: str


EXPERIMENTS: dict[str, Words] = {
    "blobs": Words(
        "Blobs",
        "Eight clusters on a circle, which alternate between two classes. The two labels at the "
        "start leave six clusters unseen. A method that only refines the boundary it knows never "
        "finds them.",
    ),
    "box": Words(
        "Box",
        "A lattice with a narrow gap between the classes. There is little to find, so a method "
        "that keeps exploring loses to one that turns to the boundary.",
    ),
    "isolet": Words(
        "Isolet",
        "Spoken letters, 26 classes, one label at the start. Accuracy is measured in plain Laplace "
        "learning, in which earlier work found smallest margin worse than random questions.",
    ),
    "mnist": Words(
        "MNIST",
        "Handwritten digits modulo 3: ten clusters form three classes, so a class is known only "
        "when all its digits have been found.",
    ),
    "fashionmnist": Words(
        "Fashion-MNIST", "Articles of clothing: ten clusters, modulo 3, form three classes."
    ),
    "emnist": Words("EMNIST", "Letters and digits: 47 clusters, modulo 5, form five classes."),
    "mnist-imb": Words(
        "Imbalanced MNIST",
        "The digits modulo 3, with fewer images of some digits: small clusters are harder to find.",
    ),
    "fashionmnist-imb": Words(
        "Imbalanced Fashion-MNIST", "The articles modulo 3, with fewer images of some articles."
    ),
    "emnist-vcd": Words(
        "EMNIST-VCD",
        "Letters and digits again, in three classes of very different sizes: vowels, consonants "
        "and digits.",
    ),
    "models": Words(
        "Other models",
        "The questions on Isolet are chosen once. What differs is the model that predicts from the "
        "answers.",
    ),
}

MODELS = {
    CHOOSING: "the model that chose",
    "pwll": "PWLL",
    "laplace": "Laplace learning",
    "poisson": "Poisson learning",
    "wnll": "WNLL",
    "properly-weighted": "properly weighted",
}


def words_of(name: str) -> Words:
    """The description of an experiment; its name if it is not one of the paper's."""
    return EXPERIMENTS.get(name, Words(name, ""))


def model_name(model: str) -> str:
    """The name of a model in a text."""
    return MODELS.get(model, model)


def seconds(value: float) -> str:
    """A time in milliseconds, seconds, minutes or hours."""
    if value < 0.9995:
        return f"{1000 * value:.3g} ms"
    if value < 60:
        return f"{value:.3g} s"
    if value < 3600:
        return f"{value / 60:.0f} min"
    return f"{value / 3600:.1f} h"


def sentence(words: str) -> str:
    """`words` as a sentence with a capital and a full stop; an empty text stays empty."""
    return f"{words[:1].upper()}{words[1:].rstrip('.')}." if words else ""


def code_of(run: Mapping[str, Any]) -> str:
    """The code that a run used: its commit if that is known, else the version."""
    if run.get("commit"):
        return f"commit {run['commit']}"
    return f"poise {run['versions'].get('poise', 'of an unknown version')}"


def lower(text: str) -> str:
    """A sentence as it continues after a colon."""
    return text[:1].lower() + text[1:]


def counted(number: int, singular: str, plural: str = "") -> str:
    """``1 trial``, ``2,000 trials``."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"
