"""A quick check of entries, so that problems can be collected while pages are walked.

``FieldReader.check`` is the judge of an entry, and takes several times as long as the walk. Nearly
all entries are good, and an entry is known to be good without it if

- a sample entry with the same keys in the same order, and good values, is good; and
- each value that the check looks at matches a pattern of certainly good values.

An entry that isn't known to be good gets the full check. So the result is that of the full check.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeVar
from weakref import WeakKeyDictionary

from usp._parse.diagnostics import Diagnostics
from usp._parse.formats.field_reader import FieldReader
from usp._parse.formats.urlset import REQUIRED
from usp._parse.input.sniff import Kind
from usp._parse.pattern.groups import SURE, GroupLayout, Groups, MatchRun
from usp._parse.values.plain import LETTERS
from usp.objects.page import Record

Signature = tuple[object, ...]
IsGood = Callable[[str], object]
Key = TypeVar("Key")
Value = TypeVar("Value")

_is_good_url: Final = re.compile(
    # With an & and a ; there may be an entity in it.
    r"https?://[A-Za-z0-9.-]++(?::[0-9]{1,5}+)?"
    rf"(?:[/?#](?:[!-%'-;=?-~{LETTERS}]*+|[!-:=?-~{LETTERS}]*+))?"
).fullmatch
_DATE: Final = (
    r"[12][0-9]{3}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
    r"|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
    r"(?:[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9}+)?)?"
    r"(?:Z|[+-](?:0[0-9]|1[0-3]):?[0-5][0-9])?)?"
)
_FEED_DATE: Final = (
    r"(?:[A-Z][a-z]{2}, )?(?:0?[1-9]|1[0-9]|2[0-8]) "
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [12][0-9]{3} "
    r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9] (?:GMT|UTC|[+-](?:0[0-9]|1[0-3])[0-5][0-9])"
)
_is_good_date: Final = re.compile(rf"{_DATE}|{_FEED_DATE}").fullmatch
_are_good_dates: Final = re.compile(rf"(?:{_DATE}\n)*+").fullmatch
"""A column of dates, a line each."""
_BAD_DATE: Final = "SM401"
_A_DATE: Final = "2024-05-01"
_GOOD_TEXTS: Final = (
    "https://example.org/", "2024-05-01", "1", "daily", "yes", "allow", "own", "hd"
)  # fmt: skip
"""For every key that is validated, one of these is valid."""
_LINK_KEYS: Final = frozenset({"link", "link@href", "atom:link@href", "xhtml:link@href"})
"""Keys whose URLs are checked though they aren't in the table of a format."""
_SIGNIFICANT: Final = ("@rel", "@type", "@medium", "@ispermalink", "@isdefault", "@mode")
"""The check of a format depends on the texts of these attributes, not just on their validity."""
_MAX_SIGNIFICANT: Final = 64
_COMPLETE_RUNS: Final = ({"image:loc"}, {"xhtml:link@rel", "xhtml:link@href"})
"""What each element of a run needs, for those that a plain match can have many of."""
_BASE: Final = "xml:base"
_MAX_SIGNATURES: Final = 2048
_MAX_KEYS: Final = 200
_MAX_KEPT_KEYS: Final = 50
_MAX_KEPT_LENGTH: Final = 100
"""What is remembered for all documents is bounded in number and in length."""

Tests = dict[str, IsGood]
_Column = tuple[str, int, IsGood, tuple[str, str] | None]
"""A key, its group, the test of its text, and the key with its text where that is constant."""
Signatures = dict[tuple[str, Signature], bool]

_Plans = WeakKeyDictionary[GroupLayout, "_Plan | None"]
_known: dict[tuple[type[FieldReader], Kind], tuple[Tests, Signatures, _Plans]] = {}
"""For all documents of a format, since entries of different sites look alike; bounded."""


