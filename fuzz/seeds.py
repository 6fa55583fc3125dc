"""The seeds of fuzzing: our own small documents, and real ones where they are available.

Real documents are read from ``USP_CORPUS`` or ``../shared/corpus`` and never copied. Only some
small ones of each folder are used, so that a short run isn't spent on reading seeds.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

from fuzz import limits

_HERE: Final = Path(__file__).parent
_OURS: Final = _HERE / "corpus"
_REAL: Final = Path(os.environ.get("USP_CORPUS") or _HERE.parent.parent / "shared" / "corpus")
_MAX_OF_A_FOLDER: Final = 40

TOKENS: Final = (
    b"<", b">", b"/>", b"</", b"&", b";", b'"', b"'", b"\0", b"\r", b"\n", b" ", b"\x0b",
    b"\xc2\xa0", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?", b"?>", b"<!DOCTYPE html>",
    b"<!DOCTYPE urlset>", b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"<?xml version='1.0' encoding='",
    b"utf-16'?>", b"gbk'?>", b"&amp;", b"&amp;amp;", b"&eacute;", b"&#11;", b"&#x110000;",
    b"&#xD800;", b"<urlset>", b"</urlset>", b"<sm:urlset",
    b" xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'", b" xmlns:image='x'", b"<url>",
    b"</url>", b"<loc>", b"</loc>", b"<loc/>", b"<lastmod>", b"<sitemapindex>", b"<sitemap>",
    b"</sitemap>", b"<rss>", b"<channel>", b"<item>", b"</item>", b"<link>", b"<title>",
    b"<guid>", b"<rdf:RDF>", b"<feed>", b"<entry>", b"</entry>", b"<link href='/x'/>",
    b" xml:base='/y/'", b"<image:image>", b"<image:loc>", b"<news:news>", b"<news:title>",
    b"<xhtml:link ", b"<html>", b"http://h.example/a", b"https://[", b"//h/b", b"\xef\xbb\xbf",
    b"\xff\xfe", b"\xfe\xff", b"\xc3", b"\xef\xbf\xbd", b"\x1f\x8b\x08", b"x\x9c", b"Sitemap: ",
    b"site-map:", b"User-agent: *", b"#", b"2020", b"-05", b"T07:08:09", b"+01:00", b"GMT",
    b'"items":[', b'{"id":"', b'"version":"jsonfeed"', b"{", b"}", b"[", b"]", b"<video:video>",
    b"<media:content url='/x'", b"<media:group>", b"<PageMap>", b"EST", b"Wed, ", b" May ",
    b"12/11/10", b"W53", b"99999999999999999999",
)  # fmt: skip
"""Bytes that are difficult to parse."""

DICTIONARY: Final = "".join(
    '"' + "".join(map(r"\x{:02x}".format, token)) + '"\n' for token in TOKENS
)
"""The same in the format of libFuzzer."""


def seeds_for(target: str) -> list[bytes]:
    """Return the inputs that fuzzing starts with."""
    seeds = [seed[: limits.INPUT] for seed in _SEEDS[target]() if seed]
    return sorted(set(seeds), key=lambda seed: (len(seed), seed))


def _documents() -> list[bytes]:
    plain = [*_ours("*.xml", "*.txt", "*.json"), *_real("xml", "feeds", "text")]
    return [*plain, *(text.decode().encode("utf-16") for text in _ours("*.xml")), *_compressed()]


def _compressed() -> list[bytes]:
    plain = _ours("*.xml")
    once = [gzip.compress(text, mtime=0) for text in plain]
    twice = [gzip.compress(text, mtime=0) for text in once]
    return [*once, *twice, once[0] + once[1], *map(zlib.compress, plain)]


def _entries() -> list[bytes]:
    """Return the lines of our documents: parts of entries."""
    return [piece for text in _ours("*.xml") for piece in text.splitlines()]


def _ours(*patterns: str) -> list[bytes]:
    paths = [path for pattern in patterns for path in _OURS.glob(pattern)]
    return [path.read_bytes() for path in sorted(paths)]


def _real(*folders: str) -> list[bytes]:
    found = []
    for folder in folders:
        paths = sorted((_REAL / folder).glob("*"))
        small = [path for path in paths if path.stat().st_size <= limits.INPUT]
        found += small[:: max(len(small) // _MAX_OF_A_FOLDER, 1)]
    return [path.read_bytes() for path in found]


_SEEDS: Final[dict[str, Callable[[], list[bytes]]]] = {
    "document": _documents,
    "entry": _entries,
    "robots": lambda: [*_ours("robots*.txt"), *_real("robots")],
    "dates": lambda: [line for text in _ours("dates.txt") for line in text.splitlines()],
    "decompress": _compressed,
}
