"""What the documents at the root say is true: the code runs, the links lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_the_readmes_python_runs_as_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(block, "README.md", "exec"), {})
    (right,) = re.findall(r"(\d+)% right with 31 labels", capsys.readouterr().out)
    assert int(right) > 85


def test_the_acquisition_that_contributors_are_shown_works() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    use = (
        "graph = poise.knn_graph(np.random.default_rng(0).normal(size=(30, 2)), k=3)\n"
        "learner = poise.Learner(graph, {0: 'a'}, acquisition='degree')\n"
        "print(learner.ask()[0] == 1 + graph.degrees[1:].argmax())"
    )
    # In a process of its own: a name once registered stays registered.
    run = subprocess.run(
        [sys.executable, "-c", block + use], capture_output=True, text=True, check=True
    )
    assert run.stdout == "True\n"


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
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


@pytest.mark.parametrize("part", ["demo", "dev", "bench", "distributed"])
def test_a_lock_pins_everything_and_names_no_index(part: str) -> None:
    text = (ROOT / f"requirements-{part}.lock").read_text(encoding="utf-8")
    assert "://" not in text
    assert "--index" not in text
    assert len(pins(part)) > 20
    for requirement in pins(part):
        assert "==" in requirement
        assert re.search(rf"^{re.escape(requirement)} \\\n +--hash=sha256:", text, re.MULTILINE)


def test_the_locks_agree_and_only_the_benchmarks_need_a_compiler() -> None:
    """So that each can be installed on top of another, and the demo and the tests anywhere."""

    def versions(part: str) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for requirement in pins(part):
            name, _, version = requirement.partition("==")
            found.setdefault(name, set()).add(version.split()[0])
        return found

    demo, dev, bench = map(versions, ("demo", "dev", "bench"))
    assert demo.items() <= dev.items()
    for other in (bench, versions("distributed")):
        for name in dev.keys() & other.keys():
            assert dev[name] == other[name], name
    assert "graphlearning" in bench
    assert "graphlearning" not in dev
