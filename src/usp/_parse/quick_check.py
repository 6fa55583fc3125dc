"""A quick check of entries, for collecting the problems of a document in little time.

``FieldReader.check`` is the judge of an entry, and takes several times as long as the walk. Nearly
all entries are good, and an entry is known to be good without it if

- a sample entry with the same keys in the same order, and good values, is good; and
- each value that the check looks at matches a pattern of certainly good values.

If only URLs are not certainly good, these alone are checked. Any other entry gets the full check.
So the result is that of the full check.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Final

from usp._lazy import lazy_property
from usp._parse.diagnostics import Diagnostics
from usp._parse.formats.field_reader import FieldReader
from usp._parse.input.sniff import Kind
from usp._parse.pattern.layout import ColumnTexts, EntryRun, Form, RowLayout
from usp._parse.values.bounded_cache import keep
from usp._parse.values.plain import LETTERS, SEPARATOR
from usp.objects.page import Record

Doubtful = list[tuple[str, str]]
"""The URLs of an entry that may have a problem, and their keys."""
Signature = tuple[object, ...]
IsGood = Callable[[str], object]

_BLANKS: Final = r"[ \t\r\n]*+"
_URL: Final = (
    # With an & and a ; there may be an entity in it.
    rf"{_BLANKS}https?://[A-Za-z0-9.-]++(?::[0-9]{{1,5}}+)?"
    rf"(?:[/?#](?:[!-%'-;=?-~{LETTERS}]*+(?![^\0 \t\r\n])|[!-:=?-~{LETTERS}]*+))?+{_BLANKS}"
)
_ID: Final = rf"{_URL}|(?:(?![Hh][Tt][Tt][Pp])[!-%'-;=-~{LETTERS}])*+"
"""A URL, or nothing that could contain one."""
_DATE: Final = (
    r"(?:[12][0-9]{3}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
    r"|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
    r"|[12][0-9](?:0[48]|[2468][048]|[13579][26])-02-29)"
    r"(?:[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9}+)?)?"
    r"(?:Z|[+-](?:0[0-9]|1[0-3]):?[0-5][0-9])?)?"
)
_FEED_DATE: Final = (
    r"(?:[A-Z][a-z]{2}, )?(?:(?:0?[1-9]|1[0-9]|2[0-8]) "
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
    r"|(?:29|30) (?:Jan|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
    r"|31 (?:Jan|Mar|May|Jul|Aug|Oct|Dec)) [12][0-9]{3} "
    r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9] (?:GMT|UTC|[+-](?:0[0-9]|1[0-3])[0-5][0-9])"
)
_ABSENT: Final = {None, ""}
_BAD_DATE: Final = "SM401"
_GOOD_TEXTS: Final = (
    "https://example.org/", "2024-05-01", "1", "daily", "yes", "allow", "own", "hd"
)  # fmt: skip
"""For every key that is validated, one of these is valid."""
_LINK_KEYS: Final = frozenset({"link", "link@href", "atom:link@href", "xhtml:link@href"})
"""Keys whose URLs are checked though they aren't in the table of a format."""
_ID_KEYS: Final = frozenset({"guid", "id"})
"""Keys whose texts are checked where they are the URL of the page."""
_SIGNIFICANT: Final = ("@rel", "@type", "@medium", "@ispermalink", "@isdefault", "@mode")
"""The check of a format depends on the texts of these attributes, not just on their validity."""
_MAX_SIGNIFICANT: Final = 64
_BASE: Final = "xml:base"
_MAX_SIGNATURES: Final = 2048
_MAX_KEYS: Final = 200
_MAX_KEPT_KEYS: Final = 50
_MAX_KEPT_LENGTH: Final = 100
_MAX_KEPT_WORD: Final = 32
"""What is remembered for all documents is bounded in number and in length."""

Tests = dict[str, "_Test"]
Signatures = dict[tuple[str, Signature], bool]

_known: dict[tuple[type[FieldReader], Kind], tuple[Tests, Signatures]] = {}
"""For all documents of a format, since entries of different sites look alike; bounded."""


