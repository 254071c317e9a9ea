"""Take the README's screenshots of the demo: ``make picture``.

They show the top of out/demo/index.html up to the first strip of questions, in light and dark.
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "out" / "demo" / "index.html"
WIDTH = 1120


def main() -> None:
    browser_path = shutil.which("chromium")
    if browser_path is None or not PAGE.is_file():
        sys.exit("picture: needs chromium on the PATH and the page that `poise demo` writes")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            page = browser.new_page(
                viewport={"width": WIDTH, "height": 900}, color_scheme=scheme, device_scale_factor=1
            )
            page.goto(PAGE.as_uri())
            strip = page.locator(".strip").first.locator("..").bounding_box()
            assert strip is not None
            height = strip["y"] + strip["height"] + 10  # ends before the next card
            page.screenshot(
                path=HERE / f"demo-{scheme}.png",
                full_page=True,
                clip={"x": 0, "y": 0, "width": WIDTH, "height": height},
            )
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
