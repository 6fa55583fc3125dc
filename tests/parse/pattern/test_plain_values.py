"""Plain values are used as they are written, which gives the same as full conversion."""

from __future__ import annotations

import re
from html import unescape
from xml.parsers import expat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parse.pattern.readers import WORTH_LEARNING, assert_readers_agree
from tests.parse.reading import ALL, u
from tests.parse.strategies import examples
from usp._parse.diagnostics import Diagnostics
from usp._parse.document import Source, _entries
from usp._parse.opening import open_document
from usp._parse.pattern.groups import MatchRun
from usp._parse.pattern.known_patterns import forget_patterns
from usp._parse.pattern.text_conversion import plain_list, plain_text
from usp._parse.values.plain import (
    NOT_PLAIN,
    PLAIN_ATTRIBUTE,
    PLAIN_TEXT,
    PLAIN_URL,
    is_plain_url,
    or_in_cdata,
    unescape_plain_url,
)
from usp._parse.values.strip_url_junk import strip_url_junk
from usp._parse.values.text import clean_text, decode_entities, split_commas
from usp._parse.values.urls import is_http_url, resolve_url

SITE = "https://www.example.org:8080/"
paths = st.text("abz09-._~:/?#[]@!$'()*+,;=%&<>\" \té", max_size=20)
urls = st.builds(
    "{}{}{}".format,
    st.sampled_from(["http://", "https://", "HTTP://", "ftp://", "//", ""]),
    st.sampled_from(["h.example", "h.example:80", "h.example:", "h_x", "é.example", ""]),
    st.one_of(st.just(""), paths, paths.map("/{}".format), paths.map("?a=1&amp;{}".format)),
)
texts = st.lists(
    st.sampled_from(
        [
            *"ab,;.&#<>]'\" \t\n\r\x01\x7f\xe9\xa0\xad\u2009\u2019\u200b\u3000\u4e2d\ufeff\ufffe",
            "\U0001f600",
            "&amp;",
            "&lt;",
            "&gt;",
            "&quot;",
            "&apos;",
            "&#39;",
            "&#039;",
            "&#38;",
            "&#x26;",
            "&#59;",
            "&#160;",
            "&#xa0;",
            "&#8203;",
            "&#8217;",
            "&#x2019;",
            "&#128512;",
            "&#32;",
            "&nbsp;",
            "&bogus;",
            "&amp;amp;",
            "&amp;lt;",
            "lt;",
            "amp",
            "#39;",
            "]]>",
            "<![CDATA[",
        ]
    ),
    max_size=7,
).map("".join)


def long_way(text: str) -> str:
    """Read a URL by every step that a plain one is spared."""
    return re.sub(r" *[\t\r\n]\s*", "", strip_url_junk(clean_text(text)))


@examples(600)
@given(urls)
def test_a_plain_url_is_what_is_written(text: str) -> None:
    if is_plain_url(text):
        assert long_way(text) == text
        assert is_http_url(text)
        assert resolve_url(text, "http://other.example/a/b") == text


@examples(600)
@given(urls)
def test_a_plain_url_in_a_document_has_no_references_but_one(text: str) -> None:
    if re.fullmatch(PLAIN_URL, text):
        assert unescape_plain_url(text) == unescape(text)
        assert long_way(unescape_plain_url(text)) == unescape_plain_url(text)


@examples(600)
@given(urls)
def test_a_plain_url_in_cdata_is_what_is_written(text: str) -> None:
    written = f"<![CDATA[{text}]]>"
    if re.fullmatch(or_in_cdata(PLAIN_URL), written):
        assert unescape_plain_url(written) == text == long_way(text)


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        (f"{SITE}a?b=1&amp;c=2", True),
        (f"{SITE}a?b=1&amp;c=2&amp;d", True),
        (f"{SITE}a;b", True),
        ("https://other.example", True),
        (f"{SITE}a?b&amp;amp;c", False),
        (f"{SITE}a?b&amp;#38;c", False),
        (f"{SITE}a?b&lt;c", False),
        (f"{SITE}a b", False),
        (f"{SITE}é", False),
        (" https://other.example/", False),
        ("/a", False),
        ("", False),
    ],
)
def test_which_urls_are_plain(written: str, plain: bool) -> None:
    assert bool(re.fullmatch(PLAIN_URL, written)) is plain


