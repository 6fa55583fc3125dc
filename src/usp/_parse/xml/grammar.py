"""Which element says what: the tables that every pattern_reader of the XML reader follows.

An entry is read into a *record*: (key, text) in document order. Keys are the element's name in
lower case with the usual prefix of its namespace, the format's own elements having none: ``loc``,
``news:title``, ``image:loc``. An element with children stands in the record as a key with empty
text, before what it holds, so that repeated groups stay apart. An attribute is ``link@href``: it
stands before the text of its element, and after the key of one with children.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from usp._parse.input.sniff import Kind
from usp._parse.values.plain import PLAIN_URL, SAFE_TEXT

UNKNOWN: Final = "<"
"""The key of an element that means nothing: its text is namespace, blank, name. Its attributes,
``<@name``, its texts and its children follow, up to its end."""
UNKNOWN_TEXT: Final = "#"
UNKNOWN_END: Final = ">"


@dataclass(frozen=True, slots=True, eq=False)
class Tag:
    """One element that means something to us."""

    key: str
    attributes: frozenset[str] = frozenset()
    children: Mapping[str, "Tag"] | None = None
    """What it may hold; None for an element whose text is wanted."""
    repeats: bool = False
    """Whether an entry may have many of them."""


def _leaves(prefix: str, names: str) -> dict[str, Tag]:
    return {key: Tag(key) for key in (f"{prefix}{name}" for name in names.split())}


def _with_attributes(prefix: str, names: Mapping[str, str]) -> dict[str, Tag]:
    return {
        f"{prefix}{name}": Tag(f"{prefix}{name}", frozenset(attributes.split()))
        for name, attributes in names.items()
    }


def _group(
    key: str, children: dict[str, Tag], attributes: str = "", *, repeats: bool = False
) -> dict[str, Tag]:
    """Return a group and, since sites leave the group out, its children beside it.

    Inside the group an element without a prefix means the group's own of that name.
    """
    unprefixed = {name.partition(":")[2]: tag for name, tag in children.items()}
    inside = {**unprefixed, **children}
    return {key: Tag(key, frozenset(attributes.split()), inside, repeats), **children}


_LINK: Final = frozenset({"rel", "href", "hreflang", "media", "type", "title"})
_ALTERNATE: Final = Tag("xhtml:link", attributes=_LINK, repeats=True)
_NEWS: Final = {
    **_leaves("news:", "access genres keywords publication_date stock_tickers title"),
    **_group("news:publication", _leaves("news:", "name language")),
}
_IMAGE: Final = _leaves("image:", "loc caption geo_location title license")
_VIDEO_LEAVES: Final = (
    "thumbnail_loc title description content_loc duration expiration_date rating view_count "
    "publication_date family_friendly requires_subscription live tag category"
)
_VIDEO_SHOW: Final = "show_title video_type episode_title season_number episode_number premier_date"
_VIDEO_ATTRIBUTES: Final = {
    "player_loc": "allow_embed autoplay",
    "restriction": "relationship",
    "platform": "relationship",
    "price": "currency type resolution",
    "uploader": "info",
    "gallery_loc": "title",
    "id": "type",
    "content_segment_loc": "duration",
}
_VIDEO: Final = {
    **_leaves("video:", _VIDEO_LEAVES),
    **_with_attributes("video:", _VIDEO_ATTRIBUTES),
    **_group("video:tvshow", _leaves("video:", _VIDEO_SHOW)),
}
_PAGE_MAP: Final = _group(
    "pagemap:pagemap",
    _group(
        "pagemap:dataobject",
        _with_attributes("pagemap:", {"attribute": "name value"}),
        attributes="type id",
    ),
)
_URL: Final = {
    **_leaves("", "loc lastmod changefreq priority"),
    **_group("news:news", _NEWS),
    **_group("image:image", _IMAGE, repeats=True),
    **_group("video:video", _VIDEO, repeats=True),
    "xhtml:link": _ALTERNATE,
    "link": _ALTERNATE,  # without its namespace
    **_with_attributes("mobile:", {"mobile": "type"}),
    **_PAGE_MAP,
    "pagemap": _PAGE_MAP["pagemap:pagemap"],  # without its namespace
}
_SITEMAP: Final = _leaves("", "loc lastmod")

_MEDIA_ATTRIBUTES: Final = {
    "thumbnail": "url",
    "title": "type",
    "description": "type",
    "player": "url",
    "keywords": "",
    "category": "",
    "restriction": "relationship type",
    "price": "type price currency",
    "starrating": "average",
    "statistics": "views",
}
_MEDIA_CONTENT: Final = frozenset({"url", "type", "medium", "duration", "isdefault"})


def _media(path: str, *, inside: dict[str, Tag] | None = None) -> dict[str, Tag]:
    """Return Media RSS at some depth; keys have the path, since scopes hide one another."""
    texts = {
        f"media:{name}": Tag(f"media:{path}{name}", frozenset(attributes.split()))
        for name, attributes in _MEDIA_ATTRIBUTES.items()
    }
    community = Tag(f"media:{path}community", children=texts)
    return {**texts, "media:community": community, **(inside or {})}


def _media_content(path: str) -> dict[str, Tag]:
    """Return a file; one that stands inside another is one of its own."""
    inside = _media(f"{path}content/")
    inner = Tag(f"media:{path}content", _MEDIA_CONTENT, inside)
    outer = Tag(inner.key, _MEDIA_CONTENT, {**inside, "media:content": inner})
    return {"media:content": outer}


_INNER_GROUP: Final = Tag("media:group", children=_media("group/", inside=_media_content("group/")))
_MEDIA_GROUP: Final = Tag(
    "media:group", children={**(_INNER_GROUP.children or {}), "media:group": _INNER_GROUP}
)
_MEDIA: Final = _media("", inside={**_media_content(""), "media:group": _MEDIA_GROUP})
_ITEM: Final = {
    **_leaves("", "title description pubdate"),
    "link": Tag("link", attributes=_LINK),  # some write it as in Atom
    "atom:link": Tag("atom:link", attributes=_LINK),
    "guid": Tag("guid", attributes=frozenset({"ispermalink"})),
    "enclosure": Tag("enclosure", attributes=frozenset({"url", "type"})),
    "dc:date": Tag("dc:date"),
    **_MEDIA,
}
_TEXT_CONSTRUCT: Final = frozenset({"type", "mode"})
_ENTRY: Final = {
    **{name: Tag(name, _TEXT_CONSTRUCT) for name in ("title", "summary", "tagline", "content")},
    "link": Tag("link", _LINK | {"xml:base"}),
    **_leaves("", "published issued updated modified created"),
    **_MEDIA,
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
    plain_values: Mapping[str, str] = field(default_factory=dict)
    """The patterns of what is plain under those keys that don't hold just words."""
    extensions: bool = False
    """Whether elements that mean nothing are wanted in the record, as they came."""


