"""The pages' Python runs as it stands and prints what the pages say it prints."""

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

#: In a process of its own: a page may register names, which other tests must not see.
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
    """Line, code and the printed text that follows it (None: the page shows none), per block."""
    pattern = r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?"
    return [
        (text[: found.start(1)].count("\n"), found[1], found[2])
        for found in re.finditer(pattern, text, re.DOTALL | re.MULTILINE)
    ]


def words_and_numbers(text: str) -> tuple[list[str], list[float]]:
    number = r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?"
    found = [float(part.replace(",", "")) for part in re.findall(number, text)]
    return re.sub(number, "#", text).split(), found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_python_of_a_page_runs_and_prints_what_it_says(page: Path, tmp_path: Path) -> None:
    blocks = blocks_of(page.read_text("utf-8"))
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
        said_words, said_numbers = words_and_numbers(expected or "")
        words, numbers = words_and_numbers(printed)
        assert words == said_words, f"{page.name}, block at line {line}, printed:\n{printed}"
        # Another machine may decide a near-tie the other way, so numbers need only be close.
        assert numbers == pytest.approx(said_numbers, rel=0.05), (
            f"{page.name}, block at line {line}, printed:\n{printed}"
        )
