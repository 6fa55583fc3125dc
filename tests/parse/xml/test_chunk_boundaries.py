"""What is odd between entries is judged the same wherever a chunk of the document ends."""

from __future__ import annotations

from typing import Final

import pytest

from tests.parse.reading import SM
from usp._parse.document import Pages, Source
from usp._parse.input.chunks import CHUNK_SIZE

HEAD: Final = f"<urlset {SM}>"
PLAIN: Final = "<url><loc>http://h/p{:06}</loc></url>\n"
FAULTY: Final = "<url><loc>http://h/p&{:05}</loc></url>\n"
"""An entry with a fault, as long: what follows it is read by expat."""
ODD: Final = [
    "\0" * 20,
    "<!-- -- <url><loc>http://h/o</loc></url> -->",
    "<!-- <!-- <url><loc>http://h/o</loc></url> -->",
    "<?= <url><loc>http://h/o</loc></url> ?>",
    "</urlset>\n<url><loc>http://h/o</loc></url>",
    "< url >< loc >http://h/o</ loc ></ url >",
    "<ur",
    "</loc></url>",
    "<![CDATA[<url><loc>http://h/o</loc></url>",
    "<url><loc><![CDATA[http://h/o</loc></url>",
]


def document(before: int, odd: str, entry: str) -> bytes:
    """Something odd between entries, after so many bytes."""
    count, blanks = divmod(before - len(HEAD), len(PLAIN.format(0)))
    entries = [*map(PLAIN.format, range(count - 3)), *map(entry.format, range(count - 3, count))]
    parts = HEAD, *entries, " " * blanks, odd, *map(entry.format, range(count, count + 3))
    return f"{''.join(parts)}</urlset>".encode()


def result(data: bytes, *, expat_only: bool) -> tuple[list[str], bool, set[str]]:
    pages = Pages(Source([data], expat_only=expat_only))
    odd = [page.url for page in pages if "/p" not in page.url]
    # There may be more problems than are kept.
    return odd, pages.complete, {problem.code for problem in pages.problems} - {"SM702"}


@pytest.mark.parametrize("expat_only", [False, True])
@pytest.mark.parametrize("entry", [PLAIN, FAULTY], ids=["plain", "faulty"])
@pytest.mark.parametrize("odd", ODD)
def test_a_chunk_may_end_anywhere_in_it(odd: str, entry: str, expat_only: bool) -> None:
    expected = result(document(1000, odd, entry), expat_only=expat_only)
    for inside in range(0, len(odd) + 1, 6):
        data = document(CHUNK_SIZE - inside, odd, entry)
        assert result(data, expat_only=expat_only) == expected, inside


@pytest.mark.parametrize("start", ["<![CDATA[", "<url><loc>http://h/o</loc><lastmod><![CDATA["])
def test_a_cdata_section_that_never_ends_costs_nothing_after_it(start: str) -> None:
    count = 30_000  # more than an entry may have
    entries = "".join(PLAIN.format(at) for at in range(count))
    data = f"{HEAD}{start}{entries[:80]}{start}{entries}</urlset>".encode()
    pages = Pages(Source([data]))
    assert len({page.url for page in pages if "/p" in page.url}) == count
    assert "SM207" not in {problem.code for problem in pages.problems}


def test_a_control_character_in_a_section_is_no_missing_end() -> None:
    item = "<item><title><![CDATA[T & {0}]]></title><link>http://h/{0}</link></item>"
    items = "".join(map(item.format, range(3)))
    data = f"<rss><channel><title><![CDATA[a \x0b b]]></title>{items}</channel></rss>".encode()
    for expat_only in (False, True):
        pages = Pages(Source([data], expat_only=expat_only))
        assert [page.url for page in pages] == ["http://h/0", "http://h/1", "http://h/2"]
        assert pages.complete
        assert [problem.code for problem in pages.problems] == ["SM211"]
