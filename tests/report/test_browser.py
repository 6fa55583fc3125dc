"""Pages of reports in a real browser: Chromium, driven by Playwright.

``make test-browser`` installs what these tests need. Without it they are skipped, and the reason
says what is missing.
"""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import usp
from tests.report.hostile import HOME as EVIL
from tests.report.hostile import MARK, hostile_site
from tests.report.shop import HOME, NOW, SiteClient, shop
from usp._report.collect import ReportCollector
from usp._report.commands import Commands
from usp._report.html import html_page
from usp._tables.batch import Batch
from usp._tables.schema import TABLES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

PROJECT = Path(__file__).resolve().parents[2]
AXE = Path(os.environ.get("USP_AXE", PROJECT / ".browser/node_modules/axe-core/axe.min.js"))
PAGES = 2000
MAX_BYTES = 3_000_000


@dataclass(slots=True)
class Opened:
    """A page that is open, and what happened in it."""

    page: "Page"
    requests: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    def rows(self, section: str) -> list[list[str]]:
        """The texts of the rows that a table of a section shows."""
        rows = self.page.locator(f"#{section} tbody tr.shown").all()
        return [row.locator("th, td").all_inner_texts() for row in rows]

    def head(self, section: str, title: str) -> "Locator":
        """The button in the head of a column."""
        return self.page.locator(f"#{section} thead").get_by_role("button", name=title, exact=True)


Open = Callable[..., Opened]


@pytest.fixture
def opened(browser: "Browser") -> Iterator[Open]:
    """Opens a page; nothing may be requested or reported in it."""
    pages: list[Opened] = []

    def open_page(file: Path, **options: Any) -> Opened:
        page = browser.new_context(**options).new_page()
        made = Opened(page)
        pages.append(made)
        page.on("request", lambda request: made.requests.append(request.url))
        page.on("console", lambda message: made.messages.append(message.text))
        page.on("pageerror", lambda error: made.messages.append(str(error)))
        page.on("dialog", lambda dialog: made.messages.append(dialog.message))
        page.goto(file.as_uri())
        return made

    yield open_page
    for made in pages:
        assert made.messages == []
        assert [url for url in made.requests if not url.startswith("file:")] == []
        made.page.context.close()


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> usp.ReportResult:
    file = tmp_path_factory.mktemp("report") / "report.html"
    return usp.report(HOME, file, web_client=SiteClient(shop(PAGES)), now=NOW)


def number(text: str) -> int:
    return int(re.sub(r"\D", "", text) or -1)


def test_the_numbers_at_the_top_are_those_of_the_report(
    opened: Open, result: usp.ReportResult
) -> None:
    page = opened(result.path).page
    shown = dict(
        zip(
            page.locator(".numbers dt").all_inner_texts(),
            map(number, page.locator(".numbers .value").all_inner_texts()),
            strict=True,
        )
    )
    assert shown["pages listed"] == result.pages
    assert shown["different URLs"] == result.urls
    assert shown["sitemaps"] == result.sitemaps
    assert shown["errors"] == result.errors
    assert page.locator("h1").inner_text() == "www.example.org"
    assert page.title() == "Sitemap report: www.example.org"


def test_charts_have_a_column_for_each_number_behind_them(
    opened: Open, result: usp.ReportResult
) -> None:
    page = opened(result.path).page
    for chart in page.locator("#dates figure").all():
        columns = chart.locator(".plot rect").all()
        heights = [float(column.get_attribute("height") or 0) for column in columns]
        behind = [number(cell) for cell in chart.locator(".behind td").all_text_contents()]
        assert len(columns) == len(behind) > 30
        assert heights.index(max(heights)) == behind.index(max(behind))
        assert chart.locator(".plot").get_attribute("aria-label")


def test_a_table_sorts_by_numbers_and_by_texts(opened: Open, result: usp.ReportResult) -> None:
    made = opened(result.path)
    assert [row[1] for row in made.rows("sitemaps")[:2]] == ["failed", "failed"]
    button = made.head("sitemaps", "pages")
    button.click()
    pages = [number(row[3]) for row in made.rows("sitemaps") if row[3]]
    assert pages == sorted(pages, reverse=True)
    button.click()
    pages = [number(row[3]) for row in made.rows("sitemaps") if row[3]]
    assert pages == sorted(pages)
    head = made.page.locator("#sitemaps th", has_text="pages").first
    assert head.get_attribute("aria-sort") == "ascending"
    made.head("sitemaps", "sitemap").click()
    urls = [row[0] for row in made.rows("sitemaps")]
    assert urls == sorted(urls)
    assert head.get_attribute("aria-sort") is None


