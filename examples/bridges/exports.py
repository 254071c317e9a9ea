"""Label a small folder of pictures by simulation, and export the project in every format.

Everything is in a temporary folder. The pictures are discs, squares and crosses, and their files'
names say which, so that nobody has to look at them.
"""

import contextlib
import csv
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

import poise
from poise.cli.main import cli
from poise.studio.opening import Opening, Source

N_PICTURES, N_LABELS, SIDE = 90, 12, 48
#: Format -> the path that it is written to.
FORMATS = {
    "csv": "labels.csv",
    "folders": "sorted",
    "huggingface": "dataset",
    "fiftyone": "samples",
    "cleanlab": "arrays",
    "label-studio": "tasks.json",
}


def draw(folder: Path) -> list[Path]:
    """Draw the pictures; the class is the beginning of the file's name."""
    rng = np.random.default_rng(0)
    folder.mkdir()
    for number in range(N_PICTURES):
        kind = ("disc", "square", "cross")[number % 3]
        x, y = rng.integers(12, SIDE - 12, 2).tolist()
        picture = Image.new("L", (SIDE, SIDE), int(rng.integers(0, 60)))
        pen, box = ImageDraw.Draw(picture), (x - 9, y - 9, x + 9, y + 9)
        if kind == "disc":
            pen.ellipse(box, fill=220)
        elif kind == "square":
            pen.rectangle(box, outline=220, width=3)
        else:
            pen.line(box, fill=220, width=5)
            pen.line((x - 9, y + 9, x + 9, y - 9), fill=220, width=5)
        picture.save(folder / f"{kind} {number:02}.png")
    return sorted(folder.iterdir())


def label(files: list[Path], answers: Path) -> None:
    """Ask about a few pictures, and write the answers to a table."""
    pictures = np.array([np.asarray(Image.open(file)) for file in files])
    learner = poise.Learner(poise.knn_graph(poise.embed(pictures, "hog"), k=8))
    for _ in range(N_LABELS):
        (i,) = learner.ask()
        learner.tell(i, files[i].name.split()[0])
    with answers.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["source", "label", "by"])
        table.writerows([files[i].name, name, "Ada"] for i, name in learner.labels.items())


def main() -> None:
    """Make the project, export it, and look at it."""
    with tempfile.TemporaryDirectory() as temporary, contextlib.chdir(temporary):
        label(draw(Path("shapes")), Path("answers.csv"))
        # What `poise label shapes --embed hog --import answers.csv` does before its page opens.
        source = Source("shapes", Path("shapes.poise"), embedding="hog", labels=Path("answers.csv"))
        Opening(source).open().close()

        for name, path in FORMATS.items():
            command = ["export", "shapes.poise", "-o", path, "--format", name]
            cli.main(command, standalone_mode=False)
            files = sorted(file.name for file in Path(path).rglob("*") if file.is_file())
            if files:
                print(f"    {', '.join(files[:4])}{', ...' if len(files) > 4 else ''}")

        project = poise.open_project("shapes.poise")
        print(project)
        truth = [source.split()[0] for source in project.sources]
        right = np.mean(project.predictions == truth)
        print(f"{right:.0%} of the pictures are in the right folder, with {N_LABELS} labels")


if __name__ == "__main__":
    main()
