"""A document that is read as it is gives what the long way gives: nothing is skipped for speed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parse.reading import SM, u
from tests.parse.strategies import examples
from usp._parse.diagnostics import Diagnostics
from usp._parse.document import Source
from usp._parse.input.plain_document import plain_document
from usp._parse.input.sniff import _sniff_any, sniff_plain_head
from usp._parse.opening import _open_any, open_document

DECLARATIONS = [
    "", '<?xml version="1.0"?>', '<?xml version="1.0" encoding="UTF-8"?>',
    "<?xml version='1.0' encoding='utf-8' standalone='yes'?>", '<?xml version="1.1"?>',
    '<?xml version="1.0" encoding="ISO-8859-1"?>', '<?xml version="1.0" encoding="UTF-16"?>',
    '<?xml version="1.0" encoding="nonsense"?>', '<?xml encoding="utf-8"?>',
    '<?XML version="1.0"?>',
    '<?xml version="1.0" encoding="UTF-8" ?>', "<?xml?>", '<?xml version="1.0" encoding=UTF-8?>',
]  # fmt: skip
BETWEEN = [
    "", "\n", "\r\n  ", "<!-- made by hand -->", "<!-- a -- b -->", "<!---->", "<!-->", "\ufeff",
    '<?xml-stylesheet type="text/xsl" href="/s.xsl"?>', "<?php x ?>", "<!DOCTYPE urlset>", "text",
    "<!DOCTYPE html>", f"<?xml-stylesheet {'x' * 300}?>", "<!-- <rss> -->", "\x0b", "\0", "<br/>",
]  # fmt: skip
ROOTS = [
    f"<urlset {SM}>{u('http://h.example/é')}</urlset>", "<urlset/>", "<urlset>", "<URLSET>",
    "<sitemapindex><sitemap><loc>http://h.example/a.xml</loc></sitemap></sitemapindex>",
    "<rss><channel><item><title>T</title><link>http://h.example/</link></item></channel></rss>",
    "<feed xmlns='http://www.w3.org/2005/Atom'></feed>", "<rdf:RDF></rdf:RDF>", "<html></html>",
    '<rdf:RDF><?xml version="1.0" encoding="utf-16"?></rdf:RDF>',
    "<urlsets></urlsets>", "<sm:urlset></sm:urlset>", "<rss", "", "http://h.example/\n",
]  # fmt: skip
heads = st.builds(
    lambda declaration, between, root: f"{declaration}{''.join(between)}{root}".encode(),
    st.sampled_from(DECLARATIONS),
    st.lists(st.sampled_from(BETWEEN), max_size=3),
    st.sampled_from(ROOTS),
)
TEXTS = [
    *("http://h.example/\n", "https://h.example/a?b=1&c\n", "User-agent: *\n", "# é\r\n", "/", "*"),
    *('b"', "b'", "{", "[", '"', " ", "\n", "\ufeff", "\0", "\x01", "<", "<urlset>", "\u2028", "x"),
    *(
        "&lt;urlset&gt;",
        r"\\u003curlset\\u003e",
        'encoding="latin-1"',
        "Sitemap: https://h.example/a",
    ),
]
texts = st.lists(st.sampled_from(TEXTS), max_size=8).map(lambda parts: "".join(parts).encode())
URLS = ["http://h.example/s.xml", "http://h.example/robots.txt?x", None]
charsets = st.sampled_from([None, "utf-8", "UTF-8", "iso-8859-1"])


@examples(1500)
@given(
    heads | texts,
    charsets,
    st.sampled_from([b"", b"\xff", b"\xe4", b"\x1f\x8b"]),
    st.sampled_from(URLS),
)
def test_a_plain_document_is_opened_as_the_long_way_opens_it(
    head: bytes, charset: str | None, end: bytes, url: str | None
) -> None:
    source = Source([head + end], url, charset=charset)
    quick, long = Diagnostics(), Diagnostics()
    ours, theirs = open_document(source, quick), _open_any(source, long, None)
    assert ours.sniffed == theirs.sniffed
    assert b"".join(ours.data) == b"".join(theirs.data)
    assert ours.start.position == theirs.start.position
    assert quick.problems == long.problems
    assert quick.document_bytes == long.document_bytes


@examples(1500)
@given(heads)
def test_a_plain_head_is_what_the_long_way_finds(head: bytes) -> None:
    found = sniff_plain_head(head)
    assert found is None or found == _sniff_any(head, ())


def test_nearly_all_sitemaps_are_plain_documents() -> None:
    declared = '<?xml version="1.0" encoding="UTF-8"?>\n'
    styled = '<?xml-stylesheet type="text/xsl" href="//h.example/main-sitemap.xsl"?>'
    for head in ("", declared, declared + styled):
        data = f"{head}<urlset {SM}>{u('http://h.example/')}</urlset>\n<!-- XML -->".encode()
        assert plain_document([data], None, len(data))
        assert plain_document([data], "utf-8", len(data))
    assert plain_document([b"User-agent: *\nAllow: /\n"], None, 100)


@pytest.mark.parametrize(
    ("what", "source"),
    [
        ("several chunks", Source([b"<urlset>", b"</urlset>"])),
        ("above the limit", Source([b"<urlset></urlset>"], limit=10)),
        ("another charset", Source([b"<urlset></urlset>"], charset="iso-8859-1")),
        ("invalid UTF-8", Source([b"<urlset>\xff</urlset>"])),
        ("a large one", Source([b"<urlset>" + b" " * 270_000 + b"</urlset>"])),
    ],
)
def test_other_documents_take_the_long_way(what: str, source: Source) -> None:
    assert plain_document(source.chunks, source.charset, source.limit) is None, what
    assert open_document(source, Diagnostics()).sniffed.kind == "urlset"


def test_a_truncated_body_is_reported_for_a_plain_document_too() -> None:
    diagnostics = Diagnostics()
    open_document(
        replace(Source([b"<urlset></urlset>"]), truncated="the connection was reset"), diagnostics
    )
    assert [problem.code for problem in diagnostics.problems] == ["SM102"]
