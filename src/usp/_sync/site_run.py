"""One run of one site: takes what was read of each sitemap, and commits all of it at once.

What a change is, is decided in ``rules``; where it is kept until then, in ``run_tables``.
"""

import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from usp._parse import Kind
from usp._sync import rules
from usp._sync.confirming import Confirming
from usp._sync.judged_reading import is_rolling, lost_its_declarations, parent_of, with_known
from usp._sync.known_sitemap import UNREAD, is_known, is_unread, packed, unpacked, urls_in
from usp._sync.lineage import Unmet, not_asked, place
from usp._sync.readings import RunResult, RunRules, SitemapReading, Structure
from usp._sync.rules import Evidence
from usp._sync.run_tables import COLUMNS, RunTables
from usp._sync.schedule import LONGEST, is_due, next_interval
from usp._sync.state_path import StatePath
from usp.objects.fetch_info import FetchInfo, StoredDocument

_PARENTS: Final = frozenset({Kind.ROBOTS, Kind.INDEX})


class SiteRun:
    """One run of one site."""

    def __init__(self, path: StatePath, site_id: int, chosen: RunRules, now: int) -> None:
        """Begin a run.

        :param now: the time in microseconds since 1970.
        """
        self._path = path
        self._lock = threading.Lock()
        self._chosen = chosen
        self._now = now
        with path.errors():
            self._tables = RunTables(path, site_id)
            self._is_baseline = not self._tables.has_baseline
        self._tells_changes = chosen.emit_initial or not self._is_baseline
        self._silent: set[str] = set()
        """The documents of the baseline that were met; what they list is of the baseline, too."""
        self._may_hide_sitemaps = False
        """Whether a sitemap that was never read whole may list others: one that did not answer."""
        self._may_hide_pages = False
        """Whether a sitemap that was never read whole may list pages: one that did not answer, or
        broke off, say."""
        self._not_there_since: int | None = None
        """Since when the newest of the declared sitemaps is not there that no run has found there;
        None if there are none such."""
        self._replaced: list[int] = []
        """The sitemaps whose URL leads to the document of another one now."""
        self._left_out: set[str] = set()
        """The places of the sitemaps that the caller left out."""

    def close(self) -> None:
        """End the run; what was not committed is dropped.

        It may be used by a thread that a cancelled task does not wait for.
        """
        with self._lock:
            self._tables.close()

    def stored(self, url: str) -> StoredDocument | None:
        """Return what is known of a sitemap, for a conditional request."""
        with self._lock, self._path.errors():
            row = self._tables.sitemap(url)
        if row is None or not is_known(row):
            return None
        info = FetchInfo(
            status=200,
            content_type=row["content_type"],
            etag=row["etag"],
            last_modified=row["last_modified"],
            sha256=row["sha256"].hex() if row["sha256"] else None,
        )
        children = unpacked(row["children"])
        fresh = self._is_fresh(row)
        return StoredDocument(row["final_url"], (), info, row["kind"], children, fresh)

    def _is_fresh(self, row: sqlite3.Row) -> bool:
        """Tell whether a sitemap that is known is not requested, since it is not due."""
        due = is_due(self._now, row["fetched_at"], row["interval"])
        return self._chosen.only_due and not due

    def requests_nothing(self, site: str) -> bool:
        """Tell whether nothing is due of a site whose sitemaps are not looked for.

        They are, unless a sitemap is the site itself, or its robots.txt lists some.

        :param site: its name in the state.
        """
        has_start = False
        with self._lock, self._path.errors():
            for row in self._tables.sitemaps():
                if not (is_known(row) and self._is_fresh(row)):
                    return False
                lists_some = row["kind"] == Kind.ROBOTS and bool(urls_in(row["children"]))
                has_start = has_start or lists_some or row["url"] == site
        return has_start

    def add(self, reading: SitemapReading) -> None:
        """Take what was read of a sitemap, compared with what is known of it."""
        with self._lock, self._path.errors(), self._tables.collecting():
            if self._is_no_robots(reading):
                return
            named = self._tables.sitemaps_named(reading.url, reading.final_url)
            row, others = (named[0], named[1:]) if named else (None, [])
            if lost_its_declarations(reading, row):
                reading = replace(reading, is_whole=False)
            if not reading.is_whole and is_unread(row):
                self._may_hide_pages = True
                self._may_hide_sitemaps |= reading.kind in _PARENTS
            is_silent = self._note_silent(reading.url, row, reading.parent_url)
            if reading.fetch_info.unchanged and row is not None:
                self._add_unchanged(reading, row, others)
            else:
                self._add_changed(reading, row, others, is_silent=is_silent)

    def _is_no_robots(self, reading: SitemapReading) -> bool:
        """Tell whether a sitemap is where robots.txt was: by mistake, or since that redirects.

        It says nothing about what the site declares, as little as a page in the same place does;
        what it lists is no part of the site's sitemaps.
        """
        row = self._tables.sitemap(reading.url)
        if row is None or row["kind"] != Kind.ROBOTS or reading.kind is Kind.ROBOTS:
            return False
        self._tables.visit(row, is_whole=False)
        return True

    def add_failed(
        self,
        url: str,
        parent_url: str | None,
        *,
        may_list_sitemaps: bool,
        may_list_pages: bool | None = None,
    ) -> None:
        """Take note that a sitemap could not be read; what is known of it stays.

        :param may_list_sitemaps: whether it may be an index, if nothing is known of it.
        :param may_list_pages: whether it may be a sitemap, if nothing is known of it. False if it
            is declared, but not there; it may be soon, if it was declared only now. None if nothing
            says that it is one: robots.txt, or a guess.
        """
        with self._lock, self._path.errors(), self._tables.collecting():
            row = self._tables.sitemap(url)
            self._tables.visit(row, is_whole=False)
            if may_list_sitemaps and is_unread(row):
                self._may_hide_sitemaps |= may_list_pages is not False
                self._add_unread(url, row, parent_url, may_list_pages)

    def _add_unread(
        self,
        url: str,
        row: sqlite3.Row | None,
        parent_url: str | None,
        may_list_pages: bool | None,
    ) -> None:
        """Take note of a sitemap that no run has read, and of the time since when it is not there.

        That time begins with a run that has read all others whole: what they listed then had not
        moved to it.
        """
        is_silent = self._note_silent(url, row, parent_url)
        since = None
        if may_list_pages:
            self._may_hide_pages = True
        elif may_list_pages is not None:
            known = row["changed_at"] if row else None
            since = None if known is None else min(known, self._now)  # a clock may be wrong
            newest = self._now if since is None else since
            self._not_there_since = max(newest, self._not_there_since or 0)
        if is_silent or may_list_pages is not None:
            names = {"url": url, "final_url": url, "parent_url": parent_url}
            found = {"sitemap_id": row and row["id"], "is_silent": is_silent, "changed_at": since}
            self._tables.stage(UNREAD | names | found)

    def leave_out(self, url: str) -> None:
        """Take note that the caller left a sitemap out; what is known of it stays."""
        with self._lock:
            self._left_out.add(place(url))

    def _note_silent(self, url: str, row: sqlite3.Row | None, parent_url: str | None) -> bool:
        """Tell whether what a sitemap lists belongs to the baseline, and so is not reported."""
        if self._is_baseline:
            is_silent = not self._chosen.emit_initial
        else:
            is_silent = bool(row["is_silent"]) if row else parent_url in self._silent
        if is_silent:
            self._silent.add(url)
        return is_silent

    def _identity(
        self,
        reading: SitemapReading,
        row: sqlite3.Row | None,
        others: list[sqlite3.Row],
        *,
        is_whole: bool,
    ) -> dict[str, Any]:
        """Return the number and the URL by which a sitemap is known from now on.

        A sitemap is its document: it keeps its number and its listing by whatever URL it is
        requested. What another one listed by that URL is lost, since it leads elsewhere now. Where
        two URLs led to one document and don't any more, the second one that is read is new.

        :param others: the other sitemaps that have one of its names.
        """
        number = row["id"] if row and not self._tables.is_staged(row) else None
        for other in others:
            if row and other["url"] == reading.url and not self._tables.is_staged(other):
                self._tables.visit(other, is_whole=is_whole)
                if not is_whole:  # nothing is lost by what is damaged
                    return {"sitemap_id": number, "url": row["url"]}
                self._lose(other)
                self._replaced.append(other["id"])
        return {"sitemap_id": number, "url": reading.url}

    def _lose(self, row: sqlite3.Row) -> None:
        """Take note that all that a sitemap listed is lost."""
        if self._tells_changes:
            lost = rules.Comparison((), list(self._tables.entries(row).items()), ())
            url, was_rolling = row["final_url"], bool(row["is_rolling"])
            self._tables.touch(lost, url, url, is_rolling=was_rolling, is_silent=False)

    def _add_unchanged(
        self, reading: SitemapReading, row: sqlite3.Row, others: list[sqlite3.Row]
    ) -> None:
        info = reading.fetch_info
        was_requested = info.fetched_at is not None
        is_whole = bool(row["is_complete"]) and was_requested
        self._tables.visit(row, is_whole=is_whole)
        if was_requested:
            identity = self._identity(reading, row, others, is_whole=is_whole)
            is_copy = identity["sitemap_id"] is None
            known = {name: row[name] for name in COLUMNS}
            new = {
                "parent_url": parent_of(reading, row),
                "etag": info.etag,
                "last_modified": info.last_modified,
                "fetched_at": self._now,
                "interval": next_interval(row["interval"], changed=False),
            }
            entries = self._tables.entries(row) if is_copy else None
            self._tables.stage(known | new | identity, entries)

    def _add_changed(
        self,
        reading: SitemapReading,
        row: sqlite3.Row | None,
        others: list[sqlite3.Row],
        *,
        is_silent: bool,
    ) -> None:
        old = self._tables.entries(row)
        rolls = is_rolling(reading, row)
        reading = with_known(reading, row, old)
        new = reading.entries
        # What leaves a sitemap leaves what that was before, whatever is at its URL now.
        was_rolling = bool(row["is_rolling"]) if row else rolls
        differs = row is None or old != new
        self._tables.visit(row, is_whole=reading.is_whole)
        if self._tells_changes:
            found = rules.compare(old, new)
            url = reading.final_url
            known_url = row["final_url"] if row else url
            self._tables.touch(found, url, known_url, is_rolling=was_rolling, is_silent=is_silent)
        info = reading.fetch_info
        # What is known has more than a damaged document, or one that broke off: its bytes must not
        # stand for that in the next run.
        is_stored = reading.is_whole and reading.is_storable and not info.truncated
        row_of_sitemap = self._identity(reading, row, others, is_whole=reading.is_whole) | {
            "final_url": reading.final_url,
            "parent_url": parent_of(reading, row),
            "kind": str(reading.kind),
            "is_rolling": rolls,
            "is_silent": is_silent and not reading.is_whole,
            "is_complete": reading.is_whole,
            "pages": len(new),
            "etag": info.etag if is_stored else None,
            "last_modified": info.last_modified if is_stored else None,
            "content_type": info.content_type,
            "sha256": bytes.fromhex(info.sha256) if is_stored and info.sha256 else None,
            "children": packed(reading.children),
            "fetched_at": self._now,
            "changed_at": self._now if row is None or differs else row["changed_at"],
            "interval": next_interval(row["interval"] if row else 0, changed=differs),
        }
        self._tables.stage(row_of_sitemap, new)

    def finish(self, structure: Structure) -> RunResult:
        """Decide what the run means, and commit it."""
        tables = self._tables
        with self._lock, self._path.errors():
            with tables.collecting():
                is_whole = self._is_whole(structure)
                vanished, is_known = self._vanished() if is_whole else ([], False)
                vanished += self._replaced
                tables.find_kept(vanished)
                self._may_hide_pages |= structure.was_stopped
                confirming = self._confirming(vanished, is_known)
                held_back = self._judge(confirming)
                if confirming.is_all_read:
                    tables.date_unread(self._now)
            is_enough = structure.has_sitemaps and not structure.was_stopped
            changes, pages = tables.commit(
                self._now, structure.outcome, vanished, has_baseline=is_enough
            )
        # A first run that a limit ended, or that found nothing, has to be made again.
        return RunResult(self._is_baseline and is_enough, changes, pages, held_back)

    def _is_whole(self, structure: Structure) -> bool:
        """Tell whether what is known to list sitemaps was read whole."""
        if structure.was_stopped or structure.lists_more or not structure.has_sitemaps:
            return False
        return not (self._is_baseline or self._tables.unread_indexes)

    def _may_be_listed(self, row: sqlite3.Row) -> bool:
        """Tell whether a sitemap that was not met may be listed by one that no run has read.

        Not by one that was not there either when the sitemap was read last, and none of them keeps
        it for more than a week.
        """
        read_at = row["fetched_at"] or 0
        hidden_since = self._now if self._may_hide_sitemaps else self._not_there_since or 0
        return read_at < hidden_since and abs(self._now - read_at) < LONGEST

    def _vanished(self) -> tuple[list[int], bool]:
        """Return the sitemaps that nothing lists any more; their URLs are lost.

        Also tell whether everything was asked that may list a sitemap.
        """
        rows = self._tables.not_visited()
        unmet = [
            Unmet(row["id"], row["url"], row["parent_url"], urls_in(row["children"]))
            for row in rows
        ]
        kept = not_asked(unmet, self._left_out)
        gone = [row for row in rows if row["id"] not in kept and not self._may_be_listed(row)]
        lists_more = any(row["kind"] in _PARENTS for row in rows if row not in gone)
        for row in gone:
            self._lose(row)
        return [row["id"] for row in gone], not lists_more

    def _confirming(self, vanished: list[int], is_structure_whole: bool) -> Confirming:
        gone = set(vanished)
        left = [one for one in self._tables.visits() if one.sitemap_id not in gone]
        unread = [one for one in left if not one.is_whole]
        return Confirming(
            {url for one in left for url in (one.known_url, one.final_url)},
            {url for one in unread for url in (one.known_url, one.final_url)},
            is_structure_whole,
            self._may_hide_sitemaps,
            not (self._may_hide_pages or any(one.was_read for one in unread)),
            self._not_there_since,
            self._now,
        )

    def _judge(self, confirming: Confirming) -> int:
        """Collect the verdicts on all URLs; return how many must not be removed."""
        tables, confirm = self._tables, self._chosen.confirm

        def evidence() -> Iterator[Evidence]:
            yield from tables.touched(is_confirmed=confirming.nowhere_else(self._now))
            for url, at, absence in tables.missing():
                is_confirmed = confirming.by(absence.sitemap_url, at)
                yield Evidence(url, absence=absence, is_confirmed=is_confirmed)

        removed = sum(rules.judge(one, confirm).removes for one in evidence())
        are_too_many = removed > 0 and rules.are_too_many(
            removed, tables.known_urls, self._chosen.max_removed
        )
        for one in evidence():
            verdict = rules.judge(one, confirm)
            tables.collect(one, rules.without_removal(verdict) if are_too_many else verdict)
        tables.collect_churn()
        return removed if are_too_many else 0
