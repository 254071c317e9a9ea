"""The pages that name modules and names of the code keep up with it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "poise"
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text("utf-8")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def rows(text: str) -> list[list[str]]:
    """The cells of every table row of a page, without headers."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def code(cell: str) -> list[str]:
    """The text between backticks."""
    return re.findall(r"`([^`]+)`", cell)


def map_of_the_code() -> dict[str, list[str]]:
    """The first column of the map -> the modules that its row names, as paths of the package.

    A row about one folder names the files in it; `` `name/` `` in the second column names a folder
    of the first, and the files named after it, in brackets, may be in either.
    """
    section = CONTRIBUTING.split("## Map of the code", 1)[1].split("\n## ", 1)[0]
    named = {}
    for first, second, _ in rows(section)[1:]:
        for part in code(first):
            named[part] = [name for name in code(second) if re.fullmatch(r"[\w/]+(\.py|/)", name)]
    return named


MAP = map_of_the_code()


def holds(folder: Path, name: str) -> bool:
    """Whether a folder, or one below it, holds a file or folder of that name."""
    bare = name.rstrip("/")
    return any(path.match(f"*/{bare}") for path in folder.rglob(Path(bare).name))


@pytest.mark.parametrize("part", MAP)
def test_every_module_of_the_map_exists(part: str) -> None:
    assert (PACKAGE / part).exists(), f"CONTRIBUTING.md names {part}"
    folder = PACKAGE / part if part.endswith("/") else PACKAGE
    missing = [name for name in MAP[part] if not holds(folder, name)]
    assert not missing, f"CONTRIBUTING.md names {', '.join(missing)} in the row of {part}"


def test_everything_at_the_top_has_a_row() -> None:
    found = {
        f"{path.name}/" if path.is_dir() else path.name
        for path in PACKAGE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert found <= MAP.keys() | {"__main__.py"}


@pytest.mark.parametrize("layer", ["studio", "experiments"])
def test_every_room_has_a_row(layer: str) -> None:
    rooms = {f"{layer}/{path.parent.name}/" for path in (PACKAGE / layer).glob("*/__init__.py")}
    assert rooms <= MAP.keys()


def test_every_name_in_the_glossary_is_in_the_code() -> None:
    source = "\n".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))
    words = set(re.findall(r"\w+", source))
    named = [
        (row[0], name)
        for row in rows(GLOSSARY)
        for cell in row[1:-1]
        for text in code(cell)
        if "/" not in text
        for name in re.findall(r"[A-Za-z_]\w*", text)
    ]
    assert len(named) > 80
    missing = [f"{name} ({term})" for term, name in named if name not in words]
    assert not missing, f"docs/glossary.md names {', '.join(missing)}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_script_that_a_page_names_exists(page: Path) -> None:
    folders = "benchmarks|docs|examples|src|tests"
    pattern = rf"(?<![\w/.])(?:{folders})/[\w/.-]+\.(?:js|md|py|toml|yaml)\b"
    named = set(re.findall(pattern, page.read_text("utf-8")))
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_place_in_the_glossary_exists() -> None:
    places = [text for row in rows(GLOSSARY) for text in code(row[2]) if "/" in text]
    assert len(places) > 10
    assert [place for place in places if not (PACKAGE / place).exists()] == []
