"""Other parts of an entry: links, a PageMap, unknown elements.

Values are frozen and hashable.
"""

from dataclasses import asdict, dataclass
from typing import Any

from usp.objects.named_fields import pickled_by_name

__all__ = ["PageElement", "PageLink", "PageMapObject"]


@pickled_by_name
@dataclass(frozen=True, slots=True)
class PageLink:
    """A link from the page to something related: another version of it, an app, a source."""

    rel: str
    """The relation to the page, as written: ``alternate``, ``amphtml``, ``canonical``…"""
    href: str
    hreflang: str | None = None
    media: str | None = None
    """The devices that it is for, as a CSS media query."""
    type: str | None = None
    """Its media type."""
    title: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary of plain values."""
        return asdict(self)


@pickled_by_name
@dataclass(frozen=True, slots=True)
class PageMapObject:
    """One ``<DataObject>`` of a PageMap: data about the page for Google's custom search."""

    type: str | None = None
    id: str | None = None
    attributes: tuple[tuple[str, str], ...] = ()
    """Names and values, in order; a name may come more than once."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary of plain values."""
        return asdict(self)


@pickled_by_name
@dataclass(frozen=True, slots=True)
class PageElement:
    """An unknown element of an entry, as it was written."""

    name: str
    """With its prefix."""
    namespace: str | None = None
    """The namespace of its prefix; None if it has none."""
    attributes: tuple[tuple[str, str], ...] = ()
    text: str = ""
    """Its own text, trimmed, without that of its children."""
    children: tuple["PageElement", ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary of plain values."""
        # Each page of an entry with many has its own: asdict() takes several times as long.
        return {
            "name": self.name,
            "namespace": self.namespace,
            "attributes": self.attributes,
            "text": self.text,
            "children": tuple(child.to_dict() for child in self.children),
        }
