"""What each experiment is about, in our words, and how models and numbers are written."""

from dataclasses import dataclass

from poise.experiments.experiment import CHOOSING


@dataclass(frozen=True)
class Words:
    """A heading and what to know before looking at the figures."""

    heading: str
    about: str


EXPERIMENTS: dict[str, Words] = {
    "blobs": Words(
        "Blobs",
        "Eight clouds on a circle, of two classes in turn. Two labels at the start leave six "
        "clouds unseen: a method that only sharpens the boundary it knows never finds them.",
    ),
    "box": Words(
        "Box",
        "A lattice with a thin gap that parts the classes. There is little to find, so whoever "
        "goes on exploring for ever loses to those who turn to the boundary.",
    ),
    "isolet": Words(
        "Isolet",
        "Spoken letters, 26 classes, one label at the start. Accuracy is that of plain Laplace "
        "learning, in which earlier work found smallest margin worse than chance.",
    ),
    "mnist": Words(
        "MNIST",
        "Handwritten digits, taken modulo 3: ten clusters make three classes, so a class is known "
        "only when all its digits have been found.",
    ),
    "fashionmnist": Words(
        "Fashion-MNIST", "Articles of clothing, ten clusters taken modulo 3 to three classes."
    ),
    "emnist": Words("EMNIST", "Letters and digits, 47 clusters taken modulo 5 to five classes."),
    "mnist-imb": Words(
        "Imbalanced MNIST",
        "The digits modulo 3 with some of them thinned out: small clusters are harder to find.",
    ),
    "fashionmnist-imb": Words(
        "Imbalanced Fashion-MNIST", "The articles modulo 3 with some of them thinned out."
    ),
    "emnist-vcd": Words(
        "EMNIST-VCD",
        "Letters and digits again, in three classes of very different sizes: vowels, consonants "
        "and digits.",
    ),
    "models": Words(
        "Other models",
        "Questions chosen once, on Isolet; what differs is the model that makes predictions from "
        "the answers.",
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
    """Words of an experiment; its name if it is none of the paper's."""
    return EXPERIMENTS.get(name, Words(name, ""))


def model_name(model: str) -> str:
    """A model as prose calls it."""
    return MODELS.get(model, model)


def seconds(value: float) -> str:
    """A time a person can read: milliseconds, seconds, minutes or hours."""
    if value < 0.9995:
        return f"{1000 * value:.3g} ms"
    if value < 60:
        return f"{value:.3g} s"
    if value < 3600:
        return f"{value / 60:.0f} min"
    return f"{value / 3600:.1f} h"


def sentence(words: str) -> str:
    """`words` as a sentence: a capital and a full stop; nothing stays nothing."""
    return f"{words[:1].upper()}{words[1:].rstrip('.')}." if words else ""


def counted(number: int, one: str, many: str = "") -> str:
    """``1 trial``, ``2,000 trials``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
