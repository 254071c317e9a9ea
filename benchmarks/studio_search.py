"""Search and similar items in the app: how long 100,000 items take on the server.

    POISE_DATA=folder python benchmarks/studio_search.py

Short texts are those of BANKING77, long ones the posts of 20 Newsgroups, both repeated with a
number appended; without POISE_DATA they are generated. For comparison, the folded strings are
scanned one by one. The table is in docs/decisions/near-duplicates.md.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import poise
from poise.data.tables import read_columns
from poise.studio.asking.likeness import by_distance, near_threshold
from poise.studio.asking.search import TextIndex, folded

QUERIES = (
    "c",
    "ca",
    "card",
    "the",
    "card payment",
    "cardholder",
    "zzzz",
    "né 42",
    "a b c d e f",
)


def milliseconds(work: Callable[[], object], turns: int = 5) -> float:
    times = []
    for _ in range(turns):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return 1e3 * statistics.median(times)


def texts_of(name: str, n: int) -> list[str]:
    folder = os.environ.get("POISE_DATA")
    if folder is None:
        return [f"lost card number {i} of the account {i % 977}" for i in range(n)]
    some = read_columns(Path(folder) / name, lambda names: ["text"])["text"]
    return [f"{some[i % len(some)]} {i}" for i in range(n)]


def searches(name: str, n: int) -> None:
    texts = texts_of(name, n)
    size = sum(map(len, texts)) / 1e6
    began = time.perf_counter()
    index = TextIndex((f"row {number}" for number in range(n)), texts)
    built = time.perf_counter() - began
    plain = [f" {folded(text)} " for text in texts]
    print(f"\n{n:,} texts of {name}, {size:.0f} MB, in the index after {built:.1f} s\n")
    print("| query | found | index | strings |\n|---|--:|--:|--:|")
    for query in QUERIES:
        parts = [f" {word}" for word in folded(query).split()]
        ours = milliseconds(lambda q=query: index.find(q))
        theirs = milliseconds(
            lambda q=parts: [i for i, text in enumerate(plain) if all(part in text for part in q)]
        )
        print(f"| {query} | {len(index.find(query)):,} | {ours:.0f} ms | {theirs:.0f} ms |")


def likeness(n: int, d: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    for metric in ("euclidean", "cosine"):
        graph = poise.knn_graph(X[:2_000], k=10, metric=metric)
        time_all = milliseconds(lambda g=graph: by_distance(g, X, 7))
        first = milliseconds(lambda g=graph: near_threshold(g, X[:2_000]), 1)
        product = milliseconds(lambda: np.argsort(X @ X[7], kind="stable"))
        print(f"| {n:,} x {d}, {metric} | {time_all:.0f} ms | {product:.0f} ms | {first:.0f} ms |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=100_000)
    asked = parser.parse_args()
    for name in ("banking77.csv", "20news.parquet"):
        searches(name, asked.items)
    print("\n| all by distance | time | one product and sort alone | threshold, once |")
    print("|---|--:|--:|--:|")
    likeness(asked.items, 512)


if __name__ == "__main__":
    main()
