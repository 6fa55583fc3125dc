"""What doesn't count: rules that were not selected, ignores for sitemaps, and the baseline.

An ignore or a row of the baseline that no longer matches anything is reported itself (SM751).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from fnmatch import fnmatchcase
from typing import Final, Self

from usp._check.baseline import Baseline
from usp._check.findings import Occurrence
from usp._check.table import RULES
from usp._validate import check_strings, shown_argument
from usp.exceptions import UsageError

_STALE: Final = "SM751"
_UNTIL: Final = "until"


def check_codes(name: str, given: object) -> tuple[str, ...]:
    """Return codes, or prefixes of codes, in capitals.

    :raises UsageError: if there is no such rule.
    """
    codes = tuple(code.strip().upper() for code in check_strings(name, given))
    for code in codes:
        if not code.startswith("SM") or not any(rule.startswith(code) for rule in RULES):
            raise UsageError(
                f"{name} must have codes such as SM350 or prefixes such as SM3; there is no rule "
                f"{shown_argument(code)}."
            )
    return codes


@dataclass(frozen=True, slots=True)
class RuleSelection:
    """Which rules count."""

    select: tuple[str, ...] = ()
    """Codes or prefixes; empty for all."""
    ignore: tuple[str, ...] = ()
    engines: frozenset[str] = frozenset()

    def takes(self, code: str) -> bool:
        """Tell whether a rule counts: the longest prefix decides, and of two as long, ignore."""
        rule = RULES[code]
        chosen = max((len(one) for one in self.select if code.startswith(one)), default=-1)
        ignored = max((len(one) for one in self.ignore if code.startswith(one)), default=-1)
        if rule.engine and rule.engine not in self.engines and chosen < len(code):
            return False
        return chosen > ignored if self.select or ignored >= 0 else True


@dataclass(slots=True)
class SitemapIgnore:
    """Rules that don't count for some sitemaps, until a day."""

    text: str
    codes: tuple[str, ...]
    pattern: str
    """The URL of the sitemap; ``*`` and ``?`` are wildcards."""
    until: date | None = None
    """The last day on which it counts."""
    is_used: bool = False

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the ignore that a text describes: codes, a URL, and ``until`` with a date.

        :raises UsageError: if it describes none.
        """
        words = text.split()
        if len(words) == 4 and words[2] == _UNTIL:  # noqa: PLR2004 -- the words of the form
            until = _date(text, words[3])
        elif len(words) == 2:  # noqa: PLR2004
            until = None
        else:
            raise _wrong(text)
        return cls(text, check_codes("per_sitemap_ignore", words[0].split(",")), words[1], until)

    def matches(self, occurrence: Occurrence) -> bool:
        """Tell whether an occurrence is one of those."""
        return occurrence.code.startswith(self.codes) and fnmatchcase(
            occurrence.sitemap_url or "", self.pattern
        )

    def has_expired(self, now: datetime) -> bool:
        """Tell whether its last day has passed."""
        return self.until is not None and now.astimezone(UTC).date() > self.until


def _wrong(text: str) -> UsageError:
    return UsageError(
        "per_sitemap_ignore must be like 'SM457 https://example.org/old-*.xml until 2026-12-31', "
        f"not {shown_argument(text)}."
    )


def _date(text: str, word: str) -> date:
    try:
        return date.fromisoformat(word)
    except ValueError:
        raise _wrong(text) from None


class Suppression:
    """Decides which occurrences count."""

    def __init__(
        self,
        selection: RuleSelection,
        ignores: Iterable[SitemapIgnore],
        baseline: Baseline | None,
        now: datetime,
    ) -> None:
        self._selection = selection
        self._ignores = list(ignores)
        self._expired = [one for one in self._ignores if one.has_expired(now)]
        self._active = [one for one in self._ignores if not one.has_expired(now)]
        self._baseline = baseline
        self._taken: dict[str, bool] = {}

    def counts(self, occurrence: Occurrence) -> bool:
        """Tell whether an occurrence counts."""
        code = occurrence.code
        if code not in self._taken:
            self._taken[code] = self._selection.takes(code)
        if not self._taken[code]:
            return False
        for one in self._active:
            if one.matches(occurrence):
                one.is_used = True
                return False
        return self._baseline is None or not self._baseline.covers(occurrence)

    def stale(self, *, complete: bool) -> Iterator[Occurrence]:
        """Yield an occurrence for each ignore and row of the baseline that should be removed.

        :param complete: whether everything was read: otherwise only what has expired is known.
        """
        for one in self._expired:
            yield Occurrence(_STALE, None, detail=f"the ignore has expired: {one.text}")
        if not complete:
            return
        for one in self._active:
            if not one.is_used:
                yield Occurrence(_STALE, None, detail=f"the ignore matches nothing: {one.text}")
        for code, sitemap_url, url in self._baseline.stale() if self._baseline else ():
            detail = f"the baseline has {code}, which is not found any more"
            yield Occurrence(_STALE, sitemap_url, url, detail=detail)
