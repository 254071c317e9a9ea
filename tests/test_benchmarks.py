"""The scripts of benchmarks/: each is listed, and what it imports from poise exists."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

from poise.cli.bench import bench
from poise.cli.bench.accuracy import PARTS

FOLDER = Path(__file__).parents[1] / "benchmarks"
SCRIPTS = sorted(FOLDER.glob("*.py"))
README = (FOLDER / "README.md").read_text(encoding="utf-8")
LINES = [line for line in README.splitlines() if line.startswith("| `")]
#: Scripts in the first column.
LISTED = [name for line in LINES for name in re.findall(r"\w+\.py", line.split("|")[1])]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_every_script_has_a_line_in_the_readme(script: Path) -> None:
    assert LISTED.count(script.name) == 1


def test_the_readme_lists_nothing_else() -> None:
    assert set(LISTED) == {script.name for script in SCRIPTS}


def test_every_part_of_poise_bench_has_a_line_in_the_readme() -> None:
    listed = {line.split("`")[1] for line in LINES if "poise bench" in line.split("|")[1]}
    assert isinstance(bench, click.Group)
    expected = {f"poise bench {name}" for name in bench.commands}
    # The first part is what `poise bench accuracy` measures by default.
    expected |= {f"poise bench accuracy {part}" for part in PARTS[1:]}
    assert listed == expected


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_what_a_script_imports_from_poise_exists(script: Path) -> None:
    tree = ast.parse(script.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "poise":
            assert node.module
            module = import_module(node.module)
            for name in (alias.name for alias in node.names):
                known = hasattr(module, name) or find_spec(f"{node.module}.{name}") is not None
                assert known, f"{node.module} has no {name}"


@pytest.mark.parametrize("name", ["growing", "petsc_scale", "suspicious_labels"])
def test_help_shows_an_example(name: str) -> None:
    command = [sys.executable, str(FOLDER / f"{name}.py"), "--help"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert f"python benchmarks/{name}.py" in run.stdout
