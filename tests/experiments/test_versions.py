"""Which code made the records."""

import shutil
import subprocess
from pathlib import Path

import pytest

from poise.experiments.versions import PACKAGES, commit, versions

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package in a checkout with one commit."""
    folder = tmp_path / "src" / "thing"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("x = 1\n")
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "Begin"]):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    return folder


def test_versions_name_every_package() -> None:
    assert set(versions()) == {"python", *PACKAGES}


@needs_git
def test_the_commit_of_a_checkout(package: Path) -> None:
    name = commit(package)
    assert len(name) == 12
    assert int(name, 16)


@needs_git
def test_changed_code_is_named_as_changed(package: Path) -> None:
    name = commit(package)
    (package / "__init__.py").write_text("x = 2\n")
    assert commit(package) == f"{name} with changes"


@needs_git
def test_code_installed_inside_another_checkout_has_no_commit(package: Path) -> None:
    other = package.parents[1] / ".venv" / "lib" / "other"
    other.mkdir(parents=True)
    (other / "__init__.py").touch()
    assert commit(other) == ""


def test_without_git_there_is_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert commit(tmp_path) == ""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit() == ""
