"""What thousands of malformed entries mean doesn't change when they are read faster.

An entry whose tag the next one interrupts is not fed to expat. So expat is asked here whether it
would have found the same fault; and what drawn documents gave before that is in a table.
"""

from __future__ import annotations

import hashlib
import json
from typing import Final
from xml.parsers import expat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parse.reading import SM, read
from tests.parse.strategies import examples
from usp._parse.diagnostics import START, Diagnostics
from usp._parse.input.sniff import Kind
from usp._parse.xml.boundaries import boundaries_for
from usp._parse.xml.entry_builder import IMPLIED_ROOT, EntryBuilder
from usp._parse.xml.faults import Faults
from usp._parse.xml.grammar import GRAMMARS
from usp._parse.xml.read_buffer import ReadBuffer

TOKENS: Final = (
    b"<url ", b"<url", b"<url>", b"</url>", b"<url\n", b"<url/", b"<URL ", b"<sm:url ", b"< url ",
    b"<sitemap ", b"<loc>", b"</loc>", b"http://h/x", b"<", b">", b"&", b'"', b"=", b"<!--",
    b"-->", b"<![CDATA[", b"<?", b"\x0b", b"<a ", b"<url><loc>http://h/y</loc></url>", b"<item ",
    b"<link>",
)  # fmt: skip
AROUND: Final = {
    "urlset": (f"<urlset {SM}>".encode(), b"</urlset>"),
    "rss": (b"<rss><channel>", b"</channel></rss>"),
}
RESULTS: Final = {
    "urlset": (
        *("aa370ca3", "a7fe0f5d", "f0d1ea70", "20b207c0", "865d5180", "4d0c3d0e"),
        *("224e363e", "23d53869", "e3c46a62", "0b5ea7fc", "73603e5d", "f8623c8c"),
        *("e0c647f7", "b104acaf", "600b95c5", "56c34361", "f8816acc", "c40fb951"),
        *("fa66e675", "64fa2294", "e2f7fbae", "4677b365", "e3a188e9", "a6e77d43"),
        *("105d6671", "271299ed", "e6f2c39a"),
    ),
    "rss": (
        *("84dde526", "45a1d04d", "522542b2", "baf10740", "c4fbb0e4", "462facdb"),
        *("84dde526", "9227685e", "dc188223", "babe0c01", "82e6343e", "baf10740"),
        *("30d3d89a", "10f41f7b", "6faa7ea6", "469d42b3", "7dcbe572", "7dcbe572"),
        *("05009707", "c1b628d2", "234e6235", "716a8a52", "6ec7959b", "049b6cf7"),
        *("15245976", "9b947ffc", "3c8108bc"),
    ),
}
"""For each token, a digest of what was read of the documents in which it is the first of two that
are repeated. It says what is decided: a change of it needs a reason."""


def digest(around: str, token: bytes) -> str:
    head, tail = AROUND[around]
    found = []
    for second in TOKENS:
        reading = read(head + (token + second) * 5 + token + tail, url="http://h/s.xml")
        problems = [f"{one.code}@{one.offset}:{one.line}" for one in reading.problems]
        found.append([[page["url"] for page in reading.pages], problems])
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()[:8]


@pytest.mark.parametrize("around", AROUND)
def test_malformed_entries_give_what_they_gave_before(around: str) -> None:
    found = {token: digest(around, token) for token in TOKENS}
    assert found == dict(zip(TOKENS, RESULTS[around], strict=True))


