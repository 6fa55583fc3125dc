"""A quick check of entries, so that problems can be collected while pages are walked.

``FieldReader.check`` is the judge of an entry, and takes several times as long as the walk. Nearly
all entries are good, and an entry is known to be good without it if

- a sample entry with the same keys in the same order, and good values, is good; and
- each value that the check looks at matches a pattern of certainly good values.

An entry that isn't known to be good gets the full check. So the result is that of the full check.
"""

import re
from collections.abc import Callable
from typing import Final, TypeVar

from usp._parse.diagnostics import Diagnostics
from usp._parse.formats.field_reader import FieldReader
from usp._parse.input.sniff import Kind
from usp._parse.pattern.layout import MatchRun, RowLayout
from usp._parse.values.plain import LETTERS
from usp.objects.page import Record

Signature = tuple[object, ...]
IsGood = Callable[[str], object]
Key = TypeVar("Key")
Value = TypeVar("Value")

_URL: Final = (
    # With an & and a ; there may be an entity in it.
    r"https?://[A-Za-z0-9.-]++(?::[0-9]{1,5}+)?"
    rf"(?:[/?#](?:[!-%'-;=?-~{LETTERS}]*+(?![^\n])|[!-:=?-~{LETTERS}]*+))?+"
)
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
_is_good_url: Final = re.compile(_URL).fullmatch
_is_good_date: Final = re.compile(rf"{_DATE}|{_FEED_DATE}").fullmatch
_ALL_GOOD: Final = {
    _is_good_url: re.compile(rf"(?:{_URL}\n)*+").fullmatch,
    _is_good_date: re.compile(rf"(?:(?:{_DATE}|{_FEED_DATE})\n)*+").fullmatch,
}
"""The same for a column of them, a line each."""
_ABSENT: Final = {None, ""}
_BAD_DATE: Final = "SM401"
_GOOD_TEXTS: Final = (
    "https://example.org/", "2024-05-01", "1", "daily", "yes", "allow", "own", "hd"
)  # fmt: skip
"""For every key that is validated, one of these is valid."""
_LINK_KEYS: Final = frozenset({"link", "link@href", "atom:link@href", "xhtml:link@href"})
"""Keys whose URLs are checked though they aren't in the table of a format."""
_SIGNIFICANT: Final = ("@rel", "@type", "@medium", "@ispermalink", "@isdefault", "@mode")
"""The check of a format depends on the texts of these attributes, not just on their validity."""
_MAX_SIGNIFICANT: Final = 64
_BASE: Final = "xml:base"
_MAX_SIGNATURES: Final = 2048
_MAX_KEYS: Final = 200
_MAX_KEPT_KEYS: Final = 50
_MAX_KEPT_LENGTH: Final = 100
"""What is remembered for all documents is bounded in number and in length."""

Tests = dict[str, IsGood]
Signatures = dict[tuple[str, Signature], bool]

_known: dict[tuple[type[FieldReader], Kind], tuple[Tests, Signatures]] = {}
"""For all documents of a format, since entries of different sites look alike; bounded."""


class QuickCheck:
    """Tells which entries of one document are known to have no problem."""

    def __init__(self, fields: FieldReader) -> None:
        self._fields = fields
        key = type(fields), fields.kind
        if key not in _known:
            _known[key] = {}, {}
        self._tests, self._signatures = _known[key]

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

    def suspects(self, run: MatchRun) -> list[int]:
        """Return which entries of a run are not known to be good."""
        columns = list(zip(*run.rows, strict=True))
        plan = self._plan_for(run.layout)
        found: set[int] = set()
        constants: dict[int, tuple[str, str]] = {}
        for column in {column for form in run.forms for column, has_text in form if has_text}:
            key, test = plan[column]
            texts = columns[column]
            if test is _is_significant:
                values = set(texts) - _ABSENT
                if len(values) == 1 and len(value := values.pop() or "") <= _MAX_SIGNIFICANT:
                    constants[column] = key, value
                else:
                    found.update(range(len(texts)))
            elif test is _is_good_url or test is _is_good_date:
                if not _are_all_good(test, texts):
                    found.update(at for at, text in enumerate(texts) if text and not test(text))
            else:
                bad = {text for text in set(texts) if text is not None and not test(text)}
                if bad:
                    found.update(at for at, text in enumerate(texts) if text in bad)
            if "" in texts:
                found.update(at for at, text in enumerate(texts) if text == "")
        for form in run.forms:
            signature = tuple(
                constants.get(column) or plan[column][0] if has_text else (plan[column][0], "")
                for column, has_text in form
            )
            if not self._is_good_signature(run.name, signature):
                found.update(range(len(run.rows)))
        return [at for at in sorted(found) if not self.is_good(run.name, run.entry(at)[1])]

    def _plan_for(self, layout: RowLayout) -> list[tuple[str, IsGood]]:
        """Return the key of each column, and its test."""
        known = type(self._fields), self._fields.kind
        plan: list[tuple[str, IsGood]] | None = layout.notes.get(known)
        if plan is None:
            plan = layout.notes[known] = [(key, self._test_for(key)) for key in layout.keys]
        return plan

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


def _are_all_good(test: IsGood, texts: tuple[str | None, ...]) -> bool:
    return _ALL_GOOD[test]("\n".join(filter(None, texts)) + "\n") is not None


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