def test_a_table_is_searched_and_paged(opened: Open, result: usp.ReportResult) -> None:
    made = opened(result.path)
    section = made.page.locator("#folders")
    status = section.locator(".controls [role=status]")
    total = number(status.inner_text().partition(" of ")[2])
    assert total > 100
    first = made.rows("folders")
    assert len(first) == 10
    section.get_by_role("button", name="Next page").click()
    assert status.inner_text() == f"11\N{EN DASH}20 of {total}"
    assert made.rows("folders") != first
    section.get_by_role("button", name="Previous page").click()
    assert made.rows("folders") == first
    section.get_by_role("searchbox").fill("garden de/")
    rows = made.rows("folders")
    assert rows
    assert all("/de/" in row[0] and "garden" in row[0] for row in rows)
    section.get_by_role("searchbox").fill("no such folder")
    assert made.rows("folders") == []
    assert status.inner_text() == "0"


def folder(page: "Page", name: str) -> "Locator":
    """The block of a folder, by its accessible name."""
    return page.locator("#icicle").get_by_role("button", name=re.compile(rf"^{name}: [\d,]+ pages"))


def is_focused(page: "Page", name: str) -> bool:
    return bool(folder(page, name).evaluate("(block) => block === document.activeElement"))


def test_a_folder_is_entered_by_a_click_and_left_by_its_trail(
    opened: Open, result: usp.ReportResult
) -> None:
    page = opened(result.path).page
    trail, command = page.locator(".trail"), page.locator("#folder-command")
    assert command.inner_text().endswith(r"--include '^https?://www\.example\.org/'")
    folder(page, "en").click()
    assert re.fullmatch(r"www\.example\.org\s+en/ [\d,]+ pages", trail.inner_text())
    assert command.inner_text().endswith(r"--include '^https?://www\.example\.org/en/'")
    folder(page, "garden").click()
    assert command.inner_text().endswith(r"org/en/shop/garden/'")
    trail.get_by_role("button", name="www.example.org").click()
    assert trail.inner_text() == f"www.example.org {result.pages:,} pages"


def test_folders_are_walked_with_the_keyboard(opened: Open, result: usp.ReportResult) -> None:
    page = opened(result.path).page
    focused = page.locator(".icicle g:focus")
    page.locator(".icicle g[tabindex='0']").focus()
    assert focused.locator("title").text_content() == (
        f"www.example.org: {result.pages:,} pages, 6 folders"
    )
    page.keyboard.press("ArrowDown")
    assert is_focused(page, "en")
    page.keyboard.press("ArrowRight")
    assert is_focused(page, "de")
    page.keyboard.press("Enter")
    assert page.locator(".trail [aria-current]").inner_text().startswith("de/ ")
    assert "de: " in page.locator(".icicle [role=status]").inner_text()
    page.keyboard.press("Escape")
    assert page.locator(".trail [aria-current]").inner_text().startswith("www.example.org ")


def test_the_blocks_of_a_level_are_as_wide_as_their_pages(
    opened: Open, result: usp.ReportResult
) -> None:
    page = opened(result.path).page
    blocks = page.evaluate(
        """() => [...document.querySelectorAll(".icicle g")].filter((g) => g.folder).map((g) =>
        [g.folder.pages, g.querySelector("rect").width.baseVal.value])"""
    )
    width = page.locator("#icicle").bounding_box()
    assert width is not None
    assert len(blocks) > 40
    for pages, wide in blocks:
        assert wide == pytest.approx(width["width"] * pages / result.pages, abs=1)


def test_a_button_copies_its_command(opened: Open, result: usp.ReportResult) -> None:
    permissions = ["clipboard-read", "clipboard-write"]
    page = opened(result.path, permissions=permissions).page
    row = page.locator("#sitemaps .command")
    row.get_by_role("button").click()
    row.get_by_text("Copied").wait_for()
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert (
        copied
        == row.locator("code").inner_text()
        == (f"usp export {HOME} -o sitemaps.csv --table sitemaps")
    )
    page.locator("#content").get_by_label("Copy the command for https").click()
    page.locator("#content").get_by_text("Copied").wait_for()
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied == f"usp ls {HOME} -f pages --include '^https:'"


def background(page: "Page") -> str:
    return str(page.evaluate("() => getComputedStyle(document.body).backgroundColor"))


def test_a_page_is_light_or_dark_as_its_reader_likes(
    opened: Open, result: usp.ReportResult
) -> None:
    assert background(opened(result.path, color_scheme="light").page) == "rgb(255, 255, 255)"
    dark = opened(result.path, color_scheme="dark").page
    assert background(dark) == "rgb(18, 23, 28)"
    dark.emulate_media(media="print", color_scheme="dark")
    assert background(dark) == "rgb(255, 255, 255)"


@pytest.mark.parametrize("width", [360, 1400])
def test_a_page_is_never_wider_than_its_window(
    opened: Open, result: usp.ReportResult, width: int
) -> None:
    page = opened(result.path, viewport={"width": width, "height": 800}).page
    assert page.evaluate("() => document.documentElement.scrollWidth") == width


def test_the_numbers_of_folders_are_in_sight_on_a_small_screen(
    opened: Open, result: usp.ReportResult
) -> None:
    page = opened(result.path, viewport={"width": 360, "height": 800}).page
    table = page.locator("#folders .scroll")
    assert table.evaluate("one => one.scrollWidth - one.clientWidth") == 0


