"""All commands that read one site look for its sitemaps at the same places."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import usp
from tests.server import Answer, LoopbackServer, urlset
from usp._crawl.discovery import KNOWN_PATHS

AT_KNOWN_PATHS = {f"/{path}" for path in KNOWN_PATHS}


@pytest.fixture
def site(server: LoopbackServer) -> LoopbackServer:
    """A site with a sitemap at a known path, and one that only the homepage links."""
    link = "<html><link rel='sitemap' href='/linked.xml'></html>"
    server.site |= {
        "/": Answer(body=link, headers={"Content-Type": "text/html"}),
        "/linked.xml": urlset(server.at("/3")),
        "/declared.xml": urlset(server.at("/1")),
        "/sitemap_news.xml": urlset(server.at("/2")),
    }
    return server


def each_command(url: str, folder: Path) -> Iterator[tuple[str, ...]]:
    """Yield every command that reads one site, in every way in which it does."""
    (folder / "list.txt").write_text(f"{url}1\n{url}2\n")
    for form in ("tabtree", "tried", "pages", "csv", "jsonl"):
        yield "ls", url, "-f", form
    yield "find", url
    yield "export", url, "-o", str(folder / "pages.csv"), "--replace"
    yield "check", url, "--exit-zero"
    yield "sync", url, "--state", str(folder / "state.db")
    yield "diff", str(folder / "list.txt"), url
    yield "report", url, "-f", "markdown"
    yield "report", url, "-f", "markdown", "--no-check"


@pytest.mark.slow
@pytest.mark.parametrize("declared", [("/declared.xml",), ()])
def test_every_command_tries_known_paths(
    site: LoopbackServer, tmp_path: Path, declared: tuple[str, ...]
) -> None:
    site.robots(*declared)
    for command in each_command(site.url, tmp_path):
        site.requests.clear()
        assert usp(*command).code == 0
        assert set(site.requested) == {"/robots.txt", *declared, *AT_KNOWN_PATHS}, command


@pytest.mark.slow
def test_no_command_tries_known_paths_without_leave(site: LoopbackServer, tmp_path: Path) -> None:
    site.robots("/declared.xml")
    for command in each_command(site.url, tmp_path):
        site.requests.clear()
        assert usp(*command, "-k").code == 0
        assert set(site.requested) == {"/robots.txt", "/declared.xml"}, command
