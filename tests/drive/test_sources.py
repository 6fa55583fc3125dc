"""Sources of a crawl or of ``parse``: the URL of a sitemap, a file, standard input, a string."""

import gzip
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import usp
from tests.server import SITEMAP_NS, LoopbackServer, index, urlset
from usp import Outcome
from usp.exceptions import SitemapException
from usp.objects.outcome import FoundBy
from usp.objects.sitemap import (
    IndexRobotsTxtSitemap,
    IndexXMLSitemap,
    InvalidSitemap,
    PagesTextSitemap,
    PagesXMLSitemap,
    SitemapLink,
)
from usp.web_client.requests_client import RequestsWebClient


def with_tree(source: Any, **options: Any) -> list[str]:
    return [page.url for page in usp.sitemap_tree(source, **options).all_pages()]


def with_stream(source: Any, **options: Any) -> list[str]:
    return [page.url for page in usp.iter_pages(source, **options)]


HOME = "http://h.example/"
CRAWLS = [with_tree, with_stream]


def test_a_source_may_be_the_url_of_a_sitemap(server: LoopbackServer) -> None:
    server.site["/maps/index.xml"] = index(server.at("/maps/a.xml"), "b.xml")
    server.site["/maps/a.xml"] = urlset("/1")
    server.site["/maps/b.xml"] = urlset("2")
    tree = usp.sitemap_tree(server.at("/maps/index.xml"))
    assert tree.outcome is Outcome.FOUND
    assert tree.url == server.at("/maps/index.xml")
    (root,) = tree.sub_sitemaps
    assert isinstance(root, IndexXMLSitemap)
    assert root.found_by is FoundBy.GIVEN
    assert with_tree(tree.url) == [server.at("/1"), server.at("/maps/2")]
    assert set(server.requested) == {f"/maps/{name}.xml" for name in ("index", "a", "b")}


def test_a_missing_sitemap_is_invalid(server: LoopbackServer) -> None:
    tree = usp.sitemap_tree(server.at("/gone.xml"))
    assert isinstance(tree.sub_sitemaps[0], InvalidSitemap)
    assert [attempt.result for attempt in tree.tried] == ["missing"]


@pytest.mark.parametrize("crawl", CRAWLS)
def test_a_source_may_be_a_homepage(
    server: LoopbackServer, crawl: Callable[..., list[str]]
) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(server.at("/1"))
    assert crawl(server.url) == [server.at("/1")]
    assert server.requested == ["/robots.txt", "/a.xml"], "known paths only where nothing is found"


@pytest.mark.parametrize("crawl", CRAWLS)
def test_a_url_without_a_path_is_a_homepage_however_it_is_written(
    server: LoopbackServer, crawl: Callable[..., list[str]]
) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(server.at("/1"))
    for url in (server.url.replace("http", "HTTP"), f"{server.url}?", f"{server.url}#top"):
        assert crawl(url) == [server.at("/1")]


@pytest.mark.parametrize("crawl", CRAWLS)
@pytest.mark.parametrize("encode", [bytes, gzip.compress])
@pytest.mark.parametrize("kind", [str, Path])
def test_a_source_may_be_a_file_with_any_name(
    tmp_path: Path, crawl: Callable[..., list[str]], encode: Callable[[bytes], bytes], kind: type
) -> None:
    file = tmp_path / "any name"
    file.write_bytes(
        encode(urlset("http://h/1", "/relative", *(f"http://h/{n}" for n in range(5000))))
    )
    found = crawl(kind(file))
    assert found[:3] == ["http://h/1", "/relative", "http://h/0"]
    assert len(found) == 5001


def test_the_name_of_a_file_is_its_url_and_may_make_it_a_robots_txt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "robots.txt"
    file.write_text("Sitemap: relative.xml\n")
    tree = usp.sitemap_tree(file)
    assert tree.url == str(file)
    assert isinstance(tree.sub_sitemaps[0], IndexRobotsTxtSitemap)
    monkeypatch.chdir(tmp_path)
    assert isinstance(usp.sitemap_tree("robots.txt").sub_sitemaps[0], IndexRobotsTxtSitemap)
    file = tmp_path / "list.txt"
    file.write_text("http://h/1\nhttp://h/2\n")
    (sitemap,) = usp.sitemap_tree(file).sub_sitemaps
    assert isinstance(sitemap, PagesTextSitemap)
    assert sitemap.url == str(file)
    file.unlink()
    assert len(sitemap.pages) == 2, "the file was read when the crawl started"


def test_an_index_in_a_file_may_list_sitemaps_at_public_addresses_only(
    server: LoopbackServer, tmp_path: Path
) -> None:
    file = tmp_path / "index.xml"
    file.write_bytes(index(server.at("/a.xml"), "relative.xml"))
    server.site["/a.xml"] = urlset(server.at("/1"))
    tree = usp.sitemap_tree(file)
    assert tree.outcome is Outcome.PARTIAL
    private, relative = tree.sub_sitemaps[0].sub_sitemaps
    assert isinstance(private, InvalidSitemap)
    assert "not a public address" in private.reason
    assert isinstance(relative, InvalidSitemap)
    assert relative.code == "SM604"
    client = RequestsWebClient(private_addresses="allow")
    tree = usp.sitemap_tree(file, web_client=client)
    client.close()
    assert isinstance(tree.sub_sitemaps[0].sub_sitemaps[0], PagesXMLSitemap)


