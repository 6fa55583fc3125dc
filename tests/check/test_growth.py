"""A check takes time in line with its input, and no longer than it may."""

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest

import usp
from tests.cost import assert_linear
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


def a_long_international_host(size: int) -> str:
    """A host of marks that a name in ASCII has to sort."""
    marks = "\N{COMBINING GRAVE ACCENT BELOW}\N{COMBINING ACUTE ACCENT}" * size
    return entries([f"<loc>http://h{marks}.com/</loc>"])


DOCUMENTS: Final[dict[str, tuple[Callable[[int], str], int]]] = {
    make.__name__: (make, size)
    for make, size in (
        (urls_and_alternates, 2000),
        (links_without_return, 3000),
        (a_long_host_and_videos, 2000),
        (far_twins, 2000),
        (a_long_international_host, 20_000),
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


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", DOCUMENTS)
def test_twice_the_document_takes_twice_the_time(name: str) -> None:
    assert assert_linear(check, DOCUMENTS[name][1], name).seconds < 3


SECONDS: Final = 1
LATE: Final = SECONDS + 2


def pages_without_return(size: int) -> str:
    """Pages that link to the next ones, which are quickly read, and slowly compared."""
    contents = (locs([n]) + links(n + more for more in range(1, 5)) for n in range(size))
    return entries(contents)


def many_alternates(size: int) -> str:
    """Entries that are slowly read, since each of their URLs has all of their alternates."""
    names = [[f"{n}-{each}" for each in range(6000)] for n in range(size)]
    return entries(locs(each[:10]) + links(each) for each in names)


def in_time(source: Path) -> set[str]:
    """Check a source for a second; return what was left undecided."""
    started = time.monotonic()
    with usp.check(source, max_seconds=SECONDS) as findings:
        found = list(findings)
    assert time.monotonic() - started < LATE
    assert findings.outcome is Outcome.PARTIAL
    assert [problem.code for problem in findings.problems] == ["SM705"]
    assert sum(each.count for each in found if each.code == "SM705") == 1
    return {example.detail for each in found if each.code == "SM750" for example in each.examples}


COMPARED: Final = (
    "the time was over before these were decided: SM365, SM366, SM583, SM585, SM586, SM587"
)


@pytest.fixture(autouse=True, scope="module")
def _warm(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Have all imports done: they are no part of the time of a check."""
    list(usp.check(written(tmp_path_factory.mktemp("warm"), "<url/>")))


@pytest.mark.slow
@pytest.mark.parametrize(
    "content", [pages_without_return(40_000), many_alternates(20)], ids=["compared", "read"]
)
def test_a_check_ends_in_time_whatever_is_judged(tmp_path: Path, content: str) -> None:
    assert COMPARED in in_time(written(tmp_path, content))


def test_a_check_of_tables_ends_in_time(tmp_path: Path) -> None:
    rows = "".join(f"{HOME}{n}\n" for n in range(400_000))
    table = tmp_path / "pages.csv"
    table.write_text(f"url\n{rows}", encoding="utf-8")
    in_time(table)


@pytest.mark.slow
def test_a_report_ends_in_time_and_says_that_it_is_partial(tmp_path: Path) -> None:
    file, target = written(tmp_path, pages_without_return(40_000)), tmp_path / "report.md"
    started = time.monotonic()
    made = usp.report(file, target, max_seconds=SECONDS)
    assert time.monotonic() - started < LATE
    assert made.outcome is Outcome.PARTIAL
