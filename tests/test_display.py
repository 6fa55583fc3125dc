"""How URLs and texts are shown: without credentials, and on one line."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

import usp
from tests.server import Handler, LoopbackServer
from usp._display import (
    excerpt,
    in_markdown,
    one_line,
    redact,
    redact_argument,
    shown,
    shown_url,
    without_credentials,
    without_typed_credentials,
)
from usp.exceptions import SitemapException, StorageError, UsageError

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://h.example/a", "http://h.example/a"),
        ("http://user:secret@h.example/a", "http://h.example/a"),
        ("HTTPS://user@h.example", "HTTPS://h.example"),
        ("http://user:se@cret@h.example:80/a@b?c@d", "http://h.example:80/a@b?c@d"),
        ("http://us er:se cret@h.example/", "http://h.example/"),
        ("http://user:se\ncret@h.example/", "http://h.example/"),
        ("//user:secret@h.example/a", "//h.example/a"),
        (" \thttp://user:secret@h.example/", " \thttp://h.example/"),
        ("http://:@h.example/", "http://h.example/"),
        ("ftp://user:secret@h.example/", "ftp://h.example/"),
        ("http://user:secret@[::1]:80/", "http://[::1]:80/"),
        ("https://h.example/@user", "https://h.example/@user"),
        ("https://h.example?mail=a@b", "https://h.example?mail=a@b"),
        ("mailto:me@h.example", "mailto:me@h.example"),
        ("./folder//me@home.xml", "./folder//me@home.xml"),
        ("http://http://u:p@h.example/", "http://http://h.example/"),
        ("http:////u:p@h.example/", "http:////h.example/"),
        ("HTTP:\\\\u:p@h\\p", "HTTP:\\\\h\\p"),
        ("https:/u:p@h/@me", "https:/h/@me"),
        ("http: u:p@h/", "http: h/"),
        ("///u:p@h/", "///h/"),
        ("http:a:b@http://u:p@h/", "http:h/"),
        ("http:/@user/x", "http:/@user/x"),
        ("https://h//@user", "https://h//@user"),
        ("https:\\\\h\\@user", "https:\\\\h\\@user"),
        ("", ""),
    ],
)
def test_a_url_without_its_user_and_password(url: str, expected: str) -> None:
    assert without_credentials(url) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Failed: http://a:b@h/x, then https://c:d@i", "Failed: http://h/x, then https://i"),
        ("['//a:b@h/x']", "['//h/x']"),
        ("http://h/ is not me@h.example", "http://h/ is not me@h.example"),
        ("http://a:b@c:d@h/", "http://h/"),
        ("no URL", "no URL"),
        ("'http:/a:b@h', http:\\\\a:b@i and http:a:b@j", "'http:/h', http:\\\\i and http:j"),
        ("date 'http://a:b c@h/'", "date 'http://h/'"),
        ("http://h:80 refused me@i", "http://h:80 refused me@i"),
        ("http://h: no answer for me@i", "http://h: no answer for me@i"),
        ("'http://h:x' is not 'me@i'", "'http://h:x' is not 'me@i'"),
        ("Denied to u:secret@h", "Denied to ***@h"),
        ("(u:s:e@cret@[::1]:80) 'u%3Asecret%40h/'", "(***@[::1]:80) '***@h/'"),
        ("proxy=u:secret@h:80, mailto:me@h", "***@h:80, mailto:me@h"),
        ("tag:me@h,2026:1 is at h:80/a@b", "tag:me@h,2026:1 is at h:80/a@b"),
        ("{'a':'b@c'} C:\\\\d@e", "{'a':'b@c'} C:\\\\d@e"),
        ("at http://u%3Asecret%40h/a%40b", "at http://h/a%40b"),
        ("at //u%3Ase%40cret%40h:80, me%40h", "at //h:80, me%40h"),
    ],
)
def test_urls_in_a_text_lose_their_user_and_password(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize(
    "url",
    [
        "https://h/@user",
        "https://h//@user",
        "https://h.example//@user/x",
        "https://h/u//@user:x/y@z",
        "https://h//u:v@w/x",
        "https://h/x?a=//u@v",
        "https://h/x?email=a@b",
        "https://h/x?to=a%40b",
        "https://h/a:b/c@d",
        "https://h:80/a@b",
        "https://h:/@user",
        "https://h:000080/@user",
        "https://h:80#a@b",
        "http://[::1]:80/@user",
        "//@user",
        "//h:80/@user",
        "http//a@b",
        "urn:a:b@c",
        "mailto:a@b",
    ],
)
def test_a_url_without_a_password_stays_as_it_is(url: str) -> None:
    assert without_credentials(url) == url
    assert shown_url(url) == url
    assert redact(url) == url
    text = f"URL {url!r} is listed again: {url} ({url})"
    assert redact(text) == text


def test_a_url_within_a_url_stays_where_the_whole_is_known_to_be_one() -> None:
    url = "https://h/x?to=http://a@b/"
    assert shown_url(url) == url
    assert redact(f"at {url}") == "at https://h/x?to=http://b/"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://u:secret/y@h/", "http://h/"),
        ("http://u:x?secret@h/", "http://h/"),
        ("http://u:x#secret@h/a", "http://h/a"),
        ("//u:secret/y@h/", "//h/"),
        ("http:/u:secret/y@h/", "http:/h/"),
        ("http:\\\\u:secret/y@h/", "http:\\\\h/"),
        ("http://u:secret%40h/", "http://h/"),
        ("http://u:secret\uff20h/", "http://h/"),
        ("http://u%3Asecret%40h/", "http://h/"),
        ("//u%3ase%40cret%40h:80/a%40b", "//h:80/a%40b"),
        ("http//u:secret@h", "http//h"),
        ("HTTPS;//u:secret@h", "HTTPS;//h"),
        ("http;//u:secret/x@h", "http;//h"),
        ("://u:secret@h", "://h"),
        ("feed:http://u:secret@h/", "feed:http://h/"),
        ("http:/\t/u:secret@h/", "http:/\t/h/"),
    ],
)
def test_a_password_that_makes_a_url_malformed_is_removed(url: str, expected: str) -> None:
    assert without_credentials(url) == expected
    assert without_credentials(expected) == expected
    assert redact(f"URL '{url}' is bad, me@h") == f"URL '{expected}' is bad, me@h"


@pytest.mark.parametrize("blank", ["\t", "\r", "\n", "\r\n"])
def test_tabs_and_line_breaks_hide_no_password_since_browsers_remove_them(blank: str) -> None:
    for url in (f"ht{blank}tp://u:secret@h/", f"h{blank}ttps:u:secret@h/"):
        assert "secret" not in shown_url(url)
        assert shown_url(url).endswith("h/")
    kept = f"https://h/@me?a=b@{blank}c"
    assert without_credentials(kept) == kept


@pytest.mark.parametrize(
    ("argument", "message", "expected"),
    [
        ("u:secret@h", "no command 'u:secret@h'", "no command '***@h'"),
        ("-ou:secret@h", "cannot write u:secret@h", "cannot write ***@h"),
        ("--config=u:se@cret@h", "cannot read u:se@cret@h", "cannot read ***@h"),
        ("http//u:secret@h", "cannot read http/u:secret@h", "cannot read http/***@h"),
        ("file://u:secret@h", "cannot read /a/file:/u:secret@h", "cannot read /a/file:/***@h"),
        ("u:a\tb@h", r"unexpected: 'u:a\tb@h'", "unexpected: '***@h'"),
        ("u:a\tb@h", "cannot read u:a%09b@h", "cannot read ***@h"),
        ("mailto:me@h", "mailto:me@h is no file", "mailto:me@h is no file"),
        ("https://h/a:b@c", "https://h/a:b@c failed", "https://h/a:b@c failed"),
        ("http://u:80/x@h/", "http://u:80/x@h/ failed", "http://u:80/x@h/ failed"),
        ("a/b:c@d.csv", "cannot read a/b:c@d.csv", "cannot read a/***@d.csv"),
        ("logs/2026/10:00@d.csv", "no logs/2026/10:00@d.csv", "no logs/2026/10:00@d.csv"),
    ],
)
def test_what_was_typed_as_user_and_password_is_not_quoted(
    argument: str, message: str, expected: str
) -> None:
    assert without_typed_credentials(message, ["ls", argument]) == expected


def test_an_excerpt_has_no_start_of_a_password() -> None:
    assert excerpt(f"http://user:{'secret' * 20}@h.example/", 80) == "http://h.example/"
    assert excerpt(f"at http://user:{'secret' * 20}@h.example/", 80) == "at http://h.example/"
    assert excerpt("http://h.example/", 8) == "http://h"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("http://user:pa/ss@h:80", "http://***@h:80"),
        ("http://user:p?a#s@s@h", "http://***@h"),
        ("user:secret@h", "***@h"),
        ("http://user:secret\uff20h/", "http://***@h/"),
        ("http://user:sec@ret\ufe6bh/", "http://***@h/"),
        ("mailto:me@h.example", "mailto:me@h.example"),
        ("foo", "foo"),
    ],
)
def test_a_rejected_argument_shows_nothing_before_the_last_at_sign(
    given: str, expected: str
) -> None:
    assert redact_argument(given) == expected


def test_what_controls_a_terminal_is_percent_encoded() -> None:
    assert one_line("http://h/é\n\x1b[2J\x7f\x85z") == "http://h/é%0A%1B[2J%7F%C2%85z"
    assert one_line("a\u202eb\u2028c\u2029d") == "a%E2%80%AEb%E2%80%A8c%E2%80%A9d"
    assert one_line("日本語 🎉 a\u200db") == "日本語 🎉 a\u200db"


def test_every_control_character_is_encoded() -> None:
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    controls = {char for char in every if unicodedata.category(char) in {"Cc", "Zl", "Zp"}}
    changed = {char for char in every if one_line(char) != char}
    assert changed == controls | set(BIDI)


@given(st.text())
def test_what_is_shown_is_one_line(text: str) -> None:
    safe = shown(text)
    assert len(safe.splitlines()) <= 1
    assert not any(unicodedata.category(char) in {"Cc", "Zl", "Zp"} for char in safe)
    assert not set(safe) & set(BIDI)


@given(st.text(alphabet="a:@/? \n\"'"), st.text(alphabet="b:@ "))
def test_nothing_of_a_password_is_shown(user: str, path: str) -> None:
    url = f"http://{user.replace('/', '').replace('?', '')}secret@h.example/{path}"
    assert without_credentials(url) == f"http://h.example/{path}"


@pytest.mark.parametrize("kind", [SitemapException, StorageError, UsageError])
def test_an_exception_shows_no_password(kind: type[Exception]) -> None:
    error = kind("http://user:secret@h.example/\x1b is wrong")
    assert str(error) == "http://h.example/%1B is wrong"
    assert "secret" not in repr(error)


@pytest.mark.slow
def test_log_lines_of_the_library_are_safe_for_any_handler(
    server: LoopbackServer, caplog: pytest.LogCaptureFixture
) -> None:
    def reason(handler: Handler) -> None:
        handler.wfile.write(b"HTTP/1.1 404 a\x1b[31m\x9b\xe2\x80\xae\r\nContent-Length: 0\r\n\r\n")

    server.site["/robots.txt"] = f"Sitemap: {server.url}a\u202eb\u2028c.xml\n"
    server.otherwise = reason
    with caplog.at_level("DEBUG", "usp"):
        tree = usp.sitemap_tree_for_homepage(server.url)
    lines = [record.getMessage() for record in caplog.records if record.name.startswith("usp")]
    assert any("%E2%80%AE" in line for line in lines)
    for text in (*lines, repr(tree), *map(repr, tree.all_sitemaps())):
        assert one_line(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://h.example/a_b-c.html?d=e&f", "https://h.example/a_b-c.html?d=e&f"),
        ("_a_ b__c", r"\_a\_ b\_\_c"),
        ("@me, o/r#1", r"\@<!-- -->me, o/r\#<!-- -->1"),
        ("![i](u) `c` *b* ~s~ $m$ {x} a|b \\", r"\!\[i\](u) \`c\` \*b\* \~s\~ \$m\$ \{x\} a\|b \\"),
        ("at https://h.example/@me/*?a_=b#c: no", "at <https://h.example/@me/*?a_=b#c>: no"),
        ("'http://h/@a', HTTP://h/#_.", "'<http://h/@a>', <HTTP://h/#>\\_."),
        ("http://h/@a|b http://@", r"<http://h/@a>\|b <http://@>"),
        ("<b>\n# x", r"&lt;b>%0A\#<!-- --> x"),
    ],
)
def test_a_text_in_markdown_is_no_markup_and_mentions_nobody(text: str, expected: str) -> None:
    assert in_markdown(text) == expected
