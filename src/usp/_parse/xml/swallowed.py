"""Entries that a CDATA section swallows, since its end was cut off together with a text.

``<![CDATA[an excerpt that was cu</description></item><item>…<![CDATA[…]]>`` is well-formed XML: the
section ends where the next one does. Every parser loses the entries in it.
"""

from collections.abc import Iterator
from typing import Final

from usp._parse.xml.boundaries import boundaries_for
from usp._parse.xml.grammar import Grammar

_CDATA: Final = "<![CDATA["


def swallowed_entries(text: str, grammar: Grammar) -> Iterator[tuple[str, str]]:
    """Yield the problem with the text of a field, if it has swallowed an entry.

    There are the tags of entries in it, and the beginning of another section.
    """
    if _CDATA in text and boundaries_for(grammar).occur_in(text):
        yield "SM209", "a CDATA section is not closed, and there are entries in it"
