"""What the names of elements mean, and which entries are rows: kept for other documents.

ElementTree gives names with their namespaces instead of prefixes. What is kept depends on a format
and on the namespace of the root element alone, and is limited in number and length.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from usp._parse.pattern.layout import Form, Row, RowLayout
from usp._parse.pattern.layouts import LayoutTable, layout_of, positions_in
from usp._parse.values.bounded_cache import keep
from usp._parse.xml.grammar import Grammar, Tag
from usp._parse.xml.namespaces import is_rdf, root_problem, usual_prefix

ODD: Final = "!"
"""The key of a name that is a problem."""
_ABOUT: Final = "rdf:about"
_XML: Final = "{http://www.w3.org/xml/1998/namespace}"  # in lower case
_SITEMAPS: Final = "sm"
_MAX_KEPT: Final = 256
_MAX_SHAPES: Final = 64
_MAX_NAMES: Final = 500
_MAX_NAME: Final = 200
_MAX_FIELDS: Final = 16
"""How many tables are kept, how many tables of shapes each has, how many names and shapes these
have, how long names are, and how many fields a row has."""


class Names(dict[str, str]):
    """The keys of names, in documents of one format with one namespace of the root element."""

    def __init__(self, grammar: Grammar, root: str) -> None:
        super().__init__()
        self._own = own = grammar.namespace
        usual = usual_prefix(root) if root else None
        self.depend_on_prefixes = usual not in {None, own}
        """Whether names in the namespace of the root mean something else with another prefix."""
        self.problem = root_problem(own, root)
        """The problem with the namespace of the root, if there is one."""
        self._root = root
        self._levels: dict[int, Level] = {}
        self._attributes: dict[Tag, Attributes] = {}
        self.entries = self.level(grammar.entries)
        """The entries by their names."""
        self.shapes: dict[tuple[Tag, tuple[str, ...]], Shapes] = {}
        """What entries of each kind have in common, by the fields of the first one: documents of
        one generator begin alike, and a table for all would have rows for what all have."""
        self._url_field = grammar.url_field

    def __missing__(self, name: str) -> str:
        namespace, written = split_name(name)
        local = written.lower()
        usual = usual_prefix(namespace) if namespace and namespace != self._root else self._own
        key = local if usual == self._own else f"{usual or '?'}:{local}"
        if self._own == _SITEMAPS and local != written and usual == self._own:
            key = ODD
        if len(name) <= _MAX_NAME:
            keep(self, name, key, _MAX_NAMES)
        return key

    def shapes_of(self, tag: Tag, first: tuple[str, ...]) -> "Shapes":
        """Return the shapes of entries of a kind, in documents whose first one has these fields."""
        found = self.shapes.get((tag, first))
        if found is None:
            found = Shapes(self.level(tag.children or {}), self._url_field)
            if _is_kept(first):
                keep(self.shapes, (tag, first), found, _MAX_SHAPES)
        return found

    def attributes(self, tag: Tag) -> "Attributes":
        """Return the attributes of an element that are known."""
        found = self._attributes.get(tag)
        if found is None:
            found = self._attributes[tag] = Attributes(tag)
        return found

    def level(self, children: Mapping[str, Tag]) -> "Level":
        """Return the elements that are known inside of another one, whose table is never freed."""
        found = self._levels.get(id(children))
        if found is None:
            found = self._levels[id(children)] = Level(self, children)
        return found


class Attributes(dict[str, str]):
    """The keys of the attributes of an element, by their names; empty for others.

    ``ODD`` for one that is known by its prefix or not at all.
    """

    def __init__(self, tag: Tag) -> None:
        super().__init__()
        self._tag = tag

    def __missing__(self, name: str) -> str:
        local = name.lower()
        key = ""
        if local.startswith(_XML):
            local = f"xml:{local[len(_XML) :]}"
        elif local.endswith("}about") and _ABOUT in self._tag.attributes:
            if is_rdf(split_name(name)[0]):
                local = _ABOUT
            else:
                key = ODD  # its prefix may be that of RDF
        if local in self._tag.attributes:
            key = f"{self._tag.key}@{local}"
        if len(name) <= _MAX_NAME:
            keep(self, name, key, _MAX_NAMES)
        return key


class Level(dict[str, Tag | None]):
    """The elements that are known inside of another one, by their names; None for others."""

    def __init__(self, names: Names, children: Mapping[str, Tag]) -> None:
        super().__init__()
        self._names = names
        self._children = children

    def __missing__(self, name: str) -> Tag | None:
        tag = self._children.get(self._names[name])
        if len(name) <= _MAX_NAME:
            keep(self, name, tag, _MAX_NAMES)
        return tag


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """How the texts of entries with the same fields become a row."""

    layout: RowLayout
    form: Form
    url: int
    """The column of the URL."""
    row: Callable[[list[str | None]], Row]
    """Returns the row, given the texts and None."""


def _is_kept(fields: tuple[str, ...]) -> bool:
    return sum(map(len, fields)) <= _MAX_NAME * _MAX_FIELDS


class Shapes(dict[tuple[str, ...], Shape | None]):
    """The shapes of entries, by the names of their fields; None for entries that are no rows."""

    def __init__(self, tags: Level, url_field: str) -> None:
        super().__init__()
        self._tags = tags
        self._url_field = url_field
        self._layouts = LayoutTable()

    def __missing__(self, names: tuple[str, ...]) -> Shape | None:
        shape = self._shape([self._tags[name] for name in names])
        if _is_kept(names):
            keep(self, names, shape, _MAX_NAMES)
        return shape

    def _shape(self, tags: list[Tag | None]) -> Shape | None:
        fields = [tag for tag in tags if tag and tag.children is None and not tag.attributes]
        keys = [tag.key for tag in fields]
        if not len(tags) == len(fields) <= _MAX_FIELDS or keys.count(self._url_field) != 1:
            return None
        written = tuple((key,) for key in keys)
        elements, is_changed = self._layouts.cover(written)
        if is_changed:
            self.clear()  # those of the smaller layout
        layout = layout_of(elements)
        columns = positions_in(elements, written) or []
        layout.text_columns.update(columns)
        texts = [columns.index(at) if at in columns else -1 for at in range(len(elements))]
        return Shape(
            layout,
            Form(tuple((column, True) for column in columns)),
            columns[keys.index(self._url_field)],
            itemgetter(*texts) if len(texts) > 1 else tuple,
        )


_known: dict[tuple[int, str], Names] = {}
"""By the identity of a format's table of entries, which is never freed, and the namespace of the
root element."""


def names_in(grammar: Grammar, namespace: str) -> Names:
    """Return what names mean in documents of a format whose root is in this namespace."""
    key = id(grammar.entries), namespace
    found = _known.get(key)
    if found is None:
        found = Names(grammar, namespace)
        if len(namespace) <= _MAX_NAME:
            keep(_known, key, found, _MAX_KEPT)
    return found


def forget_tree_names() -> None:
    """Forget everything: what is read next starts as in a new process."""
    _known.clear()


def split_name(name: str) -> tuple[str, str]:
    """Return the namespace and the local part of a name."""
    if name[0] != "{":
        return "", name
    namespace, _, local = name[1:].rpartition("}")
    return namespace, local
