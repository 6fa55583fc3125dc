"""``RULES``: the rows of all blocks, and the codes of parsing with the severity they have here."""

from collections.abc import Iterator
from typing import Final

from usp._check.rows_documents import DOCUMENT_ROWS
from usp._check.rows_extensions import EXTENSION_ROWS
from usp._check.rows_site import SITE_ROWS
from usp._check.rules import D, E, H, I, Rule, S, U, W
from usp.objects.problem import CODES, Severity

_FROM_PARSING: Final = {Severity.ERROR: E, Severity.WARNING: W, Severity.INFO: I}
_STRICTER: Final = {
    E: (
        *("SM205", "SM206", "SM208", "SM210", "SM211", "SM212", "SM213", "SM216", "SM218"),
        *("SM219", "SM220", "SM221", "SM222", "SM301", "SM302", "SM303", "SM304", "SM401"),
        *("SM402", "SM403", "SM404", "SM405", "SM406", "SM501", "SM502", "SM506", "SM607"),
    ),
    W: ("SM305", "SM307"),
}
"""Codes that are more serious for an engine than for the parser, which repairs them."""
_LIMITS: Final = frozenset({"SM217", "SM310", "SM603", "SM605", "SM606", "SM608"})
"""Limits and choices of this program outside of SM7: they say nothing about the site."""
_NAMES: Final = {
    "SM101": ("Couldn't fetch", "HTTP error", "DNS error"),
    "SM102": ("Connection lost",),
    "SM201": ("Unsupported file format",),
    "SM202": ("Sitemap is HTML",),
    "SM204": ("Response contains no data",),
    "SM205": ("Leading whitespace",),
    "SM207": ("Parsing error",),
    "SM208": ("Parsing error",),
    "SM209": ("Parsing error",),
    "SM210": ("Parsing error",),
    "SM211": ("Parsing error",),
    "SM214": ("Compression error", "Extraction error"),
    "SM216": ("Invalid XML: too many tags",),
    "SM219": ("Incorrect namespace",),
    "SM301": ("Missing XML tag", "Tag not found"),
    "SM302": ("Invalid URL", "Incomplete URL"),
    "SM303": ("Invalid URL",),
    "SM304": ("Invalid XML: too many tags",),
    "SM306": ("Invalid URL",),
    "SM308": ("Invalid URL",),
    "SM401": ("Invalid date",),
    "SM402": ("Invalid tag value",),
    "SM403": ("Invalid tag value",),
    "SM404": ("Invalid XML: too many tags", "Tag found more than once"),
    "SM405": ("Invalid tag value",),
    "SM406": ("Invalid attribute value",),
    "SM501": ("Missing XML tag",),
    "SM506": ("Missing video title", "Missing thumbnail URL"),
    "SM604": ("Invalid sitemap URL",),
}
"""What Search Console and Yandex call codes of parsing."""
_NEEDS: Final = {"SM1": H, "SM6": S, "SM7": S}


def _rows_of_parsing() -> Iterator[Rule]:
    stricter = {code: severity for severity, codes in _STRICTER.items() for code in codes}
    for code, row in CODES.items():
        undecided = code in _LIMITS or code.startswith("SM7")
        severity = U if undecided else stricter.get(code, _FROM_PARSING[row.severity])
        needs, names = _NEEDS.get(code[:3], D), _NAMES.get(code, ())
        yield Rule(code, row.name, severity, row.meaning, row.rule, names, needs, row.fix, "")


RULES: Final[dict[str, Rule]] = {
    rule.code: rule
    for rule in sorted(
        (*_rows_of_parsing(), *DOCUMENT_ROWS, *EXTENSION_ROWS, *SITE_ROWS),
        key=lambda rule: rule.code,
    )
}
"""Every rule, by its code, in order."""
