"""One self-contained HTML page: no script, no request to anywhere."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files

# With this policy, a browser loads nothing from outside, even if the page asks for it.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def sheet(name: str) -> str:
    """A style sheet of this package."""
    return files("poise.experiments.drawing").joinpath(name).read_text(encoding="utf-8")


def page(title: str, *parts: str, sheets: Sequence[str] = ()) -> str:
    """A page of `parts` (HTML) with `title` (plain text); `sheets` are additional style sheets."""
    style = "\n".join(sheet(name) for name in ("charts.css", "page.css", *sheets))
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en-GB">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            f"<title>{escape(title)}</title>",
            '<link rel="icon" href="data:,">',
            f"<style>\n{style}</style>",
            "</head>",
            "<body>",
            *parts,
            "</body>",
            "</html>\n",
        ]
    )


def figure(heading: str, legend: str, chart: str, caption: str) -> str:
    """A chart (HTML) with its heading and caption (plain text)."""
    return (
        f'<figure class="card"><h3>{escape(heading)}</h3>{legend}{chart}'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of plain text; its first column names the rows."""
    top = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return (
        '<div class="scroll" role="group" aria-label="Table" tabindex="0">'
        f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def facts(pairs: Mapping[str, object]) -> str:
    """Names and values, one pair per line."""
    entries = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(str(value))}</dd>" for name, value in pairs.items()
    )
    return f'<dl class="facts">{entries}</dl>'


def compared(values: Mapping[str, tuple[float, str]]) -> str:
    """Bars of compared methods, in the order of a chart's series: name -> (share, text)."""
    entries = "".join(
        f'<dt><span>{escape(name)}</span><b>{escape(text)}</b></dt><dd class="c{position}">'
        f'<i style="width:{100 * min(max(share, 0.0), 1.0):.1f}%"></i></dd>'
        for position, (name, (share, text)) in enumerate(values.items())
    )
    return f'<dl class="compared">{entries}</dl>'
