"""What stands between the entries of a document and doesn't belong there.

No format has texts there. Most are messages of a program that failed. Entries that were escaped are
lost, and so are those of another format, another document, and lines of URLs. A document that has
no entries at all is empty only if whatever it has is understood.
"""

import re
from typing import Final, NamedTuple

from usp._display import excerpt
from usp._parse.xml.grammar import Grammar

_ESCAPED_ENTRY: Final = re.compile(r"<(?:item|entry|url|sitemap)[\s/>]", re.IGNORECASE)
_URL: Final = re.compile(r"https?://", re.IGNORECASE)
_KEPT: Final = len("<sitemap")
"""How much of a text is kept: an escaped tag, or the beginning of a URL, may go on in the next part
of the document."""
_MAX_SHOWN: Final = 60
_OTHERS: Final = frozenset(
    f"{prefix}{name}"
    for prefix in ("", "sm:", "rss:", "atom:")
    for name in ("url", "sitemap", "item", "entry", "urlset", "sitemapindex", "rss", "feed")
)
"""The keys of the entries and roots of all formats; an extension has a namespace of its own."""


def is_of_another_format(key: str, grammar: Grammar) -> bool:
    """Tell whether an element between entries is an entry or a root of another format."""
    if key not in _OTHERS:  # nearly always
        return False
    local = key.rpartition(":")[2]
    return local not in grammar.entries and local not in grammar.roots


class OtherContent(NamedTuple):
    """What a document has beside its entries, as far as it was read."""

    has_any: bool = False
    """Whether there is any element where entries are expected."""
    has_channel: bool = False
    """Whether there is the element that has the entries, or describes them."""
    unknown: str = ""
    """The first thing there that isn't understood, in words."""

    def not_understood(self, grammar: Grammar) -> str:
        """Return what may have been entries, in words, if there are none; empty if nothing may."""
        if self.has_any and not (self.unknown or self.has_channel) and grammar.channel:
            return f"elements outside of a <{grammar.channel}>"  # RDF, such as a FOAF profile
        return self.unknown


class BetweenEntries:
    """Finds what is wrong between the entries of one document.

    Its methods are given the number of open elements, and the name of the innermost, as written.
    """

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._end = ""  # of the last text
        self.content = OtherContent()
        """What there is."""

    def in_element(self, key: str, depth: int, parent: str) -> list[tuple[str, str]]:
        """Return the problems with an element that is no entry."""
        if not depth:  # a root element, or one that stands for it
            self._note_channel(key)
            return []
        if self._is_here(depth, parent):
            self._note(key)
        if key in self._grammar.roots:
            return [("SM211", "there is a root element inside another")]
        if not is_of_another_format(key, self._grammar) or not self._is_here(depth, parent):
            return []
        return [("SM223", f"what belongs in another format was skipped: <{key}>")]

    def in_text(self, text: str, depth: int, parent: str) -> list[tuple[str, str]]:
        """Return the problems with a text that isn't blank; none if it belongs to something."""
        if not self._is_here(depth, parent):
            return []
        self._note_unknown("text")
        found = [("SM211", "there is text between the entries")]
        text = self._end + text
        self._end = text[-_KEPT:]
        if _ESCAPED_ENTRY.search(text):
            found.append(("SM209", "an entry was skipped: its tags are escaped"))
        if _URL.search(text):
            found.append(("SM223", "a URL between the entries was skipped"))
        return found

    def _note(self, key: str) -> None:
        """Remember an element where entries are expected.

        A sitemap has none beside its entries. A feed describes itself, and may have extensions;
        those have namespaces of their own.
        """
        grammar = self._grammar
        if not self.content.has_any:
            self.content = self.content._replace(has_any=True)
        self._note_channel(key)
        if grammar.plain_texts or (":" not in key and key not in grammar.metadata):
            self._note_unknown(f"<{excerpt(key, _MAX_SHOWN)}>")

    def _note_channel(self, key: str) -> None:
        if key.rpartition(":")[2] == self._grammar.channel:
            self.content = self.content._replace(has_channel=True)

    def _note_unknown(self, what: str) -> None:
        if not self.content.unknown:
            self.content = self.content._replace(unknown=what)

    def _is_here(self, depth: int, parent: str) -> bool:
        """Tell whether entries are expected there; ``<image><url>`` describes a feed."""
        return depth == 1 or parent.rpartition(":")[2].lower() == self._grammar.channel
