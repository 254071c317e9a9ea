"""Start real processes under an MPI launcher, as a user would."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"


def need_petsc() -> None:
    """Skip the module's tests where PETSc is not installed; fail where it has to be."""
    missing = [name for name in ("mpi4py", "petsc4py") if find_spec(name) is None]
    if missing and os.environ.get("POISE_REQUIRE_DISTRIBUTED"):
        pytest.fail(f"{' and '.join(missing)} must be installed here: run make test-distributed")
    if missing:
        pytest.skip("needs PETSc and MPI: make test-distributed", allow_module_level=True)


def mpiexec(
    *arguments: object, ranks: int = 2, timeout: float = 600, text: str = "", **variables: str
) -> "subprocess.CompletedProcess[str]":
    """Run Python with these arguments at so many ranks."""
    launcher = Path(sys.executable).with_name("mpiexec")
    environment = os.environ | {
        "PYTHONPATH": str(SOURCE),
        "OMP_NUM_THREADS": "1",
        "NUMBA_NUM_THREADS": "1",
        **variables,
    }
    command = [launcher if launcher.exists() else "mpiexec", "-n", ranks, sys.executable]
    return subprocess.run(
        [str(part) for part in (*command, *arguments)],
        env=environment,
        input=text,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def at_ranks(what: str, *arguments: object, ranks: int = 2) -> "subprocess.CompletedProcess[str]":
    """Run a function of ``at_ranks.py``."""
    return mpiexec(HERE / "at_ranks.py", what, *arguments, ranks=ranks)
