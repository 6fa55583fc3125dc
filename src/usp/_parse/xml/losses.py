"""Losses: whether what a fault costs may have been an entry, or a part of one.

expat stops at any fault. Most cost nothing: a bare ``&``, an end tag that is missing or misspelled.
Others are what is left where a piece of the document is missing, and with it maybe whole entries.
What certainly shows that is judged here: the fields of two entries in one, a URL with the rest of a
tag in it. Then the document is not complete, however well the rest was repaired. Other faults of
tags are judged in ``signs`` and ``unexplained``.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Final

from usp._parse.unexplained import PART_MISSING, REPAIRED, TEMPLATE
from usp._parse.values.script_messages import remove_messages
from usp._parse.values.urls import GLUED_URL, resolve_url
from usp._parse.xml.boundaries import EntryBoundaries
from usp._parse.xml.entry_builder import Entry
from usp._parse.xml.grammar import URL_KEYS, Grammar
from usp._parse.xml.resync import without_comments
from usp._parse.xml.signs import Signs, is_html, resembles
from usp._parse.xml.unparsed import COMMENT, unparsed_parts
from usp.objects.page import Record

HasLink = Callable[[Record], object]
"""Tells whether an entry of a feed has a link; what that is, its format decides."""
LOC_END: Final = re.compile(rb"</(?!(?:image|video):)(?:[\w.-]++:)?+loc\s*+>", re.IGNORECASE)
CHILD_URL: Final = re.compile(
    rb"<(?:[\w.-]+:)?sitemap[\s>].*?</(?:[\w.-]+:)?loc\s*>", re.IGNORECASE | re.DOTALL
)
"""The entry of an index up to the end of its URL."""
_LOC_KEYS: Final = ("loc",)
_TAG: Final = re.compile(
    rb"<(?:(?!urlset|sitemapindex)(?:u(?=r|[^a-z\s>:_/-])|s(?=i|[^a-z\s>:_/-]))(?![^<>=]*+=)"
    rb"|[^<>]*+(?<=url)>|[^<>]*+(?<=sitemap)>)",
    re.IGNORECASE,
)
"""What is left of an entry's tag, its beginning or its end: not ``<span class=x>`` or ``<u>``."""
_URL: Final = re.compile(rb"https?://", re.IGNORECASE)
_URL_TRACE: Final = re.compile(rb"""href|(?<!url=["'])http""", re.IGNORECASE)
"""What shows that an entry without a link may have had one; ``url`` is that of its media."""
_TITLE_KEYS: Final = ("title", "description", "summary", "tagline", "content")
_FIELD_END: Final = rb"</(?:[\w.-]+:)?(%s)\s*>"
_LINK_END: Final = re.compile(_FIELD_END % b"link", re.IGNORECASE)
_TITLE_END: Final = re.compile(_FIELD_END % "|".join(_TITLE_KEYS).encode(), re.IGNORECASE)
_TITLE_TEXT: Final = re.compile(rb"[^\s>]\s*+" + _TITLE_END.pattern, re.IGNORECASE)
"""The end tag of a title that has a text."""
_SINGLE: Final = frozenset(
    {
        *("loc", "lastmod", "changefreq", "priority", "link", "guid", "title", "description"),
        *("pubdate", "summary", "content", "published", "issued", "updated", "modified", "created"),
    }
)
"""The fields that an entry has once."""
_MARKUP_IN_URL: Final = re.compile(r"<[^0-9\s]|>|<(?=\Z)")
"""What no URL contains; ``<2`` in one may be a comparison that isn't escaped."""
_MAX_TAG: Final = 64
_CUT_TAG: Final = re.compile(rb"<(/?+)(?:[\w.-]++:)?+([A-Za-z]++)[ \t\r\n]*+")
"""What is left of a tag that another tag interrupts, and how many bytes are looked at."""
_MAY_BE_EMPTY: Final = frozenset({"link", "category", "cloud", "image", "textinput", "items"})
"""What describes a feed, and has attributes, or elements; HTML libraries never close a link."""
_MAX_LOOKED_FOR: Final = 4
"""How many URLs with markup are looked for in an entry: it may have thousands."""


