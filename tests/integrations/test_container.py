"""The Dockerfile, as far as it can be tested without a container engine: its text and its commands.

No test builds an image. They check what the instructions name, and run the same commands here.
"""

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import click
import pytest
import yaml

import poise
from poise.cli.main import cli

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "integrations" / "containers.md").read_text("utf-8")
TEXT = (ROOT / "Dockerfile").read_text("utf-8")
#: Where the Dockerfile puts things.
PLACES = ("/venv", "/source", "/var/cache/poise")


def instructions() -> list[tuple[str, str]]:
    """Every instruction of the Dockerfile with its arguments, on one line."""
    lines = [line for line in TEXT.splitlines() if not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", "")
    return [(name, rest) for name, _, rest in (x.partition(" ") for x in joined.splitlines() if x)]


def of(name: str) -> list[str]:
    return [rest for instruction, rest in instructions() if instruction == name]


def environment() -> dict[str, str]:
    """The variables of the second stage."""
    return dict(word.split("=", 1) for word in shlex.split(of("ENV")[-1]))


def copied() -> list[str]:
    """What the builder needs of the checkout."""
    own = [rest for rest in of("COPY") if not rest.startswith("--from")]
    return [source for rest in own for source in shlex.split(rest)[:-1]]


def parsed(name: str, *arguments: str) -> dict[str, Any]:
    """The parameters of a command of poise; an option that does not exist is an error."""
    command = cast(click.Group, cli).commands[name]
    parent = click.Context(cli, **cli.context_settings)
    return command.make_context(name, list(arguments), parent=parent).params


HEALTH = json.loads(of("HEALTHCHECK")[0].partition(" CMD ")[2])
START = [*json.loads(of("ENTRYPOINT")[0]), *json.loads(of("CMD")[0])]


def test_hadolint_finds_nothing() -> None:
    name = "hadolint"
    hadolint = shutil.which(name, path=sysconfig.get_path("scripts")) or shutil.which(name)
    if hadolint is None:
        pytest.skip("needs hadolint: install the extra dev")
    done = subprocess.run(
        [hadolint, "--no-color", str(ROOT / "Dockerfile")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_everything_that_is_copied_exists_and_is_sent_to_the_builder() -> None:
    rules = [
        line.removeprefix("!")
        for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines()
        if line.startswith("!")
    ]
    assert sorted(copied()) == sorted(rules)
    assert len(copied()) > 3
    for source in copied():
        assert (ROOT / source).exists(), source
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {project["readme"], *project["license-files"]} <= set(copied()), "hatchling reads them"
    for rest in of("COPY"):
        if rest.startswith("--from"):
            stage = rest.split()[0].removeprefix("--from=")
            assert any(line.endswith(f" AS {stage}") for line in of("FROM"))


def test_nobody_but_root_is_needed_and_the_base_is_a_slim_python_that_poise_supports() -> None:
    (user,) = of("USER")
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user), "a number, which orchestrators can check"
    (image,) = (rest.partition("=")[2] for rest in of("ARG"))
    version = re.fullmatch(r"python:(3\.\d+)-slim", image)
    assert version, "a name without a registry"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert f"Programming Language :: Python :: {version[1]}" in project["classifiers"]


def test_the_app_is_started_for_others_with_options_that_exist() -> None:
    name, command, *arguments = START
    assert (name, command) == ("poise", "label")
    given = parsed("label", *arguments)
    assert (given["host"], given["port"], given["no_browser"]) == ("0.0.0.0", 8000, True)
    assert of("EXPOSE") == [str(given["port"])]
    assert f"127.0.0.1', {given['port']}," in HEALTH[2]
    # What is added to `docker run IMAGE` replaces CMD alone.
    more = json.loads(of("ENTRYPOINT")[0])[2:]
    given = parsed("label", *more, "/data", "--root-path", "/poise")
    assert given["root_path"] == "/poise"


def healthy(port: int) -> bool:
    """What the health check finds; it must not ask a proxy."""
    words = [word.replace("8000", str(port)) for word in HEALTH]
    env = os.environ | {"http_proxy": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}
    done = subprocess.run(
        [sys.executable, *words[1:]], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    return done.returncode == 0


@contextmanager
def started(program: list[str], folder: Path, *options: str, **env: str) -> Iterator[int]:
    """The command of the image at a free port, which is returned; then it is stopped."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    arguments = [word.replace("8000", str(port)) for word in START[1:-1]]
    app = subprocess.Popen(
        [*program, *arguments, "digits", *options],
        cwd=folder,
        env=os.environ | env | {"POISE_PASSWORD": "open sesame"},
        stdout=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + 60
        while not healthy(port):
            assert app.poll() is None, "it ended"
            assert time.monotonic() < end, "it does not answer"
        yield port
    finally:
        (stop,) = of("STOPSIGNAL")
        app.send_signal(getattr(signal, stop))
        code = app.wait(timeout=30)
    assert code == 130


@pytest.mark.parametrize("root", ["", "https://label.example/poise"])
def test_the_health_check_asks_the_running_app(tmp_path: Path, root: str) -> None:
    assert HEALTH[0] == "python"
    with started([sys.executable, "-m", "poise"], tmp_path, "--root-path", root) as port:
        assert (tmp_path / "digits.poise").is_dir(), "in the folder that is the volume"
    assert not healthy(port), "nobody answers any more"


def test_without_a_password_it_says_what_is_missing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *START[:-1], "digits"],
        cwd=tmp_path,
        env={key: value for key, value in os.environ.items() if key != "POISE_PASSWORD"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"poise: [^\n]*POISE_PASSWORD\n", done.stderr)


def test_encoders_are_made_while_the_image_is_built(tmp_path: Path) -> None:
    """Afterwards the network is read from the cache, and onnx is not imported."""
    pytest.importorskip("onnxruntime", reason="needs onnxruntime: install the extra photo")
    (build,) = re.findall(r'python -c "([^"]*network[^"]*)"', of("RUN")[-1])
    env = os.environ | {"POISE_CACHE": str(tmp_path)}
    subprocess.run([sys.executable, "-c", build], env=env, check=True)
    (network,) = (tmp_path / "networks").iterdir()
    before = network.stat().st_mtime_ns
    use = (
        "import sys; sys.modules['onnx'] = None\n"
        "import numpy as np; from poise.data.embeddings.photo import session\n"
        "print(session()(np.zeros((1, 224, 224, 3), np.uint8)).shape)"
    )
    done = subprocess.run(
        [sys.executable, "-c", use], env=env, check=True, capture_output=True, text=True
    )
    assert done.stdout == "(1, 1280)\n"
    assert network.stat().st_mtime_ns == before


def test_the_examples_of_the_page_use_options_that_exist() -> None:
    """Also that they give the password, the volume and the port which the image expects."""
    blocks = re.findall(r"```(?:sh|bash)\n(.*?)```", PAGE, re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    runs = [shlex.split(line, comments=True) for line in lines if line.startswith("docker run")]
    starts = [words for words in runs if "--entrypoint" not in words]
    assert len(starts) > 1
    assert len(runs) > len(starts)
    for words in starts:
        here = words.index("poise")
        assert "POISE_PASSWORD" in words[:here]
        assert any(word.endswith(":8000") for word in words[:here])
        assert any(":/projects" in word for word in words[:here])
        arguments = [*START[2:-1], *(words[here + 1 :] or START[-1:])]
        parsed("label", *arguments)
    for words in (words for words in runs if "--entrypoint" in words):
        assert words[words.index("--entrypoint") + 1] == "poise"
        parsed(*words[words.index("poise", words.index("--entrypoint") + 2) + 1 :])
    for line in lines:
        if line.startswith("docker exec"):
            words = shlex.split(line)
            parsed(*words[words.index("poise") + 1 :])


def test_the_compose_file_of_the_page_fits_the_image() -> None:
    (block,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    services = yaml.safe_load(block)["services"]
    app = services["poise"]
    parsed("label", *START[2:-1], *app["command"])
    assert set(app["environment"]) == {"POISE_PASSWORD", "FORWARDED_ALLOW_IPS"}
    assert {mount.split(":")[1] for mount in app["volumes"]} == {"/data", "/projects"}


# The instructions, run here -----------------------------------------------------------------------


@pytest.mark.slow
def test_the_steps_of_the_build_give_a_working_app(tmp_path: Path) -> None:
    """Every RUN except the user's, with other folders: it installs packages from the index."""
    here = {place: str(tmp_path / place.strip("/").replace("/", "-")) for place in PLACES}

    def moved(text: str) -> str:
        for place, other in here.items():
            text = re.sub(rf"{place}(?![\w-])", other, text)
        return text

    source, cache = Path(here["/source"]), Path(here["/var/cache/poise"])
    source.mkdir()
    cache.mkdir()
    for name in copied():
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    later = {name: moved(value) for name, value in environment().items()}
    base = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    base["PATH"] = f"{Path(sys.base_prefix) / 'bin'}{os.pathsep}{base['PATH']}"
    later["PATH"] = later["PATH"].replace("$PATH", base["PATH"])
    ran = [step for step in of("RUN") if "useradd" not in step]
    assert len(ran) == 3
    for step in ran:
        env = base | (later if "chmod" in step else {})
        done = subprocess.run(
            ["sh", "-e", "-c", moved(step)],
            cwd=source,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert list(cache.glob("networks/*.onnx"))
    assert list(cache.glob("compiled/**/*.nbi"))
    env = base | later

    def run(*words: str) -> str:
        done = subprocess.run(words, env=env, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("poise", "--version") == f"poise {poise.__version__}\n"
    assert "/venv" in run("python", "-c", "import poise; print(poise.__file__)").replace("\\", "/")
    assert "--root-path" in run(*START[:2], "--help")
    with started([f"{here['/venv']}/bin/poise"], tmp_path, **env):
        pass
