"""Methods that ask questions, on bags of words, for docs/auto.md.

    POISE_DATA=folder python benchmarks/texts.py [--trials N] [METHOD ...]

No tuning set of `poise bench accuracy` is a bag of words. Measured is the area under the accuracy
curve from 5 to 100 labels, with tf-idf, on two sets of texts. "banking77" are the short questions
of that data set, in 77 intents. "docstrings" are docstrings of 60 words or more in the packages of
this environment, by package; they need no download, and vary a little with the installed versions.
"""

import argparse
import ast
import sysconfig
from collections import defaultdict
from functools import cache
from pathlib import Path

import numpy as np

from poise import knn_graph, load_dataset
from poise.data.embeddings import TfIdf
from poise.experiments.efficiency.methods import ABLATIONS, METHODS, ask_all
from poise.experiments.efficiency.predictors import logistic, pwll_curve, share_right
from poise.experiments.efficiency.sets import Pool
from poise.experiments.efficiency.trials import BUDGETS, NEIGHBOURS, SHARE, Trial, area
from poise.models.balance import balance_factors

DEFAULT = (
    "auto",
    "no gain",
    "reach without a bound",
    "random",
    "probcover",
    "typiclust",
    "maxherding",
    "uncertainty-herding",
    "vopt",
    "norm",
)
#: Words of a docstring at least, docstrings of a package at most, and packages.
WORDS, MOST, PACKAGES = 60, 400, 20


def docstrings() -> tuple[list[str], np.ndarray]:
    """Texts of the largest packages of this environment, and the codes of the packages."""
    found: dict[str, set[str]] = defaultdict(set)
    root = Path(sysconfig.get_paths()["purelib"])
    for path in sorted(root.rglob("*.py")):
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, ValueError):  # templates, and tests of other encodings
            continue
        package = ".".join(path.relative_to(root).parts[:2])
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node) or ""
                if len(text.split()) >= WORDS:
                    found[package].add(text)
    largest = sorted(found, key=lambda name: (-len(found[name]), name))[:PACKAGES]
    rng = np.random.default_rng(0)
    texts, codes = [], []
    for code, name in enumerate(largest):
        own = sorted(found[name])
        chosen = rng.permutation(len(own))[:MOST]
        texts += [own[i] for i in chosen]
        codes += [code] * len(chosen)
    return texts, np.array(codes)


@cache
def features(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "banking77":
        data = load_dataset("banking77", embedding="tfidf")
        return np.asarray(data.X), np.asarray(data.classes)
    texts, codes = docstrings()
    return TfIdf()(texts), codes


def trial(name: str, number: int) -> Trial:
    X, classes = features(name)
    rng = np.random.default_rng([number, 7])
    chosen = np.sort(rng.choice(len(X), int(SHARE * len(X)), replace=False))
    codes = np.unique(classes[chosen], return_inverse=True)[1].astype(np.int64)
    graph = knn_graph(np.asarray(X[chosen], dtype=np.float32), NEIGHBOURS, metric="cosine")
    return Trial(Pool(name, "tfidf", "cosine"), number, graph, {0: codes})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("methods", nargs="*", default=DEFAULT)
    parser.add_argument("--trials", type=int, default=3)
    args = parser.parse_args()
    areas = defaultdict(list)
    for name in ("banking77", "docstrings"):
        for number in range(args.trials):
            one = trial(name, number)
            codes = one.classes[0]
            for method in args.methods:
                asked = np.array(ask_all(one, (METHODS | ABLATIONS)[method], codes, BUDGETS[-1]))
                curves = {method: [s * balance_factors(s) for s in pwll_curve(one, asked, codes)]}
                if method == "random":
                    curves["random, logistic regression"] = [
                        logistic(one, asked[:b], codes, int(codes.max()) + 1) for b in BUDGETS
                    ]
                for how, curve in curves.items():
                    right = [
                        share_right(scores, codes, asked[:b])
                        for scores, b in zip(curve, BUDGETS, strict=True)
                    ]
                    areas[name, how].append(float(area(right)))
                    print(
                        f"{name:10s} {one.n_points} {number} {how:28s} {areas[name, how][-1]:.3f}"
                    )
    for (name, how), values in areas.items():
        print(f"mean {name:10s} {how:28s} {np.mean(values):.3f} of {len(values)}")


if __name__ == "__main__":
    main()