class Losses:
    """Judges the faults of documents of one format."""

    def __init__(self, grammar: Grammar, boundaries: EntryBoundaries, has_link: HasLink) -> None:
        self._is_sitemap = grammar.plain_texts
        self._entries = tuple(grammar.entries)
        self._around = (*grammar.roots, grammar.channel)
        self._metadata = grammar.metadata
        self._boundaries = boundaries
        self._has_link = has_link

    def judge(self, entry: Entry | None, data: bytes, signs: Signs) -> tuple[str, str]:
        """Return the problem with a malformed entry, given its bytes: a code and a message."""
        if entry is None or self._has_lost_field(entry, data, signs):
            return "SM209", "a malformed entry was skipped"
        if self._is_part(entry, data, signs):
            return PART_MISSING
        return REPAIRED

    def are_between(
        self, data: bytes, since: int, begin: int, stop: int, *, after_root: bool
    ) -> bool:
        """Tell whether an entry was lost in what is skipped between entries.

        Its end is there, but its start is not; or a URL. In a sitemap there is no other one, and a
        text stands before the end tag of its ``<loc>``. A feed has others: those that describe it.
        """
        if self._boundaries.ends.search(data, begin, stop) or self._is_joined(data, since, begin):
            return True
        if not self._is_sitemap:
            return False
        # The fault is inside a tag, or at its beginning.
        tag = max(data.rfind(b"<", since, begin + 1), data.rfind(b">", since, begin), since)
        if not after_root and (_URL.search(data, begin, stop) or _TAG.match(data, tag, stop)):
            return True
        loc_end = LOC_END.search(data, begin, stop)
        before = data[since : loc_end.start()].rstrip() if loc_end else b""
        return bool(before) and (not before.endswith(b">") or before.endswith(b"]]>"))

    def _is_joined(self, data: bytes, since: int, stop: int) -> bool:
        """Tell whether a comment goes on in a later entry: that ends in it, but doesn't start."""
        starts, ends = self._boundaries.starts, self._boundaries.ends
        for part in unparsed_parts(data, since, stop):
            end = ends.search(data, part.text, part.end) if part.kind is COMMENT else None
            if end and not starts.search(data, part.text, end.start()):
                return True
        return False

    def is_cut_tag(self, data: bytes, since: int, end: int) -> bool:
        """Tell whether the tag of an entry is cut off where another tag begins between entries.

        Such as ``<ur</urlset>`` or ``<ur<url>``: whole entries may be missing there.
        """
        tag = data.rfind(b"<", max(since, end - _MAX_TAG), end)
        cut = _CUT_TAG.fullmatch(data, tag, end) if tag >= 0 else None
        if cut is None:
            return False
        name = cut[2].decode().lower()
        beginnings = (entry[:-1] if cut[1] else entry for entry in self._entries)
        if any(beginning.startswith(name) for beginning in beginnings):
            return True
        # The name of what describes the feed: a whole one only lacks its ">".
        return name not in self._metadata and any(one.startswith(name) for one in self._metadata)

    def judge_unclosed(self, names: Sequence[str], around: str) -> tuple[str, str]:
        """Return the problem with elements between entries that are not closed.

        :param around: the element that ends around them. In a text that ends it is no loss, such as
            the address of an editor, in angle brackets.
        """
        counts = Counter(names)
        is_text = not self._is_sitemap and around.lower() not in self._around
        if is_text or not any(
            count < TEMPLATE and self._is_rest(name) for name, count in counts.items()
        ):
            return "SM211", "an element is not closed"
        return "SM209", "an element between entries is cut off: entries may be missing"

    def _is_rest(self, name: str) -> bool:
        """Tell whether an element between entries that is not closed may be what is left of two.

        In a sitemap, its name begins and ends like that of an entry. In a feed it is in the header:
        a text, of which the end is missing, or an unknown element without a prefix.
        """
        name = name.lower()
        if self._is_sitemap:
            return any(_are_ends(name, entry) for entry in self._entries)
        if ":" in name or name in self._around or name in _MAY_BE_EMPTY:
            return False
        return name in self._metadata or not is_html(name)

    def _is_part(self, entry: Entry, data: bytes, signs: Signs) -> bool:
        """Tell whether an entry has lost something, or what is left of another is in it."""
        record = entry[1]
        if signs.dropped:
            return True
        if signs.bare_url and not any(text == signs.bare_url for _, text in record):
            return True
        # As it is written: ``&gt;`` is no rest of a tag. A guid need not be a URL.
        odd = [
            text
            for key, text in record
            if key in URL_KEYS and _has_markup(text) and (key in _LOC_KEYS or "://" in text)
        ]
        written = _without_delimiters(data) if odd else b""
        if any(_is_written(text, written) for text in odd[:_MAX_LOOKED_FOR]):
            return True
        if any(key in URL_KEYS and GLUED_URL.search(text) for key, text in record):
            return True
        if not signs.tags:
            return False
        has_link = self._is_sitemap or self._has_link(record)
        return not has_link or _has_fields_of_two(record, signs)

    def _has_lost_field(self, entry: Entry, data: bytes, signs: Signs) -> bool:
        """Tell whether an entry lacks a field without which it is skipped, though it had one."""
        if self._is_sitemap:
            return not any(key in _LOC_KEYS and resolve_url(text, None) for key, text in entry[1])
        record = entry[1]
        read = {key for key, _ in record}  # a field that is empty is not lost
        if not self._has_link(record):
            return bool(_URL_TRACE.search(data)) or _has_other_end(data, _LINK_END, read)
        if _has_text(entry, _TITLE_KEYS):
            return False
        is_cut = signs.tags and read.isdisjoint(_TITLE_KEYS)
        return is_cut or bool(_TITLE_TEXT.search(data)) or _has_other_end(data, _TITLE_END, read)


