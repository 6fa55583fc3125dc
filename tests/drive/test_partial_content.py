"""A part of a document that nobody asked for (206) is not the whole document."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

import usp
from tests.drive.ways import WAYS, Finding
from tests.server import Answer, LoopbackServer, urlset
from usp import Outcome

PAGES = [f"http://h.example/page-{number}" for number in range(20)]
TEXT = "".join(f"{url}\n" for url in PAGES).encode()
XML = urlset(*PAGES)
CUT = 100
"""In the middle of a URL, in both."""

Way = Callable[..., Finding]


def part(document: bytes, content_range: str | None) -> Answer:
    headers = {} if content_range is None else {"Content-Range": content_range}
    return Answer(206, document, headers)


def crawl(way: Way, server: LoopbackServer, path: str, answer: Answer) -> Finding:
    server.robots(path)
    server.site[path] = answer
    return way(server.url, use_known_paths=False)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize(("path", "document"), [("/s.txt", TEXT), ("/s.xml", XML)])
def test_the_beginning_of_a_document_is_read_like_a_body_that_broke_off(
    server: LoopbackServer, way: Way, path: str, document: bytes
) -> None:
    keep = len(document) // 2
    answer = part(document[:keep], f"bytes 0-{keep - 1}/{len(document)}")
    found = crawl(way, server, path, answer)
    assert found.outcome is Outcome.PARTIAL
    assert "SM102" in {problem.code for problem in found.problems}
    assert "206 Partial Content" in found.problems[0].message
    assert found.pages == PAGES[: len(found.pages)]
    assert 5 < len(found.pages) < 15
    assert server.requested.count(path) == 1


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_part_that_is_all_of_a_document_is_whole(server: LoopbackServer, way: Way) -> None:
    answer = part(TEXT, f"bytes 0-{len(TEXT) - 1}/{len(TEXT)}")
    found = crawl(way, server, "/s.txt", answer)
    assert (found.outcome, found.pages, found.problems) == (Outcome.FOUND, PAGES, ())


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_part_with_fewer_bytes_than_it_claims_is_not_whole(
    server: LoopbackServer, way: Way
) -> None:
    answer = part(TEXT[:CUT], f"bytes 0-{len(TEXT) - 1}/{len(TEXT)}")
    found = crawl(way, server, "/s.txt", answer)
    assert (found.outcome, found.pages) == (Outcome.PARTIAL, PAGES[: TEXT[:CUT].count(b"\n")])


def test_the_bytes_of_a_part_are_counted_as_they_are_received(server: LoopbackServer) -> None:
    body = gzip.compress(TEXT)
    whole = {"Content-Range": f"bytes 0-{len(body) - 1}/{len(body)}", "Content-Encoding": "gzip"}
    found = crawl(WAYS["tree"], server, "/s.txt", Answer(206, body, whole))
    assert (found.outcome, found.pages) == (Outcome.FOUND, PAGES)


def test_a_content_range_in_a_whole_response_means_nothing(server: LoopbackServer) -> None:
    answer = Answer(200, TEXT, {"Content-Range": "bytes 0-9/100000"})
    found = crawl(WAYS["tree"], server, "/s.txt", answer)
    assert (found.outcome, found.pages) == (Outcome.FOUND, PAGES)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize(
    "content_range",
    [f"bytes 30-{len(TEXT) - 1}/{len(TEXT)}", None, "bytes 0-", f"bytes */{len(TEXT)}"],
)
def test_a_part_from_elsewhere_is_a_failed_fetch(
    server: LoopbackServer, way: Way, content_range: str | None
) -> None:
    found = crawl(way, server, "/s.txt", part(TEXT[30:], content_range))
    assert (found.outcome, found.pages) == (Outcome.UNREACHABLE, [])
    assert "206 Partial Content" in found.tried[-1].detail


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_two_ranges_that_contradict_one_another_say_nothing(
    server: LoopbackServer, way: Way
) -> None:
    whole = f"bytes 0-{len(TEXT) - 1}/{len(TEXT)}"
    repeated = {"Content-Range": whole, "content-range": "bytes 0-1/999999"}
    found = crawl(way, server, "/s.txt", Answer(206, TEXT, repeated))
    assert (found.outcome, found.pages) == (Outcome.UNREACHABLE, [])


def test_a_part_of_unknown_size_may_not_be_all(server: LoopbackServer) -> None:
    server.site["/s.txt"] = part(TEXT, f"bytes 0-{len(TEXT) - 1}/*")
    (sitemap,) = usp.sitemap_tree(server.at("/s.txt")).sub_sitemaps
    assert sitemap.fetch_info.truncated


def test_a_sync_takes_nothing_away_for_a_part(server: LoopbackServer, tmp_path: Path) -> None:
    url, state = server.at("/s.txt"), tmp_path / "state.db"
    server.site["/s.txt"] = TEXT
    assert list(usp.sync(url, state=state)) == []
    server.site["/s.txt"] = part(TEXT[:CUT], f"bytes 0-{CUT - 1}/{len(TEXT)}")
    with usp.sync(url, state=state, confirm=1, max_removed=1) as found:
        assert list(found) == []
    assert found.reports[0].incomplete == 1
