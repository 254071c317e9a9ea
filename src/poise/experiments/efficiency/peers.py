"""Other libraries on the same trials, each with its own questions and classifier."""

import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from poise.experiments.efficiency.accuracy import accuracy_lines
from poise.experiments.efficiency.compare import PREDICTING, curves_by_set
from poise.experiments.efficiency.methods import AUTO
from poise.experiments.efficiency.peer_activeml import ACTIVEML_PEERS
from poise.experiments.efficiency.peer_curves import Peer, checkpoints
from poise.experiments.efficiency.peer_modal import ModalMargin
from poise.experiments.efficiency.peer_sklearn import SKLEARN_PEERS
from poise.experiments.efficiency.records import Lines, Row
from poise.experiments.efficiency.sets import POOLS, set_names
from poise.experiments.efficiency.tables import Table, difference_text, marked
from poise.experiments.efficiency.trials import BUDGETS, Trial, area, make_trial
from poise.experiments.summary import Estimate, estimate

KEYS = ("set", "trial", "method")

ALL: tuple[Peer, ...] = (*ACTIVEML_PEERS, ModalMargin(), *SKLEARN_PEERS)
#: The peers by name.
PEERS: dict[str, Peer] = {peer.name: peer for peer in ALL}


@dataclass(frozen=True)
class PeerUnit:
    """A piece of work for a process: a peer on a trial, in some groupings."""

    pool: str
    trial: int
    peer: str
    groupings: tuple[int, ...]
    budget: int


def peer_lines(folder: Path) -> Lines:
    """The records of peers in a folder."""
    return Lines(folder / "peers.jsonl", KEYS)


def missing_peer_units(
    lines: Lines, pools: Iterable[str], peers: Iterable[str], trials: int, budget: int
) -> Iterator[PeerUnit]:
    """Units that are not on record, trial by trial; skipped peers are not tried again."""
    chosen = list(peers)
    for trial in range(trials):
        for name in pools:
            pool = POOLS[name]
            for peer in chosen:
                left = tuple(
                    g
                    for g in pool.groupings
                    if not is_done(lines.rows.get((pool.name(g), trial, peer)), budget)
                )
                if left:
                    yield PeerUnit(name, trial, peer, left, budget)


def is_done(row: Row | None, budget: int) -> bool:
    """Whether a row covers a budget."""
    return row is not None and ("skipped" in row or row["budget"] >= budget)


def run_peer_unit(unit: PeerUnit) -> list[Row]:
    """Run a unit's peer: one row for each grouping."""
    trial, peer = make_trial(unit.pool, unit.trial), PEERS[unit.peer]
    return [run_peer(trial, peer, grouping, unit.budget) for grouping in unit.groupings]


def run_peer(trial: Trial, peer: Peer, grouping: int, budget: int) -> Row:
    """One row: accuracies at `checkpoints`, or why the peer was skipped.

    ``points`` is the number of points of the trial, on which accuracy is measured, ``candidates``
    the number that the peer could ask for; if this is smaller, ``limit`` says why.
    """
    codes = trial.classes[grouping]
    need = peer.need(trial, codes)
    row: Row = {
        "set": trial.pool.name(grouping),
        "trial": trial.number,
        "method": peer.name,
        "points": trial.n_points,
    }
    if not need.n_candidates:
        return row | {"skipped": need.reason}
    start = time.perf_counter()
    accuracy = peer.run(trial, codes, budget)
    row |= {
        "candidates": need.n_candidates,
        "seconds": round(time.perf_counter() - start, 3),
        "budget": budget,
        "labels": checkpoints(trial, budget),
        "accuracy": [round(value, 6) for value in accuracy],
        "note": peer.note,
    }
    return row | {"limit": need.reason} if need.reason else row


