"""Opening a page in a real browser."""

from pathlib import Path
from typing import Any


def open_alone(browser: Any, path: Path, width: int, scheme: str) -> Any:
    """The page of a file, after checking that it logs nothing and loads nothing."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    said: list[str] = []
    requested: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: requested.append(request.url))
    page.goto(path.as_uri())
    assert said == []
    assert [url for url in requested if not url.startswith("data:")] == [path.as_uri()]
    return page
