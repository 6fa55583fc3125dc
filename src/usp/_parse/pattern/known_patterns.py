"""Patterns that are kept across documents, so that the second file of a generator starts fast.

The entries of the sitemap protocol are known from the start, in their usual order and with any
whitespace; other patterns are learned, and kept while they are used. A pattern never changes a
result, so neither does one that was learned from another document.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from usp._parse.input.sniff import Kind
from usp._parse.pattern.compile import compile_pattern
from usp._parse.pattern.groups import EntryPattern
from usp._parse.pattern.shape import Element, shape_of
from usp._parse.xml.grammar import GRAMMARS, Grammar
from usp._parse.xml.namespaces import NamespaceScope, StructureProblems

_MAX_KEPT: Final = 16
"""How many learned patterns are kept for each format: those that were used last."""
_URL: Final = "<loc>https://h.example/</loc>"
_DATE: Final = "<lastmod>2024-05-01</lastmod>"
_SAMPLES: Final = {
    "url": (_URL, _DATE, "<changefreq>daily</changefreq>", "<priority>0.5</priority>"),
    "sitemap": (_URL, _DATE),
}
"""The fields of the usual entries, of which only the first must be present."""

_GRAMMAR: Final = GRAMMARS[Kind.URLSET]
_NAMESPACE: Final = "http://www.sitemaps.org/schemas/sitemap/0.9"
_learned: dict[tuple[int, bool], tuple[EntryPattern, ...]] = {}
"""By the identity of a format's table of entries, which is never freed, and by ``extensions``."""


def known_patterns(grammar: Grammar, scope: NamespaceScope) -> Iterator[EntryPattern]:
    """Yield the patterns of this format that are valid here, those that were used last first."""
    if scope.base:
        return
    for pattern in _learned.get(_key(grammar), ()):
        if scope.means(pattern.names):
            yield pattern
    for name in grammar.entries:
        if name in _SAMPLES and scope.means(_sample_names(name)):
            yield _sample_pattern(name)


def keep_pattern(grammar: Grammar, pattern: EntryPattern) -> None:
    """Keep a learned pattern."""
    _learned[_key(grammar)] = (pattern, *_learned.get(_key(grammar), ()))[:_MAX_KEPT]


def note_use(grammar: Grammar, pattern: EntryPattern) -> None:
    """Note that a pattern was used: others are dropped before it."""
    kept = _learned.get(_key(grammar), ())
    if pattern in kept[1:]:
        others = (known for known in kept if known is not pattern)
        _learned[_key(grammar)] = (pattern, *others)


def forget_patterns() -> None:
    """Forget all learned patterns: what is read next starts as in a new process."""
    _learned.clear()


def _key(grammar: Grammar) -> tuple[int, bool]:
    return id(grammar.entries), grammar.extensions


@cache
def _sample_pattern(name: str) -> EntryPattern:
    """Return the pattern of the usual entry of this name."""
    pattern = compile_pattern(_sample_shape(name), _GRAMMAR.plain_values)
    if pattern is None:
        raise AssertionError(name)
    return pattern


@cache
def _sample_names(name: str) -> Mapping[str, str]:
    return _sample_shape(name).names


@cache
def _sample_shape(name: str) -> Element:
    """Return the shape of the usual entry of this name."""
    fields = _SAMPLES[name]
    root = "", _NAMESPACE
    scope = NamespaceScope(_GRAMMAR.namespace, StructureProblems(), dict([root]), root)
    shape: Element | None = None
    # With and without whitespace: both are covered then, and any other. All fields may be missing.
    for blanks, present in (("", fields), ("\n", fields), ("", fields[:1])):
        text = blanks.join([f"<{name}>", *present, f"</{name}>"])
        read = shape_of(text, _GRAMMAR, scope)
        shape = shape.merged(read) if shape and read else read
    if shape is None:
        raise AssertionError(name)
    return shape