def test_a_printed_page_has_findings_and_no_controls(
    opened: Open, result: usp.ReportResult
) -> None:
    page = opened(result.path).page
    page.emulate_media(media="print")
    assert not page.locator(".controls").first.is_visible()
    assert not page.locator(".copy").first.is_visible()
    assert not page.locator(".hint").first.is_visible()
    assert not page.locator(".behind").first.is_visible()
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".findings .body").first.is_visible()
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert not page.locator(".findings .body").first.is_visible()
    assert page.pdf(format="A4").startswith(b"%PDF-")


def test_without_script_everything_is_readable(opened: Open, result: usp.ReportResult) -> None:
    page = opened(result.path, java_script_enabled=False).page
    rows = page.locator("#sitemaps tbody tr")
    assert rows.count() >= result.sitemaps
    assert page.locator("#folders tbody tr").last.is_visible()
    assert page.locator("#dates .plot").first.is_visible()
    assert not page.locator(".copy").first.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1400])
def test_no_rule_of_accessibility_is_violated(
    opened: Open, result: usp.ReportResult, scheme: str, width: int
) -> None:
    if not AXE.is_file():
        pytest.skip("there is no axe-core: make test-browser installs it")
    size = {"width": width, "height": 800}
    page = opened(result.path, color_scheme=scheme, viewport=size, reduced_motion="reduce").page
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")  # opens all findings
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("() => axe.run()")
    assert [
        (one["id"], [node["html"][:200] for node in one["nodes"][:3]])
        for one in found["violations"]
    ] == []
    assert len(found["passes"]) > 20


def test_nothing_that_a_site_says_runs(opened: Open, tmp_path: Path) -> None:
    client = SiteClient(hostile_site(), EVIL)
    made = usp.report(EVIL, tmp_path / "evil.html", web_client=client, now=NOW)
    page = opened(made.path).page
    for _ in range(3):
        page.keyboard.press("Tab")
    page.locator(".icicle g[tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator("#folders").get_by_role("searchbox").fill("<script>")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(f"() => typeof window.{MARK}") == "undefined"
    assert page.locator("iframe, img, object").count() == 0
    assert page.locator("script").count() == 2


def test_a_script_that_got_into_a_page_would_not_run(opened: Open, tmp_path: Path) -> None:
    made = usp.report(HOME, tmp_path / "r.html", web_client=SiteClient(shop(40)), now=NOW)
    evil = f"<script>window.{MARK}=1</script><img src=x onerror='window.{MARK}=1'></body>"
    made.path.write_text(made.path.read_text().replace("</body>", evil))
    found = opened(made.path)
    assert found.page.evaluate(f"() => typeof window.{MARK}") == "undefined"
    assert len(found.messages) == 3
    assert all("Content Security Policy" in message for message in found.messages)
    found.messages.clear()


def largest_page() -> str:
    """A page with as much in every list as there can be, and long names in all of them."""
    collector = ReportCollector(NOW, is_check=False)
    name = "long-name-of-a-folder"
    for first in range(0, 20_000, 1000):
        urls = [
            f"https://h{at % 150}.example/{name}-{at % 7}/{name}-{at % 61}/{name}-{at}/page"
            for at in range(first, first + 1000)
        ]
        dates = [
            (at * 9_000_000_000_000) % (20_000 * 86_400_000_000)
            for at in range(first, first + 1000)
        ]
        table = TABLES["pages"].only(["url", "lastmod"])
        collector.add(Batch(table, {"url": urls, "lastmod": dates}, 1000))
    long = "x" * 180
    for table_name, row in {
        "sitemaps": {"state": "failed", "code": "SM101", "reason": f"503 {long}", "kind": "urlset"},
        "attempts": {"stage": "robots.txt", "result": "missing", "detail": long},
        "sites": {"outcome": "unreachable", "code": "SM101"},
    }.items():
        key = "site" if table_name == "sites" else "url"
        rows = [{key: f"https://example.org/{at}/{long}", **row} for at in range(3000)]
        collector.add(Batch.of_rows(TABLES[table_name].only([key, *row]), rows))
    found = collector.report("example.org", None, NOW)
    collector.close()
    return html_page(found, Commands.of_crawl("example.org"))


def test_the_largest_page_is_small_and_opens_at_once(opened: Open, tmp_path: Path) -> None:
    file = tmp_path / "large.html"
    file.write_text(largest_page())
    assert file.stat().st_size < MAX_BYTES
    page = opened(file).page
    client = page.context.new_cdp_session(page)
    # The time that the page takes of the processor, whatever else the machine does.
    client.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = _metrics(client)
    page.reload()
    after = _metrics(client)
    assert after["TaskDuration"] - before["TaskDuration"] < 1


def _metrics(client: Any) -> dict[str, float]:
    found = client.send("Performance.getMetrics")["metrics"]
    return {one["name"]: one["value"] for one in found}
