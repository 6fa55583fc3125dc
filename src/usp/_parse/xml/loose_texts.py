"""Texts that stand between the entries of a document: no format has any there.

Most are messages of a program that failed. Entries that were escaped are lost.
"""

import re
from typing import Final

from usp._parse.xml.grammar import Grammar

_ESCAPED_ENTRY: Final = re.compile(r"<(?:item|entry|url|sitemap)[\s/>]", re.IGNORECASE)
_KEPT: Final = len("<sitemap")
"""How much of a text is kept: an escaped tag may go on in the next part of the document."""


class LooseTexts:
    """Finds what is wrong with the texts between the entries of one document."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._end = ""  # of the last one

    def problems(self, text: str, depth: int, name: str) -> list[tuple[str, str]]:
        """Return the problems with a text that isn't blank; none if it belongs to something.

        :param depth: how many elements are open.
        :param name: the name of the innermost of them, as written.
        """
        if depth > 1 and name.rpartition(":")[2].lower() != self._grammar.channel:
            return []
        found = [("SM211", "there is text between the entries")]
        text = self._end + text
        self._end = text[-_KEPT:]
        if _ESCAPED_ENTRY.search(text):
            found.append(("SM209", "an entry was skipped: its tags are escaped"))
        return found
