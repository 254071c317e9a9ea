"""How tight the decay bound and the exploration certificate are on graphs of data."""

from collections.abc import Iterator

from poise.data.datasets import load_dataset
from poise.experiments.bench.row import Row
from poise.experiments.theory.certificate import COMPARED, tightness
from poise.progress import Progress

#: Data set, embedding and neighbours, as in the paper.
SETS = (("blobs", "raw", 100), ("mnist-imb", "vae", 20), ("isolet", "raw", 5))


def certificate(progress: Progress) -> Iterator[Row]:
    """One label in every second cluster: what the bound predicts of the computed values."""
    for done, (name, embedding, k) in enumerate(SETS):
        progress(done, len(SETS))
        result = tightness(load_dataset(name, embedding=embedding), k)
        certified = result.certificate
        tried = f"of {len(certified.taus)} values of tau"
        yield Row(f"{name}: explores first, {tried}", float(certified.explores.sum()))
        yield Row(f"{name}: the bound predicts it, {tried}", float(certified.foreseen.sum()))
        for tau in COMPARED:
            yield Row(
                f"{name}: share of the decay that the bound predicts, median, tau = {tau:g}",
                result.exponent(tau),
            )
        yield Row(f"{name}: largest certified error of a norm", float(certified.error.max()))
    progress(len(SETS), len(SETS))