@pytest.mark.parametrize(
    "data", [urlset("http://h/1"), gzip.compress(urlset("http://h/1"))], ids=["plain", "gzip"]
)
@pytest.mark.parametrize(
    "program",
    [
        "import usp; print([page.url for page in usp.iter_pages('-')])",
        "import usp; print([page.url for page in usp.sitemap_tree('-').all_pages()])",
    ],
)
def test_a_source_may_be_standard_input(data: bytes, program: str) -> None:
    finished = subprocess.run(
        [sys.executable, "-c", program], input=data, capture_output=True, check=True
    )
    assert finished.stdout.decode().strip() == "['http://h/1']"


@pytest.mark.parametrize("stdin", ["None", "io.StringIO('<urlset/>')"])
def test_without_a_standard_input_of_bytes_an_error_says_so(stdin: str) -> None:
    program = f"""import io, sys, usp, usp.exceptions
sys.stdin = {stdin}
try:
    usp.sitemap_tree('-')
except usp.exceptions.SitemapException as error:
    print(error)"""
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert finished.stdout.decode().strip() == "- can't be read: there is no standard input."


def test_the_document_size_limit_applies_to_files(tmp_path: Path) -> None:
    file = tmp_path / "a.xml"
    file.write_bytes(urlset(*(f"http://h/{number}" for number in range(1000))))
    found = usp.sitemap_tree(file, max_document_bytes=5000)
    names = {problem.name for sub in found.all_sitemaps() for problem in sub.problems}
    assert 0 < len(list(found.all_pages())) < 1000
    assert "document-too-large" in names


@pytest.mark.parametrize("crawl", CRAWLS)
def test_a_source_that_cannot_be_used_raises_at_once(
    tmp_path: Path, crawl: Callable[..., list[str]]
) -> None:
    for wrong, why in {
        tmp_path: "directory",
        tmp_path / "gone.xml": "No such file",
        "gone.xml": "No such file",
        "./gone": "No such file",
        "two words": "neither a URL",
        "ftp://h/a.xml": "neither a URL",
        "": "neither a URL",
    }.items():
        with pytest.raises(SitemapException, match=why):
            crawl(wrong)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_source_may_be_a_named_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; open(sys.argv[1], 'w').write('http://h/1\\n')",
            str(pipe),
        ]
    ):
        assert with_tree(pipe) == ["http://h/1"]


def test_unknown_elements_are_kept_as_extensions_on_request(
    server: LoopbackServer, tmp_path: Path
) -> None:
    shop = 'xmlns:shop="http://shop.example/"'
    entry = "<url><loc>http://h/1</loc><shop:price unit='EUR'>5</shop:price></url>"
    document = f'<urlset xmlns="{SITEMAP_NS}" {shop}>{entry}</urlset>'
    server.site["/a.xml"] = document
    file = tmp_path / "a.xml"
    file.write_text(document)
    crawl = usp.Crawl("http://h/a.xml", usp.Policy(extensions=True))
    (request,) = crawl.take(0.0)
    crawl.deliver(request, document.encode(), 0.0)
    for source in (server.at("/a.xml"), file):
        pages = [
            *usp.iter_pages(source, extensions=True),
            *usp.sitemap_tree(source, extensions=True).all_pages(),
            *crawl.tree().all_pages(),
        ]
        texts = [[element.text for element in page.extensions or ()] for page in pages]
        assert texts == [["5"]] * 3
        (page,) = usp.iter_pages(source)
        assert not page.extensions


INDEX = b"""<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<sitemap><loc>/a.xml</loc><lastmod>2024-05-01</lastmod></sitemap>
<sitemap><loc>http://h.example/b.xml</loc></sitemap></sitemapindex>"""


def test_parse_reads_one_document_without_fetching() -> None:
    sitemap = usp.parse(INDEX, url=f"{HOME}sub/index.xml")
    assert isinstance(sitemap, IndexXMLSitemap)
    assert sitemap.url == f"{HOME}sub/index.xml"
    first, second = sitemap.sub_sitemaps
    assert isinstance(first, SitemapLink)
    assert (first.url, first.index_lastmod) == (f"{HOME}a.xml", datetime(2024, 5, 1, tzinfo=UTC))
    assert isinstance(second, SitemapLink)
    assert second.index_lastmod is None
    assert sitemap.tree_complete
    assert pickle.loads(pickle.dumps(sitemap)) == sitemap
    robots = usp.parse("Sitemap: /a.xml", url=f"{HOME}robots.txt")
    assert isinstance(robots, IndexRobotsTxtSitemap)
    assert [sub.url for sub in robots.sub_sitemaps] == [f"{HOME}a.xml"]


@pytest.mark.parametrize("folder", ["users", "Users", "A:b"])
def test_the_path_of_a_file_is_no_scheme(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir()
    file = tmp_path / folder / "Sitemap.xml"
    file.write_bytes(urlset("https://www.python.org/a"))
    stream = usp.iter_pages(str(file))
    assert [page.url for page in stream] == ["https://www.python.org/a"]
    assert not stream.problems
    assert "SM103" not in {finding.code for finding in usp.check(str(file))}
