"""A check takes time in line with its input, and no longer than it may."""

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest

import usp
from tests.cost import assert_linear
from tests.server import LoopbackServer
from usp import Outcome

NAMESPACES: Final = (
    'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
    'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1" '
    'xmlns:xhtml="http://www.w3.org/1999/xhtml"'
)
HOME: Final = "https://site.org/"


def locs(names: Iterable[object]) -> str:
    return "".join(f"<loc>{HOME}{name}</loc>" for name in names)


def links(names: Iterable[object], code: str = "de") -> str:
    return "".join(
        f'<xhtml:link rel="alternate" hreflang="{code}" href="{HOME}{name}"/>' for name in names
    )


def entries(contents: Iterable[str]) -> str:
    return "".join(f"<url>{content}</url>" for content in contents)


def urls_and_alternates(size: int) -> str:
    """One entry that has many of both."""
    return entries([locs(range(size)) + links(range(size))])


def links_without_return(size: int) -> str:
    """One page that links to many, which link to none."""
    return entries([locs("x") + links(range(size)), *(locs([n]) for n in range(size))])


def a_long_host_and_videos(size: int) -> str:
    """One entry whose host is as long as all of its videos."""
    video = '<video:uploader info="https://other.org/">x</video:uploader>'
    videos = f"<video:video>{video}</video:video>" * size
    return entries([f"<loc>https://{'a' * 100 * size}/</loc>{videos}"])


def far_twins(size: int) -> str:
    """Spellings of six pages that lie far apart, among entries with many alternates."""

    def spelling(number: int) -> str:
        return "".join("aA"[number >> bit & 1] for bit in range(14))

    def contents() -> Iterator[str]:
        for page in range(6):
            yield locs([f"{page}{spelling(0)}"]) + links(range(size))
            yield from (locs([f"{page}-{n}"]) for n in range(600))
        for n in range(size // 2):
            yield locs([f"{n % 6}{spelling(n)}"])

    return entries(contents())


DOCUMENTS: Final[dict[str, tuple[Callable[[int], str], int]]] = {
    make.__name__: (make, size)
    for make, size in (
        (urls_and_alternates, 2000),
        (links_without_return, 3000),
        (a_long_host_and_videos, 2000),
        (far_twins, 2000),
    )
}


def written(folder: Path, content: str) -> Path:
    file = folder / "sitemap.xml"
    file.write_text(f"<urlset {NAMESPACES}>{content}</urlset>", encoding="utf-8")
    return file


def check(size: int, name: str) -> None:
    with TemporaryDirectory() as folder:
        file = written(Path(folder), DOCUMENTS[name][0](size))
        with usp.check(file) as findings:
            assert list(findings)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_twice_the_document_takes_twice_the_time(name: str) -> None:
    assert assert_linear(check, DOCUMENTS[name][1], name).seconds < 3
