"""The documentation builds strictly, needs no network, and covers what is public."""

import re
from collections.abc import Iterator
from pathlib import Path

import click

import poise
from poise import errors
from poise.cli.main import cli

ROOT = Path(__file__).parents[2]
#: Tags that make a browser fetch a file, with its address.
FETCHED = re.compile(
    r"<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|srcset|href)=\"([^\"]+)\""
)


def test_no_page_fetches_anything_from_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 8
    for page in pages:
        for address in FETCHED.findall(page.read_text("utf-8")):
            assert "//" not in address, f"{page.name} fetches {address}"


def test_formulas_are_mathml(site: Path) -> None:
    text = (site / "method.html").read_text("utf-8")
    assert text.count("<math ") > 50
    # No LaTeX may remain inside formulas.
    for formula in re.findall(r"<math .*?</math>", text, re.DOTALL):
        assert "\\" not in formula


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    anchors = set(
        re.findall(r'class="sig[^>]*? id="([\w.-]+)"', (site / "api.html").read_text("utf-8"))
    )
    assert {f"poise.{name}" for name in poise.__all__} <= anchors
    named = [name for name in vars(errors) if isinstance(getattr(errors, name), type)]
    assert {f"poise.errors.{name}" for name in named if name != "PoiseError"} <= anchors


def test_the_help_of_every_command_is_in_the_reference(site: Path) -> None:
    text = (site / "api.html").read_text("utf-8")
    for path in command_paths(cli, "poise"):
        assert f'id="{path.replace(" ", "-")}"' in text
        assert f"Usage: {path}" in text


def command_paths(command: click.Command, path: str) -> Iterator[str]:
    yield path
    if isinstance(command, click.Group):
        for name, part in command.commands.items():
            yield from command_paths(part, f"{path} {name}")


def test_every_decision_is_in_the_list() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = set(re.findall(r"\]\(([\w-]+)\.md\)", (folder / "index.md").read_text("utf-8")))
    assert listed == {page.stem for page in folder.glob("*.md")} - {"index"}
