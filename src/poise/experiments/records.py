"""Records of an experiment: a line of JSON per trial, method and question, appended as they come.

A folder holds ``experiment.json``, the parameters, and ``records.jsonl``, which may be compressed:
``records.jsonl.gz``. A trial is finished when all its lines are there. The next run removes the
lines of unfinished trials.
"""

import errno
import gzip
import io
import json
import os
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise import Dataset, Trace
from poise.active.trace import Accuracy
from poise.errors import DataError, InputError
from poise.experiments.experiment import CHOOSING, SEEDS, Experiment, Method
from poise.files import write_bytes

FORMAT = "poise.records"
VERSION = 1
DIGITS = 6

Row = dict[str, Any]


def rows_of(method: str, seed: int, trace: Trace, data: Dataset) -> list[Row]:
    """A trial as lines: line 0 is the start, line q the state after the q-th answer."""
    measured: dict[str, Trace | Accuracy] = {CHOOSING: trace, **trace.also}
    rows: list[Row] = []
    for q in range(len(trace.queries) + 1):
        row: Row = {"method": method, "seed": int(seed), "query": q}
        if q == 0:
            row["initial"] = trace.initial.tolist()
        else:
            node = int(trace.queries[q - 1])
            row |= {
                "node": node,
                "label": int(data.classes[node]),
                "cluster": int(data.clusters[node]),
                "seconds": round(float(trace.seconds[q - 1]), DIGITS),
            }
        row["clusters_seen"] = int(trace.clusters_seen[q])
        row["accuracy"] = {
            name: round(float(curves.accuracy[q]), DIGITS) for name, curves in measured.items()
        }
        row["balanced"] = {
            name: round(float(curves.balanced_accuracy[q]), DIGITS)
            for name, curves in measured.items()
        }
        rows.append(row)
    return rows


@dataclass(eq=False)
class Records:
    """The records of an experiment so far.

    Attributes
    ----------
    experiment : its parameters
    trials : (method, seed) -> lines, only of finished trials
    about : facts about the data set and the runs: points, clusters, versions, seconds
    """

    experiment: Experiment
    trials: dict[tuple[str, int], list[Row]] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)

    def seeds(self, method: str) -> list[int]:
        """Seeds of a method's finished trials, in the experiment's order."""
        return [seed for seed in self.experiment.seeds if (method, seed) in self.trials]

    @property
    def methods(self) -> list[Method]:
        """Methods with at least one finished trial."""
        return [method for method in self.experiment.methods if self.seeds(method.name)]

    @property
    def complete(self) -> bool:
        """Whether every trial of every method is finished."""
        return all(
            (method.name, seed) in self.trials
            for method in self.experiment.methods
            for seed in self.experiment.seeds
        )

    def of(self, method: str) -> list[list[Row]]:
        """The finished trials of a method."""
        return [self.trials[method, seed] for seed in self.seeds(method)]

    def accuracy(
        self, method: str, model: str = "pwll", *, balanced: bool = False
    ) -> NDArray[np.float64]:
        """(trials, budget + 1) accuracy on the unlabelled points, in an evaluation model."""
        key = "balanced" if balanced else "accuracy"
        return np.array([[row[key][model] for row in rows] for rows in self.of(method)])

    def explored(self, method: str) -> NDArray[np.float64]:
        """(trials, budget + 1) share of the clusters that have a labelled point."""
        seen = [[row["clusters_seen"] for row in rows] for rows in self.of(method)]
        return np.array(seen, dtype=np.float64) / float(self.about["clusters"])

    def seconds(self, method: str) -> NDArray[np.float64]:
        """(trials, budget) seconds per question, including the set-up before the first."""
        return np.array([[row["seconds"] for row in rows[1:]] for rows in self.of(method)])

    def queries(self, method: str, seed: int) -> tuple[list[int], list[int]]:
        """Nodes labelled at the start, and nodes asked, in one trial."""
        rows = self.trials[method, seed]
        return rows[0]["initial"], [row["node"] for row in rows[1:]]


