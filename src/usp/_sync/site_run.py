"""One run of one site: takes what was read of each sitemap, and commits all of it at once.

What a run has read is collected in temporary tables of SQLite, so memory doesn't grow with the
number of changes. What it means is decided in ``rules``.
"""

import json
import sqlite3
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from usp._parse import Kind
from usp._sync import listing, rules
from usp._sync.changes import ChangeKind
from usp._sync.listing import Entry, Listing
from usp._sync.rules import Absence, AbsenceKind, Evidence, Sighting, Verdict
from usp._sync.schedule import is_due, next_interval
from usp._sync.state import StatePath
from usp.objects.fetch_info import FetchInfo, StoredDocument

FEEDS: Final = frozenset({Kind.RSS, Kind.ATOM, Kind.JSON_FEED})
_NEWS_SHARE: Final = 0.5
"""A sitemap of which more pages have a news story is a news sitemap: it lists two days or so."""

_TEMPORARY: Final = """
PRAGMA temp_store = FILE;
CREATE TEMP TABLE touched (
    ord INTEGER PRIMARY KEY, url TEXT, what TEXT, sitemap_url TEXT, lastmod INTEGER,
    old_lastmod INTEGER, is_rolling INTEGER, is_silent INTEGER
);
CREATE TEMP TABLE kept (url TEXT PRIMARY KEY, sitemap_url TEXT) WITHOUT ROWID;
CREATE TEMP TABLE found (
    ord INTEGER PRIMARY KEY, change TEXT, url TEXT, sitemap_url TEXT, lastmod INTEGER,
    old_lastmod INTEGER
);
CREATE TEMP TABLE judged (
    url TEXT PRIMARY KEY, kind TEXT, runs INTEGER, sitemap_url TEXT, lastmod INTEGER
) WITHOUT ROWID;
CREATE TEMP TABLE visited (url TEXT PRIMARY KEY, is_whole INTEGER) WITHOUT ROWID;
CREATE TEMP TABLE read (
    url TEXT PRIMARY KEY, final_url TEXT, kind TEXT, is_rolling INTEGER, is_silent INTEGER,
    is_complete INTEGER, pages INTEGER, etag TEXT, last_modified TEXT, content_type TEXT,
    sha256 BLOB, children BLOB, fetched_at INTEGER, changed_at INTEGER, interval INTEGER,
    entries BLOB, hashes BLOB
);
"""
_COLUMNS: Final = (
    *("url", "final_url", "kind", "is_rolling", "is_silent", "is_complete", "pages", "etag"),
    *("last_modified", "content_type", "sha256", "children", "fetched_at", "changed_at"),
    "interval",
)
"""The columns of a sitemap that a run writes."""
_TOUCHED: Final = """
SELECT t.url, t.what, t.sitemap_url, t.lastmod, t.old_lastmod, t.is_rolling, t.is_silent,
    k.sitemap_url AS kept_by, a.kind, a.runs, a.sitemap_url AS last_url, a.lastmod AS last_date
FROM touched t JOIN (SELECT url, min(ord) AS first FROM touched GROUP BY url) f USING (url)
LEFT JOIN kept k USING (url) LEFT JOIN absent a ON a.site_id = ? AND a.url = t.url
WHERE t.what != 'churn' ORDER BY f.first, t.ord
"""
_MISSING: Final = """
SELECT url, kind, runs, sitemap_url, lastmod FROM absent a
WHERE site_id = ? AND kind = 'missing' AND NOT EXISTS (SELECT 1 FROM touched WHERE url = a.url)
ORDER BY url
"""
_KEPT: Final = """
INSERT OR IGNORE INTO kept SELECT :url, :final_url
WHERE EXISTS (SELECT 1 FROM touched WHERE url = :url)
    AND NOT EXISTS (SELECT 1 FROM touched WHERE url = :url AND sitemap_url = :final_url
        AND what IN ('gained', 'lost'))
"""
_LISTED_NOW: Final = """
SELECT s.final_url, coalesce(r.entries, l.entries), coalesce(r.hashes, l.hashes)
FROM sitemaps s LEFT JOIN listings l ON l.sitemap_id = s.id LEFT JOIN read r USING (url)
WHERE s.site_id = :site AND s.id NOT IN (SELECT value FROM json_each(:vanished))
UNION ALL
SELECT r.final_url, r.entries, r.hashes FROM read r
WHERE NOT EXISTS (SELECT 1 FROM sitemaps s WHERE s.site_id = :site AND s.url = r.url)
"""


