import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import click
import pytest

from poise.cli.main import cli, main
from poise.errors import ConvergenceError, InputError, MissingExtraError

Run = Callable[[str], tuple[int, str, str]]


def every_command(
    command: click.Command = cli, path: str = "poise"
) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        for name, child in sorted(command.commands.items()):
            yield from every_command(child, f"{path} {name}")


COMMANDS = dict(every_command())


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(line: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stopped:
            main(shlex.split(line))
        out, err = capsys.readouterr()
        assert isinstance(stopped.value.code, int)
        return stopped.value.code, out, err

    return run


def examples(command: click.Command) -> list[str]:
    _, heading, after = (command.help or "").partition("Example:\n")
    assert heading, "the help needs an example"
    return [line.strip() for line in after.split("\n\n")[0].splitlines() if line.strip()]


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_has_help_and_an_example_that_parses(path: str, run: Run) -> None:
    code, out, err = run(f"{path.removeprefix('poise')} --help")
    assert (code, err) == (0, "")
    shown = examples(COMMANDS[path])
    assert shown[0].startswith(path)
    for example in shown:
        assert example in out
        target = next(
            name for name in sorted(COMMANDS, key=len, reverse=True) if example.startswith(name)
        )
        arguments = shlex.split(example.removeprefix(target))
        COMMANDS[target].make_context(
            target, arguments, parent=click.Context(cli, **cli.context_settings)
        )
    for option in COMMANDS[path].params:
        assert not isinstance(option, click.Option) or option.help, f"{option.name} needs help text"


@pytest.mark.parametrize(
    "path", [name for name, c in COMMANDS.items() if isinstance(c, click.Group)]
)
def test_a_group_alone_shows_its_help(path: str, run: Run) -> None:
    code, out, err = run(path.removeprefix("poise"))
    assert (code, err) == (0, "")
    assert out.startswith(f"Usage: {path}")


def test_the_help_groups_every_command_and_leads_with_label(run: Run) -> None:
    _, out, _ = run("--help")
    _, listing = out.split("\nLabel:\n")
    assert listing.split()[0] == "label"
    for title in ("Look at data", "Compare methods", "Reproduce the paper"):
        assert f"\n{title}:\n" in listing
    for name in cli.commands:
        assert len(re.findall(rf"^  {name} ", listing, re.MULTILINE)) == 1, name
    assert "..." not in listing, "a summary is too long for its line"


def test_version(run: Run) -> None:
    assert run("--version") == (0, f"poise {version('poise')}\n", "")


@pytest.mark.parametrize("line", ["--version", "label --help", "dmo"])
def test_python_m_poise_works_like_poise(line: str, run: Run) -> None:
    as_module = subprocess.run(
        [sys.executable, "-m", "poise", *shlex.split(line)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (as_module.returncode, as_module.stdout, as_module.stderr) == run(line)


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("dmo", "try 'poise --help'"),
        ("--nonsense", "try 'poise --help'"),
        ("demo --trails 3", "try 'poise demo --help'"),
        ("demo --trials 0", "try 'poise demo --help'"),
        ("demo --trials many", "try 'poise demo --help'"),
        ("demo --budget -5", "try 'poise demo --help'"),
        ("demo --seed -1", "try 'poise demo --help'"),
        ("demo -o", "try 'poise demo --help'"),
        ("demo extra", "try 'poise demo --help'"),
        ("bench engin", "try 'poise bench --help'"),
        ("acquisitions --jsn", "try 'poise acquisitions --help'"),
    ],
)
def test_a_user_error_prints_one_line_with_advice(line: str, advice: str, run: Run) -> None:
    code, out, err = run(line)
    assert (code, out) == (2, "")
    assert re.fullmatch(r"poise: [^\n]+\n", err)
    assert advice in err


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (InputError("k is 9: choose\nat most 5"), 2),
        (MissingExtraError("this needs matplotlib: pip install 'poise[app]'"), 2),
        (click.FileError("x.csv", "not there"), 2),
        (PermissionError(13, "Permission denied", "x.html"), 2),
        (ConvergenceError("no convergence after 10 steps"), 1),
        (OSError(28, "No space left on device"), 1),
    ],
)
def test_errors_print_one_line(
    error: Exception,
    expected: int,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setitem(cli.commands, "fail", click.Command("fail", callback=fail))
    code, out, err = run("fail")
    assert (code, out) == (expected, "")
    assert re.fullmatch(r"poise: [^\n]+\n", err)


def test_an_unexpected_error_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cli.commands, "fail", click.Command("fail", callback=lambda: 1 // 0))
    with pytest.raises(ZeroDivisionError):
        main(["fail"])


def test_ctrl_c_prints_one_line() -> None:
    code = (
        "import click, time; from poise.cli.main import cli, main\n"
        "def wait():\n    print('ready', flush=True); time.sleep(60)\n"
        "cli.add_command(click.Command('wait', callback=wait)); main(['wait'])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.2)  # until it is inside sleep()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err.strip() == "poise: interrupted"


def test_the_tests_pass_where_sigint_is_ignored() -> None:
    """A shell starts background jobs that way, and child processes inherit it."""
    name = f"{__file__}::{test_ctrl_c_prints_one_line.__name__}"
    process = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", name],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout


def test_a_closed_pipe_is_not_an_error() -> None:
    code = "from poise.cli.main import main; main(['acquisitions', '--json'])"
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.run(
        [sys.executable, "-c", code], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert process.stderr == ""


def test_the_command_line_adds_nothing_heavy_to_the_library() -> None:
    """Each command imports what it needs when it runs."""
    code = (
        "import sys, poise; before = set(sys.modules); import poise.cli.main\n"
        "print(*sorted(name.split('.')[0] for name in set(sys.modules) - before))"
    )
    added = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"rich", "numba", "scipy", "sklearn", "faiss", "approx_chol", "matplotlib", "numpy"}
    assert heavy & set(added.stdout.split()) == set()


def test_acquisitions_lists_everything(run: Run) -> None:
    code, out, err = run("acquisitions --json")
    assert (code, err) == (0, "")
    listing = json.loads(out)
    assert set(listing) == {"acquisitions", "prefixes", "policies", "schedules"}
    assert "norm" in listing["acquisitions"]
    code, out, err = run("acquisitions")
    assert (code, err) == (0, "")
    for described in listing.values():
        for name, about in described.items():
            assert name in out
            shown = (
                [about[k] for k in ("needs", "cost", "use")] if isinstance(about, dict) else [about]
            )
            for text in shown:
                assert text.split()[0] in out


def test_demo_prints_a_table_and_writes_a_page(run: Run, tmp_path: Path) -> None:
    code, out, err = run(f"demo --trials 2 --budget 9 -o {tmp_path / 'new' / 'folder'}")
    assert code == 0
    assert "Traceback" not in err
    rows = re.findall(r"^ +(\d+) +([\d.]+)% +([\d.]+)%", out, re.MULTILINE)
    assert [int(labels) for labels, _, _ in rows] == [1, 5, 10]
    page = tmp_path / "new" / "folder" / "index.html"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert page.as_posix() in out
    assert "poise acquisitions" in out


def test_demo_as_json_prints_nothing_else(run: Run, tmp_path: Path) -> None:
    code, out, _ = run(f"demo --trials 1 --budget 4 --seed 3 --json -o {tmp_path}")
    assert code == 0
    read = json.loads(out)
    assert read["page"] == str(tmp_path / "index.html")
    assert read["settings"]["seed"] == 3
    assert [row["labels"] for row in read["accuracy"]] == [1, 5]


@pytest.mark.parametrize("output", ["file", "file/below", "page"])
def test_demo_fails_early_if_the_page_cannot_be_written(
    output: str, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "page" / "index.html").mkdir(parents=True)
    code, out, err = run(f"demo -o {tmp_path / output}")
    assert (code, out) == (2, "")
    assert re.fullmatch(r"poise: [^\n]+ -o\n", err)
    assert (tmp_path / "file").read_text() == "mine"
