"""The tables of one run: what the state knows of a site, and what the run has collected.

What a run collects is in temporary tables of SQLite, so memory doesn't grow with the number of
changes. One transaction takes all of it to the state. What anything means is decided elsewhere.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

from usp._sync import listing
from usp._sync.changes import ChangeKind
from usp._sync.listing import ListedPage, Listing
from usp._sync.rules import Absence, AbsenceKind, Comparison, Evidence, Sighting, Verdict
from usp._sync.state_path import StatePath

COLUMNS: Final = (
    *("url", "final_url", "kind", "is_rolling", "is_silent", "is_complete", "pages", "etag"),
    *("last_modified", "content_type", "sha256", "children", "fetched_at", "changed_at"),
    *("interval", "parent_url"),
)
"""The columns of a sitemap that a run writes."""
_NAMES: Final = ", ".join(COLUMNS)

_TEMPORARY: Final = f"""
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
CREATE TEMP TABLE visited (sitemap_id INTEGER PRIMARY KEY, is_whole INTEGER);
CREATE TEMP TABLE read (
    sitemap_id INTEGER UNIQUE, {_NAMES}, entries BLOB, hashes BLOB, PRIMARY KEY (url)
);
"""
_STAGED: Final = ("sitemap_id", *COLUMNS, "entries", "hashes")
_STAGE: Final = f"INSERT OR REPLACE INTO read VALUES (:{', :'.join(_STAGED)})"  # noqa: S608 -- fixed names
_SITEMAPS_NAMED: Final = """
SELECT * FROM sitemaps WHERE id IN (
    SELECT id FROM sitemaps WHERE site_id = ? AND url = ?
    UNION SELECT id FROM sitemaps WHERE site_id = ? AND final_url = ?
) ORDER BY kind IS NULL, final_url != ?, url != ?, id
"""
"""Each name is found by its own index: with OR, SQLite would read all sitemaps of the site. Python
3.12.1 warns of numbered parameters."""
_VISIT: Final = """
INSERT INTO visited VALUES (?, ?)
ON CONFLICT DO UPDATE SET is_whole = max(is_whole, excluded.is_whole)
"""
_HASHES: Final = """
SELECT l.hashes FROM sitemaps s JOIN listings l ON l.sitemap_id = s.id WHERE s.site_id = ?
"""
_COUNTED: Final = 100_000
"""About so many URLs are counted at most."""
_TOUCHED: Final = """
SELECT t.url, t.what, t.sitemap_url, t.lastmod, t.old_lastmod, t.is_rolling, t.is_silent,
    k.sitemap_url, a.kind, a.runs, a.sitemap_url, a.lastmod
FROM touched t JOIN (SELECT url, min(ord) AS first FROM touched GROUP BY url) f USING (url)
LEFT JOIN kept k USING (url) LEFT JOIN absent a ON a.site_id = ? AND a.url = t.url
WHERE t.what != 'churn' ORDER BY f.first, t.ord
"""
_MISSING: Final = """
SELECT url, at, kind, runs, sitemap_url, lastmod FROM absent a
WHERE site_id = ? AND kind = 'missing' AND NOT EXISTS (SELECT 1 FROM touched WHERE url = a.url)
ORDER BY url
"""
_KEPT: Final = """
INSERT OR IGNORE INTO kept SELECT :url, :final_url
WHERE EXISTS (SELECT 1 FROM touched WHERE url = :url)
    AND NOT EXISTS (SELECT 1 FROM touched WHERE url = :url AND sitemap_url = :final_url
        AND what = 'gained')
"""
_LISTED_NOW: Final = """
SELECT final_url, hashes, 'SELECT entries FROM read WHERE url = ?', url
FROM read WHERE hashes IS NOT NULL
UNION ALL
SELECT s.final_url, l.hashes, 'SELECT entries FROM listings WHERE sitemap_id = ?', s.id
FROM sitemaps s JOIN listings l ON l.sitemap_id = s.id
WHERE s.site_id = :site AND s.id NOT IN (SELECT value FROM json_each(:vanished))
    AND NOT EXISTS (SELECT 1 FROM read r WHERE r.sitemap_id = s.id AND r.hashes IS NOT NULL)
