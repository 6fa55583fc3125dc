"""Hypothesis strategies: valid and malformed documents, and bytes that only look like documents.

A valid document is built from a ``Format``, so that its content is known; a malformed one has
damage in one entry only. Everything is bytes.
"""

from __future__ import annotations

import gzip
import operator
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from hypothesis import assume, settings
from hypothesis import strategies as st

from tests.parse.reading import ALL, SM

DECLARATION: Final = b'<?xml version="1.0" encoding="UTF-8"?>\n'
_WORDS: Final = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel")


def examples(count: int) -> settings:
    """Draw so many examples where the profile draws 100: more or fewer than other properties."""
    return settings(max_examples=max(1, count * settings().max_examples // 100))


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of document: a head, entries with one URL each, a tail."""

    name: str
    head: str
    entry: str
    """With ``@`` in place of the URL."""
    tail: str
    tag: bytes
    """The element of an entry."""
    counts_after: bytes
    """An entry of a truncated document is read if it was received up to these bytes."""
    declaration: bytes = DECLARATION
    between: bytes = b""
    """What separates two entries, beside whitespace."""

    def entries(self, urls: Sequence[str]) -> list[bytes]:
        return [self.entry.replace("@", url).encode() for url in urls]

    def document(self, entries: Sequence[bytes], *, indent: bytes = b"\n  ") -> bytes:
        body = self.between.join(indent + entry for entry in entries)
        return self.declaration + self.head.encode() + body + b"\n" + self.tail.encode()


URLSET: Final = Format(
    "urlset",
    f"<urlset {ALL}>",
    "<url><loc>@</loc><lastmod>2020-05-06T07:08:09Z</lastmod><changefreq>daily</changefreq>"
    "<priority>0.8</priority><image:image><image:loc>@.png</image:loc></image:image></url>",
    "</urlset>",
    b"url",
    b"</url>",
)
INDEX: Final = Format(
    "index",
    f"<sitemapindex {SM}>",
    "<sitemap>\n<loc>@</loc><lastmod>2020-05-06</lastmod></sitemap>",
    "</sitemapindex>",
    b"sitemap",
    b"</loc>",
)
RSS: Final = Format(
    "rss",
    '<rss version="2.0"><channel><title>Site</title><link>http://h.example/</link>',
    "<item><title>Title</title><link>@</link><pubDate>Wed, 06 May 2020 07:08:09 GMT</pubDate>"
    "</item>",
    "</channel></rss>",
    b"item",
    b"</item>",
)
ATOM: Final = Format(
    "atom",
    '<feed xmlns="http://www.w3.org/2005/Atom"><title>Site</title><link href="http://h.example/"/>',
    '<entry><title type="html">Title</title><link href="@"/><updated>2020-05-06</updated></entry>',
    "</feed>",
    b"entry",
    b"</entry>",
)
VIDEOS: Final = Format(
    "videos",
    f"<urlset {ALL}>",
    "<url><loc>@</loc><video:video><video:thumbnail_loc>@.jpg</video:thumbnail_loc>"
    "<video:title>T</video:title><video:description>D</video:description>"
    "<video:content_loc>@.mp4</video:content_loc><video:player_loc allow_embed='no'>@?play"
    "</video:player_loc><video:price currency='EUR'>1.99</video:price><video:tag>t</video:tag>"
    "</video:video></url>",
    "</urlset>",
    b"url",
    b"</url>",
)
MEDIA: Final = Format(
    "media",
    '<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel>',
    "<item><title>Title</title><link>@</link><media:group><media:content url='@.mp4' "
    "type='video/mp4' duration='90'/><media:thumbnail url='@.jpg'/><media:title>M</media:title>"
    "</media:group><media:content url='@.png' medium='image'/></item>",
    "</channel></rss>",
    b"item",
    b"</item>",
)
JSON: Final = Format(
    "json",
    '{"version": "https://jsonfeed.org/version/1.1", "title": "Site", "items": [',
    '{"id": "@", "url": "@", "title": "Title {1}", "tags": ["a", "b"], "attachments": '
    '[{"url": "@.mp4", "mime_type": "video/mp4"}], "date_published": "2020-05-06", "last": 1}',
    "]}",
    b"",
    b'"last": 1}',
    declaration=b"",
    between=b",",
)
XML_FORMATS: Final = (URLSET, INDEX, RSS, ATOM, VIDEOS, MEDIA)
xml_formats: Final = st.sampled_from(XML_FORMATS)
formats: Final = st.sampled_from((*XML_FORMATS, JSON))


def urls(least: int = 0, most: int = len(_WORDS)) -> st.SearchStrategy[list[str]]:
    """URLs so different that no damage turns one into another."""
    count = st.integers(least, most)
    return count.map(lambda n: [f"http://h.example/{word}/é" for word in _WORDS[:n]])


# Any bytes

_PIECES: Final = [
    b"<", b">", b"/>", b"&", b";", b'"', b"'", b"=", b"\0", b"\r", b"\n", b" ", b"\t", b"\x0b",
    b"<!--", b"-->", b"--", b"<![CDATA[", b"]]>", b"<?x", b"?>", b"<?xml version='1.0'?>",
    b"<?xml version='1.0' encoding='utf-16'?>", b"<?xml version='1.0' encoding='utf-7'?>",
    b"<?xml encoding='", b"<!DOCTYPE urlset>", b"<!DOCTYPE html>", b"<!DOCTYPE x [", b"]>",
    b"<!ENTITY a 'b'>", b"&a;", b"&amp;", b"&amp;amp;", b"&eacute;", b"&#11;", b"&#x110000;",
    b"&#xD800;", b"<urlset>", b"<urlset", b"</urlset>", b"<URLSET>", b"<sm:urlset>", b"<url>",
    b"</url>", b"<url/>", b"<sm:url>", b"<loc>", b"</loc>", b"<loc/>", b"<LOC>",
    b"<sitemapindex>", b"</sitemapindex>", b"<sitemap>", b"</sitemap>", b"<rss>", b"<channel>",
    b"<item>", b"</item>", b"<rdf:RDF>", b"<title>", b"</title>", b"<link>", b"</link>",
    b"<link href='http://h/'/>", b"<guid isPermaLink='true'>", b"<pubDate>", b"<feed>",
    b"</feed>", b"<entry>", b"</entry>", b" xml:base='/x/'",
    b" xmlns='http://www.w3.org/2005/Atom'", b" xmlns:image='x'", b"<image:image>",
    b"<image:loc>", b"<news:news>", b"<news:title>", b"<xhtml:link rel='alternate'",
    b" hreflang='de'", b" href='/de'", b"<lastmod>", b"<priority>", b"<changefreq>", b"<html>",
    b"<br />", b"<b>Warning</b>: x\n", b"http://h.example/a", b"https://h.example/b\n", b"/c",
    b"ftp:", b"http://[", b"2020-01-02", b"10/11/12", b"0.5", b"NaN", b"daily", b"\xef\xbb\xbf",
    b"\xff\xfe", b"\xfe\xff", b"\xff", b"\xc3", b"\xa9", b"\xef\xbf\xbd", b"\xed\xa0\x80",
    b"<video:video>", b"</video:video>", b"<video:price currency='", b"<video:tag>",
    b"<video:tvshow>", b"<media:group>", b"</media:group>", b"<media:content url='/v.mp4'",
    b"<media:player url='/p'/>", b"<media:thumbnail/>", b"<enclosure url='/i.png'/>",
    b" rdf:about='http://h/a'", b'{"version":',
    b'"https://jsonfeed.org/version/1.1",', b'"items": [', b'{"id": "http://h/a", "title": "T"}',
    b'"attachments": [{"url":', b"{", b"}", b"[", b"]", b",", b":", b"null", b'"_x": {"y": 1}',
    b"\x1f\x8b", b"x\x9c", b"Sitemap: ", b"Site-map:/x.xml\n", b"User-agent: *\n", b"# ", b"{}",
]  # fmt: skip
"""Bytes that are difficult to parse, alone or next to one another."""

_pieces: Final = st.lists(st.sampled_from(_PIECES), max_size=30).map(b"".join)
_robots: Final = st.lists(
    st.tuples(
        st.sampled_from([b"", b" ", b"\t"]),
        st.sampled_from([b"Sitemap", b"SITEMAP", b"Site-map", b"Disallow", b"#", b"sitemaps"]),
        st.sampled_from([b":", b" : ", b" ", b""]),
        st.sampled_from([b"http://h.example/a", b"'/b'", b"", b"//h/c # d", b"http://[", b"<x>"]),
        st.sampled_from([b"\n", b"\r\n", b"\r", b"", b"\0"]),
    ).map(b"".join),
    max_size=8,
).map(b"".join)
_pairs: Final = st.builds(
    lambda kind, found, damage: kind.document(kind.entries(found)) + damage,
    formats, urls(most=3), _pieces,
)  # fmt: skip
_documents: Final = st.one_of(_pieces, _pairs, _robots, st.binary(max_size=200))
_ODD_CODECS: Final = ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-32", "cp1251", "utf-7"]


def _truncate(data: bytes, at: int) -> bytes:
    return data[: at % (len(data) + 1)]


def _with_a_byte_changed(data: bytes, at: int) -> bytes:
    index = at % max(len(data), 1)
    return data[:index] + bytes([at % 256]) + data[index + 1 :]


def _with_padding(data: bytes, blanks: int) -> bytes:
    """Move what follows the first tag beyond the bytes that decide the encoding."""
    return data.replace(b">", b">" + b" " * blanks, 1)


_compressed: Final = st.one_of(
    _documents.map(gzip.compress),
    _documents.map(zlib.compress),
    st.builds(lambda one, two: gzip.compress(one) + gzip.compress(two), _documents, _documents),
    st.builds(lambda one, junk: gzip.compress(one) + junk, _documents, st.binary(max_size=9)),
)
_offsets: Final = st.integers(0, 1 << 20)
_recoded: Final = st.builds(
    lambda data, codec: data.decode("utf-8", "replace").encode(codec, "replace"),
    _documents, st.sampled_from(_ODD_CODECS),
)  # fmt: skip
anything: Final[st.SearchStrategy[bytes]] = st.one_of(
    _documents,
    _compressed,
    _recoded,
    st.builds(_with_padding, _documents, st.just(1100)),
    st.builds(_truncate, _compressed, _offsets),
    st.builds(_with_a_byte_changed, _compressed | _recoded | _documents, _offsets),
)
"""Any bytes, many of them nearly documents."""


@st.composite
def chunkings(draw: st.DrawFn, data: bytes) -> list[bytes]:
    """Split data into chunks, some of them empty."""
    indexes = draw(st.lists(st.integers(0, len(data)), max_size=12) | st.just(range(len(data) + 1)))
    bounds = [0, *sorted(indexes), len(data)]
    return [data[start:end] for start, end in pairwise(bounds)]


# Damage inside one entry

_ENTRY_OR_ROOT: Final = re.compile(
    rb"<(?P<slash>/?)(?:[\w.-]+:)?(?:urlset|sitemapindex|rss|rdf|channel|feed"
    rb"|url|sitemap|item|entry)(?![\w.-])",
    re.IGNORECASE,
)
_OPENS_SOMETHING: Final = re.compile(rb"<[!?]")


def stays_inside(entry: bytes) -> bool:
    """Tell whether a malformed entry opens no comment, CDATA or PI, and has no entry or root tag.

    It may have its own tags, each once, in order.
    """
    tags = [match["slash"] for match in _ENTRY_OR_ROOT.finditer(entry)]
    return not _OPENS_SOMETHING.search(entry) and tags in ([], [b""], [b"/"], [b"", b"/"])


_JSON_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\Z)', re.DOTALL)


def opens_nothing(item: bytes) -> bool:
    """Tell whether a malformed JSON item leaves no bracket open: the others would be inside it.

    It may not declare an encoding either.
    """
    brackets = _JSON_STRING.sub(b"", item)
    open_, close = (
        [brackets.count(one) for one in kinds] for kinds in ((b"{", b"["), (b"}", b"]"))
    )
    return all(map(operator.le, open_, close)) and not _OPENS_SOMETHING.search(item)


@dataclass(frozen=True, slots=True)
class Damaged:
    """The entries of a document, and one of them malformed."""

    kind: Format
    valid: list[bytes]
    which: int
    entry: bytes
    """The malformed entry."""

    @property
    def document(self) -> bytes:
        entries = [*self.valid[: self.which], self.entry, *self.valid[self.which + 1 :]]
        return self.kind.document(entries)


@st.composite
def damaged(draw: st.DrawFn, kinds: st.SearchStrategy[Format] = formats) -> Damaged:
    """A document in which some bytes of one entry were replaced by others."""
    kind = draw(kinds)
    entries = kind.entries(draw(urls(least=3, most=6)))
    which = draw(st.integers(0, len(entries) - 1))
    entry = entries[which]
    start, end = sorted(draw(st.tuples(*[st.integers(0, len(entry))] * 2)))
    junk = draw(_pieces | st.binary(max_size=6))
    malformed = entry[:start] + junk + entry[end:]
    assume(opens_nothing(malformed) if kind is JSON else stays_inside(malformed))
    return Damaged(kind, entries, which, malformed)


# Encodings


_LATIN: Final = "äéîõüßÆø"
_CYRILLIC: Final = "ёжийЩЯю"
_GREEK: Final = "αΩλάύς"
_JAPANESE: Final = "日本語ソ表あアｱ"
_CHINESE: Final = "中文國許功蓋"
_ANY: Final = _LATIN + _CYRILLIC + _GREEK + _JAPANESE + _CHINESE + "한글\U0001f600\U00020000"


@dataclass(frozen=True, slots=True)
class Encoding:
    """An encoding of a document, and its name in HTTP and XML."""

    codec: str
    name: str
    letters: str
    declared_by: tuple[str, ...] = ("http", "xml")
    """What may declare it: ``bom``, ``http``, ``xml``, or nothing (``none``)."""


ENCODINGS: Final = (
    Encoding("utf-8", "UTF-8", _ANY, ("http", "xml", "none")),
    Encoding("utf-8-sig", "UTF-8", _ANY, ("bom",)),
    Encoding("utf-16", "UTF-16", _ANY, ("bom", "xml")),
    Encoding("utf-16-le", "UTF-16LE", _ANY, ("http", "xml", "none")),
    Encoding("utf-16-be", "UTF-16BE", _ANY, ("http", "xml", "none")),
    Encoding("iso-8859-1", "ISO-8859-1", _LATIN),
    Encoding("iso-8859-2", "latin2", "čřžŁőű"),
    Encoding("iso-8859-5", "ISO-8859-5", _CYRILLIC),
    Encoding("iso-8859-7", "iso-8859-7", _GREEK),
    Encoding("iso-8859-9", "ISO-8859-9", "ğİşçö"),
    Encoding("iso-8859-15", "ISO_8859-15", f"{_LATIN}€Šœ"),
    Encoding("cp1250", "windows-1250", "čřžŁőű€"),
    Encoding("cp1251", "Windows-1251", _CYRILLIC),
    Encoding("cp1252", "cp1252", f"{_LATIN}€Šœ"),
    Encoding("cp1253", "windows-1253", "αΩλς"),
    Encoding("cp1254", "WINDOWS-1254", "ğİşçö€"),
    Encoding("koi8-r", "KOI8-R", _CYRILLIC),
    Encoding("shift_jis", "Shift_JIS", _JAPANESE),
    Encoding("cp932", "windows-31j", f"{_JAPANESE}①髙"),
    Encoding("euc_jp", "EUC-JP", _JAPANESE),
    Encoding("iso2022_jp", "ISO-2022-JP", "日本語ソ表あア"),
    Encoding("gb2312", "gb2312", "中文蓝功"),
    Encoding("gbk", "GBK", _CHINESE),
    Encoding("gb18030", "GB18030", _ANY),
    Encoding("big5", "Big5", _CHINESE),
    Encoding("euc_kr", "EUC-KR", "한글각"),
)


@dataclass(frozen=True, slots=True)
class Encoded:
    """An encoded document, its HTTP charset, and the path of its only URL."""

    data: bytes
    charset: str | None
    word: str


@st.composite
def encoded(draw: st.DrawFn) -> Encoded:
    """A sitemap with a word that needs its encoding."""
    encoding = draw(st.sampled_from(ENCODINGS))
    declared_by = draw(st.sampled_from(encoding.declared_by))
    word = draw(st.text(encoding.letters, min_size=1, max_size=6))
    # HTTP precedes XML, and a byte order mark both, so the others may declare something else.
    wrong = draw(st.booleans())
    declared = {"xml": encoding.name, "none": ""}.get(declared_by, "ISO-8859-3" if wrong else "")
    charset = {"http": encoding.name, "bom": "ISO-8859-3" if wrong else None}.get(declared_by)
    declaration = f'<?xml version="1.0" encoding="{declared}"?>' if declared else ""
    text = f"{declaration}<urlset {SM}><url><loc>http://h.example/{word}</loc></url></urlset>"
    return Encoded(text.encode(encoding.codec), charset, word)
