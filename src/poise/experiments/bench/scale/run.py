"""Measures one size after the other and keeps finished ones; questions to both sides alternate."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from poise.errors import PoiseError
from poise.experiments.bench.data import load
from poise.experiments.bench.scale.child import Child, Figures
from poise.experiments.bench.scale.clusters import DIMENSIONS, clustered_points
from poise.experiments.bench.scale.estimate import estimate, peer_memory
from poise.experiments.bench.scale.recall import recall, true_distances
from poise.files import write_bytes
from poise.graph.cost import Cost
from poise.graph.storage import read_graph
from poise.machine import available_memory, check_room, cores, gigabytes
from poise.progress import Begin, Progress

OURS = "poise.experiments.bench.scale.ours"
THEIRS = "poise.experiments.bench.scale.theirs"
#: Neighbours of each point.
K = 10
SIZES = (10_000, 100_000, 1_000_000, 4_000_000)
QUICK_SIZES = (10_000, 100_000)
#: Data set of this benchmark -> file that POISE_DATA holds.
REAL = {"mnist": "mnist_vae", "emnist-bymerge": "emnist_bymerge_test_vae"}
REAL_SHAPES = {"mnist": (70_000, 20), "emnist-bymerge": (116_323, 20)}
ACQUISITIONS = ("norm", "auto")
#: Questions after the first.
QUESTIONS = 10
#: After this time no more questions are asked, once there are at least `MIN_QUESTIONS`.
QUESTIONS_MAX_SECONDS, MIN_QUESTIONS = 240.0, 3


@dataclass(frozen=True)
class Plan:
    """What to measure.

    Attributes
    ----------
    folder : for the records
    cache : for points and graphs
    names : sizes written in digits, or names in `REAL`
    questions : number after the first; with 0, only the neighbour search is measured
    peer : whether graphlearning is measured as well
    again : whether to measure again what is on record
    """

    folder: Path
    cache: Path
    names: tuple[str, ...]
    acquisitions: tuple[str, ...] = ACQUISITIONS
    questions: int = QUESTIONS
    peer: bool = True
    again: bool = False


def estimates(plan: Plan) -> Iterator[str]:
    """A line with the rough estimate of each size that is not on record."""
    for name in plan.names:
        if _on_record(plan, name) is None:
            yield f"{name}: {_estimate(plan, name)}"


def _estimate(plan: Plan, name: str, *, peer: bool = True) -> Cost:
    n, d = (int(name), DIMENSIONS) if name.isdecimal() else REAL_SHAPES[name]
    return estimate(
        n,
        d,
        K,
        acquisitions=len(plan.acquisitions),
        questions=plan.questions,
        peer=plan.peer and peer,
        cores=cores(),
    )


def _on_record(plan: Plan, name: str) -> Figures | None:
    record = None if plan.again else read_record(plan.folder / f"{name}.json")
    return record if record is not None and record.get("asked") == _asked(plan) else None


def run(plan: Plan, begin: Begin) -> Iterator[Figures]:
    """The record of each size; sizes on record are not measured again."""
    plan.folder.mkdir(parents=True, exist_ok=True)
    for name in plan.names:
        path = plan.folder / f"{name}.json"
        record = _on_record(plan, name)
        if record is None:
            needed = _estimate(plan, name, peer=False).memory
            check_room(needed, f"the size {name}", "leave it out with --sizes, or free some memory")
            record = measure(plan, name, begin)
            write_bytes(path, json.dumps(record, indent=1).encode())
        yield record


def read_record(path: Path) -> Figures | None:
    """The record of a size, if there is a complete one."""
    try:
        record: Figures = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return record


def _asked(plan: Plan) -> dict[str, Any]:
    """The parameters that a record depends on besides its size."""
    return {
        "acquisitions": list(plan.acquisitions),
        "questions": plan.questions,
        "peer": plan.peer,
    }


def measure(plan: Plan, name: str, begin: Begin) -> Figures:
    """Measure one size."""
    begin(f"{name}: points")
    points, classes = data(name, plan.cache)
    graph = points.with_name(f"{points.stem}-graph-{K}.npz")
    arguments = (str(points), str(classes), str(graph), str(K))
    record: Figures = {"name": name, "asked": _asked(plan)}
    record["n"] = int(np.load(points, mmap_mode="r").shape[0])
    with Child(OURS, *arguments) as ours, Child(THEIRS, *arguments) as theirs:
        searched = points.with_name(f"{points.stem}-search-{K}.json")
        kept = None if plan.again or not graph.is_file() else read_record(searched)
        rows, kth = true_distances(points, K)
        if kept is None:
            begin(f"{name}: searching for neighbours")
            kept = ours.do("search")
            lists = read_graph(graph)[1]["neighbours"].indices[rows]
            kept["recall"] = recall(points, lists, rows, kth, K)
            searched.write_text(json.dumps(kept))
        else:
            kept |= ours.do("load")
        record["graph"] = kept
        if plan.peer:
            record["their_search"] = _their_search(points, arguments, rows, kth, plan, begin, name)
        if plan.questions:
            begin(f"{name}: set-up")
            record["set_up"] = ours.do(f"set_up {' '.join(plan.acquisitions)}")
            record |= _questions(ours, theirs, plan, record["n"], begin(f"{name}: questions"))
    return record


def _their_search(
    points: Path,
    arguments: tuple[str, ...],
    rows: Any,
    kth: Any,
    plan: Plan,
    begin: Begin,
    name: str,
) -> Figures:
    """The neighbour search of graphlearning, in a separate process."""
    kept = points.with_name(f"{points.stem}-theirs-{K}.json")
    figures = None if plan.again else read_record(kept)
    if figures is None:
        begin(f"{name}: graphlearning's search")
        with Child(THEIRS, *arguments) as theirs:
            try:
                figures = theirs.do("search")
            except PoiseError as error:
                return {"missing": str(error)}
        lists = np.load(Path(arguments[2]).with_suffix(".theirs.npy"), mmap_mode="r")[rows]
        figures["recall"] = recall(points, lists, rows, kth, K)
        kept.write_text(json.dumps(figures))
    return figures


def _questions(ours: Child, theirs: Child, plan: Plan, n: int, progress: Progress) -> Figures:
    """The first and later questions, to both sides in turn."""
    steps: dict[str, list[Figures]] = {name: [] for name in plan.acquisitions}
    peers: list[Figures] = []
    without = "" if plan.peer else "graphlearning was left out"
    needed, free = peer_memory(n, K), available_memory()
    if not without and free is not None and needed > free:
        without = f"graphlearning needs about {gigabytes(needed)}, {gigabytes(free)} are free"
    began = time.monotonic()
    for number in range(1 + plan.questions):
        for name, answered in steps.items():
            answered.append(ours.do(f"question {name}"))
        if not without:
            try:
                peers.append(theirs.do("question"))
            except PoiseError as error:  # for example, out of memory
                peers, without = [], str(error)
        progress(number + 1, 1 + plan.questions)
        if number >= MIN_QUESTIONS and time.monotonic() - began > QUESTIONS_MAX_SECONDS:
            break
    result: Figures = {"questions": {name: summary(answered) for name, answered in steps.items()}}
    result |= {"theirs": summary(peers)} if peers else {}
    return result | ({"without_peer": without} if without else {})


def summary(steps: list[Figures]) -> Figures:
    """Seconds of the first question and the median of the others.

    Without an answer so far, the first question takes two solves: one to choose a node ("shown"),
    and one to predict after its answer, which the second question uses, too.
    """
    later = [step["seconds"] for step in steps[1:]]
    return {
        "shown": steps[0].get("ask"),
        "first": steps[0]["seconds"],
        "later": float(np.median(later)),
        "all": [step["seconds"] for step in steps],
        "nodes": [step["node"] for step in steps],
        "peak": max(step["peak"] for step in steps),
        "whole_peak": max(float(step.get("whole_peak") or step["peak"]) for step in steps),
    }


def data(name: str, cache: Path) -> tuple[Path, Path]:
    """Files with the points and the classes of a size or a real data set."""
    if name.isdecimal():
        return clustered_points(cache, int(name))
    points, classes = cache / f"{name}.npy", cache / f"{name}-classes.npy"
    if not points.is_file() or not classes.is_file():
        cache.mkdir(parents=True, exist_ok=True)
        X, y = load(REAL[name])
        np.save(classes, y)
        np.save(points, X.astype(np.float32, copy=False))
    return points, classes
