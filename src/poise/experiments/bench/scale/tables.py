"""Tables of the records of ``poise bench scale``."""

from typing import Any

import numpy as np

from poise.experiments.bench.scale.child import Figures


def rows_of(record: Figures) -> list[tuple[str, float | None, float | None]]:
    """Figures of one size: (name, poise, graphlearning)."""
    graph, theirs = record["graph"], record.get("their_search", {})
    peer = record.get("theirs", {})
    rows: list[tuple[str, float | None, float | None]] = [
        ("neighbour search, s", graph.get("search"), theirs.get("seconds")),
        ("neighbour search, CPU s", graph.get("search_busy"), theirs.get("busy")),
        ("recall", graph.get("recall"), theirs.get("recall")),
        ("graph from the lists of neighbours, s", graph.get("weights"), None),
        ("peak memory of search and graph, MB", graph.get("peak"), theirs.get("peak")),
    ]
    if "set_up" not in record:
        return rows
    rows.append(("set-up of the solver, s", record["set_up"]["seconds"], None))
    for name, times in record["questions"].items():
        rows.append((f"{name}: first question shown, s", times.get("shown"), None))
        rows.append((f"{name}: first question, s", times["first"], peer.get("first")))
        rows.append((f"{name}: a further question, s", times["later"], peer.get("later")))
    whole = max(times["whole_peak"] for times in record["questions"].values())
    rows += [
        ("peak memory of set-up, MB", record["set_up"]["peak"], None),
        ("peak memory of the whole process, MB", whole, peer.get("peak")),
    ]
    return rows


def exponents(records: list[Figures]) -> list[tuple[str, float, float | None]]:
    """Fitted powers of n, for generated points only: (name, poise, graphlearning)."""
    made = [record for record in records if record["name"].isdecimal()]
    if len(made) < 2:
        return []
    tables = [{what: (ours, peer) for what, ours, peer in rows_of(record)} for record in made]
    sizes = np.log([record["n"] for record in made])

    def power(values: list[Any]) -> float | None:
        if any(value is None or value <= 0 for value in values):
            return None
        return float(np.polyfit(sizes, np.log(values), 1)[0])

    powers = []
    for what in tables[0]:
        if what == "recall" or not all(what in table for table in tables):
            continue
        ours = power([table[what][0] for table in tables])
        peer = power([table[what][1] for table in tables])
        if ours is not None:
            powers.append((what, ours, peer))
    return powers