def _are_ends(name: str, entry: str) -> bool:
    """Tell whether a name is the beginning of another one and its end: ``urlrl``."""
    if len(name) <= len(entry) or len(name) >= 2 * len(entry) or resembles(name, entry):
        return False
    return name.startswith(entry[: len(name) - len(entry) + 1]) and any(
        entry.startswith(name[:at]) and entry.endswith(name[at:]) for at in range(1, len(name))
    )


def _has_fields_of_two(record: Record, signs: Signs) -> bool:
    """Tell whether a field is repeated, and there is damage between the two.

    Else it is written twice.
    """
    seen: dict[str, int] = {}
    for at, (key, text) in enumerate(record):
        if key in _SINGLE and text.strip():
            if at >= signs.first and seen.get(key, signs.last + 1) <= signs.last:
                return True
            seen.setdefault(key, at)
    return False


def _has_markup(url: str) -> bool:
    """Tell whether the rest of a tag is in a URL, which a message may interrupt.

    Brackets around it are not.
    """
    url = remove_messages(url).strip()
    if url.startswith("<") and url.endswith(">"):
        url = url[1:-1]
    return bool(_MARKUP_IN_URL.search(url))


def _without_delimiters(data: bytes) -> bytes:
    """Return an entry as it is written, but for comments and the delimiters of CDATA."""
    return without_comments(data).replace(b"<![CDATA[", b"").replace(b"]]>", b"")


def _has_text(entry: Entry, keys: Collection[str]) -> bool:
    """Tell whether an entry has one of these fields, and a text in it."""
    for key, text in entry[1]:  # noqa: SIM110 -- half the time of any(): there are few
        if key in keys and text.strip():
            return True
    return False


def _has_other_end(data: bytes, end: re.Pattern[bytes], read: Collection[str]) -> bool:
    """Tell whether there is the end tag of a field that was not read: its start is damaged."""
    return any(name.decode().lower() not in read for name in end.findall(data))


def _is_written(text: str, written: bytes) -> bool:
    """Tell whether a text is written with its markup as it is; a ``&`` may be a reference."""
    return text.encode() in written or text.replace("&", "&amp;").encode() in written
