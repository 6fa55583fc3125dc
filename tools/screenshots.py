"""Makes the pictures of a report for the documentation: ``make screenshots``.

The report is that of the generated shop (``tests/report/shop.py``), so that the pictures are never
older than the page that they show. ``make test-browser`` installs what is needed.
"""

import os
import shutil
import sys
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any, Final

PROJECT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from PIL import Image
from playwright.sync_api import sync_playwright

import usp
from tests.report.shop import HOME, NOW, SiteClient, shop

PICTURES: Final = PROJECT / "docs" / "_static"
PAGES: Final = 10_000
WIDTH: Final = 1160
HEIGHT: Final = 1320
COLOURS: Final = 256
"""A page has few colours: with a palette a picture takes half of the bytes."""


def main() -> None:
    """Write a light and a dark picture."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("there is no Chromium: make test-browser installs it")
    PICTURES.mkdir(parents=True, exist_ok=True)
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder) / "report.html"
        usp.report(HOME, page, web_client=SiteClient(shop(PAGES)), now=NOW)
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        for scheme in ("light", "dark"):
            picture = PICTURES / f"report-{scheme}.png"
            picture.write_bytes(_smaller(_taken(browser, page, scheme)))
            sys.stdout.write(f"{picture.relative_to(PROJECT)}: {picture.stat().st_size:,} bytes\n")
        browser.close()


def _taken(browser: Any, page: Path, scheme: str) -> bytes:  # noqa: ANN401 -- of Playwright, where it is installed
    size = {"width": WIDTH, "height": HEIGHT}
    context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
    opened = context.new_page()
    opened.goto(page.as_uri())
    picture: bytes = opened.screenshot()
    context.close()
    return picture


def _smaller(picture: bytes) -> bytes:
    made = BytesIO()
    with Image.open(BytesIO(picture)) as image:
        image.convert("RGB").quantize(COLOURS).save(made, "PNG", optimize=True)
    return made.getvalue()


if __name__ == "__main__":
    main()
