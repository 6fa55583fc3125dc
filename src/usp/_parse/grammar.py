"""Which element says what: the tables that every lane of the XML reader follows.

An entry is read into a *record*: (key, text) in document order. Keys are the element's name in
lower case with the usual prefix of its namespace, the format's own elements having none: ``loc``,
``news:title``, ``image:loc``. An element with children stands in the record as a key with empty
text, before what it holds, so that repeated groups stay apart. An attribute is ``link@href``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from usp._parse.sniff import Kind


@dataclass(frozen=True, slots=True, eq=False)
class Tag:
    """One element that means something to us."""

    key: str
    attributes: frozenset[str] = frozenset()
    children: Mapping[str, "Tag"] | None = None
    """What it may hold; None for an element whose text is wanted."""


def _leaves(prefix: str, names: str) -> dict[str, Tag]:
    return {key: Tag(key) for key in (f"{prefix}{name}" for name in names.split())}


def _group(key: str, children: dict[str, Tag]) -> dict[str, Tag]:
    """Return a group and, since sites leave the group out, its children beside it.

    Inside the group an element without a prefix means the group's own of that name.
    """
    unprefixed = {name.partition(":")[2]: tag for name, tag in children.items()}
    return {key: Tag(key, children={**unprefixed, **children}), **children}


_ALTERNATE: Final = Tag("xhtml:link", attributes=frozenset({"rel", "hreflang", "href"}))
_NEWS: Final = {
    **_leaves("news:", "access genres keywords publication_date stock_tickers title"),
    **_group("news:publication", _leaves("news:", "name language")),
}
_URL: Final = {
    **_leaves("", "loc lastmod changefreq priority"),
    **_group("news:news", _NEWS),
    **_group("image:image", _leaves("image:", "loc caption geo_location title license")),
    "xhtml:link": _ALTERNATE,
    "link": _ALTERNATE,  # without its namespace
}
_SITEMAP: Final = _leaves("", "loc lastmod")
_ITEM: Final = {
    **_leaves("", "title description pubdate"),
    "link": Tag("link", attributes=frozenset({"rel", "href"})),  # some write it as in Atom
    "guid": Tag("guid", attributes=frozenset({"ispermalink"})),
    "dc:date": Tag("dc:date"),
}
_TEXT_CONSTRUCT: Final = frozenset({"type", "mode"})
_ENTRY: Final = {
    **{name: Tag(name, _TEXT_CONSTRUCT) for name in ("title", "summary", "tagline", "content")},
    "link": Tag("link", frozenset({"rel", "href", "xml:base"})),
    **_leaves("", "published issued updated modified created"),
}


@dataclass(frozen=True, slots=True)
class Grammar:
    """What the entries of one format are made of."""

    entries: Mapping[str, Tag]
    own: str
    """The namespace, by its usual prefix, whose elements are the format's own."""
    roots: frozenset[str]
    plain_texts: bool = False
    """Whether no text has markup in it, and a URL may stand bare in its entry."""
    implied: str | None = None
    """The entry that a <loc> stands for which is in none."""
    url_field: str = "loc"
    """The field that holds the URL of an entry."""


_SITEMAP_ENTRIES: Final = {
    "url": Tag("url", children=_URL),
    "sitemap": Tag("sitemap", children=_SITEMAP),
}
_SITEMAP_ROOTS: Final = frozenset({"urlset", "sitemapindex"})
GRAMMARS: Final[Mapping[Kind, Grammar]] = {
    Kind.URLSET: Grammar(_SITEMAP_ENTRIES, "sm", _SITEMAP_ROOTS, plain_texts=True, implied="url"),
    Kind.INDEX: Grammar(
        _SITEMAP_ENTRIES, "sm", _SITEMAP_ROOTS, plain_texts=True, implied="sitemap"
    ),
    Kind.RSS: Grammar(
        {"item": Tag("item", children=_ITEM)}, "rss", frozenset({"rss", "rdf"}), url_field="link"
    ),
    Kind.ATOM: Grammar(
        {"entry": Tag("entry", children=_ENTRY)}, "atom", frozenset({"feed"}), url_field="link"
    ),
}
