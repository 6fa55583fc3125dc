"""What an element is called, whatever namespace or prefix the site wrote.

Namespaces are compared without scheme, ``www.``, case and trailing slash, and by their beginning:
sites write https, old versions and small mistakes. A prefix that is never declared, or is bound to
a namespace that nobody knows, has its usual meaning. What had to be understood so is noted.
"""

from collections.abc import Mapping
from typing import Final

from usp._parse.values.bounded_cache import bounded_cache

_NAMESPACES: Final = {
    "sitemaps.org": "sm",
    "google.com/schemas/sitemap": "sm",  # 0.84, before sitemaps.org
    "google.com/schemas/sitemap-news": "news",
    "google.com/schemas/sitemap-image": "image",
    "google.com/schemas/sitemap-video": "video",
    "google.com/schemas/sitemap-mobile": "mobile",
    "baidu.com/schemas/sitemap-mobile": "mobile",
    "google.com/schemas/sitemap-pagemap": "pagemap",
    "sitemaps.org/schemas/sitemap-news": "news",
    "sitemaps.org/schemas/sitemap-image": "image",
    "sitemaps.org/schemas/sitemap-video": "video",
    "w3.org/1999/xhtml": "xhtml",
    "w3.org/tr/xhtml": "xhtml",
    "w3.org/2005/atom": "atom",
    "purl.org/atom/ns": "atom",  # 0.3
    "purl.org/rss/1.0": "rss",
    "purl.org/rss/1.0/modules": "rss-module",
    "purl.org/rss/1.0/modules/content": "content",
    "my.netscape.com/rdf/simple/0.9": "rss",
    "channel.netscape.com/rdf/simple/0.9": "rss",
    "backend.userland.com/rss": "rss",
    "blogs.law.harvard.edu/tech/rss": "rss",
    "w3.org/1999/02/22-rdf-syntax-ns": "rdf",
    "purl.org/dc/elements": "dc",
    "purl.org/dc/terms": "dcterms",
    "search.yahoo.com/mrss": "media",
}
"""How namespaces begin, as sites write them, and the prefix that they usually go by."""

_EXACT: Final = {
    "sm": {"http://www.sitemaps.org/schemas/sitemap/0.9"},
    "atom": {"http://www.w3.org/2005/Atom", "http://purl.org/atom/ns#"},
}
"""What the specifications ask for in a root element."""

_BY_LENGTH: Final = sorted(_NAMESPACES, key=len, reverse=True)
_MAX_BOUND: Final = 256
"""So many prefixes are kept in mind: more is hostility, and copying them would cost."""
_USUAL_PREFIXES: Final = {
    **{prefix: prefix for prefix in _NAMESPACES.values() if not prefix.startswith("rss")},
    "sitemap": "sm",
    "sitemaps": "sm",
}


@bounded_cache(1024)
def usual_prefix(namespace: str) -> str | None:
    """Return the prefix by which this namespace usually goes, or None if nobody knows it."""
    plain = namespace.strip().lower().rstrip("/#")
    plain = plain.removeprefix("http://").removeprefix("https://").removeprefix("www.")
    known = next((known for known in _BY_LENGTH if plain.startswith(known)), None)
    return _NAMESPACES[known] if known else None


class NamespaceScope:
    """The names in one scope of namespace declarations: as written, to the key of the grammar."""

    def __init__(self, own: str, oddities: dict[tuple[str, str], int | None]) -> None:
        self._own = own
        self._oddities = oddities  # what had to be understood: problem codes and messages
        self._bound: dict[str, str] = {}
        self._root: tuple[str, str | None] | None = None
        self._keys: dict[str, str] = {}
        self.base: str | None = None
        """The ``xml:base`` in force here."""

    @property
    def rooted(self) -> bool:
        """Whether the root element is known, and with it the format's own namespace."""
        return self._root is not None

    def inside(self, name: str, attributes: Mapping[str, str]) -> "NamespaceScope":
        """Return the scope inside an element with these attributes."""
        declared = {
            key[6:]: value
            for key, value in attributes.items()
            if key == "xmlns" or key.startswith("xmlns:")
        }
        base = attributes.get("xml:base", self.base)
        if self._root and not declared and base == self.base:
            return self
        scope = NamespaceScope(self._own, self._oddities)
        scope._bound = self._bound if len(self._bound) > _MAX_BOUND else self._bound | declared
        scope._root = self._root or self._look_at_root(name, scope._bound)
        scope.base = base
        return scope

    def with_own(self, name: str) -> "NamespaceScope":
        """Return the scope in which the namespace of this element is the format's own."""
        prefix = name.rpartition(":")[0]
        scope = NamespaceScope(self._own, self._oddities)
        scope._bound = self._bound
        scope._root = (prefix, self._bound.get(prefix))
        scope.base = self.base
        return scope

    def namespace(self, name: str) -> str | None:
        """Return the namespace of an element as it is written, None where it has none."""
        return self._bound.get(name.rpartition(":")[0])

    def _look_at_root(self, name: str, bound: Mapping[str, str]) -> tuple[str, str | None]:
        prefix = name.rpartition(":")[0]
        namespace = bound.get(prefix)
        exact = _EXACT.get(self._own)
        if exact and namespace not in exact:
            shown = repr(namespace[:80]) if namespace else "no namespace"
            self._oddities.setdefault(("SM219", f"the root element is in {shown}"), None)
        return prefix, namespace

    def key(self, name: str) -> str:
        """Return the key of an element, as the grammar has it."""
        key = self._keys.get(name)
        if key is None:
            key = self._keys[name] = self._make_key(name)
        return key

    def _make_key(self, name: str) -> str:
        prefix, _, written = name.rpartition(":")
        local = written.lower()
        namespace = self._bound.get(prefix)
        if prefix and namespace is None and prefix != "xml":
            self._oddities.setdefault(
                ("SM218", f"the prefix {prefix[:60]!r} is never declared"), None
            )
        if (prefix, namespace) == self._root or (not prefix and not namespace):
            if self._own == "sm" and local != written:
                self._oddities.setdefault(("SM220", "tags are written in capitals"), None)
            return local  # the root's own namespace is the format's, however it is spelt
        known = usual_prefix(namespace) if namespace else None
        usual = known or _USUAL_PREFIXES.get(prefix.lower())
        if usual and namespace and not known:
            shown = f"the prefix {prefix[:60]!r} is bound to {namespace[:80]!r}"
            self._oddities.setdefault(("SM219", shown), None)
        if usual is None and namespace and self._root and namespace == self._root[1]:
            usual = self._own
        return local if usual == self._own else f"{usual or '?'}:{local}"
