"""The gallery and the page on choosing: what they promise can be found."""

import ast
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EXAMPLES = sorted((ROOT / "examples" / "gallery").glob("*.py"))
CHOOSING = (DOCS / "choosing.md").read_text("utf-8")
#: A table, the page below it that its figures come from, and the command that prints them.
SOURCED = re.compile(r"((?:^\|.*\n)+)\nFrom \[[^]]+\]\(([\w/-]+\.md)\)[^`]*`([^`]+)`", re.MULTILINE)


@pytest.fixture(scope="module")
def gallery() -> ModuleType:
    """docs/extensions/gallery.py, as a module."""
    pytest.importorskip("matplotlib", reason="needs matplotlib: install the extra docs")
    pytest.importorskip("sphinx", reason="needs sphinx: install the extra docs")
    spec = importlib.util.spec_from_file_location("gallery", DOCS / "extensions" / "gallery.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_example_has_its_place(gallery: ModuleType) -> None:
    assert set(gallery.ORDER) == {path.name for path in EXAMPLES}
    assert {f"{name}.py" for name in gallery.DATA} <= set(gallery.ORDER)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_ends_with_a_picture_and_uses_only_what_is_public(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    assert ast.unparse(tree.body[-1]) == "plt.show()"
    imported = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    imported += [
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    ]
    assert "poise" in imported
    assert not [name for name in imported if name and name.startswith("poise.")]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_prose_of_an_example_states_no_result(path: Path) -> None:
    """Accuracies are printed, so that they stay true."""
    lines = path.read_text("utf-8").splitlines()
    prose = [line for line in lines if line.startswith("# ")]
    assert not [line for line in prose if re.search(r"\d ?%|\b0\.\d", line) and line != "# %%"]


def test_examples_run_only_where_their_data_are(
    gallery: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def runs() -> set[str]:
        return {path.stem for path in EXAMPLES if re.search(gallery.filename_pattern(), str(path))}

    everything = {path.stem for path in EXAMPLES}
    monkeypatch.delenv("POISE_DATA", raising=False)
    assert runs() == everything - set(gallery.DATA)
    for file in gallery.DATA.values():
        (tmp_path / file).touch()
    monkeypatch.setenv("POISE_DATA", str(tmp_path))
    assert runs() == everything


def test_a_page_says_that_its_example_was_not_run(site: Path) -> None:
    words = "there are no results and no pictures"
    assert words in (site / "gallery" / "plot_photos.html").read_text("utf-8")
    assert words not in (site / "gallery" / "plot_million.html").read_text("utf-8")


def numbers(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w.-])\d[\d,]*\.\d+(?![\w.])", text))


def test_every_figure_on_choosing_is_on_the_page_that_measured_it() -> None:
    tables = SOURCED.findall(CHOOSING)
    assert len(tables) == len(re.findall(r"^\|[ :|-]*--:\|$", CHOOSING, re.MULTILINE)) == 8
    for table, page, command in tables:
        source = (DOCS / page).read_text("utf-8")
        missing = numbers(table) - numbers(source)
        assert not missing, f"docs/{page} does not have {', '.join(sorted(missing))}"
        assert re.match(r"(poise|python benchmarks/\w+\.py) ", command + " "), command


def test_the_programs_that_choosing_names_exist() -> None:
    named = set(re.findall(r"python (benchmarks/\w+\.py)", CHOOSING))
    assert len(named) == 4
    assert [name for name in named if not (ROOT / name).is_file()] == []
