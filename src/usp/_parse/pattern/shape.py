"""The shape of an entry: its tags as they are written, without texts and values of attributes.

Entries of the same shape have the same elements, so what expat finds in one of them it finds in all
(``learning``). To split an entry takes a few operations on strings, none of which looks at single
characters. In a shape ``TAG`` stands between two tags, and ``VALUE`` for the value of an attribute.
Neither occurs in XML, and entries with such characters are not split (``unsafe``).

What is between tags is not looked at here: an entry of a known shape is well-formed if its texts
are, and if there is only whitespace where the shape has no text.
"""

import re
from typing import Final

from usp._parse.pattern.text_conversion import COMMENT, SECTION
from usp._parse.xml.boundaries import EntryBoundaries

TAG: Final = "\x01"
VALUE: Final = "\x04"
_IN_QUOTES: Final = f'"{VALUE}"'
MARKED: Final = f">{TAG}"
"""What a ``<`` is replaced by, so that one split separates tags from texts."""
_QUOTED: Final = re.compile(rf"""("[^"{TAG}]*"|'[^'{TAG}]*')""")
_NAMESPACE: Final = "xmlns"
_DECLARES: Final = re.compile(rf"\sxmlns(?::[^\s{TAG}]*)?\s*=\s*[\"']\Z")
"""What is before a value that is a namespace."""
_NAME_END: Final = re.compile(r"[\s/]")
_CDATA: Final = "<![CDATA["
_COMMENT: Final = "<!--"


def split_attributes(tags: str) -> tuple[str, list[str]] | None:
    """Return tags without the values of attributes, and these values.

    None if they can't be split: XML would change a value. Without single quotes, each second piece
    between double ones is a value.
    """
    if "'" in tags:
        pieces = _QUOTED.split(tags)
        quoted = pieces[1::2]
        pieces[1::2] = [f"{value[0]}{VALUE}{value[0]}" for value in quoted]
        shape, values = "".join(pieces), [value[1:-1] for value in quoted]
    else:
        pieces = tags.split('"')
        shape, values = _IN_QUOTES.join(pieces[::2]), pieces[1::2]
    if "\n" in tags or "\t" in tags or "\r" in tags:
        written = "".join(values)
        if "\n" in written or "\t" in written or "\r" in written:
            return None
    return _keep_namespaces(shape, values) if _NAMESPACE in shape else (shape, values)


def replace_sections(written: str, sections: list[str], boundaries: EntryBoundaries) -> str | None:
    """Replace CDATA sections by references to ``sections``, and comments.

    None if one is open, or in a tag: that is a fault. After a fault, what looks like an entry in
    one is a fault, too, which only the expat reader can tell.
    """
    kept: list[str] = []
    end = 0
    while (start := written.find("<!", end)) >= 0:
        kept.append(written[end:start])
        if written.rfind("<", end, start) > written.rfind(">", end, start):
            return None
        if written.startswith(_CDATA, start):
            stop = written.find("]]>", start)
            kept.append(f"{SECTION}{len(sections)}{SECTION}")
            sections.append(written[start + len(_CDATA) : stop])
        elif written.startswith(_COMMENT, start):
            # In a comment there is no "--" (XML 1.0, 2.5).
            stop = written.find("--", start + len(_COMMENT))
            stop = stop if written.startswith("-->", stop) else -1
            kept.append(COMMENT)
        else:
            return None
        if stop < 0 or boundaries.occur_in(written[start + len("<!") : stop]):
            return None
        end = stop + len("]]>")
    kept.append(written[end:])
    return "".join(kept)


def _keep_namespaces(shape: str, values: list[str]) -> tuple[str, list[str]]:
    """Put the namespaces that are declared in a shape into it, since names depend on them."""
    pieces = shape.split(VALUE)
    others = []
    for at, value in enumerate(values):
        if declares_namespace(pieces[at]):
            pieces[at] += value
        else:
            pieces[at] += VALUE
            others.append(value)
    return "".join(pieces), others


def tags_of(shape: str) -> list[str]:
    """Return the tags of a shape."""
    return shape.split(TAG)


def name_of(tag: str) -> str:
    """Return the name in a start tag; empty for an end tag."""
    return _NAME_END.split(tag, maxsplit=1)[0]


def declares_namespace(before: str) -> bool:
    """Tell whether a value is a namespace, given the tag before it, with the quote."""
    return _NAMESPACE in before and _DECLARES.search(before) is not None


def has_attribute_by_namespace(shape: str) -> bool:
    """Tell whether an attribute may be ``rdf:about`` under another prefix."""
    return ":about" in shape.lower().replace(" rdf:about", "")


def declares_namespaces(shape: str) -> bool:
    """Tell whether an element in an entry declares a namespace."""
    return _NAMESPACE in shape