def is_plain_text(pattern: str, text: str) -> bool:
    """Whether the pattern reader takes a text for plain: no hazard, and the pattern matches."""
    found = any(hazard.search(text) for hazard, _ in NOT_PLAIN)
    return not found and re.fullmatch(pattern, text) is not None


@examples(3000)
@given(texts)
def test_a_plain_text_means_what_expat_and_cleaning_make_of_it(text: str) -> None:
    if is_plain_text(PLAIN_TEXT, text):
        parsed: list[str] = []
        parser = expat.ParserCreate()
        parser.CharacterDataHandler = parsed.append
        parser.Parse(f"<a>{text}</a>", True)
        meant = "".join(parsed)
        assert decode_entities(meant) == meant, "it is not escaped twice"
        assert plain_text(text) == clean_text(meant) != ""
        assert plain_list(text) == split_commas(meant)


@examples(1000)
@given(texts)
def test_a_plain_text_in_cdata_is_what_is_written(text: str) -> None:
    written = f"<![CDATA[{text}]]>"
    if is_plain_text(or_in_cdata(PLAIN_TEXT), written):
        assert plain_text(written) == clean_text(text) != ""
        assert plain_list(written) == split_commas(text)


@examples(400)
@given(texts)
def test_a_plain_attribute_is_what_is_written(text: str) -> None:
    if is_plain_text(PLAIN_ATTRIBUTE, text):
        assert clean_text(text) == text == unescape(text)


@pytest.mark.parametrize(
    "title",
    [
        "It's &quot;so&quot;", "A &amp; B", "&lt;b&gt;", "caf\xe9", "\u0434\u0430", "\u4e2d\u6587",
        "&#8217;tis", "x &#039;y&#039;", "x&#x27;s", "[video] a > b", "a]] b", "\U0001f600 !",
    ],
)  # fmt: skip
def test_usual_titles_are_plain(title: str) -> None:
    plain = not title.startswith("&#")
    assert is_plain_text(PLAIN_TEXT, title) is plain, "a number may be a blank, at the start"


PLAIN = {
    "plain": "<lastmod>2020-05-06</lastmod><changefreq>daily</changefreq><priority>0.8</priority>",
    "news": "<news:news><news:publication><news:name>N</news:name></news:publication>"
    "<news:title>A story</news:title><news:keywords>a, b</news:keywords></news:news>",
    "images": "<image:image><image:loc>http://h.example/1?a&amp;b</image:loc></image:image>"
    "<image:image><image:loc>http://h.example/2</image:loc><image:title>T</image:title>"
    "</image:image>",
    "one image": "<image:image><image:loc>http://h.example/1?a&amp;b</image:loc></image:image>",
    "hreflang": "".join(
        f'<xhtml:link rel="alternate" hreflang="{code}" href="http://h.example/{code}?a&amp;b"/>'
        for code in ("de", "fr", "es")
    ),
    "one link": '<xhtml:link rel="alternate" hreflang="de" href="http://h.example/?a&amp;b"/>',
    "a link without a language": '<xhtml:link rel="alternate" href="http://h.example/"/>',
    "a link that says nothing": "<xhtml:link/>",
}
ODD = {
    "plain": "<lastmod> </lastmod>",
    "news": "<news:news><news:title>caf\xe9 &amp; bar</news:title></news:news>",
    "images": "<image:image><image:loc> /1 </image:loc></image:image>",
    "one image": "<image:image><image:loc/></image:image>",
    "hreflang": '<xhtml:link rel="canonical" hreflang="de" href="/x"/>',
    "one link": '<xhtml:link rel="alternate" hreflang=" de " href="&#47;x"/>',
    "a link without a language": '<xhtml:link hreflang="de" rel="alternate" href="/x"/>',
    "a link that says nothing": '<xhtml:link rel="alternate"/>',
}


