"""The rules of changes: pure functions of what was known and what a run has read.

- ``compare`` says what is different between two readings of one sitemap;
- ``judge`` says what that means for one URL, given all that is known of it;
- ``are_too_many`` says whether so many URLs can have been removed at once.

A sitemap that could not be read says nothing, and one that was read in part says nothing about what
is missing: its URLs stay as they were. So no failure can remove a URL.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, NamedTuple

from usp._sync.changes import ChangeKind
from usp._sync.listing import ListedPage, Listing

_MIN_CHURN: Final = 20
"""So many dates must move at least: two new dates of three pages are news, not churn."""
_CHURN_SHARE: Final = 0.5
_SAME_SHARE: Final = 0.9
"""The share of URLs that both readings have, so that they count as the same URLs."""


class Alteration(NamedTuple):
    """A URL that both readings of a sitemap have, with other values."""

    url: str
    old: ListedPage
    new: ListedPage


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is different between two readings of one sitemap."""

    gained: Sequence[tuple[str, ListedPage]]
    lost: Sequence[tuple[str, ListedPage]]
    altered: Sequence[Alteration]
    """Those that changed: a date that moved forward, or other fields that differ."""
    churn: tuple[int | None, int | None] | None = None
    """The newest date before and after, if most dates moved at once; ``altered`` has none of
    them."""


def compare(old: Listing, new: Listing) -> Comparison:
    """Compare a whole reading of a sitemap, or what is known of it, with an earlier one."""
    gained = [(url, entry) for url, entry in new.items() if url not in old]
    lost = [(url, entry) for url, entry in old.items() if url not in new]
    altered = [
        Alteration(url, old[url], entry)
        for url, entry in new.items()
        if url in old and entry != old[url] and _is_change(old[url], entry)
    ]
    redated = [one for one in altered if one.old.fields == one.new.fields]
    if not _is_churn(len(redated), common=len(new) - len(gained), of=len(new) + len(lost)):
        return Comparison(gained, lost, altered)
    others = [one for one in altered if one.old.fields != one.new.fields]
    return Comparison(gained, lost, others, (newest(old.values()), newest(new.values())))


def _is_change(old: ListedPage, new: ListedPage) -> bool:
    """Tell whether a page changed; a date that goes back or away says nothing."""
    return old.fields != new.fields or is_later(old.lastmod, new.lastmod)


def is_later(old: int | None, new: int | None) -> bool:
    """Tell whether a date moved forward; the first one that a page gets did."""
    return new is not None and (old is None or new > old)


def _is_churn(redated: int, *, common: int, of: int) -> bool:
    """Tell whether so many dates moved that they mean nothing: with every build, say."""
    is_most = redated >= _MIN_CHURN and redated > common * _CHURN_SHARE
    return is_most and common >= of * _SAME_SHARE


def newest(entries: Iterable[ListedPage]) -> int | None:
    """Return the newest date."""
    return max((entry.lastmod for entry in entries if entry.lastmod is not None), default=None)


class AbsenceKind(StrEnum):
    """Why a URL that was listed is not listed any more."""

    MISSING = "missing"
    REMOVED = "removed"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Absence:
    """What is known of a URL that no sitemap lists any more."""

    kind: AbsenceKind
    runs: int
    """In how many runs that was seen."""
    sitemap_url: str
    """The sitemap that listed it last."""
    lastmod: int | None
    """Its last date."""


class Sighting(NamedTuple):
    """A sitemap that lists a URL, or did."""

    sitemap_url: str
    lastmod: int | None = None
    old_lastmod: int | None = None
    is_rolling: bool = False
    """Whether the sitemap lists what is new only: a news sitemap or a feed."""
    is_silent: bool = False
    """Whether what it lists belongs to the baseline."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that is known of one URL when a run is over."""

    url: str
    gained: Sequence[Sighting] = ()
    """The sitemaps that list it now, and did not before."""
    lost: Sequence[Sighting] = ()
    """The sitemaps that listed it, were read whole, and list it no more."""
    altered: Sequence[Sighting] = ()
    """The sitemaps in which it changed."""
    kept_by: str | None = None
    """A sitemap that listed it before and still does, as far as is known."""
    absence: Absence | None = None
    is_confirmed: bool = False
    """Whether what listed it last was read whole without it, and so was all that may list it
    now."""


