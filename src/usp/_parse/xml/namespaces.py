"""From the names of elements to keys of the grammar, whatever namespace or prefix is used.

Namespaces are compared without scheme, ``www.``, case and trailing slash, and by their start: sites
use https, old versions and misspellings. A prefix that is undeclared, or bound to an unknown
namespace, has its usual meaning, and so has that of a sitemap extension which is bound to the
namespace of another. Each such tolerance is recorded as a problem.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from usp._display import excerpt
from usp._parse.diagnostics import KEPT_OF_A_CODE
from usp._parse.values.bounded_cache import bounded_cache
from usp._parse.values.urls import joined_base
from usp._parse.xml.grammar import Tag

RDF: Final = "rdf"
_NAMESPACES: Final = {
    "sitemaps.org": "sm",
    "google.com/schemas/sitemap/": "sm",  # 0.84, before sitemaps.org; not "sitemap-imge"
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
    "w3.org/1999/02/22-rdf-syntax-ns": RDF,
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

_XMLNS: Final = b"xmlns:"
_BINDING: Final = re.compile(
    # Only the quote that opens a value closes it: the other one may be in it.
    rb"""xmlns:(?P<prefix>[\w.-]++)\s*+=\s*+(?:"(?P<namespace>[^"]*+)|'(?P<in_single>[^']*+))"""
)
_BY_LENGTH: Final = sorted(_NAMESPACES, key=len, reverse=True)
_MAX_PREFIXES: Final = 256
"""How many prefixes are remembered: only hostile documents have more, and copies take time."""
_MAX_SHARED_PREFIXES: Final = 32
_MAX_SHARED_LENGTH: Final = 200
"""Declarations with more prefixes, or with longer prefixes or namespaces, share no table."""
_MAX_NAMES: Final = 500
_MAX_NAME: Final = 100
"""How many names a table holds, and how long they are: only hostile documents have more."""
_Root = tuple[str, str | None]
"""The prefix and the namespace of a root element."""
_USUAL_PREFIXES: Final = {
    **{prefix: prefix for prefix in _NAMESPACES.values() if not prefix.startswith("rss")},
    "sitemap": "sm",
    "sitemaps": "sm",
}
_EXTENSIONS: Final = frozenset({"news", "image", "video", "mobile", "pagemap", "xhtml"})
"""Prefixes of a sitemap that mean the same whatever they are bound to: one that is bound to the
namespace of another was copied, and its elements would be lost."""


@bounded_cache(1024)
def usual_prefix(namespace: str) -> str | None:
    """Return the usual prefix of a namespace, or None if it is unknown."""
    normalized = namespace.strip().lower().rstrip("/#")
    normalized = normalized.removeprefix("http://").removeprefix("https://").removeprefix("www.")
    known = next((known for known in _BY_LENGTH if normalized.startswith(known)), None)
    return _NAMESPACES[known] if known else None


def is_rdf(namespace: str | None) -> bool:
    """Tell whether a namespace is that of RDF, however it is spelt."""
    return namespace is not None and usual_prefix(namespace) == RDF


def root_problem(own: str, namespace: str | None) -> tuple[str, str] | None:
    """Return the problem with the namespace of a root element, if there is one."""
    exact = _EXACT.get(own)
    if not exact or namespace in exact:
        return None
    shown = repr(excerpt(namespace, 80)) if namespace else "no namespace"
    return "SM219", f"the root element is in {shown}"


def _meaning(own: str, prefix: str, namespace: str | None) -> tuple[str | None, bool]:
    """Return the usual prefix of what a prefix means, and whether its namespace is a wrong one."""
    known = usual_prefix(namespace) if namespace else None
    usual = _USUAL_PREFIXES.get(prefix.lower())
    if known is None:
        return usual, bool(usual and namespace)
    if own == "sm" and known != usual and usual in _EXTENSIONS:
        return usual, True
    return known, False


@bounded_cache(1024, length=lambda given: len(given[1]))
def _is_wrong_binding(given: tuple[str, bytes]) -> bool:
    """Tell whether a declaration binds a prefix to a wrong namespace: most sites have the same."""
    own, written = given
    binding = _BINDING.match(written)
    if binding is None:
        return False
    namespace: bytes = binding["namespace"] or binding["in_single"] or b""
    return _meaning(own, binding["prefix"].decode(), namespace.decode())[1]


def binds_unusual_prefix(document: bytes, own: str) -> bool:
    """Tell whether a prefix that has a usual meaning may be bound to a wrong namespace."""
    at = document.find(_XMLNS)
    while at >= 0:  # several times as fast as the pattern alone
        binding = _BINDING.match(document, at)
        if binding and _is_wrong_binding((own, binding[0])):
            return True
        at = document.find(_XMLNS, at + len(_XMLNS))
    return False


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

    @property
    def found(self) -> list[tuple[str, str, int | None]]:
        """Those that were added since the last call of ``take``."""
        return self._new.copy()

    def take(self) -> list[tuple[str, str, int | None]]:
        """Return the code, message and offset of those that were added since the last call."""
        new, self._new = self._new, []
        return new

    def forget(self) -> list[tuple[str, str, int | None]]:
        """Return the same, and record each of them again if it occurs again."""
        self._known.clear()
        return self.take()


class NameTable:
    """What names mean under one set of namespace declarations; shared by all documents with it.

    It holds only names that are no problem, and so never changes what is reported for a document.
    """

    __slots__ = ("fits", "keys", "tags")

    def __init__(self) -> None:
        self.keys: dict[str, str] = {}
        """The key of each name as written."""
        self.tags: defaultdict[int, dict[str, Tag]] = defaultdict(dict)
        """The tags of such names, by the identity of the table of elements that has them."""
        self.fits: dict[tuple[object, ...], Any] = {}
        """What the pattern reader knows under these declarations."""

    def add(self, name: str, key: str) -> None:
        """Remember the key of a name; a full table is emptied, for the documents that follow."""
        if len(self.keys) >= _MAX_NAMES:
            self.keys.clear()
            for tags in list(self.tags.values()):  # other threads may add to it
                tags.clear()
        if len(name) <= _MAX_NAME:
            self.keys[name] = key


@lru_cache(maxsize=256)
def _name_table(_own: str, _root: _Root | None, _bound: tuple[tuple[str, str], ...]) -> NameTable:
    """Return the table of these declarations, which few documents differ in."""
    return NameTable()


def forget_names() -> None:
    """Forget all tables: what is read next starts as in a new process."""
    _name_table.cache_clear()


def _declares(attributes: Mapping[str, str]) -> bool:
    """Tell whether attributes may change the scope: namespaces, a base URL, a language."""
    for name in attributes:  # noqa: SIM110 -- half the time of any(): there are few
        if name.startswith("xml"):
            return True
    return False


class NamespaceScope:
    """One scope of namespace declarations, which maps names as written to keys of the grammar."""

    def __init__(
        self,
        own: str,
        problems: StructureProblems,
        bound: Mapping[str, str] = MappingProxyType({}),
        root: _Root | None = None,
        base: str | None = None,
    ) -> None:
        """Start a scope.

        :param own: the usual prefix of the format's own namespace.
        :param problems: where tolerated names are recorded.
        :param bound: the namespace of each prefix.
        :param root: the prefix and the namespace of the root element; None before it.
        :param base: the ``xml:base`` of this scope.
        """
        self._own = own
        self.problems = problems
        self._bound = bound
        self._root = root
        self.base = base
        shared = len(bound) <= _MAX_SHARED_PREFIXES and all(
            len(text) <= _MAX_SHARED_LENGTH for declared in bound.items() for text in declared
        )
        self.names = _name_table(own, root, tuple(bound.items())) if shared else NameTable()
        """The names that are no problem, and what they mean."""

    @property
    def has_root(self) -> bool:
        """Whether the root element is known, and with it the format's own namespace."""
        return self._root is not None

    def inside(self, name: str, attributes: Mapping[str, str]) -> "NamespaceScope":
        """Return the scope inside an element with these attributes."""
        if self._root and not _declares(attributes):
            return self
        declared = {
            key[6:]: value
            for key, value in attributes.items()
            if key == "xmlns" or key.startswith("xmlns:")
        }
        base = joined_base(self.base, attributes.get("xml:base"))
        if self._root and not declared and base == self.base:
            return self
        bound = self._bound if len(self._bound) > _MAX_PREFIXES else {**self._bound, **declared}
        root = self._root or self._check_root(name, bound)
        return NamespaceScope(self._own, self.problems, bound, root, base)

    def reporting_to(self, problems: StructureProblems) -> "NamespaceScope":
        """Return the same scope, whose problems are recorded elsewhere."""
        scope = object.__new__(NamespaceScope)
        scope.__dict__.update(self.__dict__, problems=problems)
        return scope

    def with_own(self, name: str) -> "NamespaceScope":
        """Return a scope in which the namespace of this element is the format's own."""
        prefix = name.rpartition(":")[0]
        root = prefix, self._bound.get(prefix)
        return NamespaceScope(self._own, self.problems, self._bound, root, self.base)

    def of_another_root(self) -> "NamespaceScope":
        """Return the scope around another root element: the base URL was not for that one."""
        return NamespaceScope(self._own, self.problems, self._bound, self._root)

    def after(self, before: "NamespaceScope", *, is_root: bool) -> "NamespaceScope":
        """Return the scope after the outermost element, given the one before it.

        :param is_root: whether it is the root element; an entry may have none around it.
        """
        if is_root:  # what follows it is read as if it were inside
            return self
        if before.has_root:
            return before
        # The first entry stands for the root: its names count, but not its base URL.
        return NamespaceScope(self._own, self.problems, self._bound, self._root, before.base)

    def namespace(self, name: str) -> str | None:
        """Return the namespace of an element as it is declared; None if it has none."""
        return self._bound.get(name.rpartition(":")[0])

    def attribute(self, name: str) -> str:
        """Return the name of an attribute of an entry, as the grammar has it.

        The only one with a prefix is ``rdf:about``: the namespace of RDF decides, whatever its
        prefix is, and so does this prefix, whatever it is bound to.
        """
        prefix, _, local = name.rpartition(":")
        namespace = self._bound.get(prefix) if prefix else None
        return f"{RDF}:{local.lower()}" if is_rdf(namespace) else name.lower()

    def _check_root(self, name: str, bound: Mapping[str, str]) -> _Root:
        prefix = name.rpartition(":")[0]
        namespace = bound.get(prefix)
        if problem := root_problem(self._own, namespace):
            self.problems.add(*problem)
        return prefix, namespace

    def key(self, name: str) -> str:
        """Return the key of an element, as the grammar has it."""
        key = self.names.keys.get(name)
        return self._make_key(name) if key is None else key

    def peek(self, name: str) -> str:
        """Return the same for an element that may declare its own prefix: it is no problem yet."""
        prefix, _, written = name.rpartition(":")
        return self._resolve(prefix, written, written.lower())[0]

    def means(self, names: Mapping[str, str]) -> bool:
        """Tell whether each of these names has the given key here, and none is a problem."""
        keys = self.names.keys
        return all(
            self._resolved(name) == key for name, key in names.items() if keys.get(name) != key
        )

    def _resolved(self, name: str) -> str | None:
        """Return the key of a name that is no problem; else None."""
        prefix, _, written = name.rpartition(":")
        key, problem = self._resolve(prefix, written, written.lower())
        return None if problem else key

    def _make_key(self, name: str) -> str:
        prefix, _, written = name.rpartition(":")
        local = written.lower()
        key, problem = self._resolve(prefix, written, local)
        if problem:
            self.problems.add(*problem)
        else:
            self.names.add(name, key)
        return key

    def _resolve(self, prefix: str, written: str, local: str) -> tuple[str, tuple[str, str] | None]:
        """Return the key of a name, and the problem with it, if there is one."""
        namespace = self._bound.get(prefix)
        problem: tuple[str, str] | None = None
        if prefix and namespace is None and prefix != "xml":
            problem = "SM218", f"the prefix {prefix[:60]!r} is not declared"
        if (prefix, namespace) == self._root or (not prefix and not namespace):
            if self._own == "sm" and local != written:
                problem = "SM220", "tag names contain upper case"
            return local, problem  # the root's namespace is the format's, however it is spelt
        usual, is_wrong = _meaning(self._own, prefix, namespace)
        if namespace and is_wrong:
            problem = "SM219", f"the prefix {prefix[:60]!r} is bound to {excerpt(namespace, 80)!r}"
        if usual is None and namespace and self._root and namespace == self._root[1]:
            usual = self._own
        return (local if usual == self._own else f"{usual or '?'}:{local}"), problem
