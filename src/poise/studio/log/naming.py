"""Names of classes that look alike: "Cat" and "cat"."""

import unicodedata
from collections.abc import Iterable


def alike(name: str, others: Iterable[str]) -> str | None:
    """One of the other names that differs only in case, width or spaces, if there is one."""
    wanted = _folded(name)
    return next((other for other in others if other != name and _folded(other) == wanted), None)


def _folded(name: str) -> str:
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return "".join(plain.split())
