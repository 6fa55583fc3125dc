"""What an entry means as a page: what formats share.

A format says where it keeps things; what it doesn't keep has the defaults that are here.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import ClassVar

from usp._parse import values
from usp._parse.findings import Findings
from usp._parse.sniff import Kind
from usp.objects.page import (
    SITEMAP_PAGE_DEFAULT_PRIORITY,
    Record,
    SitemapImage,
    SitemapNewsStory,
    SitemapPageChangeFrequency,
)

Understood = Callable[[str], object]
"""Tells whether a text is a value of its kind: true, or the value itself."""


def first(record: Record, key: str) -> str:
    """Return what the entry says first under this key."""
    return next((text for known, text in record if known == key), "")


def elements(record: Record, key: str) -> Iterator[tuple[dict[str, str], str]]:
    """Yield each element of this key: its attributes, which stand just before it, and its text."""
    prefix = f"{key}@"
    attributes: dict[str, str] = {}
    for known, text in record:
        if known.startswith(prefix):
            attributes[known[len(prefix) :]] = text
        elif known == key:
            yield attributes, text
            attributes = {}


def groups(record: Record, start: str, prefix: str) -> Iterator[dict[str, str]]:
    """Yield each group of an extension, such as one image, as a dictionary of its texts."""
    group: dict[str, str] | None = None
    for key, text in record:
        if key == start:
            if group is not None:
                yield group
            group = {}
        elif key.startswith(prefix):
            group = {} if group is None else group
            group.setdefault(key, text)
    if group is not None:
        yield group


class EntryMeaning:
    """Turns the record of an entry into the values of its page."""

    values_of: ClassVar[Mapping[str, tuple[str, Understood]]] = {}
    """The keys that hold values, the code of the problem where one isn't understood, and how."""
    url_keys: ClassVar[frozenset[str]] = frozenset()
    plain_keys: ClassVar[frozenset[str]] = frozenset()
    """The keys whose texts are words, never markup."""
    single_keys: ClassVar[frozenset[str]] = frozenset()
    """The keys that an entry has once."""

    def __init__(self, base: str | None, kind: Kind) -> None:
        self.base = base
        self._kind = kind

    def urls(self, record: Record, findings: Findings) -> list[str]:  # noqa: ARG002
        """Return the URL of the page, or of each where there are several; none if it has none."""
        return []

    def check(self, name: str, record: Record, findings: Findings) -> None:  # noqa: ARG002
        """Report what is wrong with an entry's values; a loss is reported where it happens."""
        for key, text in record:
            if not (cleaned := values.clean(text)):
                continue
            code, understood = self.values_of.get(key, ("", bool))
            if code and not understood(text):
                findings.report(code, f"{key} {cleaned[:80]!r} isn't understood")
            if key in self.url_keys:
                values.check_url(text, self.base, findings)
            if key in self.plain_keys and values.decode_entities(text) != text:
                findings.report("SM306", f"{key} {text.strip()[:80]!r} is escaped twice")
        counts = Counter(key for key, _ in record if key in self.single_keys)
        for key, count in counts.items():
            if count > 1:
                findings.report("SM404", f"an entry has {count} <{key}>; the first counts")

    def _url(self, text: str) -> str:
        return values.url(text, self.base)

    # What a format doesn't say.

    def priority(self, _record: Record) -> Decimal:
        """Return the default."""
        return SITEMAP_PAGE_DEFAULT_PRIORITY

    def last_modified(self, _record: Record) -> datetime | None:
        """Return None."""
        return None

    def change_frequency(self, _record: Record) -> SitemapPageChangeFrequency | None:
        """Return None."""
        return None

    def news_story(self, _record: Record) -> SitemapNewsStory | None:
        """Return None."""
        return None

    def images(self, _record: Record) -> list[SitemapImage] | None:
        """Return None."""
        return None

    def alternates(self, _record: Record) -> list[tuple[str, str]] | None:
        """Return None."""
        return None
