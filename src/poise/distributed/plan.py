"""What to build and in which pieces: decided once, and saved so that a run can be resumed."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import poise
from poise.distributed.checksums import write_bytes
from poise.distributed.sources import Source, SourceFile
from poise.errors import InputError
from poise.graph.kernel import Kernel, Symmetrise, kernels

WORK_FOLDER = "work"
"""Name of the folder, within that of the graph, for files that are removed at the end."""

CELL_ROWS = 50_000
"""Mean number of points per cell, if there are so many: a search in one takes seconds."""

BLOCK_BYTES = 64 * 2**20
"""Bytes of points sorted into cells at a time."""

METRICS = ("euclidean", "cosine", "manhattan")
"""Metrics whose distance is at least the Euclidean one in the search space."""


@dataclass(frozen=True)
class Plan:
    """Everything that determines the graph.

    Parameters
    ----------
    source : Source
    k, metric, kernel, symmetrise, seed
        As in `poise.knn_graph`; `kernel` is a name.
    backend : str
        Search within a cell: a name, or the `repr` of a user's own backend.
    cells : int
        Number of cells.
    reach : int
        Maximum number of cells searched for a point, its own included.
    most_incoming : int or None
        Maximum number of points that may list a point without a cut; None: any number.
    block_rows : int
        Points sorted into cells at a time.
    checked : int
        Number of points whose lists are compared with an exact search at the end.
    """

    source: Source
    k: int
    metric: str
    kernel: str
    symmetrise: Symmetrise
    backend: str
    cells: int
    reach: int
    most_incoming: int | None
    block_rows: int
    checked: int
    seed: int
    poise: str = poise.__version__

    @property
    def n(self) -> int:
        """Number of points."""
        return self.source.n

    @property
    def blocks(self) -> int:
        """Number of blocks that the source is read in."""
        return -(-self.n // self.block_rows)

    @property
    def kernel_function(self) -> Kernel:
        """The kernel of that name."""
        return kernels.make(self.kernel)

    @property
    def digest(self) -> str:
        """Equal for equal plans over unchanged files."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


def default_cells(n: int) -> int:
    """Cells of about `CELL_ROWS` points; with few points, up to eight cells of at least 1,000."""
    return max(1, -(-n // CELL_ROWS), min(8, n // 1000))


def default_block_rows(source: Source) -> int:
    """Points that fill `BLOCK_BYTES`."""
    width = source.dimensions * (8 if source.dtype == "float64" else 4)
    return max(1, min(source.n, BLOCK_BYTES // width))


def work_folder(folder: Path) -> Path:
    """Folder of the files of an unfinished graph."""
    return folder / WORK_FOLDER


def save_plan(folder: Path, plan: Plan) -> bool:
    """Write the plan, unless the same plan is already there.

    Returns
    -------
    bool
        Whether work on this plan had begun before.

    Raises
    ------
    InputError
        If the folder holds the work of another plan; the message says what differs.
    """
    path = work_folder(folder) / "plan.json"
    if path.exists():
        earlier = load_plan(folder)
        if earlier == plan:
            return True
        raise InputError(
            f"{folder} holds unfinished work with other settings ({differences(earlier, plan)}): "
            f"give the same settings to resume it, another folder, or remove {path.parent}"
        )
    write_bytes(path, (json.dumps(asdict(plan), indent=1) + "\n").encode())
    return False


def load_plan(folder: Path) -> Plan:
    """The plan written by `save_plan`."""
    path = work_folder(folder) / "plan.json"
    try:
        plain = json.loads(path.read_bytes())
        source = plain["source"]
        files = tuple(SourceFile(**file) for file in source["files"])
        return Plan(**plain | {"source": Source(**source | {"files": files})})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InputError(
            f"{path} cannot be read ({error}): remove {path.parent} and start again"
        ) from None


def differences(earlier: Plan, plan: Plan) -> str:
    """The differences between two plans as text."""
    old, new = asdict(earlier), asdict(plan)
    old["source"], new["source"] = "the files as they were", "the files as they are now"
    if earlier.source == plan.source:
        new["source"] = old["source"]
    changed = (name for name in old if old[name] != new[name])
    return ", ".join(f"{name}: {old[name]} and {new[name]}" for name in changed)