class QuickCheck:
    """Tells which entries of one document are known to have no problem."""

    def __init__(self, fields: FieldReader, *, parses_times: bool = False) -> None:
        """Start with a document.

        :param parses_times: whether times are parsed anyway, many at once.
        """
        self._fields = fields
        self._parses_times = parses_times
        self._kind = type(fields), fields.kind
        if self._kind not in _known:
            _known[self._kind] = {}, {}
        self._tests, self._signatures = _known[self._kind]

    def doubtful_urls(self, name: str, record: Record) -> Doubtful | None:
        """Return the URLs of an entry that may have a problem, and their keys.

        None if something else may have one.
        """
        signature: list[object] = []
        doubtful: Doubtful = []
        tests = self._tests
        for key, text in record:
            test = tests.get(key) or self._test_for(key)
            if test(text):
                signature.append(key)
            elif not text or text.isspace():
                signature.append((key, ""))
            elif test is _is_significant and len(text) <= _MAX_SIGNIFICANT:
                signature.append((key, text))
            elif key in self._fields.url_keys and _is_visible(text):
                signature.append(key)
                doubtful.append((key, text))
            else:
                return None
        return doubtful if self._is_good_signature(name, tuple(signature)) else None

    def suspects(self, run: EntryRun) -> dict[int, Doubtful | None]:
        """Return which entries of a run are not known to be good, in their order.

        With each come its doubtful URLs; None if something else may have a problem.
        """
        found: set[int] = set()
        doubtful: dict[int, Doubtful] = {}
        constants: dict[int, tuple[str, str]] = {}
        for column, key, test in self._columns_of(run.layout):
            constant = _constant(run.columns[column], test)
            if constant is not None:
                constants[column] = key, constant
            if self._parses_times and test is _is_good_date and run.times(column):
                continue
            for at, text in _odd_texts(run, column, test, constant):
                if key in self._fields.url_keys and _is_visible(text):
                    doubtful.setdefault(at, []).append((key, text))
                else:
                    found.add(at)
        if not all(self._is_good_form(form, run, constants) for form in run.forms):
            found.update(range(len(run)))
        return {at: None if at in found else doubtful[at] for at in sorted(found | doubtful.keys())}

    def _is_good_form(
        self, form: Form, run: EntryRun, constants: Mapping[int, tuple[str, str]]
    ) -> bool:
        """Tell whether entries of a form are good if their texts are."""
        known = *self._kind, *constants.values()
        good: bool | None = form.notes.get(known)
        if good is None:
            keys = run.layout.keys
            signature = tuple(
                constants.get(column, keys[column]) if has_text else (keys[column], "")
                for column, has_text in form.columns
            )
            good = self._is_good_signature(run.name, signature)
            keep(form.notes, known, good, _MAX_SIGNATURES)
        return good

    def _columns_of(self, layout: RowLayout) -> list[tuple[int, str, "_Test"]]:
        """Return the columns that have texts: the key and the test of each."""
        found: tuple[int, list[tuple[int, str, _Test]]] | None = layout.notes.get(self._kind)
        if found is None or found[0] != len(layout.text_columns):
            columns = sorted(layout.text_columns)
            keys = [(column, layout.keys[column]) for column in columns]
            found = len(columns), [(column, key, self._test_for(key)) for column, key in keys]
            layout.notes[self._kind] = found
        return found[1]

    def _test_for(self, key: str) -> "_Test":
        test = _test(key, self._fields)
        if len(key) <= _MAX_KEPT_LENGTH:  # names of unknown elements have no end
            keep(self._tests, key, test, _MAX_SIGNATURES)
        return test

    def _is_good_signature(self, name: str, signature: Signature) -> bool:
        if len(signature) > _MAX_KEYS:  # not remembered either: these live as long as the process
            return False
        known = (name, signature)
        good = self._signatures.get(known)
        if good is None:
            good = _is_good_sample(self._fields, name, signature)
            if len(signature) <= _MAX_KEPT_KEYS and _length(signature) <= _MAX_KEPT_LENGTH:
                keep(self._signatures, known, good, _MAX_SIGNATURES)
        return good


def _constant(texts: ColumnTexts, test: "_Test") -> str | None:
    """Return the text of a column that is the same in all entries, if that is what matters."""
    if texts[0] == "" and texts.count("") == len(texts):
        return ""
    if test is _is_significant:
        values = set(texts) - _ABSENT
        value = values.pop() if len(values) == 1 else None
        return value if value and len(value) <= _MAX_SIGNIFICANT else None
    return None


def _odd_texts(
    run: EntryRun, column: int, test: "_Test", constant: str | None
) -> list[tuple[int, str]]:
    """Return the texts of a column that are empty or not certainly good, and where they are."""
    texts = run.columns[column]
    if constant is not None:
        are_good = texts.count(constant) == len(texts)
    else:
        are_good = (test is _is_good_url and run.has_plain_urls(column)) or (
            test.are_good(texts) and "" not in texts
        )
    if are_good:
        return []
    return [
        (at, text)
        for at, text in enumerate(texts)
        if text is not None and text != constant and (not text or not test(text))
    ]


def _length(signature: Signature) -> int:
    """Return the length of the longest key in a signature."""
    return max(
        (len(str(part[0] if isinstance(part, tuple) else part)) for part in signature), default=0
    )


