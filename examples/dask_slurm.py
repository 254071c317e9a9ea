"""A neighbour graph on SLURM: eight nodes of 32 cores, one worker per core.

It was never run on a cluster. Needs dask-jobqueue in addition to poise[dask]. Run it on a login
node, or as a small job:

    python dask_slurm.py /scratch/vectors /scratch/big.graph

Both folders must be on a file system that all nodes share. If the jobs run out of time, run the
same command again: finished cells are kept.
"""

import sys

from dask_jobqueue import SLURMCluster

from distributed import Client
from poise.distributed import neighbour_graph


def main(source: str, folder: str) -> None:
    """Build the graph of the points in `source`, in `folder`."""
    cluster = SLURMCluster(
        queue="standard",  # replace with yours
        account="my-project",  # replace with yours
        cores=32,
        processes=32,  # one worker with one thread per core
        memory="64GB",  # 2 GB for each worker
        walltime="02:00:00",
        local_directory="$TMPDIR",
        job_script_prologue=["export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1"],
    )
    cluster.scale(jobs=8)
    with Client(cluster) as client:
        client.wait_for_workers(32)  # those of one node; the others join when they start
        manifest = neighbour_graph(source, folder, k=10, client=client)
    for sentence in manifest.report["advice"]:
        sys.stdout.write(sentence + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
