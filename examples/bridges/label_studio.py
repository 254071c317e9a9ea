"""Handwritten digits in Label Studio, labelled in the order that poise suggests.

Nothing to install: a stand-in for Label Studio runs on this machine, and the people who label are
simulated. With the real one, replace all of this by

    poise label-studio http://localhost:8080 --project 1
"""

import io
import sys
import tempfile
from os import environ
from pathlib import Path

from PIL import Image
from sklearn.datasets import load_digits

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "integrations"))
from fake_label_studio import LEGACY_TOKEN, FakeLabelStudio, choices_config

from poise.integrations.label_studio.api import Api
from poise.integrations.label_studio.client import Client
from poise.integrations.label_studio.sync import Sync

N_IMAGES, N_ROUNDS, ANSWERS_OF_A_ROUND = 500, 10, 4


def upload(studio: FakeLabelStudio) -> dict[int, str]:
    """Import the images as tasks; returns the digit of each task."""
    X, y = load_digits(return_X_y=True)
    digits = {}
    for number, (pixels, digit) in enumerate(zip(X[:N_IMAGES], y, strict=False)):
        file = io.BytesIO()
        Image.fromarray((255 - 15 * pixels.reshape(8, 8)).astype("uint8")).save(file, "PNG")
        address = f"/data/upload/1/{number}.png"
        studio.files[address] = file.getvalue()
        digits[studio.add(image=address)] = str(digit)
    return digits


def accuracy(studio: FakeLabelStudio, digits: dict[int, str]) -> float:
    """Share of the tasks whose prediction in Label Studio is right."""
    right = 0
    for prediction in studio.predictions.values():
        classes = [result["value"]["choices"][0] for result in prediction["result"]]
        right += classes == [digits[prediction["task"]]]
    return right / len(digits)


def main() -> None:
    """Alternate between people and poise, as the command does while people label."""
    studio = FakeLabelStudio(choices_config([str(digit) for digit in range(10)], "Image", "image"))
    digits = upload(studio)
    with tempfile.TemporaryDirectory() as cache, studio.serving():
        environ["POISE_CACHE"] = cache
        sync = Sync(Api(Client(studio.address, LEGACY_TOKEN), project=1))
        sync.round()
        for _ in range(N_ROUNDS):
            # People sort the data manager by the prediction score and label from the top.
            for task in studio.in_order()[:ANSWERS_OF_A_ROUND]:
                studio.annotate(task, digits[task])
            done = sync.round()
            print(
                f"{done.labelled:3} labelled, {done.sent:3} predictions sent, "
                f"{accuracy(studio, digits):.0%} of {done.tasks} tasks predicted correctly"
            )


if __name__ == "__main__":
    main()
