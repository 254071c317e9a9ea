"""The sdist and the wheel, and the wheel with pipx and uvx, as people would run it.

Apart from the slow test nothing is fetched: every package that poise needs is replaced by an empty
one of the installed version, one of which adds the folder of the installed packages to the path.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import NamedTuple

import pytest

import poise

pytest.importorskip("hatchling", reason="needs hatchling: install the extra dev")
ROOT = Path(__file__).parents[2]
SCRIPTS = sysconfig.get_path("scripts")
#: The variables that choose packages, or change what Python finds.
PREFIXES = ("PYTHON", "PIP_", "PIPX_", "UV_", "XDG_", "POISE_")


def tool(name: str) -> str:
    """A tool beside this Python, or on the PATH."""
    found = shutil.which(name, path=SCRIPTS) or shutil.which(name)
    if found is None:
        pytest.skip(f"needs {name}: install the extra dev")
    return found


class Built(NamedTuple):
    """What was built, and the variables with which it is run: no network, nothing of the user's."""

    wheel: Path
    sdist: Path
    env: dict[str, str]
    packages: Path

    def run(self, *command: str | Path, folder: Path) -> str:
        """What a command prints."""
        done = subprocess.run(
            list(map(str, command)),
            cwd=folder,
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def pipx(self, *options: str) -> list[str]:
        return [tool("pipx"), "run", "--python", sys.executable, *options]

    def uvx(self, *options: str) -> list[str]:
        offline = ["--offline", "--no-index", "--find-links", str(self.packages)]
        return [tool("uvx"), *offline, "--no-config", "--python", sys.executable, *options]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The sdist, and the wheel made from it."""
    home = tmp_path_factory.mktemp("home")
    packages = empty_packages(home / "packages", "app")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(PREFIXES)}
    env = kept | {
        "HOME": str(home),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(packages),
    }
    folder = build(home / "dist", env)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return Built(wheel, sdist, env, packages)


def build(folder: Path, env: dict[str, str], *options: str) -> Path:
    command = [tool("uv"), "build", "--offline", "--no-config", "--no-build-isolation"]
    places = ["--python", sys.executable, "--out-dir", str(folder), str(ROOT)]
    subprocess.run([*command, *options, *places], env=env, check=True, capture_output=True)
    return folder


def empty_packages(folder: Path, extra: str) -> Path:
    """A wheel without code for every package that poise and an extra need."""
    folder.mkdir()
    names = wanted(extra) | {"pip"}
    # One of them leads to the packages themselves. Python reads the file when it starts.
    files = {"installed-packages.pth": f"{sysconfig.get_path('purelib')}\n"}
    for name in sorted(names - {"pip"}):
        try:
            installed = version(name)
        except PackageNotFoundError:
            pytest.skip(f"needs {name}: install the extra dev")
        stem = f"{re.sub(r'[-_.]+', '_', name).lower()}-{installed}"
        info = f"{stem}.dist-info"
        about = f"Metadata-Version: 2.1\nName: {name}\nVersion: {installed}\n"
        wheel = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        content = files | {f"{info}/METADATA": about, f"{info}/WHEEL": wheel}
        record = "".join(f"{path},,\n" for path in (*content, f"{info}/RECORD"))
        with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as archive:
            for path, text in (content | {f"{info}/RECORD": record}).items():
                archive.writestr(path, text)
        files = {}
    return folder


def wanted(extra: str) -> set[str]:
    """Names of the packages that poise and an extra ask for, with those of extras in extras."""
    found = set()
    for requirement in requires("poise") or []:
        name, _, marker = requirement.partition(";")
        if marker and f'"{extra}"' not in marker.replace("'", '"'):
            continue
        own = re.fullmatch(r"poise\[(.*)\]", name.strip())
        if own:
            found |= set().union(*(wanted(part.strip()) for part in own[1].split(",")))
        else:
            found.add(re.match(r"[\w.-]+", name)[0])  # type: ignore[index]
    return found


def content(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_contains_every_file_of_the_package_and_no_other(built: Built) -> None:
    names = {name for name in content(built.wheel) if ".dist-info/" not in name}
    folder = ROOT / "src"
    expected = {
        path.relative_to(folder).as_posix()
        for path in (folder / "poise").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert names == expected
    for part in ("studio/static/index.html", "studio/static/app.js", "py.typed"):
        assert f"poise/{part}" in names
    assert any("LICENSE" in name for name in content(built.wheel))


def test_the_sdist_builds_the_same_wheel_as_the_checkout(built: Built, tmp_path: Path) -> None:
    (direct,) = build(tmp_path / "dist", built.env, "--wheel").glob("*.whl")
    assert direct.name == built.wheel.name == f"poise-{poise.__version__}-py3-none-any.whl"
    assert content(direct) == content(built.wheel)
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "CHANGELOG.md", "docs/index.md", "tests/conftest.py"} <= names


@pytest.mark.parametrize("runner", ["pipx", "uvx"])
def test_pipx_and_uvx_run_the_wheel(built: Built, tmp_path: Path, runner: str) -> None:
    if runner == "pipx":
        start = built.pipx("--spec", str(built.wheel), "poise")
    else:
        start = built.uvx("--from", str(built.wheel), "poise")
    assert built.run(*start, "--version", folder=tmp_path) == f"poise {poise.__version__}\n"
    assert "Usage: poise label" in built.run(*start, "label", "--help", folder=tmp_path)
    # Not the demo: the slow test runs it, because every installation compiles the solver once.
    about = json.loads(built.run(*start, "dataset", "digits", "--json", folder=tmp_path))
    assert about["points"] == 1797


def test_the_installed_wheel_runs_as_a_module_and_serves_its_page(
    built: Built, tmp_path: Path
) -> None:
    """In a venv, with the extra app, from the wheel's own files."""
    httpx = pytest.importorskip("httpx", reason="needs httpx")
    uv, there = tool("uv"), tmp_path / "venv"
    built.run(
        uv, "venv", "--offline", "--no-config", "--python", sys.executable, there, folder=ROOT
    )
    python = there / "bin" / "python"
    with_app = f"poise[app] @ {built.wheel.as_uri()}"
    install = [uv, "pip", "install", "--offline", "--no-config", "--no-index", "--find-links"]
    built.run(*install, built.packages, "--python", python, with_app, folder=tmp_path)
    assert built.run(python, "-m", "poise", "--version", folder=tmp_path).startswith("poise ")
    where = built.run(python, "-c", "import poise; print(poise.__file__)", folder=tmp_path)
    assert where.startswith(str(there))
    app = subprocess.Popen(
        [python, "-m", "poise", "label", "digits", "--no-browser"],
        cwd=tmp_path,
        env=built.env,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert app.stdout is not None
        found = (re.search(r"http://\S+", line) for line in app.stdout)
        address = next(match.group() for match in found if match)
        with httpx.Client(trust_env=False, follow_redirects=True) as client:
            page = client.get(address)
            assert page.status_code == 200
            assert 'src="static/app.js"' in page.text
            script = client.get(page.url.join("static/app.js"))
            assert script.headers["content-type"].startswith("text/javascript")
    finally:
        app.send_signal(signal.SIGINT)
        app.communicate(timeout=30)
    assert app.returncode == 130


def test_every_command_about_a_local_wheel_names_its_version() -> None:
    """The page shows the file that a build really makes, and says that poise is not published."""
    text = (ROOT / "docs" / "integrations" / "containers.md").read_text("utf-8")
    assert "not published" in text
    named = set(re.findall(r"poise-[\w.]+-py3-none-any\.whl", text))
    assert named == {f"poise-{poise.__version__}-py3-none-any.whl"}
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for names in re.findall(r"poise\[([\w,]+)\] @ file", text):
        assert set(names.split(",")) <= set(extras["optional-dependencies"])


@pytest.mark.slow
@pytest.mark.parametrize("runner", ["pipx", "uvx"])
def test_with_the_packages_of_the_index(built: Built, tmp_path: Path, runner: str) -> None:
    """As a user would: with the index that this machine is set up for, but empty caches."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    env |= {"HOME": str(tmp_path)}
    with_app = f"poise[app] @ {built.wheel.as_uri()}"
    options = ["--python", sys.executable]
    start = {
        "pipx": [tool("pipx"), "run", *options, "--spec", with_app, "poise"],
        "uvx": [tool("uvx"), *options, "--from", with_app, "poise"],
    }[runner]
    real = built._replace(env=env)
    assert real.run(*start, "--version", folder=tmp_path) == f"poise {poise.__version__}\n"
    demo = [*start, "demo", "--trials", "1", "--budget", "4", "--json", "-o", tmp_path / "out"]
    assert json.loads(real.run(*demo, folder=tmp_path))["accuracy"]
    assert (tmp_path / "out" / "index.html").is_file()
    assert "Usage: poise label" in real.run(*start, "label", "--help", folder=tmp_path)
