"""The known elements of each XML format: the tables that all readers follow.

An entry is read into a *record*: (key, text) in document order. A key is the element's name in
lower case with the usual prefix of its namespace; the format's own elements have no prefix:
``loc``, ``news:title``, ``image:loc``. An element with children is in the record as a key with
empty text, before its children, so that repeated groups can be told apart. An attribute is
``link@href``: it comes before the text of its element, or after the key of one with children.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from usp._parse.input.sniff import Kind

UNKNOWN: Final = "<"
"""The key of an unknown element; its text is namespace, space, name. Its attributes, ``<@name``,
its texts and its children follow, up to its end."""
URL_KEYS: Final = frozenset({"loc", "link", "guid", "link@href", "item@rdf:about"})
"""The fields that may have the URL of an entry."""
URL_TEXTS: Final = frozenset(
    {
        *("loc", "link", "guid", "image:loc", "image:license", "video:thumbnail_loc"),
        *("video:content_loc", "video:player_loc", "video:gallery_loc"),
        "video:content_segment_loc",
    }
)
"""The elements whose text is a URL."""
UNKNOWN_TEXT: Final = "#"
UNKNOWN_END: Final = ">"


@dataclass(frozen=True, slots=True, eq=False)
class Tag:
    """One known element."""

    key: str
    attributes: frozenset[str] = frozenset()
    children: Mapping[str, "Tag"] | None = None
    """The elements that it may contain; None for an element that contains text."""

    def fields_of(
        self, attributes: Mapping[str, str], name_of: Callable[[str], str] = str.lower
    ) -> list[tuple[str, str]]:
        """Return what a record has of the attributes of this element.

        :param name_of: returns the name that an attribute has in the grammar, as it is written.
        """
        return [
            (f"{self.key}@{known}", value)
            for name, value in attributes.items()
            if (known := name_of(name)) in self.attributes
        ]

    def may_have(self, key: str) -> bool:
        """Tell whether an element belongs in this one, by its own name.

        Inside of a group, its own elements are also known without their prefix.
        """
        tag = (self.children or {}).get(key)
        return tag is not None and tag.key == key


def _leaves(prefix: str, names: str) -> dict[str, Tag]:
    return {key: Tag(key) for key in (f"{prefix}{name}" for name in names.split())}


def _with_attributes(prefix: str, names: Mapping[str, str]) -> dict[str, Tag]:
    return {
        f"{prefix}{name}": Tag(f"{prefix}{name}", frozenset(attributes.split()))
        for name, attributes in names.items()
    }


def _group(key: str, children: dict[str, Tag], attributes: str = "") -> dict[str, Tag]:
    """Return a group and, since sites omit the group, its children beside it.

    Inside the group an element without a prefix has the meaning of the group's own of that name.
    """
    unprefixed = {name.partition(":")[2]: tag for name, tag in children.items()}
    inside = {**unprefixed, **children}
    return {key: Tag(key, frozenset(attributes.split()), inside), **children}


_LINK: Final = frozenset({"rel", "href", "hreflang", "media", "type", "title"})
_ALTERNATE: Final = Tag("xhtml:link", attributes=_LINK)
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
    **_group("image:image", _IMAGE),
    **_group("video:video", _VIDEO),
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
    """Return the elements of Media RSS at some depth; their keys contain the path.

    An inner element overrides an outer one of the same name.
    """
    texts = {
        f"media:{name}": Tag(f"media:{path}{name}", frozenset(attributes.split()))
        for name, attributes in _MEDIA_ATTRIBUTES.items()
    }
    community = Tag(f"media:{path}community", children=texts)
    return {**texts, "media:community": community, **(inside or {})}


def _media_content(path: str) -> dict[str, Tag]:
    """Return the element of a file; one inside another is a file of its own."""
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
    "link": Tag("link", attributes=_LINK),  # some sites write it as in Atom
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

EXTENSION_NAMES: Final = frozenset(key for key in (*_URL, *_ITEM) if ":" in key)
"""The elements of extensions: ``news:title``, ``image:image``, ``media:content``."""

_METADATA: Final = frozenset(
    {
        *("title", "link", "description", "language", "copyright", "image", "category"),
        *("managingeditor", "webmaster", "pubdate", "lastbuilddate", "docs", "cloud", "ttl"),
        *("generator", "rating", "textinput", "skiphours", "skipdays", "items", "channel"),
        *("id", "updated", "author", "contributor", "icon", "logo", "rights", "subtitle"),
        *("modified", "tagline", "info"),
    }
)
"""What describes a feed, of all versions of RSS and Atom together: sites mix them."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """The elements of the entries of one format."""

    entries: Mapping[str, Tag]
    namespace: str
    """The format's own namespace, by its usual prefix."""
    roots: frozenset[str]
    plain_texts: bool = False
    """Whether texts never contain markup; a URL directly in its entry is accepted then."""
    implied_entry: str | None = None
    """The entry that a <loc> outside of any entry belongs to."""
    channel: str | None = None
    """The element in the root that has the entries, or describes them, if there is one."""
    metadata: frozenset[str] = frozenset()
    """The elements beside the entries that describe the document."""
    url_field: str = "loc"
    """The field that contains the URL of an entry."""
    extensions: bool = False
    """Whether unknown elements are recorded as well."""
    audit: bool = False
    """Whether the names of unexpected elements and attributes are."""

    def is_root(self, name: str) -> bool:
        """Tell whether an element is a root element of the format, by its name as written."""
        return name.rpartition(":")[2].lower() in self.roots

    @property
    def identity(self) -> tuple[int, bool, bool]:
        """What is the same for two grammars by which a document has the same records.

        Of the format it is its table of entries, which is never freed.
        """
        return id(self.entries), self.extensions, self.audit


_SITEMAP_ENTRIES: Final = {
    "url": Tag("url", children=_URL),
    "sitemap": Tag("sitemap", children=_SITEMAP),
}
_SITEMAP_ROOTS: Final = frozenset({"urlset", "sitemapindex"})
GRAMMARS: Final[Mapping[Kind, Grammar]] = {
    **{
        kind: Grammar(
            _SITEMAP_ENTRIES,
            "sm",
            _SITEMAP_ROOTS,
            plain_texts=True,
            implied_entry=implied_entry,
        )
        for kind, implied_entry in ((Kind.URLSET, "url"), (Kind.INDEX, "sitemap"))
    },
    Kind.RSS: Grammar(
        {"item": Tag("item", frozenset({"rdf:about"}), _ITEM)},
        "rss",
        frozenset({"rss", "rdf"}),
        channel="channel",
        metadata=_METADATA,
        url_field="link",
    ),
    Kind.ATOM: Grammar(
        {"entry": Tag("entry", children=_ENTRY)},
        "atom",
        frozenset({"feed"}),
        metadata=_METADATA,
        url_field="link",
    ),
}