@dataclass(frozen=True)
class PeerComparison:
    """poise with the questions of `auto`, compared with other libraries on one set.

    Attributes
    ----------
    set, trials : the set, and number of trials of both poise and the best peer
    areas : method -> mean area under the accuracy curve; also that of `auto` on the graph alone
    limited, skipped : peers that chose from a part of the points, and peers that were skipped
    best : the peer of largest mean area
    difference, low, high : mean of poise minus best over trials and its 95% t-interval
    """

    set: str
    trials: int
    areas: dict[str, float]
    limited: tuple[str, ...]
    skipped: tuple[str, ...]
    best: str
    difference: float
    low: float
    high: float


def compare_peers(
    name: str, rows: Collection[Row], ours: dict[str, dict[int, NDArray[np.float64]]]
) -> PeerComparison | None:
    """The comparison on one set; None if poise and the peers have no common trial.

    Parameters
    ----------
    rows : records of peers on that set
    ours : method -> trial -> accuracies at `BUDGETS`, of poise
    """
    whole = ours.get(PREDICTING, {})
    curves: dict[str, dict[int, NDArray[np.float64]]] = {}
    for row in rows:
        if row.get("labels") == list(BUDGETS) and row["trial"] in whole:
            curves.setdefault(row["method"], {})[row["trial"]] = np.array(row["accuracy"])
    if not curves:
        return None
    known = {m: ours[m] for m in (AUTO, PREDICTING) if m in ours} | curves
    areas = {m: float(area(list(trials.values())).mean()) for m, trials in known.items()}
    best = max(curves, key=lambda m: areas[m])
    gap = _gap(whole, curves[best])
    return PeerComparison(
        name,
        gap.trials,
        areas,
        tuple(sorted({row["method"] for row in rows if "limit" in row})),
        tuple(sorted({row["method"] for row in rows if "skipped" in row})),
        best,
        gap.mean,
        gap.low,
        gap.high,
    )


def _gap(ours: dict[int, NDArray[np.float64]], theirs: dict[int, NDArray[np.float64]]) -> Estimate:
    """The mean difference of area over the common trials."""
    trials = sorted(set(ours) & set(theirs))
    return estimate(area([ours[t] - theirs[t] for t in trials]))


def tables(folder: Path, sets: Collection[str]) -> list[Table]:
    """The best peer on each set, and the area of every peer."""
    lines, curves = peer_lines(folder), curves_by_set(accuracy_lines(folder))
    comparisons = []
    for name in (name for name in set_names() if name in sets):
        rows = [row for row in lines if row["set"] == name]
        comparison = compare_peers(name, rows, curves.get(name, {}))
        if comparison is not None:
            comparisons.append(comparison)
    if not comparisons:
        return []
    best = tuple(
        (
            marked(comparison.set),
            f"{comparison.areas[PREDICTING]:.3f}",
            f"{comparison.areas[comparison.best]:.3f}",
            comparison.best,
            difference_text(comparison.difference, comparison.low, comparison.high),
            str(comparison.trials),
        )
        for comparison in comparisons
    )
    names = [
        m
        for m in (AUTO, PREDICTING, *PEERS)
        if any(m in _listed(comparison) for comparison in comparisons)
    ]
    return [
        Table(
            "peers",
            "Other libraries: area under the accuracy curve",
            (PREDICTING, "best peer", "", "difference", "trials"),
            best,
            tuple(comparisons),
            "Each peer chooses its own labels and predicts with its own classifier.",
        ),
        Table(
            "peers",
            "Area of every peer",
            tuple(marked(comparison.set) for comparison in comparisons),
            tuple((m, *(_cell(comparison, m) for comparison in comparisons)) for m in names),
            (),
            "* could choose from only 5,000 points, for lack of memory.",
        ),
    ]


def _listed(comparison: PeerComparison) -> tuple[str, ...]:
    return (*comparison.areas, *comparison.skipped)


def _cell(comparison: PeerComparison, method: str) -> str:
    if method not in comparison.areas:
        return "skipped" if method in comparison.skipped else ""
    return f"{comparison.areas[method]:.3f}" + ("*" if method in comparison.limited else "")