"""
"""The hashes of all listings as they are after the run, and how to get each listing."""
_NOT_VISITED: Final = """
SELECT * FROM sitemaps WHERE site_id = ? AND id NOT IN (SELECT sitemap_id FROM visited)
"""
_VISITED: Final = """
SELECT s.id, s.final_url, coalesce(r.final_url, s.final_url), coalesce(v.is_whole, 0),
    s.kind IS NOT NULL
FROM sitemaps s LEFT JOIN visited v ON v.sitemap_id = s.id
    LEFT JOIN read r ON r.sitemap_id = s.id
WHERE s.site_id = ?
"""
_UNREAD_INDEXES: Final = """
SELECT count(*) FROM sitemaps s JOIN visited v ON v.sitemap_id = s.id
WHERE s.site_id = ? AND NOT v.is_whole
    AND (s.kind IN ('sitemapindex', 'robots') OR s.children IS NOT NULL)
"""
_COMMIT: Final = (
    "DELETE FROM listings WHERE sitemap_id IN (SELECT value FROM json_each(:vanished))",
    "DELETE FROM sitemaps WHERE id IN (SELECT value FROM json_each(:vanished))",
    # A sitemap keeps its number, and so its listing; it may have the name that another one had.
    "DELETE FROM sitemaps WHERE id IN (SELECT sitemap_id FROM read)",
    f"""
    INSERT OR REPLACE INTO sitemaps (id, site_id, {_NAMES})
    SELECT sitemap_id, :site, {_NAMES} FROM read ORDER BY sitemap_id IS NULL
    """,  # noqa: S608 -- fixed names
    """
    INSERT OR REPLACE INTO listings SELECT s.id, r.entries, r.hashes
    FROM read r JOIN sitemaps s ON s.site_id = :site AND s.url = r.url WHERE r.entries IS NOT NULL
    """,
    """
    INSERT OR REPLACE INTO absent SELECT :site, url, kind, runs, sitemap_url, lastmod, :now
    FROM judged WHERE kind IS NOT NULL
    """,
    """
    DELETE FROM absent WHERE site_id = :site AND url IN (SELECT url FROM judged WHERE kind IS NULL)
    """,
    """
    INSERT INTO changes (site_id, change, url, sitemap_url, lastmod, old_lastmod, at)
    SELECT :site, change, url, sitemap_url, lastmod, old_lastmod, :now FROM found ORDER BY ord
    """,
    "UPDATE sites SET has_baseline = 1 WHERE id = :site AND :has_baseline",
    """
    INSERT INTO runs (site_id, at, outcome, pages, last_seq) SELECT :site, :now, :outcome,
        (SELECT coalesce(sum(pages), 0) FROM sitemaps WHERE site_id = :site),
        coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0)
    """,
)
"""What commits a run, in this order."""


class SitemapVisit(NamedTuple):
    """What a run has read of a known sitemap."""

    sitemap_id: int
    known_url: str
    """Its URL after redirects, before the run."""
    final_url: str
    """The same as the run has found it."""
    is_whole: bool
    """Whether it was read whole; not if it was not met."""
    was_read: bool
    """Whether an earlier run has read it."""


class RunTables:
    """The state and the temporary tables of one run of one site."""

    def __init__(self, path: StatePath, site_id: int) -> None:
        self._site = site_id
        self._db = path.connect()
        self._db.executescript(_TEMPORARY)

    def close(self) -> None:
        """Drop what was not committed."""
        self._db.close()

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Write temporary tables in one go; the state itself is not locked for it."""
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._end("COMMIT")

    def _end(self, how: str) -> None:
        """End a transaction; SQLite itself has undone it if there is no room, say."""
        if self._db.in_transaction:
            self._db.execute(how)

    # What is known

    def _one(self, query: str) -> Any:  # noqa: ANN401 -- whatever the column has
        return self._db.execute(query, (self._site,)).fetchone()[0]

    @property
    def has_baseline(self) -> bool:
        """Whether the site was read before."""
        return bool(self._one("SELECT has_baseline FROM sites WHERE id = ?"))

    @property
    def known_urls(self) -> int:
        """How many URLs the site had before the run, those included that are missing.

        A URL that several sitemaps list counts once. Of a large site it is an estimate: its URLs
        with some hashes are counted.
        """
        pages: int = self._one("SELECT coalesce(sum(pages), 0) FROM sitemaps WHERE site_id = ?")
        step = pages // _COUNTED + 1
        counted: set[int] = set()
        for (hashes,) in self._db.execute(_HASHES, (self._site,)):
            counted.update(one for one in listing.read_hashes(hashes) if one % step == 0)
        query = "SELECT count(*) FROM absent WHERE site_id = ? AND kind = 'missing'"
        return len(counted) * step + int(self._one(query))

    def sitemap(self, url: str) -> sqlite3.Row | None:
        """Return what is known of a sitemap, by the URL as requested, or else after redirects."""
        named = self.sitemaps_named(url, url)
        return next((row for row in named if row["url"] == url), next(iter(named), None))

    def sitemaps_named(self, url: str, final_url: str) -> list[sqlite3.Row]:
        """Return the known sitemaps that have one of two names; first the one with that document.

        :param url: the URL as requested.
        :param final_url: the URL after redirects, which names the document.
        """
        named = url, self._site, final_url, final_url, url
        return list(self._rows(_SITEMAPS_NAMED, *named))

    def sitemaps(self) -> Iterator[sqlite3.Row]:
        """Yield what is known of each sitemap."""
        return self._rows("SELECT * FROM sitemaps WHERE site_id = ?")

    def _rows(self, query: str, *args: object) -> Iterator[sqlite3.Row]:
        cursor = self._db.cursor()
        cursor.row_factory = sqlite3.Row
        return cursor.execute(query, (self._site, *args))

    def entries(self, row: sqlite3.Row | None) -> dict[str, ListedPage]:
        """Return what a sitemap listed."""
        query = "SELECT entries FROM listings WHERE sitemap_id = ?"
        found = self._db.execute(query, (row["id"],)).fetchone() if row else None
        return listing.decode(found[0]) if found else {}

    # What the run has met

    def visit(self, row: sqlite3.Row | None, *, is_whole: bool) -> None:
        """Record that a sitemap was met, if it is known; whole by one of its names is whole."""
        if row is not None:
            self._db.execute(_VISIT, (row["id"], is_whole))

    def not_visited(self) -> list[sqlite3.Row]:
        """Return the known sitemaps that were not met."""
        return list(self._rows(_NOT_VISITED))

    @property
    def unread_indexes(self) -> int:
        """How many documents that are known to list sitemaps were met, but not read whole."""
        return int(self._one(_UNREAD_INDEXES))

    def visits(self) -> list[SitemapVisit]:
        """Return the known sitemaps, and what the run has read of each."""
        rows = self._db.execute(_VISITED, (self._site,))
        return [
            SitemapVisit(sitemap_id, known_url, final_url, bool(is_whole), bool(was_read))
            for sitemap_id, known_url, final_url, is_whole, was_read in rows
        ]

    def is_staged(self, row: sqlite3.Row) -> bool:
        """Tell whether a known sitemap has a new row already."""
        query = "SELECT 1 FROM read WHERE sitemap_id = ?"
        return self._db.execute(query, (row["id"],)).fetchone() is not None

    def stage(self, row: Mapping[str, Any], entries: Listing | None = None) -> None:
        """Collect the new row of a sitemap; without entries, its listing stays."""
        blobs: dict[str, bytes | None] = {"entries": None, "hashes": None}
        if entries is not None:
            blobs = {"entries": listing.encode(entries), "hashes": listing.hashes_of(entries)}
        self._db.execute(_STAGE, dict.fromkeys(_STAGED) | dict(row) | blobs)

    def date_unread(self, now: int) -> None:
        """Date those collected rows of sitemaps that nothing could read which have no date yet."""
        self._db.execute(
            "UPDATE read SET changed_at = ? WHERE kind IS NULL AND changed_at IS NULL", (now,)
        )

    def touch(
        self,
        found: Comparison,
        sitemap_url: str,
        known_url: str,
        *,
        is_rolling: bool,
        is_silent: bool,
    ) -> None:
        """Collect the differences between two readings of a sitemap.

        :param known_url: its URL after redirects before the run: what was lost, that URL listed.
        """
        where = (is_rolling, is_silent)
        rows = [
            *((url, "gained", sitemap_url, one.lastmod, None, *where) for url, one in found.gained),
            *((url, "lost", known_url, one.lastmod, None, *where) for url, one in found.lost),
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

    # What it means

    def find_kept(self, vanished: list[int]) -> None:
        """Find the sitemaps that list a URL which another one has gained or lost.

        A look at the hashes says which listings must be read.
        """
        self._db.execute("CREATE INDEX temp.touched_url ON touched (url)")
        moving = "SELECT DISTINCT url FROM touched WHERE what IN ('gained', 'lost')"
        wanted = {listing.url_hash(url) for (url,) in self._db.execute(moving)}
        if not wanted:
            return
        given = {"site": self._site, "vanished": json.dumps(vanished)}
        for final_url, hashes, query, key in self._db.execute(_LISTED_NOW, given):
            if hits := wanted.intersection(listing.read_hashes(hashes)):
                (entries,) = self._db.execute(query, (key,)).fetchone()
                urls = (url for url in listing.urls_of(entries) if listing.url_hash(url) in hits)
                self._db.executemany(_KEPT, ({"url": url, "final_url": final_url} for url in urls))

    def touched(self, *, is_confirmed: bool) -> Iterator[Evidence]:
        """Yield what is known of the URLs that some sitemap has gained, lost or altered.

        :param is_confirmed: whether all was read that may list them now.
        """
        rows = self._db.execute(_TOUCHED, (self._site,))
        for url, group in groupby(rows, itemgetter(0)):
            rows_of_url = list(group)
            *_, kept_by, kind, runs, last_url, last_date = rows_of_url[0]
            found: dict[str, list[Sighting]] = {"gained": [], "lost": [], "altered": []}
            for _, what, sitemap_url, new, old, is_rolling, is_silent, *_ in rows_of_url:
                sighting = Sighting(sitemap_url, new, old, bool(is_rolling), bool(is_silent))
                found[what].append(sighting)
            gained, lost, altered = found.values()
            kept_by = kept_by or (altered[0].sitemap_url if altered else None)
            absence = _absence(kind, runs, last_url, last_date) if kind else None
            yield Evidence(url, gained, lost, altered, kept_by, absence, is_confirmed)

    def missing(self) -> Iterator[tuple[str, int, Absence]]:
        """Yield the URLs that are missing since an earlier run, and when that was seen last.

        They were not met in this run.
        """
        for url, at, *known in self._db.execute(_MISSING, (self._site,)):
            yield url, at, _absence(*known)

    def collect(self, evidence: Evidence, verdict: Verdict) -> None:
        """Collect what the run means for one URL."""
        self._found(
            (one.kind, evidence.url, one.sitemap_url, one.lastmod, one.old_lastmod)
            for one in verdict.findings
        )
        absence = verdict.absence
        if absence != evidence.absence:
            values: tuple[object, ...] = (None,) * 4
            if absence:
                values = (absence.kind, absence.runs, absence.sitemap_url, absence.lastmod)
            self._db.execute("INSERT INTO judged VALUES (?, ?, ?, ?, ?)", (evidence.url, *values))

    def collect_churn(self) -> None:
        """Collect the sitemaps of which most dates have moved."""
        self._found(
            self._db.execute(
                "SELECT 'churn', url, sitemap_url, lastmod, old_lastmod FROM touched "
                "WHERE what = 'churn' AND NOT is_silent ORDER BY ord"
            ).fetchall()
        )

    def _found(self, rows: Iterable[tuple[object, ...]]) -> None:
        self._db.executemany(
            "INSERT INTO found (change, url, sitemap_url, lastmod, old_lastmod) "
            "VALUES (?, ?, ?, ?, ?)",
            rows,
        )

    def commit(
        self, now: int, outcome: str, vanished: list[int], *, has_baseline: bool
    ) -> tuple[Counter[ChangeKind], int]:
        """Take all that was collected to the state; return the changes by kind, and the pages."""
        given = {
            "site": self._site,
            "now": now,
            "outcome": outcome,
            "vanished": json.dumps(vanished),
            "has_baseline": has_baseline,
        }
        self._db.execute("BEGIN IMMEDIATE")
        with ExitStack() as undo:
            undo.callback(self._end, "ROLLBACK")
            for statement in _COMMIT:
                self._db.execute(statement, given)
            self._db.execute("COMMIT")
            undo.pop_all()
        counted = self._db.execute("SELECT change, count(*) FROM found GROUP BY change")
        changes = Counter({ChangeKind(kind): number for kind, number in counted})
        return changes, self._one("SELECT coalesce(sum(pages), 0) FROM sitemaps WHERE site_id = ?")


def _absence(kind: str, runs: int, sitemap_url: str, lastmod: int | None) -> Absence:
    return Absence(AbsenceKind(kind), runs, sitemap_url, lastmod)
