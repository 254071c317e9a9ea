"""Symbols and numbers in the texts of figures: for SVG, for HTML, and as plain words.

Between dollar signs letters are symbols: ``$R_s$`` is an italic R with the subscript s.
"""

import re
from collections.abc import Iterator
from html import escape

_SYMBOLS = re.compile(r"\$([^\s$](?:[^$]*[^\s$])?)\$")
_PIECES = re.compile(r"_(\w)|([^_])")
_SMALL = str.maketrans("0123456789so", "₀₁₂₃₄₅₆₇₈₉ₛₒ")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
#: How far a subscript is below the line, in the units of the picture.
DROP = 3.5


def svg(words: str) -> str:
    """The content of a ``<text>`` element."""
    parts, low = [], 0.0
    for kind, piece in _pieces(words):
        looks, target = "", 0.0
        if kind == "below":
            looks, target = ' font-size="72%"', DROP
        elif kind == "letter":
            looks = ' font-style="italic"'
        if low != target:
            looks += f' dy="{target - low:g}"'
            low = target
        parts.append(f"<tspan{looks}>{escape(piece)}</tspan>" if looks else escape(piece))
    return "".join(parts)


def html(words: str) -> str:
    """The content of an HTML element."""
    tags = {"below": "sub", "letter": "i"}
    return "".join(
        f"<{tags[kind]}>{escape(piece)}</{tags[kind]}>" if kind in tags else escape(piece)
        for kind, piece in _pieces(words)
    )


def plain(words: str) -> str:
    """The text where nothing can be italic: titles, descriptions, terminals."""
    return "".join(
        piece.translate(_SMALL) if kind == "below" else piece for kind, piece in _pieces(words)
    )


def power(exponent: float) -> str:
    """A power of ten: ``10⁻³``, ``1``, or ``3.2·10⁻³`` if the exponent is not whole."""
    whole = round(exponent)
    if abs(exponent - whole) < 1e-9:
        return {0: "1", 1: "10"}.get(whole, f"10{str(whole).translate(_RAISED)}")
    digits, _, power_of_ten = f"{10 ** (exponent % 1):.1f}e{exponent // 1:.0f}".partition("e")
    if power_of_ten in ("-1", "0"):
        return f"{10**exponent:.2g}"
    return f"{digits}·10{power_of_ten.translate(_RAISED)}"


def _pieces(words: str) -> Iterator[tuple[str, str]]:
    """The text cut into pieces: words, symbols' letters, what is below the line, and the rest."""
    for place, part in enumerate(_SYMBOLS.split(words)):
        if place % 2 == 0:
            if part:
                yield "words", part
            continue
        for below, piece in _PIECES.findall(part):
            yield "below" if below else "letter" if piece.isalpha() else "other", below or piece
