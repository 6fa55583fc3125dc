"""Canaries: each fails if an undocumented part of Python that the parser relies on has changed.

``tests/web_client/test_canaries.py`` has those of the HTTP libraries, and the rule that nothing
else of a library is used.
"""

import codecs
import re

import pytest


@pytest.mark.parametrize(
    ("codec", "is_text"),
    [
        *((name, True) for name in ("utf-8", "utf-16", "latin-1", "cp1252", "gbk", "idna")),
        *((name, False) for name in ("base64", "bz2", "hex", "quopri", "rot13", "uu", "zip")),
    ],
)
def test_codecs_tell_whether_they_decode_text(codec: str, is_text: bool) -> None:
    info = codecs.lookup(codec)
    assert getattr(info, "_is_text_encoding", None) is is_text, (
        "codecs.CodecInfo._is_text_encoding has changed, which "
        "src/usp/_parse/input/decode.py relies on"
    )


def test_a_scanner_matches_one_pattern_after_another() -> None:
    message = "re.Pattern.scanner() has changed, which src/usp/_parse/pattern relies on"
    make = getattr(re.compile(r"(\w),"), "scanner", None)
    assert make is not None, message
    scanner = make("__a,b,c,-d,", 2, 10)
    spans = [found.span(1) for found in iter(scanner.match, None)]
    assert spans == [(2, 3), (4, 5), (6, 7)], message
    assert scanner.match() is None, message
    assert make("a,b,", 0, 3).match().span() == (0, 2), message
