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
from usp._parse import AuditEntry, clean_text

_LINK: Final = "xhtml:link"
_HREF: Final = "xhtml:link@href"
_HREFLANG: Final = "xhtml:link@hreflang"
_REL: Final = "xhtml:link@rel"
_CODE: Final = re.compile(
    r"(?P<language>[a-z]{2})(?:-(?P<script>[a-z]{4}))?(?:-(?:(?P<region>[a-z]{2})|(?P<area>\d{3})))?"
)


def alternates(entry: AuditEntry) -> list[tuple[str, str]]:
    """Return the hreflang of each alternate, in lower case, and its URL, as they are written."""
    found: list[tuple[str, str]] = []
    rel = written = href = ""
    # Comparisons, and no prefixes: every entry of every sitemap comes here.
    for key, text in entry.record:
        if key == _HREF:
            href = clean_text(text)
        elif key == _HREFLANG:
            written = clean_text(text)
        elif key == _REL:
            rel = text
        elif key == _LINK:
            if written and href and "alternate" in rel.lower():
                found.append((written.lower(), href))
            rel = written = href = ""
    return found


@entry_rule("SM580", "SM581", "SM582", "SM589", extensions=True)
def alternates_of_an_entry(facts: EntryFacts) -> Iterator[Occurrence]:
    """Look at the codes of the alternates, and at what they have in common."""
    if not facts.entry.has(_LINK):
        return
    found = alternates(facts.entry)
    if not found:
        return
    urls: defaultdict[str, set[str]] = defaultdict(set)
    for code, href in found:
        urls[code].add(href)
    for code, hrefs in urls.items():
        yield from _code(facts, code)
        if len(hrefs) > 1:
            yield facts.occurrence("SM581", f"{code} has {len(hrefs)} URLs")
    if not {href for _, href in found} & set(facts.entry.urls):
        yield facts.occurrence("SM582", "its own URL is not among its alternates")
    yield from _regions(facts, set(urls))


def _code(facts: EntryFacts, code: str) -> Iterator[Occurrence]:
    """Look at one code."""
    if code == X_DEFAULT:
        return
    match = _CODE.fullmatch(code)
    if match is None:
        yield facts.occurrence("SM580", f"{code[:40]!r} is no hreflang")
    elif match["language"] not in LANGUAGES:
        yield facts.occurrence("SM580", f"{code!r}: there is no language {match['language']}")
    elif match["area"]:
        detail = f"{code!r} has an area, not a country"
        yield facts.occurrence("SM580", detail, CheckSeverity.WARNING)
    elif match["region"] and match["region"] not in REGIONS:
        yield facts.occurrence("SM580", f"{code!r}: there is no country {match['region'].upper()}")


def _regions(facts: EntryFacts, codes: set[str]) -> Iterator[Occurrence]:
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
            detail = f"{', '.join(sorted(found)[:5])} without {language}"
            yield facts.occurrence("SM589", detail)