class QuickCheck:
    """Tells which entries of one document are known to have no problem."""

    def __init__(self, fields: FieldReader) -> None:
        self._fields = fields
        key = type(fields), fields.kind
        if key not in _known:
            _known[key] = {}, {}, WeakKeyDictionary()
        self._tests, self._signatures, self._plans = _known[key]
        self._columns: dict[GroupLayout, list[_Column] | None] = {}

    def is_good(self, name: str, record: Record) -> bool:
        """Tell whether an entry is known to have no problem."""
        signature: list[object] = []
        tests = self._tests
        for key, text in record:
            test = tests.get(key) or self._test_for(key)
            if test(text):
                signature.append(key)
            elif not text or text.isspace():
                signature.append((key, ""))
            elif test is _is_significant and len(text) <= _MAX_SIGNIFICANT:
                signature.append((key, text))
            else:
                return False
        return self._is_good_signature(name, tuple(signature))

    def suspects(self, run: MatchRun, rows: list[Groups]) -> list[int]:
        """Return which entries of a run are not known to be good, given the groups of each."""
        plan = self._plan_for(run.layout) if run.layout.plain else None
        is_own = self._is_good_signature(run.name, ("loc",))
        unclear: Iterable[int] = range(len(rows))
        if plan is not None and is_own:
            unclear = sorted(plan.suspects(rows))
        return [at for at in unclear if not self._is_good_match(run, at, rows[at])]

    def _is_good_match(self, run: MatchRun, at: int, row: Groups) -> bool:
        layout = run.layout
        if layout not in self._columns:
            self._columns[layout] = self._columns_of(layout)
        columns = self._columns[layout]
        if columns is None:
            return self.is_good(run.name, run.entry(run.matches[at])[1])
        signature: list[object] = []
        mark, convert = run.conversion
        for key, group, test, constant in columns:
            text = "" if group == SURE else row[group]
            if text is None:
                continue
            if constant is not None:
                signature.append(constant)
                continue
            if mark in text:
                text = convert(text)
            if test(text):
                signature.append(key)
            elif not text or text.isspace():
                signature.append((key, ""))
            elif test is _is_significant and len(text) <= _MAX_SIGNIFICANT:
                signature.append((key, text))
            else:
                return False
        return self._is_good_signature(run.name, tuple(signature))

    def _columns_of(self, layout: GroupLayout) -> "list[_Column] | None":
        """Return what a match of a layout has, in order; None if there is a run of elements."""
        if any(item.run for item in layout.items):
            return None
        return [
            (
                item.key,
                item.group,
                self._test_for(item.key),
                None if item.text is None else (item.key, item.text),
            )
            for item in layout.items
        ]

    def _plan_for(self, layout: GroupLayout) -> "_Plan | None":
        if layout not in self._plans:
            self._plans[layout] = _plan(layout, self._fields)
        return self._plans[layout]

    def _test_for(self, key: str) -> IsGood:
        test = _test(key, self._fields)
        if len(key) <= _MAX_KEPT_LENGTH:  # names of unknown elements have no end
            _keep(self._tests, key, test)
        return test

    def _is_good_signature(self, name: str, signature: Signature) -> bool:
        if len(signature) > _MAX_KEYS:  # not remembered either: these live as long as the process
            return False
        known = (name, signature)
        good = self._signatures.get(known)
        if good is None:
            good = _is_good_sample(self._fields, name, signature)
            if len(signature) <= _MAX_KEPT_KEYS and _length(signature) <= _MAX_KEPT_LENGTH:
                _keep(self._signatures, known, good)
        return good


def _keep(known: dict[Key, Value], key: Key, value: Value) -> None:
    """Remember a value; what is full is emptied, for the documents that follow."""
    if len(known) >= _MAX_SIGNATURES:
        known.clear()
    known[key] = value


def _length(signature: Signature) -> int:
    """Return the length of the longest key in a signature."""
    return max(
        (len(str(part[0] if isinstance(part, tuple) else part)) for part in signature), default=0
    )


