"""One ES module out of several, and the page's style sheets for a widget.

A notebook front end loads a widget from one module and cannot import files of this package. The
page's modules are written in a regular way (checked by Biome), so a few rules are enough to join
them; whatever the rules do not cover is an error. See docs/decisions/notebook.md.
"""

import json
import re
from pathlib import Path

#: The modules and style sheets of the app's page, and those of the widgets.
PAGE = Path(__file__).parents[2] / "studio" / "static"
HERE = Path(__file__).parent / "static"

_IMPORT = re.compile(r'^import (\{[^}]*\}|\* as \w+) from "(\.\.?/[^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(
    r"^export ((?:const|class|function|async function) (\w+))(?=[ (])", re.MULTILINE
)
_LEFT = re.compile(r"^(?:import|export)\b.*|\bimport\(.*", re.MULTILINE)
_DARK = re.compile(r"@media \(prefers-color-scheme: dark\) \{\n\s*([^{]+)(\{[^}]*\})\n\}")


def widget_module(entry: str, *styles: Path) -> str:
    """The module of a widget, to be loaded by anywidget.

    Parameters
    ----------
    entry : str
        A file in `HERE` that exports ``widget(styles)``, which returns what anywidget expects.
    styles : style sheets, which the widget shows inside a shadow root.
    """
    css = "\n".join(scoped(path.read_text(encoding="utf-8")) for path in styles)
    path = HERE / entry
    return f"{joined(path)}export default {_name(path)}.widget({json.dumps(css)});\n"


def joined(entry: Path) -> str:
    """The modules that `entry` needs, each as a constant that holds its exports."""
    order: dict[Path, str] = {}
    _visit(entry.resolve(), order, ())
    return "".join(order.values())


def scoped(css: str) -> str:
    """A style sheet of the page for a shadow root, whose host says which theme applies."""

    def under_host(found: re.Match[str]) -> str:
        selector, rules = found[1].strip(), found[2]
        inside = "" if selector == ":root" else f" {selector}"
        return f':host([data-theme="dark"]){inside} {rules}'

    return _DARK.sub(under_host, css).replace(":root", ":host")


def _visit(path: Path, order: dict[Path, str], importing: tuple[Path, ...]) -> None:
    """Add a module after those that it imports."""
    if path in order:
        return
    if path in importing:
        raise ValueError(f"{path.name} imports itself, by way of {importing[-1].name}")
    source = path.read_text(encoding="utf-8")
    for found in _IMPORT.finditer(source):
        _visit((path.parent / found[2]).resolve(), order, (*importing, path))
    order[path] = _wrapped(path, source)


def _wrapped(path: Path, source: str) -> str:
    """A module as a function that is called at once and returns the exports."""

    def imported(found: re.Match[str]) -> str:
        names = found[1].removeprefix("* as ").replace(" as ", ": ")
        return f"const {names} = {_name((path.parent / found[2]).resolve())};\n"

    exports = ", ".join(found[2] for found in _EXPORT.finditer(source))
    body = _EXPORT.sub(r"\1", _IMPORT.sub(imported, source))
    if left := _LEFT.search(body):
        raise ValueError(f"{path.name}: cannot be joined with other modules: {left[0]!r}")
    return f"const {_name(path)} = (() => {{\n{body}return {{ {exports} }};\n}})();\n"


def _name(path: Path) -> str:
    """The constant that holds a module: `map-view.js` of the page is `page_map_view`."""
    room = "page" if path.parent == PAGE else "widget"
    return f"{room}_{path.stem.replace('-', '_')}"
