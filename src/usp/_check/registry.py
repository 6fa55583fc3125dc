"""Which function or class checks which codes. A code that is registered nowhere is not checked.

- An *entry rule* is a function: one entry in, its occurrences out.
- A *document rule* is a class, made anew for each document: it sees every entry, then its end.
- A *site rule* is a class, made once for a check: it sees every entry of every document, each
  document as it ends, and then the end of all. Its memory must not grow with the site.
- A *page rule* is a function: one page that is there in, what is wrong with it out.

Most entries of a document have one shape. So an entry rule says in which kinds of documents and for
which keys it may find something, and is not asked about other entries.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Final, TypeVar

from usp._check.facts import DocumentEnd, EntryFacts, SitemapFacts, UnreadFacts
from usp._check.findings import Occurrence
from usp._check.page_facts import PageFacts
from usp._check.site_facts import SiteFacts
from usp._parse import Kind
from usp._parse.checking import EntryShape

EntryRule = Callable[[EntryFacts], Iterable[Occurrence]]
"""It is asked about every entry that has one of its keys, or its prefix, in documents of its kinds:
about very many, so it should return ``()`` if it finds nothing."""
PageRule = Callable[[PageFacts], Iterator[Occurrence]]


class DocumentRule:
    """Looks at one document."""

    add: Callable[[EntryFacts], None] | None = None
    """Looks at an entry; None for a rule that looks at none."""

    def __init__(self, sitemap: SitemapFacts) -> None:
        self._sitemap = sitemap

    def finish(self, end: DocumentEnd) -> Iterable[Occurrence]:
        """Return what was found, once the document was read."""
        del end
        return ()


class SiteRule:
    """Looks at all documents of a check. What can be told at once is returned at once.

    Every method may raise ``TimeoutError``: see ``SiteFacts.go_on``.
    """

    codes: ClassVar[tuple[str, ...]] = ()
    """The codes that it decides."""

    add: Callable[[EntryFacts], Iterable[Occurrence]] | None = None
    """Looks at an entry that lists a page; None for a rule that looks at none."""
    add_child: Callable[[EntryFacts], Iterable[Occurrence]] | None = None
    """Looks at an entry, or a line of robots.txt, that names a sitemap; None likewise."""

    def end_document(self, sitemap: SitemapFacts, end: DocumentEnd) -> Iterable[Occurrence]:
        """Look at a document that was read."""
        del sitemap, end
        return ()

    def add_unread(self, unread: UnreadFacts) -> Iterable[Occurrence]:
        """Look at a URL that brought no document, or that was left out."""
        del unread
        return ()

    def finish(self) -> Iterable[Occurrence]:
        """Return what is known once everything was read."""
        return ()

    def close(self) -> None:
        """Remove temporary files, whatever happened."""


_Function = TypeVar("_Function", bound=EntryRule)
_Page = TypeVar("_Page", bound=PageRule)
_Document = TypeVar("_Document", bound=type[DocumentRule])
_Site = TypeVar("_Site", bound=type[SiteRule])

_ENTRY_RULES: Final[list["_EntryRuleRow"]] = []
PAGE_RULES: Final[list[PageRule]] = []
DOCUMENT_RULES: Final[list[type[DocumentRule]]] = []
SITE_RULES: Final[list[Callable[[SiteFacts], SiteRule]]] = []
CHECKED: Final = {"SM751"}
"""The codes that something checks, apart from those that parsing reports. Stale ignores (SM751) are
found by ``suppression``."""


@dataclass(frozen=True, slots=True)
class _EntryRuleRow:
    """An entry rule, and where it may find something."""

    find: EntryRule
    kinds: frozenset[Kind] | None
    keys: frozenset[str] | None
    prefix: str | None

    def concerns(self, kind: Kind, shape: EntryShape) -> bool:
        """Tell whether it may find something in entries of a shape."""
        return (
            (self.kinds is None or kind in self.kinds)
            and (self.keys is None or not self.keys.isdisjoint(shape.at))
            and (self.prefix is None or self.prefix in shape.prefixes)
        )


def entry_rule(
    *codes: str,
    kinds: Iterable[Kind] | None = None,
    keys: Iterable[str] | None = None,
    prefix: str | None = None,
) -> Callable[[_Function], _Function]:
    """Register a function that looks at one entry, with the codes that it may find.

    :param kinds: the kinds of documents in which it finds something; None for all.
    :param keys: it finds nothing in an entry that has none of these; None if it needs none.
    :param prefix: that of the extension without which it finds nothing, such as ``news:``;
        ``UNEXPECTED`` for one that looks at what should not be there.
    """

    def register(function: _Function) -> _Function:
        CHECKED.update(codes)
        wanted = None if kinds is None else frozenset(kinds)
        needed = None if keys is None else frozenset(keys)
        _ENTRY_RULES.append(_EntryRuleRow(function, wanted, needed, prefix))
        return function

    return register


def entry_rules_for(kind: Kind, shape: EntryShape) -> tuple[EntryRule, ...]:
    """Return the rules that may find something in entries of a shape."""
    found: tuple[EntryRule, ...] | None = shape.notes.get(kind)
    if found is None:
        found = tuple(row.find for row in _ENTRY_RULES if row.concerns(kind, shape))
        shape.notes[kind] = found
    return found


def page_rule(*codes: str) -> Callable[[_Page], _Page]:
    """Register a function that looks at one page."""

    def register(function: _Page) -> _Page:
        CHECKED.update(codes)
        PAGE_RULES.append(function)
        return function

    return register


def document_rule(*codes: str) -> Callable[[_Document], _Document]:
    """Register a class that looks at one document."""

    def register(rule: _Document) -> _Document:
        CHECKED.update(codes)
        DOCUMENT_RULES.append(rule)
        return rule

    return register


def site_rule(*codes: str) -> Callable[[_Site], _Site]:
    """Register a class that looks at the whole site."""

    def register(rule: _Site) -> _Site:
        CHECKED.update(codes)
        rule.codes = codes
        SITE_RULES.append(rule)
        return rule

    return register