def _test(key: str, fields: FieldReader) -> IsGood:
    """Return the test of the texts under a key."""
    if key == _BASE:
        return _is_never_good  # it changes what relative URLs mean
    if key in fields.url_keys or key in _LINK_KEYS:
        return _is_good_url
    code, is_valid = fields.validators.get(key, ("", bool))
    if code:
        return _is_good_date if code == _BAD_DATE else is_valid
    if key.endswith(_SIGNIFICANT):
        return _is_significant
    return _is_good_text if key in fields.plain_text_keys else _is_visible


def _is_visible(text: str) -> bool:
    """Tell whether a text is certainly not blank after cleaning: an & may become a blank."""
    first = text[:1]
    return first.isalnum() or ("!" <= first <= "~" and first != "&")


def _is_good_text(text: str) -> bool:
    """Tell whether a text is certainly not blank, and contains no entity."""
    return _is_visible(text) and ("&" not in text or ";" not in text)


def _is_significant(_text: str) -> bool:
    """Return False: the text itself is part of the signature."""
    return False


def _is_never_good(_text: str) -> bool:
    return False


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


class _Plan:
    """What has to be looked at in the plain matches of a pattern, column by column."""

    def __init__(
        self, columns: Mapping[int, IsGood | None], required: list[tuple[int, int]]
    ) -> None:
        self._dates = [group for group, test in columns.items() if test is _is_good_date]
        self._words = {
            group: (test, set[str | None]({None, ""}))
            for group, test in columns.items()
            if test is not None and test is not _is_good_date
        }
        self._required = required

    def suspects(self, rows: list[Groups]) -> set[int]:
        """Return which of these plain matches are not known to be good."""
        found: set[int] = set()
        for group in self._dates:
            column = [row[group] or _A_DATE for row in rows]
            if not _are_good_dates("\n".join(column) + "\n"):
                found.update(at for at, text in enumerate(column) if not _is_good_date(text))
        for group, (is_good, known) in self._words.items():
            texts = [row[group] for row in rows]
            bad = {text for text in set(texts) - known if not is_good(text or "")}
            if len(known) < _MAX_SIGNATURES:
                known.update(
                    text for text in {*texts} - bad if text and len(text) <= _MAX_KEPT_LENGTH
                )
            if bad:
                found.update(at for at, text in enumerate(texts) if text in bad)
        for start, needed in self._required:
            found.update(
                at
                for at, row in enumerate(rows)
                if row[needed] is None and (start == SURE or row[start] is not None)
            )
        return found


def _plan(layout: GroupLayout, fields: FieldReader) -> _Plan | None:
    """Return how plain matches of a layout are checked; None if each has to be looked at.

    In a plain match URLs and texts are good. What is left are dates and words, and extensions that
    lack what they need.
    """
    single = [item for item in layout.items if item.run is None]
    counts = Counter(item.key for item in single)  # empty elements count as well
    if any(counts[key] > 1 for key in fields.single_keys):
        return None
    if not all(_is_complete_run(item.run) for item in layout.items if item.run is not None):
        return None
    columns = {item.group: _plain_test(item.key, fields) for item in single if item.text is None}
    required: list[tuple[int, int]] = []
    for start, prefix, needed, _ in REQUIRED:
        if not any(item.key.startswith(prefix) for item in single):
            continue
        starts, group = [item.group for item in single if item.key == start], layout.only(needed)
        if len(starts) != 1 or group is None:
            return None
        required.append((starts[0], group))
    return _Plan(columns, required)


def _is_complete_run(run: GroupLayout) -> bool:
    """Tell whether no element of a run can lack what it needs."""
    always = {item.key for item in run.items if item.sure}
    return any(needed <= always for needed in _COMPLETE_RUNS) and not run.may_have("video:")


def _plain_test(key: str, fields: FieldReader) -> IsGood | None:
    code, is_valid = fields.validators.get(key, ("", bool))
    if not code:
        return None
    return _is_good_date if code == _BAD_DATE else is_valid
