"""The built site can be searched without a network, and its front page shows the app."""

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

WORD = "calibration"


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files without a line on stderr for each."""

    def log_message(self, format: str, *args: Any) -> None: ...


@pytest.fixture
def address(site: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """Where the site is: its folder, or a server on this machine."""
    if request.param == "file":
        yield site.as_uri()
        return
    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page that may load nothing from elsewhere."""
    opened = browser.new_page()
    elsewhere: list[str] = []
    opened.on(
        "request",
        lambda sent: (
            elsewhere.append(sent.url)
            if not sent.url.startswith(("file:", "http://127.0.0.1:", "data:"))
            else None
        ),
    )
    yield opened
    opened.close()
    assert elsewhere == []


@pytest.mark.parametrize("address", ["file", "server"], indirect=True)
def test_a_word_is_found(address: str, page: Any) -> None:
    page.goto(f"{address}/index.html")
    field = page.locator("input[name=q]").first
    field.fill(WORD)
    field.press("Enter")
    page.wait_for_selector("#search-results li a")
    found = page.eval_on_selector_all("#search-results li a", "links => links.map(l => l.href)")
    assert any("decisions/calibration.html" in link for link in found), found
    page.locator("#search-results li a").first.click()
    page.wait_for_load_state()
    assert WORD in page.content().lower()


@pytest.mark.parametrize("address", ["file"], indirect=True)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_the_front_page_shows_the_app_and_moves_only_where_motion_is_welcome(
    address: str, page: Any, scheme: str, motion: str
) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion=motion)
    page.goto(f"{address}/index.html")
    shown = page.locator(".film img >> visible=true")
    assert shown.count() == 1
    page.wait_for_function(
        "() => [...document.querySelectorAll('.film img')].some(i => i.naturalWidth > 0)"
    )
    still = "-still" if motion == "reduce" else ""
    assert shown.evaluate("image => image.currentSrc").endswith(f"/app-{scheme}{still}.webp")
    assert "label" in shown.get_attribute("alt")
    doors = page.locator(".door strong a").all_text_contents()
    assert doors == ["Label", "Learn", "Compare", "Extend"]


@pytest.mark.parametrize("address", ["file"], indirect=True)
@pytest.mark.parametrize("name", ["index", "choosing", "gallery/index", "coming-from/modal"])
def test_a_page_fits_on_a_phone(address: str, page: Any, name: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{address}/{name}.html")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
