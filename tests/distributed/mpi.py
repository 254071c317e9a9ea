"""Start real processes under an MPI launcher, as a user would."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"


def need_petsc(*more: str) -> None:
    """Skip the module's tests where PETSc is not installed; fail where it has to be."""
    missing = [name for name in ("mpi4py", "petsc4py", *more) if find_spec(name) is None]
    if missing and os.environ.get("POISE_REQUIRE_DISTRIBUTED"):
        pytest.fail(f"{' and '.join(missing)} must be installed here: run make test-distributed")
    if missing:
        pytest.skip("needs PETSc and MPI: make test-distributed", allow_module_level=True)


def _start(
    arguments: tuple[object, ...], ranks: int, variables: dict[str, str], **options: Any
) -> "subprocess.Popen[str]":
    launcher = Path(sys.executable).with_name("mpiexec")
    environment = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", **variables}
    paths = [str(SOURCE), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    command = [launcher if launcher.exists() else "mpiexec", "-n", ranks, sys.executable]
    return subprocess.Popen(
        [str(part) for part in (*command, *arguments)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))} | environment,
        text=True,
        **options,
    )


def mpiexec(
    *arguments: object, ranks: int = 2, timeout: float = 600, text: str = "", **variables: str
) -> "subprocess.CompletedProcess[str]":
    """Run Python with these arguments at so many ranks."""
    pipe = subprocess.PIPE
    process = _start(arguments, ranks, variables, stdin=pipe, stdout=pipe, stderr=pipe)
    with process:
        try:
            out, err = process.communicate(text, timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@contextmanager
def started(output: Path, *arguments: object) -> "Iterator[subprocess.Popen[str]]":
    """Python with these arguments at two ranks, with everything it prints in a file."""
    with output.open("w") as file:
        process = _start(
            arguments, 2, {}, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT
        )
    with process:
        try:
            yield process
        finally:
            process.terminate()


def at_ranks(what: str, *arguments: object, ranks: int = 2) -> "subprocess.CompletedProcess[str]":
    """Run a function of ``at_ranks.py``."""
    return mpiexec(HERE / "at_ranks.py", what, *arguments, ranks=ranks)
