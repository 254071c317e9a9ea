"""What every test shares: deterministic property tests, and the data folder."""

import os
import signal
from pathlib import Path

# Threads of BLAS and OpenMP that wait for work sleep instead of spinning: on matrices as small as
# those of the tests, spinning takes most of the processor's time. numpy reads this when imported.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

import pytest
from hypothesis import settings

from poise.cli import progress

# The same examples on every run: a failure that nobody can repeat helps nobody. Set
# HYPOTHESIS_PROFILE=explore to look for new ones.
settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


def data_folder() -> Path | None:
    """The folder of data sets that POISE_DATA names, if it is there."""
    name = os.environ.get("POISE_DATA")
    return Path(name) if name and Path(name).is_dir() else None


@pytest.fixture
def poise_data() -> Path:
    """The data folder; the test is skipped where there is none."""
    folder = data_folder()
    if folder is None:
        pytest.skip("needs data sets: set POISE_DATA to the folder that holds them")
    return folder


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if data_folder() is not None:
        return
    missing = pytest.mark.skip(reason="needs data sets: set POISE_DATA to the folder with them")
    for item in items:
        if item.get_closest_marker("data"):
            item.add_marker(missing)


# In the background a shell lets SIGINT be ignored, and what the tests start inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How slow a machine is must not decide what a test finds on stderr.
progress.QUIET_SECONDS = 1e6
