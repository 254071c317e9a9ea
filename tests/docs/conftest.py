"""The built documentation."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built pages; the options are those of `make docs`, but the gallery is not run.

    The sources are copied, because the gallery writes its pages beside them.
    """
    for needed in ("sphinx", "myst_parser", "furo", "sphinx_gallery"):
        pytest.importorskip(needed, reason=f"needs {needed}: install the extra docs")
    folder = tmp_path_factory.mktemp("site")
    ignored = shutil.ignore_patterns("gallery", "__pycache__")
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=ignored)
    shutil.copytree(ROOT / "examples" / "gallery", folder / "examples" / "gallery")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-n", "--keep-going"]
    done = subprocess.run(
        [*command, "-D", "plot_gallery=0", str(folder / "docs"), str(folder / "html")],
        capture_output=True,
        text=True,
        check=False,
        env={name: value for name, value in os.environ.items() if name != "POISE_DATA"},
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"