def document(*listed: str) -> bytes:
    return f"<urlset {ALL}>{''.join(listed)}{WORTH_LEARNING}</urlset>".encode()


def in_the_plain_way(data: bytes) -> tuple[int, int]:
    """Count the entries that were matched in the plain way, and in the other one."""
    forget_patterns()
    ignored_diagnostics = Diagnostics(collecting=False)
    runs = [
        piece
        for piece in _entries(
            open_document(Source.of(data), ignored_diagnostics), ignored_diagnostics
        )
        if isinstance(piece, MatchRun)
    ]
    ways = [run.layout.plain for run in runs for _ in run.matches]
    return sum(ways), len(ways) - sum(ways)


@pytest.mark.parametrize("what", PLAIN)
def test_plain_entries_are_matched_by_the_plain_alternative(what: str) -> None:
    data = document(*(u(f"http://h.example/{number}", PLAIN[what]) for number in range(60)))
    # The first entry goes to expat, which reads the root with it; more where a pattern is learned.
    assert in_the_plain_way(data) in {(59, 0), (57, 0)}
    assert_readers_agree([data])


@pytest.mark.parametrize("what", PLAIN)
def test_odd_values_among_plain_ones_change_nothing(what: str) -> None:
    listed = [
        u(f"http://h.example/{number}", ODD[what] if number % 7 == 5 else PLAIN[what])
        for number in range(80)
    ]
    data = document(*listed)
    plain, _ = in_the_plain_way(data)
    assert plain > 50
    assert_readers_agree([data])


@pytest.mark.parametrize("lacking", ["name", "language", "access", "publication_date", "genres"])
def test_missing_fields_of_a_story_are_none(lacking: str) -> None:
    title = "<news:title>A story</news:title>"
    stories = [f"<news:news>{title}<news:{lacking}>x</news:{lacking}></news:news>"] * 2
    short = f"<news:news>{title}</news:news>"
    fields = ["".join(stories), short, short + stories[0]]
    data = document(*(u(f"http://h.example/{n}", fields[n % 3]) for n in range(60)))
    assert in_the_plain_way(data)[0] > 40
    assert_readers_agree([data])


def test_urls_of_other_sites_are_plain_too() -> None:
    hosts = ("h.example", "cdn.example:8080", "x.h.example")
    data = document(*(u(f"http://{hosts[n % 3]}/{n}?a&amp;b") for n in range(60)))
    assert in_the_plain_way(data) == (59, 0)
    assert_readers_agree([data])


@pytest.mark.parametrize("gap", ["", "\n", "\r\n\t", "  \n "])
@pytest.mark.parametrize(
    ("field", "ways"),
    [
        ("<priority>0.8</priority>", (59, 0)),  # known from the start, with any blanks
        ("<mobile:mobile/>", (56, 1)),  # learned: blanks that vary are not plain
    ],
)
def test_blanks_that_are_always_the_same_are_plain(
    gap: str, field: str, ways: tuple[int, int]
) -> None:
    entry = gap.join(["<url>", "<loc>http://h.example/@</loc>", field, ""])
    listed = [f"{entry}</url>".replace("@", str(number)) for number in range(60)]
    listed[40] = listed[40].replace(field, f" \n {field}")
    data = document(*listed)
    assert in_the_plain_way(data) == ways
    assert_readers_agree([data])


def test_repeated_urls_in_one_run_are_skipped() -> None:
    data = document(*(u(f"http://h.example/{number % 40}") for number in range(60)))
    assert_readers_agree([data])
