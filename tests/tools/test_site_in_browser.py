"""The documentation site in a real browser, opened as a file: its search, and its width.

A small site with the settings of the real one is enough. ``make test-browser`` installs what these
tests need; without it they are skipped.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PROJECT = Path(__file__).resolve().parents[2]
PAGES = {
    "index": "# Home\n\n```{toctree}\nhow-to/retries\nproject/changelog\nreference/api\n```\n",
    "how-to/retries": "# Retries\n\nHow a retry is made, and its backoff.\n",
    "project/changelog": "# Changelog\n\nA retry has a backoff.\n",
    "reference/api": """# API

```{eval-rst}
.. autoclass:: usp.Policy
   :members:
   :undoc-members:
```
""",
}


@pytest.fixture(scope="module")
def site(browser: "Browser", tmp_path_factory: pytest.TempPathFactory) -> Path:
    del browser  # without one, no site is needed
    folder = tmp_path_factory.mktemp("site")
    source, built = folder / "source", folder / "html"
    shutil.copytree(PROJECT / "docs" / "_static", source / "_static")
    for name in ("conf.py", "search_order.js"):
        shutil.copy(PROJECT / "docs" / name, source)
    for name, text in PAGES.items():
        page = source / f"{name}.md"
        page.parent.mkdir(exist_ok=True)
        page.write_text(text, "utf-8")
    subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", source, built],
        cwd=PROJECT,
        env={"PYTHONPATH": str(PROJECT), "PATH": ""},
        check=True,
    )
    return built


def test_the_search_works_in_a_file_and_puts_pages_before_fields(
    browser: "Browser", site: Path
) -> None:
    told: list[str] = []
    with browser.new_context(offline=True) as context:
        page = context.new_page()
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.goto((site / "index.html").as_uri())
        box = page.locator("input[name=q]").first
        box.fill("backoff")
        box.press("Enter")
        results = page.locator("#search-results ul.search > li > a")
        results.nth(3).wait_for()
        found = [result.inner_text() for result in results.all()]
    assert told == []
    fields = [at for at, title in enumerate(found) if title.startswith("usp.Policy.backoff")]
    assert found[0] == "Retries"
    assert fields


@pytest.mark.parametrize("width", [360, 840, 1080, 1320, 1400, 1600])
def test_no_page_is_wider_than_its_window(browser: "Browser", site: Path, width: int) -> None:
    with browser.new_context(viewport={"width": width, "height": 800}) as context:
        page = context.new_page()
        page.goto((site / "reference" / "api.html").as_uri())
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
