"""``python -m poise.distributed graph``: what it prints and how it fails."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.distributed.dask_cluster import need_dask
from tests.distributed.serial import clusters

from poise.distributed.__main__ import cli
from poise.distributed.commands.graph import incoming
from poise.distributed.shards import read_manifest


def run(*arguments: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "poise.distributed", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_command_has_help_with_an_example() -> None:
    top = CliRunner().invoke(cli, ["--help"])
    assert top.exit_code == 0
    assert "graph" in top.output
    help_text = CliRunner().invoke(cli, ["graph", "--help"])
    assert "python -m poise.distributed graph X.npy -o big.graph" in help_text.output


def test_an_unknown_command_is_a_mistake() -> None:
    result = run("grpah")
    assert result.returncode == 2
    assert result.stderr.startswith("poise: No such command 'grpah'")
    assert "Traceback" not in result.stderr


def test_the_option_most_incoming() -> None:
    assert [incoming(value) for value in ("auto", "none", "7")] == ["auto", None, 7]
    with pytest.raises(Exception, match="expected a whole number, auto or none"):
        incoming("many")


@pytest.mark.distributed
def test_a_graph_from_the_command_line(tmp_path: Path) -> None:
    need_dask()
    np.save(tmp_path / "X.npy", clusters(1_200, 5))
    result = run("graph", tmp_path / "X.npy", "-o", tmp_path / "g", "-k", 6, "--cells", 4)
    assert result.returncode == 0, result.stderr
    assert "1,200 nodes" in result.stdout
    assert "4 shards" in result.stdout
    assert "recall 0.9" in result.stdout or "recall 1.0" in result.stdout
    assert read_manifest(tmp_path / "g").k == 6
    for arguments, message in (
        (("-k", 7), "a finished graph of other settings"),
        (("-k", 1_200), "k is 1200 and there are 1200 points"),
        (("-k", 6, "--scheduler", "nowhere"), "no Dask scheduler answers at 'nowhere'"),
    ):
        wrong = run("graph", tmp_path / "X.npy", "-o", tmp_path / "g", *arguments)
        assert wrong.returncode == 2
        assert message in wrong.stderr
        assert "Traceback" not in wrong.stderr


def test_a_missing_extra_is_named(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", clusters(100, 3))
    code = (
        "import sys; sys.modules['distributed'] = None\n"
        "from poise.distributed.__main__ import main\n"
        f"main(['graph', {str(tmp_path / 'X.npy')!r}, '-o', {str(tmp_path / 'g')!r}])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 2
    assert "pip install 'poise[dask]'" in result.stderr
