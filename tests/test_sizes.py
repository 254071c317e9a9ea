"""Files and functions stay short; a comment gives the reason for each long function."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "poise"
MAX_FILE_LINES = 350
MAX_FUNCTION_LINES = 80
#: A longer function has a comment that begins like this, inside it or above it.
REASON = "# Over 80 lines because "


def too_long(name: str, text: str) -> Iterator[str]:
    """The file itself if it is too long, then its functions that are and do not say why."""
    lines = text.splitlines()
    if len(lines) > MAX_FILE_LINES:
        yield name
    if not name.endswith(".py"):
        return
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        assert node.end_lineno is not None
        length = node.end_lineno - node.lineno + 1
        first = min([node.lineno, *(part.lineno for part in node.decorator_list)]) - 1
        while first > 0 and lines[first - 1].lstrip().startswith("#"):
            first -= 1
        has_reason = any(REASON in line for line in lines[first : node.end_lineno])
        if length > MAX_FUNCTION_LINES and not has_reason:
            yield f"{name}: {node.name}"


def test_no_file_or_function_is_too_long() -> None:
    files = [
        path for path in SOURCE.rglob("*") if path.suffix in {".py", ".js", ".mjs", ".css", ".html"}
    ]
    assert len(files) > 200
    names = [
        name
        for path in files
        for name in too_long(path.relative_to(SOURCE).as_posix(), path.read_text(encoding="utf-8"))
    ]
    assert names == [], (
        f"expected at most {MAX_FILE_LINES} lines per file and {MAX_FUNCTION_LINES} per function, "
        f"or a comment {REASON!r} in or above the function"
    )


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.py", "x = 1\n" * 350, []),
        ("a.py", "x = 1\n" * 351, ["a.py"]),
        ("a.js", "x = 1\n" * 351, ["a.js"]),
        ("a.py", "def f():\n" + "    x = 1\n" * 79, []),
        ("a.py", "def f():\n" + "    x = 1\n" * 80, ["a.py: f"]),
        ("a.py", "class A:\n async def f():\n" + "  x = 1\n" * 80, ["a.py: f"]),
        ("a.py", f"def f():\n    {REASON}it is a table\n" + "    x = 1\n" * 80, []),
        ("a.py", f"{REASON}of it\n@b\ndef f():\n" + "    x = 1\n" * 80, []),
        ("a.py", f"{REASON}of it\n\ndef f():\n" + "    x = 1\n" * 80, ["a.py: f"]),
    ],
)
def test_the_checker_sees_what_is_too_long(name: str, text: str, expected: list[str]) -> None:
    assert list(too_long(name, text)) == expected
