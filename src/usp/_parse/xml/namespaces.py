"""From the names of elements to keys of the grammar, whatever namespace or prefix is used.

Namespaces are compared without scheme, ``www.``, case and trailing slash, and by their start: sites
use https, old versions and misspellings. A prefix that is undeclared, or bound to an unknown
namespace, has its usual meaning. Each such tolerance is recorded as a problem.
"""

from collections.abc import Mapping
from typing import Final

from usp._parse.diagnostics import KEPT_OF_A_CODE
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
"""The start of each known namespace, normalized, and its usual prefix."""

_EXACT: Final = {
    "sm": {"http://www.sitemaps.org/schemas/sitemap/0.9"},
    "atom": {"http://www.w3.org/2005/Atom", "http://purl.org/atom/ns#"},
}
"""The namespaces of a root element according to the specifications."""

_BY_LENGTH: Final = sorted(_NAMESPACES, key=len, reverse=True)
_MAX_PREFIXES: Final = 256
"""How many prefixes are remembered: only hostile documents have more, and copies take time."""
_MAX_NAMES: Final = 4096
_MAX_NAME: Final = 256
"""How many names are remembered with their keys, before all are forgotten; and how long they are.
"""
_USUAL_PREFIXES: Final = {
    **{prefix: prefix for prefix in _NAMESPACES.values() if not prefix.startswith("rss")},
    "sitemap": "sm",
    "sitemaps": "sm",
}


@bounded_cache(1024)
def usual_prefix(namespace: str) -> str | None:
    """Return the usual prefix of a namespace, or None if it is unknown."""
    normalized = namespace.strip().lower().rstrip("/#")
    normalized = normalized.removeprefix("http://").removeprefix("https://").removeprefix("www.")
    known = next((known for known in _BY_LENGTH if normalized.startswith(known)), None)
    return _NAMESPACES[known] if known else None


class StructureProblems:
    """The problems with the names and the structure of a document, each once.

    Names have no end: of each code, only so many are kept as a document may report.
    """

    def __init__(self) -> None:
        self._known: dict[str, set[str]] = {}
        self._new: list[tuple[str, str, int | None]] = []

    def add(self, code: str, message: str, at: int | None = None) -> None:
        """Record a problem, with the offset of its first occurrence; None for the root element."""
        known = self._known.setdefault(code, set())
        if message not in known and len(known) < KEPT_OF_A_CODE:
            known.add(message)
            self._new.append((code, message, at))

    def take(self) -> list[tuple[str, str, int | None]]:
        """Return the code, message and offset of those that were added since the last call."""
        new, self._new = self._new, []
        return new


class NamespaceScope:
    """One scope of namespace declarations, which maps names as written to keys of the grammar."""

    def __init__(self, own: str, problems: StructureProblems) -> None:
        self._own = own  # the usual prefix of the format's own namespace
        self._problems = problems
        self._bound: dict[str, str] = {}
        self._root: tuple[str, str | None] | None = None
        self._keys: dict[str, str] = {}
        self.base: str | None = None
        """The ``xml:base`` of this scope."""

    @property
    def has_root(self) -> bool:
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
        scope = NamespaceScope(self._own, self._problems)
        scope._bound = self._bound if len(self._bound) > _MAX_PREFIXES else self._bound | declared
        scope._root = self._root or self._check_root(name, scope._bound)
        scope.base = base
        return scope

    def with_own(self, name: str) -> "NamespaceScope":
        """Return a scope in which the namespace of this element is the format's own."""
        prefix = name.rpartition(":")[0]
        scope = NamespaceScope(self._own, self._problems)
        scope._bound = self._bound
        scope._root = (prefix, self._bound.get(prefix))
        scope.base = self.base
        return scope

    def namespace(self, name: str) -> str | None:
        """Return the namespace of an element as it is declared; None if it has none."""
        return self._bound.get(name.rpartition(":")[0])

    def _check_root(self, name: str, bound: Mapping[str, str]) -> tuple[str, str | None]:
        prefix = name.rpartition(":")[0]
        namespace = bound.get(prefix)
        exact = _EXACT.get(self._own)
        if exact and namespace not in exact:
            shown = repr(namespace[:80]) if namespace else "no namespace"
            self._problems.add("SM219", f"the root element is in {shown}")
        return prefix, namespace

    def key(self, name: str) -> str:
        """Return the key of an element, as the grammar has it."""
        key = self._keys.get(name)
        if key is None:
            key = self._make_key(name)
            if len(name) <= _MAX_NAME:
                if len(self._keys) >= _MAX_NAMES:
                    self._keys.clear()
                self._keys[name] = key
        return key

    def _make_key(self, name: str) -> str:
        prefix, _, written = name.rpartition(":")
        local = written.lower()
        namespace = self._bound.get(prefix)
        if prefix and namespace is None and prefix != "xml":
            self._problems.add("SM218", f"the prefix {prefix[:60]!r} is not declared")
        if (prefix, namespace) == self._root or (not prefix and not namespace):
            if self._own == "sm" and local != written:
                self._problems.add("SM220", "tag names contain upper case")
            return local  # the namespace of the root element is the format's, however it is spelt
        known = usual_prefix(namespace) if namespace else None
        usual = known or _USUAL_PREFIXES.get(prefix.lower())
        if usual and namespace and not known:
            shown = f"the prefix {prefix[:60]!r} is bound to {namespace[:80]!r}"
            self._problems.add("SM219", shown)
        if usual is None and namespace and self._root and namespace == self._root[1]:
            usual = self._own
        return local if usual == self._own else f"{usual or '?'}:{local}"
