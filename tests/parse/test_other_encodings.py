"""Documents in several encodings, or in none that they could have: nothing is lost in silence."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Final

import pytest

from tests.parse.reading import index, read, u, urlset
from usp._parse.diagnostics import Diagnostics
from usp._parse.input.chunks import CHUNK_SIZE
from usp._parse.input.decode import Utf8Document

ROBOTS: Final = "http://h/robots.txt"
WIDE: Final = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")
A, B = "http://h/a", "http://h/b"


def feed(url: str) -> str:
    item = {"id": "1", "url": url, "title": "T"}
    return json.dumps({"version": "https://jsonfeed.org/version/1.1", "items": [item]})


FORMATS: Final[dict[str, tuple[Callable[[str], str], str | None]]] = {
    "urlset": (lambda url: urlset(u(url)), None),
    "index": (index, None),
    "feed": (feed, None),
    "text": (lambda url: f"{url}\n", None),
    "robots": (lambda url: f"Sitemap: {url}\n", ROBOTS),
}


@pytest.mark.parametrize("wide", WIDE)
@pytest.mark.parametrize("name", FORMATS)
def test_a_second_document_in_another_encoding_is_an_error(name: str, wide: str) -> None:
    write, url = FORMATS[name]
    for encodings in (("utf-8", wide), (wide, "utf-8")):
        both = [
            write(page).encode(encoding) for page, encoding in zip((A, B), encodings, strict=True)
        ]
        found = read(*both, url=url)
        assert found.urls[0] == A
        assert not found.complete
        assert "SM223" in [problem.code for problem in found.problems]
        assert read(b"".join(both), url=url).problems == found.problems
        assert read(both[0], url=url).complete


@pytest.mark.parametrize("split", range(-16, 17))
def test_it_is_found_wherever_a_chunk_ends(split: int) -> None:
    first = urlset(u(A)).encode()
    first += b" " * (CHUNK_SIZE - len(first) + split)
    diagnostics = Diagnostics()
    data = first + "http://h/b\n".encode("utf-16-le")
    for _ in Utf8Document([data[:CHUNK_SIZE], data[CHUNK_SIZE:]], diagnostics):
        pass
    (problem,) = diagnostics.problems
    assert (problem.code, problem.line, problem.offset) == ("SM223", 1, len(first))


@pytest.mark.parametrize("encoding", ["utf-8", *WIDE])
def test_characters_of_any_script_are_no_other_encoding(encoding: str) -> None:
    text = "".join(map(chr, (*range(0x20, 0xD800), *range(0xF000, 0xFFFD))))
    document = f"{urlset(u(A))}<!-- {text.replace('-', '')} -->"
    assert not read(document.encode(encoding)).problems


@pytest.mark.parametrize("before", ["", "User-agent: *\n", "User-agent: *\nDisallow: /x\n\n"])
def test_a_robots_txt_before_a_compressed_one_is_an_error(before: str) -> None:
    compressed = gzip.compress(b"Sitemap: http://h/b\n")
    plain = f"{before}Sitemap: http://h/a\n".encode()
    for document, expected in ((plain + compressed, B), (compressed + plain, B)):
        found = read(document, url=ROBOTS)
        assert found.urls == [expected]
        assert not found.complete
        assert "SM223" in [problem.code for problem in found.problems]


def test_rules_before_a_compressed_robots_txt_are_junk() -> None:
    document = b"User-agent: *\nDisallow:\n" + gzip.compress(b"Sitemap: http://h/b\n")
    found = read(document, url=ROBOTS)
    assert found.urls == [B]
    assert [problem.code for problem in found.problems] == ["SM205"]
    assert found.complete


@pytest.mark.parametrize("zeros", [7, 16, 17, 4096])
def test_zeros_after_the_first_byte_are_no_encoding(zeros: int) -> None:
    robots = b"U" + bytes(zeros) + b"ser-agent: *\nSitemap: http://h/a\n"
    found = read(robots, url=ROBOTS)
    assert found.urls == [A]
    assert found.complete == (zeros < 16)
    assert read(b"h" + bytes(zeros) + b"ttp://h/a\nhttp://h/b\n").urls[-1] == B


@pytest.mark.parametrize("name", ["cp037", "cp500", "cp1140", "cp273"])
def test_a_declaration_that_can_be_read_is_not_in_ebcdic(name: str) -> None:
    document = f'<?xml version="1.0" encoding="{name}"?>{urlset(u("http://h/é"))}'.encode()
    found = read(document)
    assert found.urls == ["http://h/é"]
    assert [problem.code for problem in found.problems] == ["SM213"]
    assert read(urlset(u(A)).encode(), charset=name).urls == [A]
    assert read(urlset(u(A)).encode(name), charset=name).urls == [A]


@pytest.mark.parametrize("name", ["text", "robots", "urlset"])
@pytest.mark.parametrize("codec", ["utf-32", "utf-32-le", "utf-32-be"])
def test_a_byte_that_is_missing_in_utf_32_is_an_error(name: str, codec: str) -> None:
    write, url = FORMATS[name]
    data = "".join(map(write, (A, B, f"{B}c"))).encode(codec)
    for at in (40, 70, 101):
        damaged = data[:at] + data[at + 1 :]
        assert not read(damaged, url=url).complete
        assert not read(*(damaged[n : n + 5] for n in range(0, len(damaged), 5)), url=url).complete