@examples(1000)
@given(
    st.sampled_from([Kind.URLSET, Kind.RSS, Kind.ATOM]),
    st.lists(
        st.sampled_from([*TOKENS, b" ", b"\r\n", b"<entry", b"item", b"x:", b".", b"xmlns:x"]),
        max_size=6,
    ),
    st.sampled_from(
        [
            *(b"<url ", b"<item ", b"<entry ", b"<url", b"<url><", b"<item>\n<", b"<entry><"),
            *(b"<url>", b"<url></", b"<item>\r\n\x0b", b"<entry >\0"),
            *(
                b"<url><loc>x</",
                b"<item>a<b><c",
                b"<entry>&",
                b"< item",
                b"<url><loc>&a",
                b"<url>&#",
            ),
        ]
    ),
)
def test_expat_finds_the_same_fault_in_an_entry(
    kind: Kind, tokens: list[bytes], begin: bytes
) -> None:
    data, grammar = begin + b"".join(tokens), GRAMMARS[kind]
    buffer, builder = ReadBuffer(START), EntryBuilder(grammar)
    buffer.append(b"?" + data)
    faults = Faults(grammar, boundaries_for(grammar), builder, buffer, Diagnostics(), bool)
    if not faults.find_certain_fault(1):
        assert faults.pending is None
        return
    assert faults.pending
    parser = expat.ParserCreate("utf-8")
    parser.Parse(b"<r>", False)
    with pytest.raises(expat.ExpatError) as error:
        parser.Parse(data, False)
    assert expat.ErrorString(error.value.code) == faults.pending.message
    # In an end tag expat gives the position of its name.
    at = parser.ErrorByteIndex - len(b"<r>")
    assert faults.pending.offset == 1 + at - 2 * data.startswith(b"</", max(at - 2, 0))
    assert faults.pending.entry_start == 1


@pytest.mark.parametrize(
    "tag",
    [
        b"<url ",
        b"<url",
        b"<url\r\n",
        b"<url><",
        b"<url></",
        b"<url>\n<",
        b"<sm:url ",
        b"<url soon",
        b"<url x\n",
        b"<url>\0",
        b"<URL > \n\x1f",
        b"<url><a ",
        b"<url>x<a><loc>http://h/<b ",
        b"< url>",
        b"<url>& ",
        b"<url><loc>http://h/?a&b",
        b"<url>&#x",
    ],
)
def test_a_fault_that_is_plain_to_see_needs_no_expat(tag: bytes) -> None:
    grammar = GRAMMARS[Kind.URLSET]
    buffer, builder = ReadBuffer(START), EntryBuilder(grammar)
    buffer.append(b"?" + tag + b"<url>")
    faults = Faults(grammar, boundaries_for(grammar), builder, buffer, Diagnostics(), bool)
    assert faults.find_certain_fault(1)


@examples(1000)
@given(
    st.sampled_from([b"", b" ", b"\r\n", b"x"]),
    st.sampled_from(
        [
            b"</rss>",
            b"</channel>",
            b"</a:b>",
            b"</url \n>",
            b"</ url>",
            b"</>",
            f"</{IMPLIED_ROOT}>".encode(),
        ]
    ),
    st.lists(st.sampled_from(TOKENS), max_size=3),
)
def test_expat_finds_the_same_fault_in_a_stray_end_tag(
    blanks: bytes, tag: bytes, tokens: list[bytes]
) -> None:
    data, grammar = blanks + tag + b"".join(tokens), GRAMMARS[Kind.RSS]
    diagnostics, buffer, builder = Diagnostics(), ReadBuffer(START), EntryBuilder(grammar)
    buffer.append(b"?" + data)
    diagnostics.position_of = buffer.position_of
    faults = Faults(grammar, boundaries_for(grammar), builder, buffer, diagnostics, bool)
    faults.resumed_at = 1
    if faults.pass_stray_end(1, final=True) is None:
        return
    root = f"<{IMPLIED_ROOT}>".encode()
    parser = expat.ParserCreate("utf-8")
    parser.Parse(root, False)
    with pytest.raises(expat.ExpatError, match="mismatched tag"):
        parser.Parse(data, False)
    at = parser.ErrorByteIndex - len(root) - len(b"</") + 1
    assert [problem.offset for problem in diagnostics.problems][:1] == [at]


@pytest.mark.parametrize("tag", [b"</rss>", b"\r\n</channel >", b" </item\n>"])
def test_a_stray_end_tag_needs_no_expat(tag: bytes) -> None:
    grammar = GRAMMARS[Kind.RSS]
    buffer, builder = ReadBuffer(START), EntryBuilder(grammar)
    after = b"<item>" + b" " * 4096  # less would not be judged yet
    buffer.append(b"?" + tag + after)
    faults = Faults(grammar, boundaries_for(grammar), builder, buffer, Diagnostics(), bool)
    faults.resumed_at = 1
    assert faults.pass_stray_end(1, final=False) == buffer.end - len(after)
