"""What stands before or after a document: junk costs nothing, a second document is an error."""

import gzip
from itertools import permutations
from pathlib import Path

import pytest

import usp
from tests.parse.reading import SM, atom, rss, u, urlset
from usp.objects.sitemap import AbstractSitemap

LINES = "".join(f"http://h.example/line/{number}\n" for number in range(2000))
DOCUMENTS = {
    "urlset": urlset(u("http://h.example/urlset"), namespaces=SM),
    "index": f"<sitemapindex {SM}><sitemap><loc>http://h.example/s.xml</loc></sitemap></sitemapindex>",
    "rss": rss("<item><title>t</title><link>http://h.example/rss</link></item>"),
    "atom": atom('<entry><title>t</title><link href="http://h.example/atom"/></entry>'),
    "json": '{"version": "https://jsonfeed.org/version/1.1", "items": '
    '[{"id": "1", "url": "http://h.example/json", "title": "t"}]}',
    "text": LINES,
}
READ_AS_ONE = {("urlset", "index"), ("index", "urlset")}
"""One format: each may list what the other does."""
PAIRS = sorted(set(permutations(DOCUMENTS, 2)) - READ_AS_ONE)
HTML = '<div><a href="http://h.example/x">x</a>\n<script>\nhttp://h.example/y\n</script></div>'
PHP = (
    "<br />\n<b>Warning</b>: include(http://h.example/x) in <b>/a.php</b> on line <b>3</b><br />\n"
)
COMMENT = "<!-- cached:\nhttp://h.example/x\n<rss><channel/></rss> -->"


def codes(sitemap: AbstractSitemap) -> list[str]:
    return [problem.code for problem in sitemap.problems]


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_a_second_document_of_another_format_is_an_error(
    first: str, second: str, tmp_path: Path
) -> None:
    document = f"{DOCUMENTS[first]}\n{DOCUMENTS[second]}".encode()
    sitemap = usp.parse(document)
    assert codes(sitemap).count("SM223") == 1
    assert not usp.parse(document).complete
    (tmp_path / "file").write_bytes(document)
    with usp.iter_pages(tmp_path / "file") as stream:
        urls = [page.url for page in stream]
    assert "SM223" in [problem.code for problem in stream.problems]
    assert str(stream.outcome) == "partial"
    if not sitemap.sub_sitemaps:
        assert urls == [page.url for page in sitemap.pages]


@pytest.mark.parametrize(("first", "second"), sorted(READ_AS_ONE))
def test_a_urlset_and_an_index_in_one_file_are_both_read(first: str, second: str) -> None:
    sitemap = usp.parse(DOCUMENTS[first] + DOCUMENTS[second])
    assert len(list(sitemap.pages)) == len(sitemap.sub_sitemaps) == 1
    assert sitemap.complete


def test_a_document_after_a_long_list_of_urls_is_an_error() -> None:
    sitemap = usp.parse(LINES * 2 + "http://h.example/\n<?xml version='1.0'?>\n" + DOCUMENTS["rss"])
    assert len(list(sitemap.pages)) == 2001
    assert "SM223" in codes(sitemap)
    assert not sitemap.complete


@pytest.mark.parametrize("second", ["rss", "text"])
def test_a_second_document_is_an_error_in_gzip_and_after_it(second: str) -> None:
    first, rest = gzip.compress(DOCUMENTS["urlset"].encode()), DOCUMENTS[second].encode()
    for document in (first + gzip.compress(rest), first + rest):
        assert "SM223" in codes(usp.parse(document))


@pytest.mark.parametrize("kind", ["urlset", "index", "rss", "atom", "json"])
@pytest.mark.parametrize(
    "junk", [HTML, PHP, f"bye {COMMENT}", "\0\0", "]}", "seen: http://h.example/"]
)
def test_junk_after_a_document_is_a_warning(kind: str, junk: str) -> None:
    sitemap = usp.parse(f"{DOCUMENTS[kind]}\n{junk}")
    # Brackets that nothing has opened show that a piece of JSON is missing.
    expected = ["SM206", "SM231"] if (kind, junk) == ("json", "]}") else ["SM206"]
    assert codes(sitemap) == expected
    assert sitemap.complete is ("SM231" not in expected)
    assert sitemap.problems[0].line == 2


@pytest.mark.parametrize("junk", [PHP, f"bye {COMMENT}", "seen: http://h.example/\n"])
def test_junk_before_a_document_is_a_warning(junk: str) -> None:
    sitemap = usp.parse(f"{junk}\n<?xml version='1.0'?>{DOCUMENTS['urlset']}")
    assert codes(sitemap) == ["SM205"]
    assert sitemap.complete


def test_blanks_after_a_json_feed_are_no_junk() -> None:
    assert not usp.parse(f"{DOCUMENTS['json']} \r\n\t\n").problems
