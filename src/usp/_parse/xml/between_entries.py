"""What stands between the entries of a document and doesn't belong there.

No format has texts there. Most are messages of a program that failed. Entries that were escaped are
lost, and so are those of another format, and another document.
"""

import re
from typing import Final

from usp._parse.xml.grammar import Grammar

_ESCAPED_ENTRY: Final = re.compile(r"<(?:item|entry|url|sitemap)[\s/>]", re.IGNORECASE)
_KEPT: Final = len("<sitemap")
"""How much of a text is kept: an escaped tag may go on in the next part of the document."""
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


class BetweenEntries:
    """Finds what is wrong between the entries of one document.

    Its methods are given the number of open elements, and the name of the innermost, as written.
    """

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._end = ""  # of the last text

    def in_element(self, key: str, depth: int, parent: str) -> list[tuple[str, str]]:
        """Return the problems with an element that is no entry."""
        if key in self._grammar.roots:
            return [("SM211", "there is a root element inside another")]
        if not is_of_another_format(key, self._grammar) or not self._is_here(depth, parent):
            return []
        return [("SM223", f"what belongs in another format was skipped: <{key}>")]

    def in_text(self, text: str, depth: int, parent: str) -> list[tuple[str, str]]:
        """Return the problems with a text that isn't blank; none if it belongs to something."""
        if not self._is_here(depth, parent):
            return []
        found = [("SM211", "there is text between the entries")]
        text = self._end + text
        self._end = text[-_KEPT:]
        if _ESCAPED_ENTRY.search(text):
            found.append(("SM209", "an entry was skipped: its tags are escaped"))
        return found

    def _is_here(self, depth: int, parent: str) -> bool:
        """Tell whether entries are expected there; ``<image><url>`` describes a feed."""
        return depth == 1 or parent.rpartition(":")[2].lower() == self._grammar.channel
