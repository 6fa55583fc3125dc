"""Hostile documents: what each of them costs, in a process with a limit on CPU time.

Every document here once took seconds, minutes or hours, or is like one that did (issue 12). Each is
read at 80 and 160 kB: its kind, its children, its pages with all their fields, and its problems.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from typing import Final

import pytest

from tests.cost import assert_linear, cost
from tests.parse.reading import ALL
from tests.speed import Stopwatch
from usp._parse.document import Source, inspect
from usp._parse.input.sniff import Kind

SIZE: Final = 80_000
SECONDS: Final = 1.5
"""CPU time for a document of twice the size, on a nominal machine (``tests.speed``)."""

SITEMAP: Final = "http://h/sitemap.xml"
ROBOTS: Final = "http://h/robots.txt"
TEXT: Final = "http://h/sitemap.txt"
HOMEPAGE: Final = "http://h/"
FEED: Final = b'{"version":"https://jsonfeed.org/version/1.1","items":['
ITEM: Final = b'{"id":"1","url":"http://h/1","title":"a"},'
RSS: Final = b'<rss xmlns:media="http://search.yahoo.com/mrss/"><channel><item><title>t</title>'
URLSET: Final = f"<urlset {ALL}>".encode()
ENTRY: Final = b'<entry><title/><link href="../#"/></entry>'
MARKS: Final = "\u0301\u0316".encode()
"""Combining characters, which Unicode normalization has to sort."""

Make = Callable[[int], bytes]


def times(word: bytes, before: bytes = b"", after: bytes = b"") -> Make:
    """A document of one word repeated."""
    return lambda size: before + word * (size // len(word)) + after


def numbered(word: bytes, before: bytes = b"", after: bytes = b"") -> Make:
    """The same, in which each ``#`` is replaced by a number."""
    return lambda size: b"".join(
        [before, *(word.replace(b"#", b"%d" % n) for n in range(size // len(word))), after]
    )


def lines(line: Make) -> Make:
    """Lines of nearly the longest length that is read."""
    return lambda size: (line(50_000) + b"\n") * (size // 50_000 + 1)


def item(media: bytes, first: Make = lambda _: b"") -> Make:
    """An RSS item with many media, of different URLs."""
    many = numbered(media)
    link = b"<link>http://h/a</link>"
    return lambda size: RSS + link + first(size // 2) + many(size // 2) + b"</item></channel></rss>"


def feed(attachment: bytes) -> Make:
    before = b'{"id":"1","url":"http://h/a","title":"x","attachments":[{}'
    return numbered(b"," + attachment, FEED + before, b"]}]}")


def many_of_both(one: bytes, other: bytes, count: int = 300) -> Make:
    """Entries that have as many of one field as of another one."""
    entry = b"<url>" + b"".join(one.replace(b"#", b"#/%d" % at) for at in range(count))
    return numbered(entry + other * count + b"</url>", URLSET, b"</urlset>")


def urls(text: bytes) -> Make:
    """Entries with the same URL."""
    return times(b"<url><loc>" + text + b"</loc></url>", URLSET, b"</urlset>")


def based(word: bytes, before: bytes = b"") -> Make:
    """An Atom feed whose base URL is as long as the rest of it."""
    head = b'<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://h/'
    return lambda size: (
        head + b"a/" * (size // 4) + numbered(word, b'">' + before, b"</feed>")(size // 2)
    )


DETECTION: Final[Mapping[str, tuple[str, Make]]] = {
    "line breaks": (SITEMAP, times(b"\n", b"<b>")),
    "line breaks in robots.txt": (ROBOTS, times(b" \n", b"<b>")),
    "byte order marks": (SITEMAP, times(b"\xef\xbb\xbf", after=b"<a>")),
    "misspelt roots": (SITEMAP, times(b"<urlse>")),
    "misspelt roots, each its own": (SITEMAP, numbered(b"<urlse#>")),
    "instructions": (SITEMAP, times(b"<?")),
    "scripts": (SITEMAP, times(b"<script></script>")),
    "scripts that are not closed": (SITEMAP, times(b"<script>")),
    "scripts without an end tag": (SITEMAP, times(b"<script/>")),
    "DOCTYPEs": (SITEMAP, times(b"<!DOCTYPE a[")),
    "escaped tags": (SITEMAP, times(b"&lt;a", b"&lt;urlset&gt;")),
    "backslashes": (SITEMAP, times(b"\\", b'"<urlset>')),
    "XML declarations": (SITEMAP, times(b"<?xml ")),
    "words in a urlset": (SITEMAP, times(b" sitemap ", URLSET, b"</urlset>")),
    "names of sitemaps in a urlset": (SITEMAP, times(b":SITEMAP ", URLSET, b"</urlset>")),
    "long prefixes in a urlset": (SITEMAP, times(b"p" * 90 + b":sitemap>", URLSET, b"</urlset>")),
}
LINES: Final[Mapping[str, tuple[str, Make]]] = {
    "escaped line breaks": (ROBOTS, lines(times(b"\\n"))),
    "escaped line breaks before a field": (ROBOTS, lines(times(b"\\nSitemap: a"))),
    "blanks": (ROBOTS, lines(times(b" ", b"Sitemap", b"x"))),
    "URLs in one line": (ROBOTS, lines(times(b"http://h/a,", b"Sitemap: "))),
    "pages in a text": (TEXT, times(b"http://h/<html>\n")),
    "escaped line breaks in a text": (TEXT, lines(times(b"\\n", b"http://h/", b"x"))),
    "markup and blanks in a text": (TEXT, lines(times(b"<br  ", b"http://h/", b"x"))),
    "control characters in a text": (TEXT, lines(times(b"\0", b"http://h/", b"x"))),
    "URLs and escaped line breaks": (TEXT, lines(numbered(b"http://h/#\\n"))),
    "messages in a line": (TEXT, lines(times(b"<b>Warning</b>: on line 1", b"http://h/"))),
    "messages among lines": (
        TEXT,
        times(b"<br />\n<b>Warning</b>: x on line 1<br />\n", b"http://h/"),
    ),
    "a line in pieces": (
        TEXT,
        times(b"a" * 40 + b"<br />\n<b>Warning</b>: on line 1\n", b"http://h/"),
    ),
    "keys in a line": (ROBOTS, lines(times(b"Disallow: a", b"Sitemap: http://h/"))),
    "messages without an end in a URL": (SITEMAP, urls(b"&lt;b&gt;Warning&lt;/b&gt;:" * 400)),
    "URLs in two encodings": (TEXT, times("http://h/a\n".encode("utf-16-le"), b"http://h/b\n")),
    "combining characters in a host": (TEXT, lines(times(MARKS, b"http://a"))),
}
JSON: Final[Mapping[str, tuple[str, Make]]] = {
    "escaped quotes": (SITEMAP, times(b'\\"', FEED + b'{"id":"', b'\\x"}]}')),
    "strings that never end": (SITEMAP, times(b'{"id":"', FEED + ITEM)),
    "strings and escaped quotes": (SITEMAP, times(b'{"id"\\"', FEED + ITEM)),
    "objects that never end": (SITEMAP, times(b'{"id":1,"title":"x",', FEED)),
    "nested objects": (SITEMAP, times(b'{"id":{', FEED + ITEM)),
    "numbers among items": (SITEMAP, times(b"1,{},", FEED, b"]}")),
    "malformed items": (SITEMAP, times(b'{"id":x},', FEED, b"]}")),
}
MEDIA: Final[Mapping[str, tuple[str, Make]]] = {
    "videos": (SITEMAP, item(b'<media:content url="http://h/#.mp4" medium="video"/>')),
    "images": (SITEMAP, item(b'<media:content url="http://h/#.png" medium="image"/>')),
    "groups": (
        SITEMAP,
        item(b'<media:group><media:content url="#.mp4" medium="video"/></media:group>'),
    ),
    "a long text for all": (
        SITEMAP,
        item(
            b'<media:content url="http://h/#.mp4" medium="video"/>',
            times(b"x,", b"<media:keywords>", b"</media:keywords>"),
        ),
    ),
    "enclosures": (SITEMAP, item(b'<enclosure url="http://h/#.mp4" type="video/mp4"/>')),
    "attachments": (SITEMAP, feed(b'{"url":"http://h/#.mp4","mime_type":"video/mp4"}')),
    "attachments with titles": (
        SITEMAP,
        feed(b'{"url":"#.mp4","mime_type":"video/mp4","title":"#"}'),
    ),
    "URLs in one entry": (
        SITEMAP,
        numbered(b"<loc>http://h/#</loc>", URLSET + b"<url>", b"</url></urlset>"),
    ),
    "URLs with dates in one entry": (
        SITEMAP,
        numbered(
            b"<loc>http://h/#</loc><lastmod>2024</lastmod>", URLSET + b"<url>", b"</url></urlset>"
        ),
    ),
    "URLs and a video in one entry": (
        SITEMAP,
        numbered(
            b"<loc>http://h/#</loc>",
            URLSET + b"<url><video:video><video:title>x</video:title></video:video>",
            b"</url></urlset>",
        ),
    ),
    "URLs and videos in each entry": (
        SITEMAP,
        many_of_both(b"<loc>http://h/#</loc>", b"<video:video><video:title/></video:video>"),
    ),
    "URLs and images in each entry": (
        SITEMAP,
        many_of_both(
            b"<loc>http://h/#</loc>", b"<image:image><image:loc>/</image:loc></image:image>"
        ),
    ),
    "URLs and links in each entry": (
        SITEMAP,
        many_of_both(b"<loc>http://h/#</loc>", b'<xhtml:link rel="x" href="/"/>'),
    ),
    "links below a long base": (
        SITEMAP,
        based(b'<link rel="x" href="#"/>', b'<entry><link href="b"/><title>t</title>'),
    ),
}
VALUES: Final[Mapping[str, tuple[str, Make]]] = {
    "messages of PHP": (SITEMAP, urls(b"Warning: " * 800 + b" on line 5")),
    "tags around a URL": (SITEMAP, urls(b"&lt;a " * 1300 + b"http://h/a&gt;")),
    "combining characters": (SITEMAP, urls(b"http://a" + MARKS * 125)),
    "a host": (SITEMAP, times(MARKS, URLSET + b"<url><loc>http://a", b"</loc></url></urlset>")),
    "a host without a scheme": (
        SITEMAP,
        times(MARKS, URLSET + b"<url><loc>//a", b"</loc></url></urlset>"),
    ),
    "a date": (
        SITEMAP,
        times(
            b" a",
            URLSET + b"<url><loc>http://h/a</loc><lastmod>Thu Jan 4 10:00",
            b"!</lastmod></url></urlset>",
        ),
    ),
    "odd dates": (
        SITEMAP,
        numbered(
            b"<url><loc>http://h/#</loc><lastmod>jan 5 2024 1 1 1 1 1 1 1 1 1 1 #</lastmod></url>",
            URLSET,
            b"</urlset>",
        ),
    ),
    "a number of a reference": (
        SITEMAP,
        times(
            b"1",
            b'<feed><entry><link href="http://h/a"/><title type="html">&amp;#',
            b";</title></entry></feed>",
        ),
    ),
    "a long base of a homepage": (
        HOMEPAGE,
        lambda size: (
            b'<base href="http://h/%s">' % (b"a" * (size // 2))
            + b"<link rel=sitemap href=a>" * (size // 50)
        ),
    ),
    "unclosed links of a homepage": (HOMEPAGE, times(b'<link "')),
}
OWN_URL: Final = "http://h/" + "a/" * 4080
"""A long URL of the document itself: a site chooses it, by a redirect."""
RELATIVE: Final[Mapping[str, tuple[str, Make]]] = {
    "sitemaps of robots.txt": (f"{OWN_URL}robots.txt", times(b"Sitemap: b\n")),
    "different sitemaps of robots.txt": (f"{OWN_URL}robots.txt", numbered(b"Sitemap: #\n")),
    "URLs": (OWN_URL, numbered(b"<url><loc>b#</loc></url>", URLSET, b"</urlset>")),
    "queries": (OWN_URL, numbered(b"<url><loc>?#</loc></url>", URLSET, b"</urlset>")),
    "sitemaps": (
        OWN_URL,
        numbered(b"<sitemap><loc>b#</loc></sitemap>", b"<sitemapindex>", b"</sitemapindex>"),
    ),
    "images": (
        OWN_URL,
        times(
            b"<image:image><image:loc>b</image:loc></image:image>",
            URLSET + b"<url><loc>http://h/a</loc>",
            b"</url></urlset>",
        ),
    ),
    "alternates": (
        OWN_URL,
        times(
            b'<xhtml:link rel="alternate" hreflang="de" href="b"/>',
            URLSET + b"<url><loc>http://h/a</loc>",
            b"</url></urlset>",
        ),
    ),
    "entries of Atom": (
        OWN_URL,
        numbered(b'<entry><title>t</title><link href="#"/></entry>', b"<feed>", b"</feed>"),
    ),
    "items of JSON": (OWN_URL, numbered(b'{"id":"#","url":"#","title":"t"},', FEED, b"{}]}")),
}
GROUPS: Final = {
    "detection": DETECTION,
    "lines": LINES,
    "json": JSON,
    "media": MEDIA,
    "values": VALUES,
    "relative": RELATIVE,
}


def read(data: bytes, url: str) -> None:
    """Read all that there is in a document."""
    kind = Kind.HOMEPAGE if url == HOMEPAGE else None
    document = inspect(Source([data], url, extensions=True), kind)
    for page in document.pages:
        page.to_dict(extended=True)
    _ = getattr(document.pages, "problems", ())


def read_group(size: int, group: str) -> None:
    for name, (url, make) in GROUPS[group].items():
        data = make(size)
        with Stopwatch() as watch:
            read(data, url)
        assert watch.seconds < SECONDS, f"{name}: {watch.seconds:.2f} s for {len(data)} bytes"


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("group", GROUPS)
def test_hostile_documents_take_linear_time(group: str) -> None:
    assert_linear(read_group, SIZE, group, seconds=60)


def read_unclosed_cdata(size: int) -> None:
    """Entries with CDATA, which make a pattern, then others in which it isn't closed."""
    closed = numbered(b"<url><loc><![CDATA[http://h/#]]></loc></url>", URLSET)(20_000)
    read(closed + times(b"<url><loc><![CDATA[http://h/a</loc></url>")(size), SITEMAP)


@pytest.mark.slow
def test_cdata_that_is_not_closed_takes_linear_time() -> None:
    assert_linear(read_unclosed_cdata, 320_000)


def read_based(size: int) -> None:
    for word in ENTRY, b"<entry>&" + ENTRY:
        read(based(word)(size), SITEMAP)


@pytest.mark.slow
def test_entries_below_a_long_base_take_linear_time() -> None:
    assert_linear(read_based, 320_000)


def walk_relative_urls(count: int, directory: str, times: int) -> None:
    entries = b"".join(b"<url><loc>b%d</loc></url>" % at for at in range(count))
    body = gzip.compress(URLSET + entries + b"</urlset>")
    url = f"http://h/{directory * times}/sitemap.xml"
    assert sum(1 for _ in inspect(Source([body], url)).pages) == count  # no page is kept


@pytest.mark.parametrize(("directory", "times"), [("a/", 4080), ("a", 8150), ("a", 1000)])
def test_relative_urls_below_a_long_url_take_little_memory_and_time(
    directory: str, times: int
) -> None:
    found = cost(walk_relative_urls, 60_000, directory, times)
    assert found.seconds < 4
    assert found.memory < 40 << 20


# Compression

EMPTY: Final = gzip.compress(b"")
BOMBS: Final[Mapping[str, Callable[[], bytes]]] = {
    "empty gzip members": lambda: EMPTY * 8_000,
    "empty gzip members in gzip": lambda: gzip.compress(EMPTY * 3_000_000, 1),
    "empty gzip members in gzip in gzip": lambda: gzip.compress(gzip.compress(EMPTY * 3_000_000)),
    "empty blocks in gzip": lambda: gzip.compress(EMPTY[:10] + b"\0\0\0\xff\xff" * 10_000_000, 1),
    "gzip members of one byte each": lambda: b"".join(
        gzip.compress(bytes([byte])) for byte in URLSET + b"<url>" * 1_400
    ),
    "zeros in zlib in gzip": lambda: gzip.compress(b"\x78\x9c" + bytes(60_000_000), 1),
}


def decompress_bomb(name: str) -> None:
    data = BOMBS[name]()
    with Stopwatch() as watch:
        read(data, SITEMAP)
    assert watch.seconds < SECONDS, f"{watch.seconds:.2f} s for {len(data)} bytes"


@pytest.mark.parametrize("name", BOMBS)
def test_layers_of_compression_cost_little(name: str) -> None:
    cost(decompress_bomb, name, seconds=30, memory_mib=1024)
