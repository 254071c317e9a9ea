"""What all tests share: repeatable property tests, the data folder, and how tests are grouped."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# Idle threads of BLAS and OpenMP sleep instead of spinning: the matrices of the tests are so small
# that spinning would take most of the processor time. numpy reads this when it is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

import pytest
from hypothesis import settings

from chromium import launched
from poise.cli import progress

# The same examples on every run, so that every failure can be repeated. Set
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


# Of a module, not of the session: while it is there, no other test can run an event loop.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a window."""
    with launched() as made:
        yield made


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[Any, str, str]]:
    """Run ``poise`` with these arguments: its exit code, and what it printed."""
    from poise.cli.main import main

    def command(*arguments: object) -> tuple[Any, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        return ended.value.code, *capsys.readouterr()

    return command


# Before other plugins: pytest-xdist reads the groups, and -m selects by the markers.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that use a browser, skip those without data, and group them for workers.

    The tests of a file share fixtures, so they stay together. Tests with a browser form one group:
    two browsers at once would be too slow on two cores.
    """
    missing = pytest.mark.skip(reason="needs data sets: set POISE_DATA to the folder with them")
    in_parallel = config.pluginmanager.hasplugin("xdist")
    for item in items:
        uses_browser = "browser" in getattr(item, "fixturenames", ())
        if uses_browser:
            item.add_marker("browser")
        if item.get_closest_marker("data") and data_folder() is None:
            item.add_marker(missing)
        if in_parallel:
            group = "browser" if uses_browser else item.path.stem
            item.add_marker(pytest.mark.xdist_group(group))
    if in_parallel:  # the largest group first, so that no worker is idle while it ends
        items.sort(key=lambda item: item.get_closest_marker("browser") is None)


# A shell starts background jobs with SIGINT ignored, and the processes that tests start inherit it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A slow machine must not print progress that a test does not expect on stderr.
progress.QUIET_SECONDS = 1e6
