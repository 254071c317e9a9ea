"""How much memory a rank needs, estimated before it starts."""

from dataclasses import dataclass

import numpy as np

from poise.distributed.product import PACKET_COLUMNS
from poise.distributed.ranks import RankError, Ranks
from poise.machine import available_memory

#: Bytes per entry of the weights: PETSc keeps a 64-bit column and a double. While components are
#: computed, at most half as much again.
ENTRY_BYTES, ENTRY_TEMPORARY_BYTES = 16, 8
#: Bytes per node. A solve of `PACKET_COLUMNS` columns holds doubles for solution, right-hand side,
#: residual, direction and product, and the diagonal with its inverse; a partition keeps degrees,
#: items, their order and components.
NODE_BYTES = 8 * (5 * PACKET_COLUMNS + 2 + 4)
#: Bytes per node and class: the columns that are kept, and the scores computed from them.
CLASS_BYTES = 8 * 4
#: Bytes that the programs and libraries take.
PROGRAM_BYTES = 300_000_000


@dataclass(frozen=True)
class Need:
    """Bytes that one rank needs."""

    weights: int
    vectors: int

    @property
    def all(self) -> int:
        return self.weights + self.vectors + PROGRAM_BYTES


def needed(n_nodes: int, n_entries: int, n_ranks: int, n_classes: int = 10) -> Need:
    """Memory of each rank for a graph of this size.

    ``entries (16 + 8) + nodes (368 + 32 C)`` bytes over the number of ranks, plus the programs.
    """
    return Need(
        n_entries * (ENTRY_BYTES + ENTRY_TEMPORARY_BYTES) // n_ranks,
        n_nodes * (NODE_BYTES + CLASS_BYTES * n_classes) // n_ranks,
    )


def check_memory(ranks: Ranks, n_nodes: int, n_entries: int, n_classes: int = 10) -> Need:
    """Refuse to start where a machine has too little memory for its ranks.

    Raises
    ------
    RankError
        At all ranks; names the machine, the memory needed and the memory free.
    """
    need = needed(n_nodes, n_entries, ranks.size, n_classes)
    machines = ranks.texts(ranks.name.rpartition(" ")[2])
    n_here = machines.count(machines[ranks.rank])
    free = available_memory()
    short = free is not None and n_here * need.all > free
    ranks.watchdog.beat()
    lacking = ranks.each(np.array([n_here * need.all if short else 0, free or 0]))
    for rank, (wanted, free_there) in enumerate(lacking):
        if wanted:
            raise RankError(
                f"not enough memory on {machines[rank]}: its {machines.count(machines[rank])} "
                f"ranks need about {wanted / 1e9:.1f} GB for a graph of {n_nodes:,} nodes and "
                f"{n_entries:,} entries, and {free_there / 1e9:.1f} GB are free. Use more "
                "machines, or fewer ranks on this one"
            )
    return need