_SITEMAP_ENTRIES: Final = {
    "url": Tag("url", children=_URL),
    "sitemap": Tag("sitemap", children=_SITEMAP),
}
_PLAIN: Final = {
    **dict.fromkeys(("loc", "image:loc", "image:license", "xhtml:link@href"), PLAIN_URL),
    "xhtml:link@rel": "alternate",
    **dict.fromkeys(("lastmod", "changefreq", "priority"), SAFE_TEXT),
}
_SITEMAP_ROOTS: Final = frozenset({"urlset", "sitemapindex"})
GRAMMARS: Final[Mapping[Kind, Grammar]] = {
    **{
        kind: Grammar(
            _SITEMAP_ENTRIES,
            "sm",
            _SITEMAP_ROOTS,
            plain_texts=True,
            implied=implied,
            plain_values=_PLAIN,
        )
        for kind, implied in ((Kind.URLSET, "url"), (Kind.INDEX, "sitemap"))
    },
    Kind.RSS: Grammar(
        {"item": Tag("item", frozenset({"rdf:about"}), _ITEM)},
        "rss",
        frozenset({"rss", "rdf"}),
        url_field="link",
    ),
    Kind.ATOM: Grammar(
        {"entry": Tag("entry", children=_ENTRY)}, "atom", frozenset({"feed"}), url_field="link"
    ),
}
