"""When two URLs count as the same."""

from collections.abc import Mapping
from pathlib import Path

import pytest

import usp
from usp._diff.keys import UrlKeys, clean_urls
from usp.exceptions import UsageError

SAME = [
    ("scheme", "http://a.example/x", "https://a.example/x"),
    ("scheme", "HTTP://a.example/x", "https://a.example/x"),
    ("www", "https://www.a.example/x", "https://a.example/x"),
    ("slash", "https://a.example/x/", "https://a.example/x"),
    ("slash", "https://a.example/", "https://a.example"),
    ("slash", "https://a.example/x/?y=1", "https://a.example/x?y=1"),
    ("slash", "https://a.example/x/#y/", "https://a.example/x#y/"),
    ("case", "https://A.example/X", "https://a.example/x"),
    ("query-order", "https://a.example/?b=2&a=1#f", "https://a.example/?a=1&b=2#f"),
]


def keys(url: str, *ignore: str, prefixes: Mapping[str, str] | None = None) -> str:
    return UrlKeys.of(ignore, prefixes or {}).of_urls([url], is_first=True)[0]


@pytest.mark.parametrize(("name", "one", "other"), SAME)
def test_spellings_are_the_same_if_that_is_ignored(name: str, one: str, other: str) -> None:
    assert keys(one, name) == keys(other, name)
    assert keys(one) != keys(other)
    others = {known for known, *_ in SAME} - {name, "case" if "HTTP" in one else name}
    assert keys(one, *others) != keys(other, *others)


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://old.example/a", "https://new.example/a"),
        ("https://old.example", "https://new.example"),
        ("https://old.example?x", "https://new.example?x"),
        ("https://old.example:8080/", "https://new.example:8080/"),
        ("https://old.example/blog/a", "https://blog.example/a"),
        ("https://old.example.org/a", "https://old.example.org/a"),
        ("https://other.example/https://old.example", "https://other.example/https://old.example"),
    ],
)
def test_the_longest_prefix_stands_for_another_and_a_host_is_whole(url: str, key: str) -> None:
    prefixes = {
        "https://old.example": "https://new.example",
        "https://old.example/blog/": "https://blog.example/",
    }
    assert keys(url, prefixes=prefixes) == key
    assert UrlKeys.of((), prefixes).of_urls([url], is_first=False) == [url]


def test_a_prefix_counts_before_anything_is_ignored() -> None:
    prefixes = {"https://old.example/": "X:/"}
    assert keys("https://old.example/A/", "case", "slash", prefixes=prefixes) == "x:/a"


def test_what_no_url_has_is_dropped() -> None:
    assert clean_urls(["https://a.example/\n\tx\0", "https://a.example/é"]) == [
        "https://a.example/x",
        "https://a.example/é",
    ]


def test_urls_that_differ_in_user_and_password_are_the_same(tmp_path: Path) -> None:
    logins = ("", "user:secret@", "other:secret%40x@")
    plain, *others = (tmp_path / f"{number}.txt" for number in range(3))
    for file, login in zip((plain, *others), logins, strict=True):
        file.write_text(f"https://{login}h.example/@me?a=b@c\nhttps://h.example/{file.stem}\n")
    for file in others:
        with usp.diff(plain, file) as found:
            assert {one.url for one in found} == {
                "https://h.example/0",
                f"https://h.example/{file.stem}",
            }
        assert found.same == 1


@pytest.mark.parametrize(
    ("ignore", "prefixes", "reason"),
    [
        ("scheme", {}, "ignore must be some of scheme, www"),
        (["Scheme"], {}, "ignore must be some of scheme, www"),
        (7, {}, "ignore must be some of"),
        ([], ["a=b"], "map must be a dict"),
        ([], {"": "x"}, "map must have prefixes"),
        ([], {"x": 1}, "map must have prefixes"),
    ],
)
def test_a_wrong_choice_is_refused(ignore: object, prefixes: object, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        UrlKeys.of(ignore, prefixes)  # type: ignore[arg-type]
