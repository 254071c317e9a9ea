"""The prefix skactiveml: imports nothing before it is used, and works wherever names do."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

import poise
from poise.cli.main import cli, main
from poise.integrations.skactiveml.known import STRATEGIES
from poise.registry import Registry

EXPERIMENT = """
data = "digits"
k = 8
budget = 4
seeds = [1, 2]
initial = 0
evaluate = ["pwll"]
[[methods]]
name = "theirs"
acquisition = "skactiveml:TypiClust"
[[methods]]
name = "in rounds"
acquisition = { name = "skactiveml:DropQuery", batch = 2, dropout_rate = 0.5 }
"""


def python(code):
    """What a fresh process prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_nothing_is_imported_before_it_is_used():
    assert python(
        "import sys, poise; poise.acquisitions(); list(poise.acquisitions);"
        "import poise.integrations.skactiveml; 'nrom' in poise.acquisitions;"
        "from click.testing import CliRunner; from poise.cli.main import cli;"
        "print(CliRunner().invoke(cli, ['acquisitions']).exit_code, 'skactiveml' in sys.modules)"
    ) == "0 False"  # fmt: skip


@pytest.mark.parametrize(
    "use",
    [
        "poise.acquisitions.make('skactiveml:Badge')",
        "poise.Learner(poise.knn_graph([[0.0], [1.0]], 1), acquisition='skactiveml:Badge')",
        "from poise.integrations.skactiveml import PoiseSampling",
    ],
)
def test_a_missing_library_is_one_line_with_the_extra(use):
    code = f"""
import sys
sys.modules["skactiveml"] = None
import poise
try:
    {use}
except poise.PoiseError as error:
    print(type(error).__name__, error)
"""
    assert python(code) == (
        "MissingExtraError the bridge to scikit-activeml needs skactiveml, which is not installed: "
        "pip install 'poise[skactiveml]'"
    )


def test_poise_acquisitions_names_them():
    listing = json.loads(CliRunner().invoke(cli, ["acquisitions", "--json"]).output)
    assert all(name in listing["prefixes"]["skactiveml:"] for name in STRATEGIES)
    assert not any(":" in name for name in listing["acquisitions"])
    text = CliRunner().invoke(cli, ["acquisitions"]).output
    assert all(name in text for name in STRATEGIES)
    assert "pip install" not in text


def test_poise_acquisitions_names_the_extra_where_it_is_missing(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    text = " ".join(CliRunner().invoke(cli, ["acquisitions"]).output.split())
    assert "UncertaintySampling; they need it: pip install 'poise[skactiveml]'" in text


def test_poise_run_compares_them(tmp_path):
    path = tmp_path / "compare.toml"
    path.write_text(EXPERIMENT)
    output = str(tmp_path / "out")
    arguments = ["run", str(path), "-o", output, "--jobs", "2", "--json"]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output
    methods = json.loads(done.stdout)["methods"]
    assert [method["method"] for method in methods] == ["theirs", "in rounds"]
    assert all(method["trials"] == 2 for method in methods)


@pytest.mark.parametrize(
    ("acquisition", "reason"),
    [
        ('"skactiveml:Badges"', "did you mean skactiveml:Badge"),
        ('{ name = "skactiveml:Badge", dropout = 0.5 }', "has no parameter dropout"),
    ],
)
def test_a_mistake_in_a_file_is_one_line(tmp_path, capsys, acquisition, reason):
    path = tmp_path / "compare.toml"
    path.write_text(EXPERIMENT.replace('"skactiveml:TypiClust"', acquisition))
    with pytest.raises(SystemExit, match="2"):
        main(["run", str(path)])
    error = capsys.readouterr().err.strip()
    assert reason in error
    assert len(error.splitlines()) == 1


def test_a_family_of_names():
    """Names with a prefix are those of another registry, and are not listed."""
    families = {"paint": f"{__name__}:colours"}
    table: Registry[object] = Registry("thing", families=families)
    assert "paint:red" in table
    assert "paint:blue" not in table
    assert "other:red" not in table
    assert table.make("paint:red") == "red"
    assert table.name_of(red) == "paint:red"
    assert table.name_of(len) is None
    assert list(table) == []


def red():
    """A colour."""
    return "red"


colours: Registry[object] = Registry("colour")
colours.register("paint:red")(red)


def test_no_name_of_poise_has_a_prefix():
    assert not [name for name in poise.acquisitions if ":" in name]