class _Test(ABC):
    """Tells whether a text is certainly good."""

    @abstractmethod
    def __call__(self, text: str, /) -> object: ...

    @abstractmethod
    def are_good(self, texts: ColumnTexts) -> bool:
        """Tell whether all of these texts are good, but for empty ones."""


class _WordTest(_Test):
    """The same for words that repeat."""

    def __init__(self, is_good: IsGood) -> None:
        self._is_good = is_good
        self._known: set[str | None] = {None, ""}  # good ones

    def __call__(self, text: str, /) -> object:
        return self._is_good(text)

    def are_good(self, texts: ColumnTexts) -> bool:
        """Tell whether all of these texts are good, but for empty ones."""
        unknown = set(texts) - self._known
        if not all(map(self._is_good, filter(None, unknown))):
            return False
        if len(self._known) < _MAX_SIGNATURES:
            self._known.update([text for text in unknown if text and len(text) <= _MAX_KEPT_WORD])
        return True


class _NeverTest(_Test):
    """The same if no text is certainly good."""

    def __call__(self, _text: str, /) -> object:
        return False

    def are_good(self, texts: ColumnTexts) -> bool:
        """Tell whether all of these texts are good, but for empty ones."""
        return not any(texts)


class _PatternTest(_Test):
    """The same for texts that a pattern matches, many at once.

    It is compiled when it is needed: most texts are known to be good without it.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    def __call__(self, text: str, /) -> object:
        return self.is_good(text)

    @lazy_property
    def is_good(self) -> IsGood:
        """Matches a good text."""
        return re.compile(self._pattern).fullmatch

    @lazy_property
    def all_are_good(self) -> IsGood:
        """Matches good texts, with a separator after each."""
        return re.compile(rf"(?:(?:{self._pattern}){SEPARATOR})*+").fullmatch

    def are_good(self, texts: ColumnTexts) -> bool:
        """Tell whether all of these texts are good, but for empty ones."""
        return self.all_are_good(SEPARATOR.join([*filter(None, texts), ""])) is not None


class _BeginningTest(_PatternTest):
    """The same for texts of which the beginning, and whether there may be an entity, matter.

    A text of a feed may be long: alone, it is searched for characters, not matched.
    """

    def __init__(self, beginning: str, rest: str, *, has_entities: bool) -> None:
        super().__init__(beginning + rest)
        self._begins = re.compile(beginning).match
        self._has_entities = has_entities

    def __call__(self, text: str, /) -> object:
        may_have_one = self._has_entities and "&" in text and ";" in text
        return not may_have_one and self._begins(text)


_VISIBLE: Final = rf"{_BLANKS}(?:[!-%'-~]|[^\W_])"
"""How a text begins that is certainly not blank after cleaning: an & may become a blank."""
_is_good_url: Final = _PatternTest(_URL)
_is_good_id: Final = _PatternTest(_ID)
_is_good_date: Final = _PatternTest(rf"{_BLANKS}(?:{_DATE}|{_FEED_DATE}){_BLANKS}")
_is_significant: Final = _NeverTest()
"""The text itself is part of the signature."""
_is_never_good: Final = _NeverTest()
_is_visible: Final = _BeginningTest(_VISIBLE, f"[^{SEPARATOR}]*+", has_entities=False)
_is_good_text: Final = _BeginningTest(
    _VISIBLE, f"(?:[^&{SEPARATOR}]*+(?![^{SEPARATOR}])|[^;{SEPARATOR}]*+)", has_entities=True
)


def _test(key: str, fields: FieldReader) -> _Test:
    """Return the test of the texts under a key."""
    if key == _BASE:
        return _is_never_good  # it changes what relative URLs mean
    if key in fields.url_keys or key in _LINK_KEYS:
        return _is_good_url
    if key in _ID_KEYS:
        return _is_good_id
    code, is_valid = fields.validators.get(key, ("", bool))
    if code:
        return _is_good_date if code == _BAD_DATE else _WordTest(is_valid)
    if key.endswith(_SIGNIFICANT):
        return _is_significant
    return _is_good_text if key in fields.plain_text_keys else _is_visible


def _is_good_sample(fields: FieldReader, name: str, signature: Signature) -> bool:
    """Tell whether the full check finds nothing in an entry with these keys and good values."""
    record = [
        part if isinstance(part, tuple) else (str(part), _good_text(str(part), fields))
        for part in signature
    ]
    diagnostics = Diagnostics()
    fields.check(name, record, diagnostics)
    return not diagnostics.problems


def _good_text(key: str, fields: FieldReader) -> str:
    _, is_valid = fields.validators.get(key, ("", bool))
    return next((text for text in _GOOD_TEXTS if is_valid(text)), _GOOD_TEXTS[0])
