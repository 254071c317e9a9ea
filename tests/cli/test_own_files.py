"""Parts of a user's own, from a Python file: ``--import``."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from poise.errors import InputError
from poise.own_files import load_files

MINE = '''from dataclasses import dataclass

import numpy as np
import poise
from helper import largest


@poise.register.acquisition("my-degree")
@dataclass(frozen=True)
class Degree:
    """Ask about the best-connected nodes first."""

    power: float = 1.0

    def __call__(self, snapshot):
        return largest(snapshot.graph.degrees) ** self.power


@poise.register.policy("my-first")
@dataclass(frozen=True)
class First:
    """The first candidates by number."""

    def __call__(self, values, snapshot, k, rng):
        return np.flatnonzero(~np.isnan(values))[:k]
'''
HELPER = "def largest(values):\n    return values / values.max()\n"
EXPERIMENT = """data = "digits"
k = 10
budget = 3
trials = 2
evaluate = ["choosing"]
[[methods]]
name = "degree"
acquisition = { name = "my-degree", power = 2.0 }
[[methods]]
name = "first"
acquisition = "my-degree"
policy = "my-first"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "mine.py").write_text(MINE)
    (tmp_path / "parts" / "helper.py").write_text(HELPER)
    (tmp_path / "mine.toml").write_text(EXPERIMENT)
    return tmp_path


def poise(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, because a registered name stays registered."""
    return subprocess.run(
        [sys.executable, "-m", "poise", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_experiment_uses_them_in_every_process(folder: Path, jobs: str) -> None:
    run = ["run", "mine.toml", "--import", "parts/mine.py", "--json", "--jobs", jobs]
    done = poise(folder, *run)
    assert done.returncode == 0, done.stderr
    methods = json.loads(done.stdout)["methods"]
    assert [(row["method"], row["trials"]) for row in methods] == [("degree", 2), ("first", 2)]
    kept = json.loads((folder / "out/results/mine/experiment.json").read_text("utf-8"))
    described = kept["methods"]["degree"]["acquisition"]
    assert described == {"name": "my-degree", "parameters": {"power": 2.0}}
    assert poise(folder, "plot", "out/results/mine").returncode == 0, "which needs no code"
    lines = (folder / "out/results/mine/records.jsonl").read_text("utf-8").splitlines()
    nodes = [
        row["node"] for row in map(json.loads, lines) if row["method"] == "first" and row["query"]
    ]
    assert max(nodes) < 13, "the first nodes that were not labelled at the start"


def test_a_model_and_a_data_set_of_ones_own(folder: Path) -> None:
    (folder / "more.py").write_text(
        "import numpy as np\nimport poise\n\n\n"
        "@poise.register.model('first-class')\n"
        "def first(graph, labels):\n"
        '    """The first class everywhere."""\n'
        "    scores = np.zeros((graph.n_nodes, len(labels.classes)))\n"
        "    scores[:, 0] = 1\n"
        "    everywhere = np.ones(graph.n_nodes, dtype=bool)\n"
        "    counts = labels.counts / len(labels)\n"
        "    return poise.ScoreResult(scores, labels.classes, everywhere, counts)\n\n\n"
        "@poise.datasets.register('two')\n"
        "def two() -> poise.Dataset:\n"
        '    """Two clouds of 30 points."""\n'
        "    y = np.repeat([0, 1], 30)\n"
        "    X = np.random.default_rng(0).normal(size=(60, 2)) + 9 * y[:, None]\n"
        "    return poise.Dataset('two', X, y, y, 'generated', 'none')\n"
    )
    (folder / "two.toml").write_text(
        'data = "two"\nk = 5\nbudget = 4\ntrials = 2\nevaluate = ["first-class"]\n'
        '[[methods]]\nname = "random"\nacquisition = "random"\n'
        '[[methods]]\nname = "norm"\nacquisition = "norm"\n'
    )
    run = ["run", "two.toml", "--import", "more.py", "--json", "--jobs", "2"]
    done = poise(folder, *run)
    assert done.returncode == 0, done.stderr
    shares = [row["accuracy"]["first-class"] for row in json.loads(done.stdout)["methods"]]
    assert all(0.4 < share < 0.6 for share in shares)
    plot = ["plot", "out/results/two"]
    assert "no model is called 'first-class'" in poise(folder, *plot).stderr
    assert poise(folder, *plot, "--import", "more.py").returncode == 0


def test_without_the_file_the_name_is_unknown(folder: Path) -> None:
    done = poise(folder, "run", "mine.toml")
    assert done.returncode == 2
    assert re.fullmatch(r"poise: no acquisition is called 'my-degree': [^\n]+\n", done.stderr)


def test_the_list_shows_them(folder: Path) -> None:
    done = poise(folder, "acquisitions", "--json", "--import", "parts/mine.py")
    assert done.returncode == 0, done.stderr
    listing = json.loads(done.stdout)
    assert listing["policies"]["my-first"] == "The first candidates by number."
    assert listing["acquisitions"]["my-degree"]["description"].startswith("Ask about")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "there is no file bad.py: expected a Python file"),
        ("x = 1\ny = 1 / 0\n", "bad.py, line 2: ZeroDivisionError: division by zero"),
        ("def f():\n    raise ValueError('odd')\n\n\nf()\n", "bad.py, line 2: ValueError: odd"),
        ("import nothing_like_this\n", "bad.py, line 1: ModuleNotFoundError: No module"),
        ("x = (\n", "bad.py, line 1: SyntaxError: '(' was never closed"),
        ("import sys\nsys.exit('enough')\n", "bad.py, line 2: SystemExit: enough"),
        (
            "import poise\n\n\n@poise.register.policy('max')\nclass Max:\n    '''Mine.'''\n",
            "bad.py, line 4: the policy 'max' is registered already: choose another name",
        ),
        (
            "import poise\nclass A:\n    '''Mine.'''\n"
            "poise.register.policy('twice')(A)\npoise.register.policy('twice')(A)\n",
            "bad.py, line 5: the policy 'twice' is registered already",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(
    tmp_path: Path, content: str | None, words: str
) -> None:
    if content is not None:
        (tmp_path / "bad.py").write_text(content)
    done = poise(tmp_path, "acquisitions", "--import", "bad.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(rf"poise: {re.escape(words)}[^\n]*\n", done.stderr), done.stderr


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("")
    with pytest.raises(InputError, match=r"its name must end in \.py"):
        load_files([tmp_path / "mine.txt"])
    with pytest.raises(InputError, match="there is no file"):
        load_files([tmp_path])


def test_a_file_runs_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "loud.py"
    path.write_text("print('running')\n")
    load_files([path, tmp_path / "." / "loud.py"])
    load_files([path])
    assert capsys.readouterr().out == "running\n"
