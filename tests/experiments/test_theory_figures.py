"""The figures of the theory: every part is made, drawn and written."""

import json
import xml.etree.ElementTree as ET

import pytest
from click.testing import CliRunner

from poise.cli.main import cli
from poise.experiments.theory import CHAPTERS
from poise.experiments.theory.write import write_theory


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("theory")
    return folder, write_theory([], folder)


def test_every_part_has_figures_that_are_files(made):
    folder, chapters = made
    assert list(chapters) == list(CHAPTERS)
    page = (folder / "index.html").read_text(encoding="utf-8")
    names = set()
    for name, one in chapters.items():
        assert f'<section id="{name}">' in page
        assert one.figures
        assert one.numbers
        for figure in one.figures:
            assert figure.name not in names
            names.add(figure.name)
            ET.fromstring((folder / f"{figure.name}.svg").read_text(encoding="utf-8"))
            assert "nan" not in figure.svg
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [f"{name}.svg" for name in names] + ["index.html"]
    )


def test_the_numbers_of_the_figures(made):
    """Facts on which the text of the page relies."""
    _, chapters = made
    set_up = list(chapters["set-up"].numbers.values())
    assert "different classes" in set_up[0]
    assert "one class" in set_up[1]
    assert float(chapters["phase"].numbers["largest difference of the two lines in β"]) < 1e-3
    assert chapters["clusters"].numbers["all conditions hold"] == "yes"
    assert float(chapters["convergence"].numbers["slope for a varying density"]) < -1.9
    assert float(chapters["convergence"].numbers["largest error for a constant density"]) < 1e-8
    assert float(chapters["limit"].numbers["slope, reweighted"]) < -0.3
    assert float(chapters["limit"].numbers["slope, plain"]) > -0.1
    for value in (v for n, v in chapters["labels"].numbers.items() if n.startswith("smallest")):
        assert float(value) > 0


def test_the_command_draws_one_figure_and_prints_its_numbers(tmp_path):
    run = CliRunner().invoke(cli, ["theory", "--figure", "phase", "-o", str(tmp_path), "--json"])
    assert run.exit_code == 0, run.output
    found = json.loads(run.stdout)
    assert list(found["numbers"]) == ["phase"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index.html", "phase.svg"]
    run = CliRunner().invoke(cli, ["theory", "--figure", "phase", "-o", str(tmp_path)])
    assert "When a question explores" in run.output


def test_the_help_lists_every_figure():
    said = CliRunner().invoke(cli, ["theory", "--help"]).output
    for name in CHAPTERS:
        assert f"  {name} " in said


def test_an_unknown_figure(tmp_path):
    run = CliRunner().invoke(cli, ["theory", "--figure", "fase", "-o", str(tmp_path / "new")])
    assert run.exit_code != 0
    assert "phase" in str(run.exception)
