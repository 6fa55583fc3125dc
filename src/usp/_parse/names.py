"""What an element is called, whatever namespace or prefix the site wrote.

Namespaces are compared without scheme, ``www.``, case and trailing slash, and by their beginning:
sites write https, old versions and small mistakes. A prefix that is never declared, or is bound to
a namespace that nobody knows, has its usual meaning.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

_NAMESPACES: Final = {
    "sitemaps.org": "sm",
    "google.com/schemas/sitemap": "sm",  # 0.84, before sitemaps.org
    "google.com/schemas/sitemap-news": "news",
    "google.com/schemas/sitemap-image": "image",
    "google.com/schemas/sitemap-video": "video",
    "google.com/schemas/sitemap-mobile": "mobile",
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
_BY_LENGTH: Final = sorted(_NAMESPACES, key=len, reverse=True)
_USUAL_PREFIXES: Final = {
    **{prefix: prefix for prefix in _NAMESPACES.values() if prefix not in {"rss", "rss-module"}},
    "sitemap": "sm",
    "sitemaps": "sm",
    "n": "news",
    "yandex": "yandex",
}


@lru_cache(maxsize=1024)
def usual_prefix(namespace: str) -> str | None:
    """Return the prefix by which this namespace usually goes, or None if nobody knows it."""
    plain = namespace.strip().lower().rstrip("/#")
    plain = plain.removeprefix("http://").removeprefix("https://").removeprefix("www.")
    known = next((known for known in _BY_LENGTH if plain.startswith(known)), None)
    return _NAMESPACES[known] if known else None


class Names:
    """The names in one scope of namespace declarations: as written, to the key of the grammar."""

    def __init__(
        self,
        own: frozenset[str],
        bound: Mapping[str, str] | None = None,
        root: "tuple[str, str | None] | None" = None,
        base: str | None = None,
        undeclared: set[str] | None = None,
    ) -> None:
        self._own = own
        self._bound = bound or {}
        self._root = root
        self._keys: dict[str, str] = {}
        self.base = base
        """The ``xml:base`` in force here."""
        self.undeclared = set() if undeclared is None else undeclared
        """The prefixes that were used in this document and never declared."""

    def inside(self, name: str, attributes: Mapping[str, str]) -> "Names":
        """Return the scope inside an element with these attributes."""
        declared = {
            key[6:]: value
            for key, value in attributes.items()
            if key == "xmlns" or key.startswith("xmlns:")
        }
        base = attributes.get("xml:base", self.base)
        if self._root and not declared and base == self.base:
            return self
        bound = {**self._bound, **declared}
        prefix = name.rpartition(":")[0]
        root = self._root or (prefix, bound.get(prefix))
        return Names(self._own, bound, root, base, self.undeclared)

    def key(self, name: str) -> str:
        """Return the key of an element, as the grammar has it."""
        key = self._keys.get(name)
        if key is None:
            key = self._keys[name] = self._make_key(name)
        return key

    def _make_key(self, name: str) -> str:
        prefix, _, local = name.rpartition(":")
        local = local.lower()
        namespace = self._bound.get(prefix)
        if prefix and namespace is None and prefix != "xml":
            self.undeclared.add(prefix)
        if (prefix, namespace) == self._root or (not prefix and not namespace):
            return local  # the root's own namespace is the format's, however it is spelt
        usual = usual_prefix(namespace) if namespace else None
        usual = usual or _USUAL_PREFIXES.get(prefix.lower())
        if usual is None and self._root and namespace == self._root[1]:
            usual = next(iter(self._own))
        return local if usual in self._own else f"{usual or '?'}:{local}"