class Store:
    """The folder of an experiment's records; only one process writes to it."""

    def __init__(self, folder: Path, experiment: Experiment) -> None:
        self.folder, self.experiment = folder, experiment
        self.header = folder / "experiment.json"
        plain, packed = folder / "records.jsonl", folder / "records.jsonl.gz"
        if plain.exists() and packed.exists():
            raise InputError(
                f"{folder} holds both {plain.name} and {packed.name}: move one of them away"
            )
        self.packed = packed.exists()
        self.lines = packed if self.packed else plain

    def open(self, about: dict[str, Any]) -> Records:
        """Start or continue: existing records, once they are known to have the same parameters.

        `about` holds facts about the data set and this run, which are kept with the parameters.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        kept = self._kept_header()
        if kept is not None:
            self._compare(kept)
        runs = [*(kept["about"]["runs"] if kept else []), about.pop("run")]
        records = Records(self.experiment, self._finished(), about | {"runs": runs})
        self.write_header(records.about)
        return records

    def write_header(self, about: dict[str, Any]) -> None:
        """Write the parameters and facts, completely or not at all."""
        kept = self._kept_header() or {"methods": {}}
        header = {
            "format": FORMAT,
            "version": VERSION,
            "experiment": self.experiment.described(),
            "methods": kept["methods"] | {m.name: m.described() for m in self.experiment.methods},
            "about": about,
        }
        _write_whole(self.header, (json.dumps(header, indent=1) + "\n").encode())

    def read(self) -> Records:
        """Existing records; changes nothing."""
        kept = self._kept_header()
        if kept is None:
            raise InputError(f"there are no records in {self.folder}")
        self._compare(kept)
        return Records(self.experiment, self._finished(mend=False), kept["about"])

    def append(self, rows: Iterable[Row]) -> None:
        """Add lines: all are on disk when this returns, or none."""
        content = self._encoded(rows)
        with self.lines.open("ab", buffering=0) as file:
            before = file.tell()
            try:
                if file.write(content) < len(content):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.lines))
                os.fsync(file.fileno())
            except OSError as error:
                with suppress(OSError):
                    file.truncate(before)
                raise DataError(
                    f"cannot write {self.lines} ({error.strerror}): free some space, and run it "
                    "again; finished trials are kept"
                ) from None

    def _kept_header(self) -> dict[str, Any] | None:
        if not self.header.exists():
            if self.lines.exists():
                raise InputError(
                    f"{self.lines} has no experiment.json beside it: choose another folder"
                )
            return None
        try:
            kept: dict[str, Any] = json.loads(self.header.read_text(encoding="utf-8"))
            known = kept["format"] == FORMAT and {"experiment", "methods", "about"} <= kept.keys()
        except (ValueError, KeyError, TypeError):
            known = False
        if not known:
            raise DataError(f"{self.header} was not written by poise: choose another folder")
        return kept

    def _compare(self, kept: dict[str, Any]) -> None:
        """Refuse a folder with records of other parameters."""
        now = _plain(self.experiment.described())
        other = [key for key in now if kept["experiment"].get(key) != now[key]]
        if other:
            key = other[0]
            difference = f"{key} was {kept['experiment'].get(key)!r} and is now {now[key]!r}"
        else:
            changed = [
                m.name
                for m in self.experiment.methods
                if m.name in kept["methods"] and kept["methods"][m.name] != _plain(m.described())
            ]
            if not changed:
                return
            difference = f"the method {changed[0]} had other parameters"
        raise InputError(
            f"{self.folder} holds records of other parameters: {difference}; choose another "
            "folder with -o, or move this one away"
        )

    def _finished(self, *, mend: bool = True) -> dict[tuple[str, int], list[Row]]:
        """Finished trials; with `mend` the lines of unfinished trials are removed from the file."""
        if not self.lines.exists():
            return {}
        trials: dict[tuple[str, int], list[Row]] = {}
        content, torn = self._content()
        for line in io.StringIO(content.decode(errors="replace")):
            try:
                row = json.loads(line)
                trial = trials.setdefault((row["method"], row["seed"]), [])
                if row["query"] == 0:  # started again: the earlier attempt had not finished
                    trial.clear()
                if row["query"] == len(trial):
                    trial.append(row)
            except (ValueError, KeyError, TypeError):
                torn = True
        whole = {
            key: rows for key, rows in trials.items() if len(rows) == self.experiment.budget + 1
        }
        if mend and (torn or len(whole) < len(trials)):
            _write_whole(self.lines, self._encoded(row for rows in whole.values() for row in rows))
        return whole

    def _encoded(self, rows: Iterable[Row]) -> bytes:
        """Lines as the file holds them; compressed parts may follow each other."""
        lines = "".join(map(_line, rows)).encode()
        return gzip.compress(lines, mtime=0) if self.packed else lines

    def _content(self) -> tuple[bytes, bool]:
        """The lines, and whether the compressed file ends too early, as after a crash."""
        content = self.lines.read_bytes()
        if not self.packed:
            return content, False
        lines = bytearray()
        with gzip.open(io.BytesIO(content)) as file:
            try:
                for line in file:
                    lines += line
            except (OSError, EOFError, zlib.error):
                return bytes(lines), True
        return bytes(lines), False


def read_records(folder: Path) -> Records:
    """The records in a folder, without the experiment that wrote them; changes nothing.

    Its methods have only their names, because a part of a user's own cannot be made again from its
    description; and its seeds are those of the finished trials.

    Raises
    ------
    InputError
        If there are no records, or no trial is finished.
    """
    seeds_unknown: dict[str, Any] = {"seeds": (0,)}
    store = Store(folder, Experiment("unread", "unread", (Method("unread"),)))
    kept = store._kept_header()
    if kept is None:
        raise InputError(f"there are no records in {folder}: give a folder that poise run wrote")
    methods = tuple(map(Method, kept["methods"]))
    try:
        store.experiment = Experiment(**kept["experiment"], methods=methods, **seeds_unknown)
    except TypeError:
        raise DataError(
            f"{store.header} was written by another version of poise: use that version, or run the "
            "experiment again"
        ) from None
    trials = store._finished(mend=False)
    if not trials:
        raise InputError(f"no trial in {folder} is finished: run its experiment first")
    seeds = tuple(sorted({seed for _, seed in trials}))
    return Records(replace(store.experiment, seeds=seeds), trials, kept["about"])


def _line(row: Row) -> str:
    return json.dumps(row, separators=(",", ":")) + "\n"


def _write_whole(path: Path, content: bytes) -> None:
    """Replace the content of a file, or change nothing."""
    try:
        write_bytes(path, content)
    except OSError as error:
        raise DataError(f"cannot write {path} ({error.strerror}): free some space first") from None


def _plain(value: Any) -> Any:
    """`value` as JSON returns it: tuples become lists."""
    return json.loads(json.dumps(value))


def recorded(folder: Path, experiment: Experiment) -> Records | None:
    """Existing records of an experiment, with any budget, methods and number of trials.

    The experiment of the result has the methods and trials that the runs have asked for. Older runs
    did not note their trials: then those count that any method has finished.
    """
    store = Store(folder, experiment)
    kept = store._kept_header()
    if kept is None:
        return None
    methods = tuple(m for m in experiment.methods if m.name in kept["methods"])
    same = replace(experiment, budget=kept["experiment"]["budget"], methods=methods)
    records = Store(folder, same).read()
    present = {seed for _, seed in records.trials}
    order = [*SEEDS, *sorted(present - set(SEEDS))]
    counts = [place + 1 for place, seed in enumerate(order) if seed in present]
    counts += [int(run.get("trials", 1)) for run in records.about["runs"]]
    return replace(records, experiment=same.with_trials(max(counts)))


def missing(records: Records, lockstep: int) -> list[tuple[Method, Sequence[int]]]:
    """Units of work that are left: a method and the seeds that advance together."""
    units: list[tuple[Method, Sequence[int]]] = []
    for method in records.experiment.methods:
        done = set(records.seeds(method.name))
        seeds = records.experiment.seeds
        for start in range(0, len(seeds), lockstep):
            left = [seed for seed in seeds[start : start + lockstep] if seed not in done]
            if left:
                units.append((method, left))
    return units
