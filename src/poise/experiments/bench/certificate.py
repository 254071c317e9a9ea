"""How tight the decay bound and the exploration certificate are on graphs of data."""

from collections.abc import Iterator

from poise.data.datasets import load_dataset
from poise.experiments.bench.row import Row
from poise.experiments.theory.certificate import COMPARED, tightness
from poise.progress import Progress

#: Data set, embedding and neighbours, as in the paper.
SETS = (("blobs", "raw", 100), ("mnist-imb", "vae", 20), ("isolet", "raw", 5))


def certificate(progress: Progress) -> Iterator[Row]:
    """One label in every second cluster; what the bound foresees of what is computed."""
    for done, (name, embedding, k) in enumerate(SETS):
        progress(done, len(SETS))
        found = tightness(load_dataset(name, embedding=embedding), k)
        one = found.certificate
        tried = f"of {len(one.taus)} values of tau"
        yield Row(f"{name}: explores first, {tried}", float(one.explores.sum()))
        yield Row(f"{name}: the bound foresees it, {tried}", float(one.foreseen.sum()))
        for tau in COMPARED:
            yield Row(
                f"{name}: share of the decay that the bound foresees, median, tau = {tau:g}",
                found.exponent(tau),
            )
        yield Row(f"{name}: largest certified error of a norm", float(one.error.max()))
    progress(len(SETS), len(SETS))
