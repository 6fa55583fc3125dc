"""Prefixes that are bound to a wrong namespace keep their usual meaning, in every reader."""

from __future__ import annotations

import re

import pytest

from tests.parse.pattern.readers import assert_readers_agree
from tests.parse.reading import ALL, SM, u, urlset
from usp.tree import sitemap_from_str

GOOGLE = "http://www.google.com/schemas"
SITEMAPS = "http://www.sitemaps.org/schemas/sitemap/0.9"
EXTENSIONS = {
    "image": "<image:image><image:loc>http://h.example/i</image:loc></image:image>",
    "news": "<news:news><news:title>T</news:title></news:news>",
    "video": "<video:video><video:title>T</video:title></video:video>",
    "xhtml": '<xhtml:link rel="alternate" hreflang="de" href="http://h.example/de"/>',
}


@pytest.mark.parametrize("prefix", EXTENSIONS)
@pytest.mark.parametrize(
    "namespace",
    [
        *(f"{GOOGLE}/sitemap-imge/1.1", f"{GOOGLE}/sitemap_image/1.1", f"{GOOGLE}/sitemap/0.9"),
        *(f"{GOOGLE}/sitemap-newr/0.9", f"{GOOGLE}/sitemap-mobile/1.0", SITEMAPS),
    ],
)
@pytest.mark.parametrize("count", [1, 70])
def test_an_extension_under_a_wrong_namespace_is_read(
    prefix: str, namespace: str, count: int
) -> None:
    entries = [u(f"http://h.example/{number}", EXTENSIONS[prefix]) for number in range(count)]
    right = sitemap_from_str(urlset(*entries, namespaces=ALL))
    document = urlset(*entries, namespaces=f'{SM} xmlns:{prefix}="{namespace}"')
    for _ in range(2):  # the second one with what the first has taught
        found = sitemap_from_str(document)
        assert [page.to_dict(extended=True) for page in found.pages] == [
            page.to_dict(extended=True) for page in right.pages
        ]
        codes = [problem.code for problem in found.problems]
        assert sorted(codes) == sorted(["SM219", *(problem.code for problem in right.problems)])
    assert_readers_agree([document.encode()])


QUOTED = {
    """ "'{}" """: ["SM219"],
    """ "{}'" """: [],  # a namespace is known by how it begins
    """ "'{}'" """: ["SM219"],
    """ '"{}' """: ["SM219"],
    """ '{}"' """: [],
    """ '"{}"' """: ["SM219"],
    """ "&quot;{}" """: ["SM219"],
    """ "&#39;{}" """: ["SM219"],
    """ "x='{}" """: ["SM219"],
}


@pytest.mark.parametrize("prefix", EXTENSIONS)
@pytest.mark.parametrize("value", QUOTED)
@pytest.mark.parametrize("count", [1, 70])
def test_a_quote_in_a_namespace_is_a_part_of_it(prefix: str, value: str, count: int) -> None:
    entries = [u(f"http://h.example/{number}", EXTENSIONS[prefix]) for number in range(count)]
    right = sitemap_from_str(urlset(*entries, namespaces=ALL))
    (namespace,) = re.findall(rf'xmlns:{prefix}="([^"]+)"', ALL)
    declared = f"xmlns:{prefix} = {value.strip().format(namespace)}"
    document = urlset(*entries, namespaces=f"{SM} {declared}")
    found = sitemap_from_str(document)
    assert [page.to_dict(extended=True) for page in found.pages] == [
        page.to_dict(extended=True) for page in right.pages
    ]
    codes = [problem.code for problem in found.problems]
    assert sorted(codes) == sorted([*QUOTED[value], *(problem.code for problem in right.problems)])
    assert_readers_agree([document.encode()])


def test_a_module_of_rss_may_have_the_prefix_of_a_sitemap_extension() -> None:
    item = "<item><title>T</title><link>http://h.example/a</link><image:x>y</image:x></item>"
    module = 'xmlns:image="http://purl.org/rss/1.0/modules/image/"'
    assert not sitemap_from_str(f"<rss {module}><channel>{item}</channel></rss>").problems
