"""Progress lines for long commands where stderr is not a terminal."""

import time
from contextlib import suppress

import pytest

from poise.cli import progress
from poise.experiments.experiment import Method


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print lines at once and without a pause."""
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.01)


def next_line(capsys: pytest.CaptureFixture[str], containing: str) -> str:
    """Wait for a line on stderr; nothing may appear on stdout."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        out, err = capsys.readouterr()
        assert out == ""
        for line in err.splitlines():
            if containing in line:
                return line
        time.sleep(0.01)
    raise AssertionError(f"no line says {containing!r}")


@pytest.mark.usefixtures("impatient")
def test_lines_show_the_progress_of_a_step(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.progress_bar("Loading") as begin:
        assert next_line(capsys, "Loading").endswith(" s so far")
        report = begin("Labelling")
        report(0, 0)
        assert next_line(capsys, "Labelling").endswith(" s so far")
        report(1, 4)
        assert next_line(capsys, "Labelling: 25%")
        report(2, 4, "loss 0.5")
        assert next_line(capsys, "Labelling, loss 0.5: 50%")
        report(4, 4)
        assert next_line(capsys, "Labelling: 100%")


@pytest.mark.usefixtures("impatient")
def test_one_line_covers_all_running_methods(capsys: pytest.CaptureFixture[str]) -> None:
    norm, margin, random = Method("norm"), Method("margin", "margin"), Method("random", "random")
    with progress.method_bars() as (begin, report):
        begin("Reading digits")
        assert next_line(capsys, "Reading digits: ").endswith(" s so far")
        for method in (norm, margin, random):
            report(method, 0, 10)
        report(norm, 3, 10)
        report(margin, 6, 10)
        line = next_line(capsys, "60%")
        assert line.startswith(f"{norm.title}: 30%")
        assert f"; {margin.title}: 60%" in line
        assert random.title not in line
        report(norm, 10, 10)
        assert next_line(capsys, "done") == f"{norm.title}: done"
        assert norm.title not in next_line(capsys, "60%")


def test_quick_work_prints_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "QUIET_SECONDS", 60.0)
    with progress.progress_bar("Loading") as begin:
        begin("Labelling")(1, 2)
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("impatient")
def test_the_lines_stop_with_the_job(capsys: pytest.CaptureFixture[str]) -> None:
    with suppress(KeyboardInterrupt), progress.progress_bar("Loading"):
        next_line(capsys, "Loading")
        raise KeyboardInterrupt
    capsys.readouterr()
    time.sleep(0.1)
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("impatient")
def test_a_closed_stderr_does_not_stop_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = []

    def closed(line: str, err: bool) -> None:
        lines.append(line)
        raise BrokenPipeError

    monkeypatch.setattr("click.echo", closed)
    with progress.progress_bar("Loading"):
        while not lines:
            time.sleep(0.01)
        time.sleep(0.1)
    assert len(lines) == 1
