"""Other libraries on the same trials: each with its own questions and its own classifier."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from poise.experiments.efficiency.peer_activeml import ACTIVEML_PEERS
from poise.experiments.efficiency.peer_curves import Peer, checkpoints
from poise.experiments.efficiency.peer_modal import ModalMargin
from poise.experiments.efficiency.peer_sklearn import SKLEARN_PEERS
from poise.experiments.efficiency.records import Lines, Row
from poise.experiments.efficiency.sets import POOLS
from poise.experiments.efficiency.trials import Trial, make_trial

KEYS = ("set", "trial", "method")

ALL: tuple[Peer, ...] = (*ACTIVEML_PEERS, ModalMargin(), *SKLEARN_PEERS)
#: The peers by name.
PEERS: dict[str, Peer] = {peer.name: peer for peer in ALL}


@dataclass(frozen=True)
class PeerUnit:
    """What one process does in one go: a peer on a trial, in some groupings."""

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
    """What is not recorded yet, trial by trial; what was skipped is not tried again."""
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
    """Whether a row answers for a budget."""
    return row is not None and ("skipped" in row or row["budget"] >= budget)


def run_peer_unit(unit: PeerUnit) -> list[Row]:
    """Run a unit's peer: one row for each grouping."""
    trial, peer = make_trial(unit.pool, unit.trial), PEERS[unit.peer]
    return [run_peer(trial, peer, grouping, unit.budget) for grouping in unit.groupings]


def run_peer(trial: Trial, peer: Peer, grouping: int, budget: int) -> Row:
    """One row: accuracy after `labels` labels, or why the peer was skipped.

    ``points`` counts the points of the trial, on which accuracy is measured, and ``candidates``
    those of them that the peer could ask for; if these are fewer, ``limit`` says why.
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
