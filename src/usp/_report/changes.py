"""What changed since the last run, by the state of ``usp sync``."""

import os
from collections import Counter
from contextlib import closing
from datetime import datetime
from functools import partial
from itertools import takewhile
from typing import Final

from usp._report.dates import by_day, microseconds_of, moment_of
from usp._report.figures import ChangeLine, RunChanges
from usp._report.sitemaps import cut
from usp._source import SourceName
from usp._sync.changes import Change, ChangeKind
from usp._sync.options import site_key
from usp._sync.state import Run, State

_SHOWN: Final = 10
"""How many changes of each kind are shown."""
_QUARTER: Final = 90 * 24 * 3600 * 1_000_000
"""The days that are shown, in microseconds."""


def last_changes(
    path: str | os.PathLike[str], site: SourceName | None, now: datetime
) -> RunChanges | None:
    """Return what the last run found; None if there was no run.

    :param path: the state.
    :param site: the source; None for all sites of the state.
    :raises UsageError: if the file is no state, or doesn't know the site.
    """
    with closing(State.open_to_read(path)) as state:
        names = state.site_names()
        if site is not None:
            number = state.known_site(site_key(site))
            names = {number: names[number]}
        counts: Counter[ChangeKind] = Counter()
        lines: list[ChangeLine] = []
        days: Counter[int] = Counter()
        ends: list[int] = []
        before: list[int | None] = []
        starts: list[int] = []
        for site_id in names:
            runs = state.last_runs(site_id, 2)
            if not runs:
                continue
            last, previous = runs[0], runs[1] if runs[1:] else None
            ends.append(last.at)
            before.append(previous.at if previous else None)
            starts.append(previous.last_seq if previous else 0)
            found = state.changes(after=starts[-1], site_id=site_id)
            for change in takewhile(partial(_is_known, last), found):
                counts[change.change] += 1
                if counts[change.change] <= _SHOWN:
                    lines.append(
                        ChangeLine(
                            str(change.change), cut(change.url), cut(change.sitemap_url),
                            change.lastmod,
                        )
                    )  # fmt: skip
            days.update(state.changes_by_day(site_id, microseconds_of(now) - _QUARTER))
    if not ends:
        return None
    only = len(names) == 1
    return RunChanges(
        os.fspath(path),
        cut(next(iter(names.values()))) if only else "",
        moment_of(max(ends)),
        moment_of(before[0]) if only and before[0] is not None else None,
        min(starts),
        tuple((str(kind), counts[kind]) for kind in ChangeKind if counts[kind]),
        tuple(sorted(lines, key=lambda line: list(ChangeKind).index(ChangeKind(line.kind)))),
        by_day(days, now),
    )


def _is_known(run: Run, change: Change) -> bool:
    """Tell whether a change was found when a run ended."""
    return change.seq <= run.last_seq
