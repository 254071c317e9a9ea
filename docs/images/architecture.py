"""Draw the picture of docs/architecture.md: ``python docs/images/architecture.py``.

The layers of the package and which imports which, read from the source. An arrow that follows from
others is left out: where A imports B and C, and B imports C, the arrow from A to C is not drawn.
"""

import ast
from collections.abc import Iterator
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
PACKAGE = HERE.parents[1] / "src" / "poise"

#: Layer -> its column and what it is for. "base" stands for all modules at the top of the package.
LAYERS: dict[str, tuple[float, str]] = {
    "cli": (1, "commands, one file each"),
    "experiments": (0, "trials, the paper, benchmarks"),
    "distributed": (2, "graphs and solves at scale"),
    "integrations": (1, "bridges to other tools"),
    "theory": (0, "the continuum limit"),
    "studio": (1, "the labelling app"),
    "poise": (1, "the public names"),
    "active": (0.5, "acquisitions, policies, the learner"),
    "models": (0.5, "scores and predictions"),
    "graph": (0, "neighbours, weights, the graph"),
    "linalg": (1, "sparse solvers"),
    "data": (2, "items, data sets, embeddings"),
    "base": (1, "errors, registries, files, checks"),
}
#: Imports that are no arrows: a public name that a layer above the engine provides.
PUBLIC_NAMES = frozenset({("poise", "integrations")})
#: Colours: ground of a box, its edge, text, quiet text, arrows.
COLOURS = {
    "light": ("#f4f6f8", "#9aa5b1", "#1c1e22", "#5a606b", "#66707c"),
    "dark": ("#24292f", "#6b7580", "#e8eaed", "#a3abb5", "#8b949e"),
}
WIDTH, BOX, HEIGHT, COLUMN, ROW, MARGIN = 916, 288, 62, 304, 98, 10
#: Characters of a list of folders above which it is set smaller, so that it stays in its box.
LONG = 48


def layer(module: str) -> str:
    """The layer of a module's dotted name: ``poise.graph.kernels`` -> ``graph``."""
    parts = module.split(".")
    if len(parts) == 1:
        return "poise"
    if (PACKAGE / parts[1]).is_dir():
        return parts[1]
    return "base" if (PACKAGE / f"{parts[1]}.py").exists() else "poise"


def imported(source: str) -> Iterator[str]:
    """The modules that `source` imports; ``from poise import graph`` counts as ``poise.graph``."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "poise":
            yield from (f"poise.{name.name}" for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def imports() -> dict[str, set[str]]:
    """Layer -> the other layers that its files import."""
    edges: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        parts = ("poise", *path.relative_to(PACKAGE).with_suffix("").parts)
        if parts == ("poise", "__main__"):
            continue
        here = layer(".".join(parts).removesuffix(".__init__"))
        modules = imported(path.read_text(encoding="utf-8"))
        others = {layer(name) for name in modules if name.split(".")[0] == "poise"}
        shown = {name for name in others - {here} if (here, name) not in PUBLIC_NAMES}
        edges.setdefault(here, set()).update(shown)
    return edges


def reachable(edges: dict[str, set[str]], start: str) -> set[str]:
    """Every layer below `start`."""
    below = set(edges[start])
    for name in edges[start]:
        below |= reachable(edges, name)
    return below


def arrows(edges: dict[str, set[str]]) -> list[tuple[str, str]]:
    """The imports that do not follow from others."""
    kept = []
    for upper, lowers in edges.items():
        implied = {name for lower in lowers for name in reachable(edges, lower)}
        kept += [(upper, lower) for lower in lowers - implied]
    return sorted(kept)


def heights(edges: dict[str, set[str]]) -> dict[str, int]:
    """The row of each layer, from 0 at the bottom: one above the highest that it imports."""

    def height(name: str) -> int:
        return 1 + max((height(lower) for lower in edges[name]), default=-1)

    return {name: height(name) for name in edges}


def rooms(name: str) -> str:
    """The folders of a layer."""
    folders = (path.parent.name for path in (PACKAGE / name).glob("*/__init__.py"))
    return ", ".join(sorted(folders))


def picture(scheme: str) -> str:
    """The picture as SVG."""
    edges = imports()
    unknown = edges.keys() ^ LAYERS.keys()
    if unknown:
        raise SystemExit(f"architecture.py: bring LAYERS up to date with {', '.join(unknown)}")
    ground, edge, text, quiet, line = COLOURS[scheme]
    row = heights(edges)
    top = max(row.values())

    def corner(name: str) -> tuple[float, float]:
        return MARGIN + LAYERS[name][0] * COLUMN, MARGIN + (top - row[name]) * ROW

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {(top + 1) * ROW - 16}" '
        'font-family="system-ui, sans-serif" font-size="13">',
        "<title>The layers of poise; an arrow points from a layer to one that it imports</title>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        f'markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8z" fill="{line}"/></marker></defs>',
    ]
    for upper, lower in arrows(edges):
        (x, y), (x2, y2) = corner(upper), corner(lower)
        x, x2 = x + BOX / 2, (x if lower == "base" else x2) + BOX / 2
        lines.append(
            f'<path data-from="{upper}" data-to="{lower}" d="M{x:g} {y + HEIGHT:g}L{x2:g} {y2:g}" '
            f'fill="none" stroke="{line}" stroke-width="1.5" marker-end="url(#tip)"/>'
        )
    for name, (_, purpose) in LAYERS.items():
        x, y = corner(name)
        wide = BOX
        if name == "base":
            x, wide = MARGIN, WIDTH - 2 * MARGIN
        middle = x + wide / 2
        parts = [f'font-weight="600" fill="{text}">{name}', f'fill="{quiet}">{escape(purpose)}']
        if rooms(name):
            size = 11.5 if len(rooms(name)) <= LONG else 10
            parts.append(f'font-size="{size}" font-style="italic" fill="{quiet}">{rooms(name)}')
        first = y + HEIGHT / 2 + 4.5 - 9 * (len(parts) - 1)
        lines.append(
            f'<rect x="{x:g}" y="{y:g}" width="{wide:g}" height="{HEIGHT}" rx="7" '
            f'fill="{ground}" stroke="{edge}"/>'
        )
        lines += [
            f'<text x="{middle:g}" y="{first + 18 * i:g}" text-anchor="middle" {part}</text>'
            for i, part in enumerate(parts)
        ]
    return "\n".join([*lines, "</svg>"]) + "\n"


def main() -> None:
    for scheme in COLOURS:
        (HERE / f"architecture-{scheme}.svg").write_text(picture(scheme), encoding="utf-8")


if __name__ == "__main__":
    main()
