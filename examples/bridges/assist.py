"""A program answers questions about handwritten digits; people judge some of its answers.

    python examples/bridges/assist.py

The program is this file with ``--answer``: a small classifier that is right about most digits. The
true classes stand in for the people, who would judge in the app. Takes about a minute.
"""

import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from poise.studio import assisting
from poise.studio.asking.assistants import standing
from poise.studio.log.events import Event
from poise.studio.opening import Opening, Source

NAME, N_LABELS, N_ANSWERS = "small-classifier", 15, 300


def answer() -> None:
    """The program: a line of JSON in, a line of JSON out."""
    X, y = load_digits(return_X_y=True)
    model = LogisticRegression(max_iter=200).fit(X[:100], y[:100])
    for line in sys.stdin:
        question = json.loads(line)
        with Image.open(question["path"]) as picture:
            grey = picture.convert("L").resize((8, 8), Image.Resampling.BOX)
        pixels = np.asarray(grey, dtype=np.float64).reshape(1, -1) * 16 / 255
        (probabilities,) = model.predict_proba(pixels)
        best = int(probabilities.argmax())
        said = {"class": str(best), "confidence": round(float(probabilities[best]), 3)}
        print(json.dumps({"id": question["id"]} | said), flush=True)


def poise_assist(folder: Path, *arguments: str) -> str:
    """Run the command as in a terminal."""
    command = [sys.executable, "-m", "poise", "assist", str(folder), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> None:
    """Label, let the program answer, judge, and see what its answers change."""
    truth = load_digits().target
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "digits.poise"

        def opened() -> Opening:
            opening = Opening(Source("digits", folder, classes=tuple("0123456789")))
            opening.project = opening.open()
            return opening

        def accuracy() -> float:
            found = opening.project.predictions().result()
            names = np.array(found.classes)[found.codes]
            true = truth[list(opening.project.catalogue.rows)].astype(str)
            return float((names == true).mean())

        opening = opened()
        project = opening.project
        true = dict(zip(project.catalogue.ids, truth[list(project.catalogue.rows)], strict=True))
        for item in list(project.catalogue.ids)[:N_LABELS]:
            project.record(Event("label", {"items": [item], "label": str(true[item])}))
        print(f"{accuracy():.1%} right with {N_LABELS} labels by people")
        project.close()

        program = shlex.join([sys.executable, __file__, "--answer"])
        print(
            poise_assist(folder, "--command", program, "--name", NAME, "--budget", str(N_ANSWERS))
        )

        opening = opened()
        project = opening.project
        print(f"{accuracy():.1%} right before its answers count")
        while standing(project.state, NAME).interval is None:
            item = assisting.judge(project, "", NAME)
            data = {"items": [item], "label": str(true[item]), "via": "audit", "of": NAME}
            project.record(Event("label", data))
        print(standing(project.state, NAME).sentence)
        print(f"{accuracy():.1%} right with its answers and the labels of those judged")
        project.close()


if __name__ == "__main__":
    answer() if "--answer" in sys.argv else main()