@dataclass(frozen=True, slots=True)
class RunRules:
    """What the caller chooses for a run."""

    confirm: int = 2
    """In how many runs a URL must be absent before it is removed."""
    max_removed: float = 0.5
    """The share of the URLs that may be removed at once."""
    emit_initial: bool = False
    """Whether the pages of the first run are reported as added."""
    only_due: bool = False
    """Whether only those sitemaps are requested that are due."""


@dataclass(frozen=True, slots=True)
class SitemapReading:
    """What a run has read of one sitemap."""

    url: str
    """The URL as requested."""
    final_url: str
    kind: Kind
    fetch_info: FetchInfo
    entries: Listing = field(default_factory=dict)
    news: int = 0
    """How many entries have a news story."""
    children: tuple[tuple[str, str | None], ...] = ()
    is_whole: bool = True
    """Whether nothing of it was lost."""
    is_storable: bool = True
    """Whether an unchanged one can be used without reading it."""
    parent_url: str | None = None
    """The URL, as requested, of the document that lists it."""


@dataclass(frozen=True, slots=True)
class Structure:
    """What is known of the sitemaps of a site when its crawl is over."""

    outcome: str
    has_sitemaps: bool
    """Whether some were found."""
    was_stopped: bool
    """Whether a limit ended the crawl."""
    lists_more: bool = False
    """Whether some sitemaps that are listed were left out."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """What came of a run."""

    is_baseline: bool
    changes: Counter[ChangeKind]
    pages: int
    """The pages that the sitemaps list; one that several list counts for each."""
    held_back: int = 0
    """The URLs that were not removed, since they were too many at once."""


class SiteRun:
    """One run of one site."""

    def __init__(self, path: StatePath, site_id: int, chosen: RunRules, now: int) -> None:
        """Begin a run.

        :param now: the time in microseconds since 1970.
        """
        self._path = path
        self._site = site_id
        self._chosen = chosen
        self._now = now
        with self._path.errors():
            self._db = self._path.connect()
            self._db.executescript(_TEMPORARY)
            query = "SELECT has_baseline FROM sites WHERE id = ?"
            (has_baseline,) = self._db.execute(query, (self._site,)).fetchone()
        self._is_baseline = not has_baseline
        self._silent_parents: set[str] = set()
        self._may_hide_sitemaps = False

    def close(self) -> None:
        """End the run; what was not committed is dropped."""
        self._db.close()

    # Reading

    def stored(self, url: str) -> StoredDocument | None:
        """Return what is known of a sitemap, for a conditional request."""
        row = self._row(url)
        if row is None or row["kind"] is None or not (row["sha256"] or row["fetched_at"]):
            return None
        has_validator = row["etag"] or row["last_modified"] or row["sha256"]
        fresh = self._chosen.only_due and not is_due(self._now, row["fetched_at"], row["interval"])
        if not has_validator and not fresh:
            return None
        info = FetchInfo(
            status=200,
            content_type=row["content_type"],
            etag=row["etag"],
            last_modified=row["last_modified"],
            sha256=row["sha256"].hex() if row["sha256"] else None,
        )
        children = tuple((url, lastmod) for url, lastmod in _unpacked(row["children"]))
        return StoredDocument(row["final_url"], (), info, row["kind"], children, fresh)

    def add(self, reading: SitemapReading) -> None:
        """Take what was read of a sitemap, compared with what is known of it."""
        with self._path.errors(), self._collecting():
            row = self._row(reading.url)
            is_silent = self._is_silent(row, reading.parent_url)
            if is_silent:
                self._silent_parents.add(reading.url)
            if reading.fetch_info.unchanged and row is not None:
                self._add_unchanged(reading, row)
            else:
                self._add_changed(reading, row, is_silent=is_silent)

    def add_failed(self, url: str, parent_url: str | None, *, may_list_sitemaps: bool) -> None:
        """Take note that a sitemap could not be read; what is known of it stays.

        :param may_list_sitemaps: whether it may be an index, if nothing is known of it.
        """
        with self._path.errors(), self._collecting():
            row = self._row(url)
            self._visit(url, is_whole=False)
            known_kind = row["kind"] if row else None
            if known_kind is None:
                self._may_hide_sitemaps = self._may_hide_sitemaps or may_list_sitemaps
            if row is None and may_list_sitemaps and self._is_silent(None, parent_url):
                values = {"url": url, "final_url": url, "is_silent": 1}
                self._stage({**dict.fromkeys(_COLUMNS), **_ZEROS, **values})
                self._silent_parents.add(url)
            elif row is not None and row["is_silent"]:
                self._silent_parents.add(url)

    def _is_silent(self, row: sqlite3.Row | None, parent_url: str | None) -> bool:
        """Tell whether what a sitemap lists belongs to the baseline, and so is not reported."""
        if self._chosen.emit_initial and self._is_baseline:
            return False
        if self._is_baseline:
            return True
        return bool(row["is_silent"]) if row else parent_url in self._silent_parents

    def _add_unchanged(self, reading: SitemapReading, row: sqlite3.Row) -> None:
        info = reading.fetch_info
        is_fresh = info.fetched_at is None
        self._visit(reading.url, is_whole=bool(row["is_complete"]) and not is_fresh)
        if is_fresh:
            return
        known = {name: row[name] for name in _COLUMNS}
        interval = next_interval(row["interval"], changed=False)
        new = {"etag": info.etag, "last_modified": info.last_modified, "fetched_at": self._now}
        self._stage({**known, **new, "interval": interval})

    def _add_changed(
        self, reading: SitemapReading, row: sqlite3.Row | None, *, is_silent: bool
    ) -> None:
        old = self._entries(row)
        # What a damaged reading doesn't have may be there all the same.
        new = reading.entries if reading.is_whole else {**old, **reading.entries}
        self._visit(reading.url, is_whole=reading.is_whole)
        is_rolling = _is_rolling(reading, row)
        differs = old != new or row is None
        if not self._is_baseline or self._chosen.emit_initial:
            found = rules.compare(old, new)
            self._touch(found, reading.final_url, is_rolling=is_rolling, is_silent=is_silent)
        info = reading.fetch_info
        # After a transfer that broke off, nothing says what the server has.
        is_stored = reading.is_storable and not info.truncated
        self._stage(
            {
                "url": reading.url,
                "final_url": reading.final_url,
                "kind": str(reading.kind),
                "is_rolling": is_rolling,
                "is_silent": is_silent and not reading.is_whole,
                "is_complete": reading.is_whole,
                "pages": len(new),
                "etag": info.etag if is_stored else None,
                "last_modified": info.last_modified if is_stored else None,
                "content_type": info.content_type,
                "sha256": bytes.fromhex(info.sha256) if is_stored and info.sha256 else None,
                "children": _packed(reading.children),
                "fetched_at": self._now,
                "changed_at": self._now if differs or row is None else row["changed_at"],
                "interval": next_interval(row["interval"] if row else 0, changed=differs),
            },
            new,
        )

    def _touch(
        self, found: rules.Comparison, sitemap_url: str, *, is_rolling: bool, is_silent: bool
    ) -> None:
        """Collect the differences between two readings of a sitemap."""
        where = (is_rolling, is_silent)
        rows = [
            *((url, "gained", sitemap_url, one.lastmod, None, *where) for url, one in found.gained),
            *((url, "lost", sitemap_url, one.lastmod, None, *where) for url, one in found.lost),
            *(
                (one.url, "altered", sitemap_url, one.new.lastmod, one.old.lastmod, *where)
                for one in found.altered
            ),
        ]
        if found.churn:
            old, new = found.churn
            rows.append((sitemap_url, "churn", sitemap_url, new, old, *where))
        self._db.executemany(
            "INSERT INTO touched (url, what, sitemap_url, lastmod, old_lastmod, is_rolling, "
            "is_silent) VALUES (?, ?, ?, ?, ?, ?, ?)",
            rows,
        )

    def _stage(self, row: dict[str, Any], entries: Listing | None = None) -> None:
        """Collect the new row of a sitemap; without entries, its listing stays."""
        names = ", ".join(_COLUMNS)
        marks = ", ".join(f":{name}" for name in _COLUMNS)
        blobs: dict[str, bytes | None] = {"entries": None, "hashes": None}
        if entries is not None:
            blobs = {"entries": listing.encode(entries), "hashes": listing.hashes_of(entries)}
        self._db.execute(
            f"INSERT OR REPLACE INTO read ({names}, entries, hashes) "  # noqa: S608 -- fixed names
            f"VALUES ({marks}, :entries, :hashes)",
            row | blobs,
        )

    def _visit(self, url: str, *, is_whole: bool) -> None:
        self._db.execute("INSERT OR REPLACE INTO visited VALUES (?, ?)", (url, is_whole))

    def _row(self, url: str) -> sqlite3.Row | None:
        cursor = self._db.execute(
            "SELECT * FROM sitemaps WHERE site_id = ? AND url = ?", (self._site, url)
        )
        cursor.row_factory = sqlite3.Row
        row: sqlite3.Row | None = cursor.fetchone()
        return row

    def _entries(self, row: sqlite3.Row | None) -> dict[str, Entry]:
        query = "SELECT entries FROM listings WHERE sitemap_id = ?"
        found = self._db.execute(query, (row["id"],)).fetchone() if row else None
        return listing.decode(found[0]) if found else {}

    @contextmanager
    def _collecting(self) -> Iterator[None]:
        """Write temporary tables in one go; the state itself is not locked for it."""
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.execute("COMMIT")

    # The end

    def finish(self, structure: Structure) -> RunResult:
        """Decide what the run means, and commit it."""
        with self._path.errors():
            with self._collecting():
                is_structure_whole = self._is_whole(structure)
                vanished = self._vanished() if is_structure_whole else []
                self._find_kept(vanished)
                held_back = self._judge(vanished, is_structure_whole=is_structure_whole)
            return self._commit(structure, vanished, held_back)

    def _is_whole(self, structure: Structure) -> bool:
        """Tell whether a sitemap that was not met can only be one that nothing lists any more."""
        if structure.was_stopped or structure.lists_more or not structure.has_sitemaps:
            return False
        if self._is_baseline or self._may_hide_sitemaps:
            return False
        (unread,) = self._db.execute(
            "SELECT count(*) FROM sitemaps s JOIN visited v USING (url) "
            "WHERE s.site_id = ? AND NOT v.is_whole AND (s.kind IS NULL "
            "OR s.kind IN ('sitemapindex', 'robots') OR s.children IS NOT NULL)",
            (self._site,),
        ).fetchone()
        return not unread

    def _vanished(self) -> list[int]:
        """Return the sitemaps that nothing lists any more; their URLs are lost."""
        cursor = self._db.execute(
            "SELECT * FROM sitemaps WHERE site_id = ? AND url NOT IN (SELECT url FROM visited)",
            (self._site,),
        )
        cursor.row_factory = sqlite3.Row
        rows = cursor.fetchall()
        for row in rows:
            lost = rules.Comparison((), list(self._entries(row).items()), ())
            is_rolling = bool(row["is_rolling"])
            self._touch(lost, row["final_url"], is_rolling=is_rolling, is_silent=False)
        return [row["id"] for row in rows]

    def _find_kept(self, vanished: list[int]) -> None:
        """Find the sitemaps that list a URL which another one has gained or lost."""
        self._db.execute("CREATE INDEX temp.touched_url ON touched (url)")
        moving = "SELECT DISTINCT url FROM touched WHERE what IN ('gained', 'lost')"
        wanted = {listing.url_hash(url) for (url,) in self._db.execute(moving)}
        if not wanted:
            return
        given = {"site": self._site, "vanished": json.dumps(vanished)}
        for final_url, entries, hashes in self._db.execute(_LISTED_NOW, given).fetchall():
            if entries is None:
                continue
            hits = wanted.intersection(listing.read_hashes(hashes))
            urls = (url for url in listing.urls_of(entries) if listing.url_hash(url) in hits)
            if hits:
                rows = ({"url": url, "final_url": final_url} for url in urls)
                self._db.executemany(_KEPT, rows)

    def _judge(self, vanished: list[int], *, is_structure_whole: bool) -> int:
        """Collect the verdicts on all URLs; return how many must not be removed."""
        known = self._count_known()
        confirming = self._confirming(vanished, is_structure_whole=is_structure_whole)
        confirm = self._chosen.confirm
        evidence = [*self._missing(confirming)]
        removed = sum(rules.judge(one, confirm).removes for one in evidence)
        if confirm == 1:
            removed += sum(rules.judge(one, confirm).removes for one in self._touched())
        held_back = rules.are_too_many(removed, known, self._chosen.max_removed)
        for each in (self._touched(), evidence):
            for one in each:
                verdict = rules.judge(one, confirm)
                self._collect(one, rules.without_removal(verdict) if held_back else verdict)
        self._db.execute(
            "INSERT INTO found (change, url, sitemap_url, lastmod, old_lastmod) "
            "SELECT 'churn', url, sitemap_url, lastmod, old_lastmod FROM touched "
            "WHERE what = 'churn' AND NOT is_silent ORDER BY ord"
        )
        return removed if held_back else 0

    def _count_known(self) -> int:
        """Return how many URLs the site had before the run, those included that are missing."""
        (listed,) = self._db.execute(
            "SELECT coalesce(sum(pages), 0) FROM sitemaps WHERE site_id = ?", (self._site,)
        ).fetchone()
        (missing,) = self._db.execute(
            "SELECT count(*) FROM absent WHERE site_id = ? AND kind = 'missing'", (self._site,)
        ).fetchone()
        return int(listed) + int(missing)

    def _confirming(self, vanished: list[int], *, is_structure_whole: bool) -> "_Confirming":
        query = (
            "SELECT s.id, coalesce(r.final_url, s.final_url), coalesce(v.is_whole, 0) "
            "FROM sitemaps s LEFT JOIN visited v USING (url) LEFT JOIN read r USING (url) "
            "WHERE s.site_id = ?"
        )
        rows = self._db.execute(query, (self._site,)).fetchall()
        gone = set(vanished)
        listed = {url for number, url, _ in rows if number not in gone}
        unread = {url for number, url, is_whole in rows if not is_whole and number not in gone}
        return _Confirming(listed, unread, is_structure_whole)

    def _missing(self, confirming: "_Confirming") -> Iterator[Evidence]:
        """Yield what is known of URLs that are missing since an earlier run."""
        for url, *known in self._db.execute(_MISSING, (self._site,)):
            absence = _absence(known)
            yield Evidence(url, absence=absence, is_confirmed=confirming.by(absence.sitemap_url))

    def _touched(self) -> Iterator[Evidence]:
        """Yield what is known of the URLs that some sitemap has gained, lost or altered."""
        rows = self._db.execute(_TOUCHED, (self._site,))
        for url, group in groupby(rows, itemgetter(0)):
            found: dict[str, list[Sighting]] = {"gained": [], "lost": [], "altered": []}
            kept_by, known = None, None
            for _, what, sitemap_url, new, old, is_rolling, is_silent, kept_by, *known in group:
                sighting = Sighting(sitemap_url, new, old, bool(is_rolling), bool(is_silent))
                found[what].append(sighting)
            kept_by = kept_by or next((one.sitemap_url for one in found["altered"]), None)
            absence = _absence(known) if known and known[0] else None
            yield Evidence(url, **found, kept_by=kept_by, absence=absence)

    def _collect(self, evidence: Evidence, verdict: Verdict) -> None:
        self._db.executemany(
            "INSERT INTO found (change, url, sitemap_url, lastmod, old_lastmod) "
            "VALUES (?, ?, ?, ?, ?)",
            [
                (one.kind, evidence.url, one.sitemap_url, one.lastmod, one.old_lastmod)
                for one in verdict.findings
            ],
        )
        absence = verdict.absence
        if absence == evidence.absence:
            return
        values: tuple[object, ...] = (None, None, None, None)
        if absence:
            values = (absence.kind, absence.runs, absence.sitemap_url, absence.lastmod)
        self._db.execute("INSERT INTO judged VALUES (?, ?, ?, ?, ?)", (evidence.url, *values))

    def _commit(self, structure: Structure, vanished: list[int], held_back: int) -> RunResult:
        db, site = self._db, {"site": self._site, "now": self._now}
        db.execute("BEGIN IMMEDIATE")
        try:
            for statement in _COMMIT:
                db.execute(statement, site)
            for number in vanished:
                db.execute("DELETE FROM listings WHERE sitemap_id = ?", (number,))
                db.execute("DELETE FROM sitemaps WHERE id = ?", (number,))
            if structure.has_sitemaps and not structure.was_stopped:
                db.execute("UPDATE sites SET has_baseline = 1 WHERE id = :site", site)
            db.execute(_RUN, site | {"outcome": structure.outcome})
            counted = db.execute("SELECT change, count(*) FROM found GROUP BY change").fetchall()
            (pages,) = db.execute(
                "SELECT coalesce(sum(pages), 0) FROM sitemaps WHERE site_id = :site", site
            ).fetchone()
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise
        changes = Counter({ChangeKind(kind): number for kind, number in counted})
        return RunResult(self._is_baseline, changes, pages, held_back)


@dataclass(frozen=True, slots=True)
class _Confirming:
    """Which sitemaps confirm that a URL which they listed is gone."""

    listed: set[str]
    """All that are known."""
    unread: set[str]
    """Those that this run has not read whole."""
    is_structure_whole: bool

    def by(self, sitemap_url: str) -> bool:
        """Tell whether a sitemap that listed a URL last confirms that it is gone."""
        if sitemap_url in self.listed:
            return sitemap_url not in self.unread
        return self.is_structure_whole


_ZEROS: Final = {"is_rolling": 0, "is_silent": 0, "is_complete": 0, "pages": 0, "interval": 0}
_UPDATED: Final = ", ".join(f"{name} = excluded.{name}" for name in _COLUMNS if name != "url")
_COMMIT: Final = (
    f"INSERT INTO sitemaps (site_id, {', '.join(_COLUMNS)}) "  # noqa: S608 -- fixed names
    f"SELECT :site, {', '.join(_COLUMNS)} FROM read WHERE true "
    f"ON CONFLICT (site_id, url) DO UPDATE SET {_UPDATED}",
    "INSERT OR REPLACE INTO listings SELECT s.id, r.entries, r.hashes FROM read r "
    "JOIN sitemaps s ON s.site_id = :site AND s.url = r.url WHERE r.entries IS NOT NULL",
    "INSERT OR REPLACE INTO absent SELECT :site, url, kind, runs, sitemap_url, lastmod, :now "
    "FROM judged WHERE kind IS NOT NULL",
    "DELETE FROM absent WHERE site_id = :site AND url IN "
    "(SELECT url FROM judged WHERE kind IS NULL)",
    "INSERT INTO changes (site_id, change, url, sitemap_url, lastmod, old_lastmod, at) "
    "SELECT :site, change, url, sitemap_url, lastmod, old_lastmod, :now FROM found ORDER BY ord",
)
"""What commits a run, in this order."""
_RUN: Final = (
    "INSERT INTO runs (site_id, at, outcome, pages, last_seq) SELECT :site, :now, :outcome, "
    "(SELECT coalesce(sum(pages), 0) FROM sitemaps WHERE site_id = :site), "
    "(SELECT coalesce(max(seq), 0) FROM changes)"
)


def _absence(known: list[Any]) -> Absence:
    kind, runs, sitemap_url, lastmod = known
    return Absence(AbsenceKind(kind), runs, sitemap_url, lastmod)


def _is_rolling(reading: SitemapReading, row: sqlite3.Row | None) -> bool:
    """Tell whether a sitemap lists what is new only; one that is empty stays what it was."""
    if reading.kind in FEEDS:
        return True
    if not reading.entries:
        return bool(row["is_rolling"]) if row else False
    return reading.news > len(reading.entries) * _NEWS_SHARE


def _packed(children: tuple[tuple[str, str | None], ...]) -> bytes | None:
    """Return the sitemaps that a document lists, compressed; None if it lists none."""
    return zlib.compress(json.dumps(children).encode()) if children else None


def _unpacked(data: bytes | None) -> list[tuple[str, str | None]]:
    return json.loads(zlib.decompress(data)) if data else []
