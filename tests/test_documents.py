"""The documents at the root are correct: their code runs, their links and versions are right."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import poise

ROOT = Path(__file__).parents[1]


def test_the_readmes_python_runs_as_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(block, "README.md", "exec"), {})
    (right,) = re.findall(r"(\d+)% right with 31 labels", capsys.readouterr().out)
    assert int(right) > 85


def test_the_acquisition_in_the_contributors_guide_works() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    use = (
        "graph = poise.knn_graph(np.random.default_rng(0).normal(size=(30, 2)), k=3)\n"
        "learner = poise.Learner(graph, {0: 'a'}, acquisition='degree')\n"
        "print(learner.ask()[0] == 1 + graph.degrees[1:].argmax())"
    )
    # In a separate process, because a registered name stays registered.
    run = subprocess.run(
        [sys.executable, "-c", block + use], capture_output=True, text=True, check=True
    )
    assert run.stdout == "True\n"


def test_the_citation_names_this_version_and_the_paper() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {poise.__version__}\n" in text
    assert "Poisson reweighted Laplacian uncertainty sampling" in text


def test_the_workflow_tests_the_python_versions_that_the_package_names() -> None:
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    (versions,) = re.findall(r"^ +python: \[(.+)\]$", workflow, re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert re.findall(r"3\.\d+", versions) == [
        version
        for classifier in project["classifiers"]
        for version in re.findall(r"^Programming Language :: Python :: (3\.\d+)$", classifier)
    ]


@pytest.mark.parametrize(
    "name",
    ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md"],
)
def test_links_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)\)|(?:src|srcset)=\"([^\"]+)\"", text)
    for target in filter(None, (target for pair in links for target in pair)):
        assert target.startswith("https://") or (ROOT / target).exists(), target


def test_every_make_target_the_documents_name_exists() -> None:
    targets = set(
        re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    )
    for name in ("README.md", "CONTRIBUTING.md"):
        named = re.findall(
            r"`make ([a-z]+)|^make ([a-z]+)",
            (ROOT / name).read_text(encoding="utf-8"),
            re.MULTILINE,
        )
        assert {first or second for first, second in named} <= targets


def pins(part: str) -> set[str]:
    """The requirements of a lock, without hashes."""
    text = (ROOT / f"requirements-{part}.lock").read_text(encoding="utf-8")
    return {line.rstrip(" \\") for line in re.findall(r"^[a-z0-9].*$", text, re.MULTILINE)}


@pytest.mark.parametrize("part", ["demo", "dev", "bench", "distributed", "container"])
def test_a_lock_pins_everything_and_names_no_index(part: str) -> None:
    text = (ROOT / f"requirements-{part}.lock").read_text(encoding="utf-8")
    assert "://" not in text
    assert "--index" not in text
    assert len(pins(part)) > 20
    for requirement in pins(part):
        assert "==" in requirement
        assert re.search(rf"^{re.escape(requirement)} \\\n +--hash=sha256:", text, re.MULTILINE)


def test_the_locks_agree_and_only_the_benchmarks_need_a_compiler() -> None:
    """Each lock can be installed on top of another, and the demo and tests need no compiler."""

    def versions(part: str) -> dict[str, set[str]]:
        pinned: dict[str, set[str]] = {}
        for requirement in pins(part):
            name, _, version = requirement.partition("==")
            pinned.setdefault(name, set()).add(version.split()[0])
        return pinned

    demo, dev, bench = map(versions, ("demo", "dev", "bench"))
    assert demo.items() <= versions("container").items() <= dev.items()
    for other in (bench, versions("distributed")):
        for name in dev.keys() & other.keys():
            assert dev[name] == other[name], name
    assert "graphlearning" in bench
    assert "graphlearning" not in dev
