"""How the gallery is built: the order of its examples, their look, and what runs without data."""

import os
import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from sphinx.application import Sphinx

EXAMPLES = Path(__file__).parents[2] / "examples" / "gallery"
#: The files in the order of the page.
ORDER = (
    "plot_photos.py",
    "plot_intents.py",
    "plot_rare_class.py",
    "plot_two_annotators.py",
    "plot_ten_strategies.py",
    "plot_acquisition.py",
    "plot_pipeline.py",
    "plot_million.py",
    "plot_paper_figure.py",
)
#: Examples that read a file from the folder named by POISE_DATA -> the file.
DATA = {"plot_photos": "cifar10_test.tar", "plot_intents": "banking77.csv"}
NOT_RUN = """
.. note::

   This example reads ``{file}`` from the folder that the environment variable ``POISE_DATA``
   names. The file was missing when this page was built: there are no results and no pictures.

"""


def missing() -> set[str]:
    """The examples whose data are not there."""
    folder = os.environ.get("POISE_DATA")
    return {name for name, file in DATA.items() if not folder or not Path(folder, file).is_file()}


def filename_pattern() -> str:
    """Matches the paths of the examples to run."""
    skipped = "|".join(sorted(missing()))
    return rf"/plot_(?!{skipped.replace('plot_', '')})" if skipped else "/plot_"


class Order:
    """Sorts examples as `ORDER` lists them; others come last."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, name: str) -> tuple[int, str]:
        return (ORDER.index(name) if name in ORDER else len(ORDER), name)


def use_style(gallery_conf: dict[str, Any], file: str) -> None:
    """Draw the pictures of the next example in the style of the gallery."""
    plt.style.use(EXAMPLES / "gallery.mplstyle")


def say_what_did_not_run(app: Sphinx, page: str, source: list[str]) -> None:
    """Put a note below the title of an example that was not run."""
    name = page.rpartition("/")[2]
    if page.startswith("gallery/") and name in missing():
        note = NOT_RUN.format(file=DATA[name])
        source[0] = re.sub(r"(?m)^(=+\n)", lambda line: line[0] + note, source[0], count=1)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", say_what_did_not_run)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
