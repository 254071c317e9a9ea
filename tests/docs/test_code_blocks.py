"""The Python code of the pages runs unchanged and prints the output that the pages show."""

import ast
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page for page in (ROOT / "docs").rglob("*.md") if "```python\n" in page.read_text("utf-8")
)

#: Runs in a separate process: a page may register names, which must not affect other tests.
RUN = """
import contextlib, io, json, sys
page, blocks, namespace = json.loads(sys.stdin.read())
printed = []
for line, code in blocks:
    with contextlib.redirect_stdout(io.StringIO()) as stream:
        exec(compile("\\n" * line + code, page, "exec"), namespace)
    printed.append(stream.getvalue())
print(json.dumps(printed))
"""


def blocks_of(text: str) -> list[tuple[int, str, str | None]]:
    """Line, code and shown output (None if the page shows none) of each block."""
    pattern = r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?"
    return [
        (text[: match.start(1)].count("\n"), match[1], match[2])
        for match in re.finditer(pattern, text, re.DOTALL | re.MULTILINE)
    ]


def missing_packages(code: str) -> list[str]:
    """Packages that the code imports and that are not installed, such as graphlearning."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append(node.module or "")
    packages = sorted({name.partition(".")[0] for name in found})
    return [name for name in packages if importlib.util.find_spec(name) is None]


def words_and_numbers(text: str) -> tuple[list[str], list[float]]:
    number = r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?"
    numbers = [float(part.replace(",", "")) for part in re.findall(number, text)]
    return re.sub(number, "#", text).split(), numbers


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_code_of_a_page_runs_and_prints_the_shown_output(page: Path, tmp_path: Path) -> None:
    blocks = blocks_of(page.read_text("utf-8"))
    missing = missing_packages("\n".join(code for _, code, _ in blocks))
    if missing:
        pytest.skip(f"{page.name} needs the packages {', '.join(missing)}")
    task = json.dumps([page.name, [(line, code) for line, code, _ in blocks], {"__name__": "page"}])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN],
        input=task,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for (line, _, expected), printed in zip(blocks, json.loads(done.stdout), strict=True):
        shown_words, shown_numbers = words_and_numbers(expected or "")
        words, numbers = words_and_numbers(printed)
        assert words == shown_words, f"{page.name}, block at line {line}, printed:\n{printed}"
        # Another machine may resolve a near-tie differently, so numbers need only be close.
        assert numbers == pytest.approx(shown_numbers, rel=0.05), (
            f"{page.name}, block at line {line}, printed:\n{printed}"
        )


def test_a_package_that_is_not_installed_is_noticed() -> None:
    code = "import json, no_such_package.part\nfrom poise import errors\nfrom also_none import a"
    assert missing_packages(code) == ["also_none", "no_such_package"]
