"""Plain values are used as they are written, which gives the same as full conversion."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parse.pattern.readers import WORTH_LEARNING, assert_readers_agree, entries
from tests.parse.reading import ALL, u
from tests.parse.strategies import examples
from usp._parse.values.plain import are_plain_urls, is_plain_url
from usp._parse.values.strip_url_junk import strip_url_junk
from usp._parse.values.text import clean_text
from usp._parse.values.urls import is_http_url, resolve_url

SITE = "https://www.example.org:8080/"
paths = st.text(
    "abz09-._~:/?#[]@!$'()*+,;=%&<>\" \téж字\u00a0\u00ad\u200b\u061c“\uff20\0", max_size=20
)
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


@examples(300)
@given(st.lists(urls, max_size=4))
def test_many_urls_are_plain_if_each_is(found: list[str]) -> None:
    assert are_plain_urls(found) is all(map(is_plain_url, found)) or not found


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (f"{SITE}a?b=1&c=2", True),
        (f"{SITE}a;b", True),
        ("https://other.example", True),
        (f"{SITE}a?b=1&c;d", False),
        (f"{SITE}a b", False),
        (f"{SITE}a\n{SITE}b", False),
        (f"{SITE}é", True),
        (f"{SITE}за-проекта/?字=“x”\uff20", True),
        (f"{SITE}é?a&b;c", False),
        (f"{SITE}é\u200b", False),
        (f"{SITE}é\u00a0", False),
        (f"{SITE}é {SITE}b", False),
        ("https://é.example/", False),
        (" https://other.example/", False),
        ("/a", False),
        ("", False),
    ],
)
def test_which_urls_are_plain(text: str, plain: bool) -> None:
    assert bool(is_plain_url(text)) is plain
    assert are_plain_urls([text]) is plain
    assert are_plain_urls([f"{SITE}x", text, f"{SITE}y"]) is plain


@pytest.mark.parametrize("letter", "eé")
def test_a_url_with_what_stands_between_urls_is_not_plain(letter: str) -> None:
    assert not is_plain_url(f"{SITE}{letter}\0{SITE}b")


@examples(1000)
@given(texts)
def test_a_text_of_an_entry_is_what_expat_makes_of_it(text: str) -> None:
    title = f"<news:news><news:title>{text}</news:title></news:news>"
    data = document(u("http://h.example/"), u("http://h.example/a", title))
    assert entries(data).records == entries(data, expat_only=True).records


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


@pytest.mark.parametrize("what", PLAIN)
def test_all_plain_entries_are_matched(what: str) -> None:
    data = document(*(u(f"http://h.example/{number}", PLAIN[what]) for number in range(60)))
    assert entries(data).matched == 60
    assert_readers_agree([data])


@pytest.mark.parametrize("what", PLAIN)
def test_odd_values_among_plain_ones_change_nothing(what: str) -> None:
    listed = [
        u(f"http://h.example/{number}", ODD[what] if number % 7 == 5 else PLAIN[what])
        for number in range(80)
    ]
    data = document(*listed)
    assert entries(data).matched > 50
    assert_readers_agree([data])


@pytest.mark.parametrize("lacking", ["name", "language", "access", "publication_date", "genres"])
def test_missing_fields_of_a_story_are_none(lacking: str) -> None:
    title = "<news:title>A story</news:title>"
    stories = [f"<news:news>{title}<news:{lacking}>x</news:{lacking}></news:news>"] * 2
    short = f"<news:news>{title}</news:news>"
    fields = ["".join(stories), short, short + stories[0]]
    data = document(*(u(f"http://h.example/{n}", fields[n % 3]) for n in range(60)))
    assert entries(data).matched == 60
    assert_readers_agree([data])


def test_urls_of_other_sites_are_plain_too() -> None:
    hosts = ("h.example", "cdn.example:8080", "x.h.example")
    data = document(*(u(f"http://{hosts[n % 3]}/{n}?a&amp;b") for n in range(60)))
    assert entries(data).matched == 60
    assert_readers_agree([data])


@pytest.mark.parametrize("gap", ["", "\n", "\r\n\t", "  \n "])
@pytest.mark.parametrize("field", ["<priority>0.8</priority>", "<mobile:mobile/>"])
def test_blanks_between_elements_may_vary(gap: str, field: str) -> None:
    entry = gap.join(["<url>", "<loc>http://h.example/@</loc>", field, ""])
    listed = [f"{entry}</url>".replace("@", str(number)) for number in range(60)]
    listed[40] = listed[40].replace(field, f" \n {field}")
    data = document(*listed)
    assert entries(data).matched == 60
    assert_readers_agree([data])


def test_repeated_urls_in_one_run_are_skipped() -> None:
    data = document(*(u(f"http://h.example/{number % 40}") for number in range(60)))
    assert_readers_agree([data])
