"""Rules about the alternates of one entry: SM580, SM581, SM582, SM589.

Those that compare entries with one another need the whole site.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from usp._check.facts import EntryFacts
from usp._check.findings import Occurrence
from usp._check.hreflang import X_DEFAULT
from usp._check.language_codes import LANGUAGES, REGIONS
from usp._check.registry import entry_rule
from usp._check.rules import CheckSeverity
from usp._display import excerpt
from usp._parse import bounded_cache

_CODE: Final = re.compile(
    r"(?P<language>[a-z]{2})(?:-(?P<script>[a-z]{4}))?(?:-(?:(?P<region>[a-z]{2})|(?P<area>\d{3})))?"
)


_MAX_KEPT_CODES: Final = 2048
"""How long the codes of an entry are in all of which the faults are kept: there are some hundred
languages."""
_Fault = tuple[str, str, CheckSeverity | None]
"""Code, detail and severity."""


@entry_rule("SM580", "SM581", "SM582", "SM589", prefix="xhtml:")
def alternates_of_an_entry(facts: EntryFacts) -> Iterator[Occurrence]:
    """Look at the codes of the alternates, and at what they have in common."""
    found = facts.alternates
    if not found:
        return
    codes = tuple([code for code, _ in found])
    for fault in _faults_of_codes(codes):
        yield facts.occurrence(*fault)
    if len(set(codes)) < len(codes):
        yield from _several_urls(facts)
    if set(facts.entry.urls).isdisjoint([href for _, href in found]):
        yield facts.occurrence("SM582", "its own URL is not among its alternates")


def _several_urls(facts: EntryFacts) -> Iterator[Occurrence]:
    """Look for codes that have more than one URL."""
    urls: defaultdict[str, set[str]] = defaultdict(set)
    for code, href in facts.alternates:
        urls[code].add(href)
    for code, hrefs in urls.items():
        if len(hrefs) > 1:
            yield facts.occurrence("SM581", f"{code} has {len(hrefs)} URLs")


def _length(codes: tuple[str, ...]) -> int:
    return len(codes) + sum(map(len, codes))


@bounded_cache(1024, _MAX_KEPT_CODES, length=_length)
def _faults_of_codes(codes: tuple[str, ...]) -> tuple[_Fault, ...]:
    """Return what is wrong with the codes of an entry; most entries of a site have the same."""
    different = dict.fromkeys(codes)
    return (*filter(None, map(_fault_of, different)), *_regions(set(different)))


def _fault_of(code: str) -> _Fault | None:
    """Return what is wrong with one code."""
    match = _CODE.fullmatch(code)
    if code == X_DEFAULT:
        return None
    if match is None:
        return "SM580", f"{excerpt(code, 40)!r} is no hreflang", None
    if match["language"] not in LANGUAGES:
        return "SM580", f"{code!r}: there is no language {match['language']}", None
    if match["area"]:
        return "SM580", f"{code!r} has an area, not a country", CheckSeverity.WARNING
    if match["region"] and match["region"] not in REGIONS:
        return "SM580", f"{code!r}: there is no country {match['region'].upper()}", None
    return None


def _regions(codes: set[str]) -> Iterator[_Fault]:
    """Look for languages that are given for some regions only."""
    if X_DEFAULT in codes:
        return
    regional: defaultdict[str, list[str]] = defaultdict(list)
    for code in codes:
        language, is_regional, _ = code.partition("-")
        if is_regional:
            regional[language].append(code)
    for language, found in sorted(regional.items()):
        if len(found) > 1 and language not in codes:
            yield "SM589", f"{', '.join(sorted(found)[:5])} without {language}", None