class UrlChange(NamedTuple):
    """One change of a URL, before it has a number and a time."""

    kind: ChangeKind
    sitemap_url: str | None
    lastmod: int | None
    old_lastmod: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a run means for one URL."""

    findings: Sequence[UrlChange] = field(default=())
    absence: Absence | None = None
    """What to remember, if no sitemap lists it."""

    @property
    def removes(self) -> bool:
        """Whether the URL is removed."""
        return any(finding.kind is ChangeKind.REMOVED for finding in self.findings)


def judge(evidence: Evidence, confirm: int) -> Verdict:
    """Say what a run means for one URL.

    :param confirm: in how many runs it must be absent before it is removed.
    """
    was_listed = bool(evidence.lost or evidence.kept_by)
    is_listed = bool(evidence.gained or evidence.kept_by)
    return _JUDGES[was_listed, is_listed](evidence, confirm)


def _appears(evidence: Evidence, confirm: int) -> Verdict:
    del confirm
    found, absence = evidence.gained[0], evidence.absence
    if absence:
        returned = ChangeKind.RETURNED
        return Verdict([UrlChange(returned, found.sitemap_url, found.lastmod, absence.lastmod)])
    if any(one.is_silent for one in evidence.gained):
        return Verdict()
    return Verdict([UrlChange(ChangeKind.ADDED, found.sitemap_url, found.lastmod)])


def _stays(evidence: Evidence, confirm: int) -> Verdict:
    """Judge a URL that was listed and is: here, or in another sitemap."""
    del confirm
    findings: list[UrlChange] = []
    where = evidence.gained[0].sitemap_url if evidence.gained else evidence.kept_by
    # What leaves the news and is in an archive already has not moved: it was there.
    left = [one for one in evidence.lost if evidence.gained or not one.is_rolling]
    lost = next((one for one in left if one.sitemap_url != where), None)
    now = next((one.lastmod for one in (*evidence.altered, *evidence.gained)), None)
    if lost:
        now = now if now is not None else lost.lastmod
        findings.append(UrlChange(ChangeKind.MOVED, where, now, lost.lastmod))
    if evidence.altered:
        one = evidence.altered[0]
        findings.append(
            UrlChange(ChangeKind.CHANGED, one.sitemap_url, one.lastmod, one.old_lastmod)
        )
    elif lost and lost.lastmod is not None and is_later(lost.lastmod, now):
        findings.append(UrlChange(ChangeKind.CHANGED, where, now, lost.lastmod))
    return Verdict(findings)


def _disappears(evidence: Evidence, confirm: int) -> Verdict:
    lasting = [one for one in evidence.lost if not one.is_rolling]
    last = (lasting or evidence.lost)[0]
    if not lasting:
        absence = Absence(AbsenceKind.EXPIRED, 1, last.sitemap_url, last.lastmod)
        return Verdict([_gone(ChangeKind.EXPIRED, absence)], absence)
    absence = Absence(AbsenceKind.MISSING, 1, last.sitemap_url, last.lastmod)
    # It may have moved to a sitemap that was not read: then one look is not enough.
    return _absent(absence, confirm if evidence.is_confirmed else max(confirm, 2))


def _stays_away(evidence: Evidence, confirm: int) -> Verdict:
    absence = evidence.absence
    if absence is None or absence.kind is not AbsenceKind.MISSING or not evidence.is_confirmed:
        return Verdict(absence=absence)
    return _absent(replace(absence, runs=absence.runs + 1), confirm)


def _absent(absence: Absence, confirm: int) -> Verdict:
    """Judge a URL that was absent in so many runs."""
    if absence.runs >= confirm:
        removed = replace(absence, kind=AbsenceKind.REMOVED)
        return Verdict([_gone(ChangeKind.REMOVED, removed)], removed)
    if absence.runs > 1:
        return Verdict(absence=absence)
    return Verdict([_gone(ChangeKind.MISSING, absence)], absence)


def without_removal(verdict: Verdict) -> Verdict:
    """Return the verdict on a URL that would be removed, where none may be: it is missing."""
    if not verdict.removes or verdict.absence is None:
        return verdict
    missing = replace(verdict.absence, kind=AbsenceKind.MISSING)
    # It was reported when it was seen first.
    findings = [_gone(ChangeKind.MISSING, missing)] if missing.runs == 1 else []
    return Verdict(findings, missing)


def _gone(kind: ChangeKind, absence: Absence) -> UrlChange:
    return UrlChange(kind, absence.sitemap_url, absence.lastmod, absence.lastmod)


_JUDGES: Final[dict[tuple[bool, bool], Callable[[Evidence, int], Verdict]]] = {
    (False, True): _appears,
    (True, True): _stays,
    (True, False): _disappears,
    (False, False): _stays_away,
}
"""What judges a URL, by whether it was listed and whether it is."""


def are_too_many(removed: int, known: int, limit: float) -> bool:
    """Tell whether more URLs would be removed than a site can lose at once.

    :param known: the URLs that the site had.
    :param limit: the share that may be removed.
    """
    return removed > known * limit
