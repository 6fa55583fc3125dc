"""What changed since the last run, by the state of ``usp sync``."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from itertools import takewhile
from typing import Final

from usp._report.dates import by_day
from usp._report.figures import ChangeLine, RunChanges
from usp._report.sitemaps import cut_url
from usp._source import SourceName
from usp._sync.changes import Change, ChangeKind, microseconds_of, moment_of
from usp._sync.options import site_key
from usp._sync.state import Run, State

_SHOWN: Final = 10
"""How many changes of each kind are shown."""
_QUARTER: Final = 90 * 24 * 3600 * 1_000_000
"""The days that are shown, in microseconds."""


def last_changes(
    path: str | os.PathLike[str], site: SourceName | None, now: datetime
) -> RunChanges | None:
    """Return what the last run of each site found; None if there was no run.

    :param path: the state.
    :param site: the source; None for all sites of the state.
    :raises UsageError: if the file is no state, or doesn't know the site.
    """
    since = microseconds_of(now) - _QUARTER
    with closing(State.open_to_read(path)) as state:
        known = state.site_names()
        wanted = known if site is None else [state.known_site(site_key(site))]
        runs = {number: state.last_runs(number, 2) for number in wanted}
        ended = {number: found for number, found in runs.items() if found}
        if not ended:
            return None
        collected = _Collected()
        for number, found in ended.items():
            collected.add(_found_by(state, number, found))
            collected.days.update(state.changes_by_day(number, since))
    is_one = len(ended) == 1
    earlier = next(iter(ended.values()))[1:]
    return RunChanges(
        os.fspath(path),
        cut_url(known[next(iter(ended))]) if is_one else "",
        moment_of(max(last.at for last, *_ in ended.values())),
        moment_of(earlier[0].at) if is_one and earlier else None,
        min(_start(found) for found in ended.values()),
        collected.kinds(),
        collected.lines(),
        by_day(collected.days, now),
    )


def _start(runs: list[Run]) -> int:
    """Return the number of the last change that was known before the last of some runs."""
    return runs[1].last_seq if runs[1:] else 0


def _found_by(state: State, site_id: int, runs: list[Run]) -> Iterator[Change]:
    """Return the changes that the last of some runs found."""
    found = state.changes(after=_start(runs), site_id=site_id)
    return takewhile(lambda change: change.seq <= runs[0].last_seq, found)


class _Collected:
    """Changes, counted by kind; the first ones of each are kept."""

    def __init__(self) -> None:
        self.days: Counter[int] = Counter()
        """How many there were on each day since 1970."""
        self._counts: Counter[ChangeKind] = Counter()
        self._lines: dict[ChangeKind, list[ChangeLine]] = {kind: [] for kind in ChangeKind}

    def add(self, changes: Iterator[Change]) -> None:
        """Take some changes."""
        for change in changes:
            self._counts[change.change] += 1
            lines = self._lines[change.change]
            if len(lines) < _SHOWN:
                url, sitemap_url = cut_url(change.url), cut_url(change.sitemap_url)
                lines.append(ChangeLine(str(change.change), url, sitemap_url, change.lastmod))

    def kinds(self) -> tuple[tuple[str, int], ...]:
        """Return how many there are of each kind, in the order of kinds."""
        return tuple((str(kind), self._counts[kind]) for kind in ChangeKind if self._counts[kind])

    def lines(self) -> tuple[ChangeLine, ...]:
        """Return the first ones of each kind."""
        return tuple(line for lines in self._lines.values() for line in lines)
