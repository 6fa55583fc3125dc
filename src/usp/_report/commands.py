"""Which command gives the rows of a figure.

Names of a site are part of some commands, and people paste commands into a shell. So each word is
quoted for a shell, what is not printable never gets into one, and names are matched literally.
"""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

from usp._display import redact, without_credentials

CRAWLED: Final[Mapping[str, str]] = {
    "pages": "usp ls {source} -f pages",
    "folder": "usp ls {source} -f pages --include {pattern}",
    "kind": "usp ls {source} -f pages --kind {name}",
    "months": "usp export {source} -o dates.csv --columns url,lastmod",
    "days": "usp export {source} -o dates.csv --columns url,lastmod --since 90d --undated drop",
    "news": "usp ls {source} -f pages --kind news --since 48h",
    "changefreq": "usp export {source} -o pages.csv --columns url,changefreq",
    "alternates": "usp export {source} -o alternates.csv --table alternates",
    "languages": "usp export {source} -o news.csv --table news",
    "publications": "usp export {source} -o news.csv --table news",
    "sitemaps": "usp export {source} -o sitemaps.csv --table sitemaps",
    "discovery": "usp ls {source} -f tried",
    "finding": "usp check {source} --select {name}",
}
"""The commands for what can be crawled again."""
_QUERIES: Final[Mapping[str, str]] = {
    "pages": "SELECT {url} FROM {pages}",
    "folder": "SELECT {url} FROM {pages} WHERE {prefix}",
    "kind": "SELECT {url}, {name} FROM {pages} WHERE {name} IS NOT NULL",
    "months": "SELECT {url}, lastmod FROM {pages}",
    "days": "SELECT {url}, lastmod FROM {pages} WHERE {name}",
    "news": "SELECT {url}, published_at FROM {pages} WHERE news_publication IS NOT NULL",
    "changefreq": "SELECT {url}, changefreq FROM {pages}",
    "alternates": "SELECT {url}, alternates FROM {pages} WHERE alternates IS NOT NULL",
    "languages": "SELECT {url}, news_language FROM {pages} WHERE news_language IS NOT NULL",
    "publications": (
        "SELECT {url}, news_publication FROM {pages} WHERE news_publication IS NOT NULL"
    ),
    "sitemaps": "SELECT * FROM {sitemaps}",
    "discovery": "SELECT * FROM {attempts}",
    "sites": "SELECT * FROM {sites}",
    "finding": "SELECT * FROM {problems} WHERE code = '{name}'",
}
"""The queries for what is in files."""
_SPECIAL: Final = re.compile(r"[\"$`\\!\n]")
"""What a shell takes apart within double quotes."""
_NEWS_COLUMN: Final = {"news": "news_publication"}


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a query is asked."""

    command: str
    """With ``{file}`` and ``{sql}``, which are quoted."""
    starts_with: str
    """The condition that ``{url}`` starts with ``{text}``."""


DUCKDB: Final = Dialect("duckdb -c {sql}", "starts_with({url}, {text})")
SQLITE: Final = Dialect("sqlite3 {file} {sql}", "substr({url}, 1, {length}) = {text}")


@dataclass(frozen=True, slots=True)
class Commands:
    """The commands of one report."""

    templates: Mapping[str, str]
    words: Mapping[str, str] = field(default_factory=dict)
    """What the templates have in common, quoted already."""
    dialect: Dialect | None = None
    """The dialect, if the templates are queries."""

    @classmethod
    def of_crawl(cls, source: str, *options: str) -> "Commands":
        """Return the commands for a source that can be crawled.

        :param options: of the command, which say how it is read: ``--replay``, ``-s``.
        """
        # A report is passed on: whoever runs the commands knows the password, or has none.
        words = " ".join(map(shlex.quote, (without_credentials(source), *map(redact, options))))
        return cls(CRAWLED, {"source": words})

    @classmethod
    def of_tables(
        cls, files: Mapping[str, str], dialect: Dialect, file: str = "", url: str = "url"
    ) -> "Commands":
        """Return the commands for tables.

        :param files: how a query names each table that is there.
        :param file: the database.
        :param url: the name of the column with URLs.
        """
        known = {name: text for name, text in _QUERIES.items() if _table(text) in files}
        column = url if url.isidentifier() else '"{}"'.format(url.replace('"', '""'))
        return cls(known, {**files, "file": file, "url": column}, dialect)

    def get(self, figure: str, name: str = "") -> str:
        """Return the command for a figure; empty if there is none.

        :param name: what the figure is about: a kind, a code, a condition.
        """
        template = self.templates.get(figure, "")
        if self.dialect is None:
            return template.format(**self.words, name=shlex.quote(name)) if template else ""
        column = _NEWS_COLUMN.get(name, name)
        return self._query(template.format(**self.words, name=column)) if template else ""

    def folder(self, host: str, segments: tuple[str, ...] = ()) -> str:
        """Return the command for the pages of a folder."""
        template = self.templates.get("folder", "")
        path = "".join(f"{segment}/" for segment in segments)
        if not template:
            return ""
        if self.dialect is None:
            pattern = f"^https?://{_literal(host)}/{_literal(path)}"
            return template.format(**self.words, pattern=shlex.quote(pattern))
        starts = (f"{scheme}://{host}/{path}" for scheme in ("https", "http"))
        conditions = " OR ".join(map(self._starts_with, starts))
        return self._query(template.format(**self.words, prefix=conditions))

    def scheme(self, scheme: str) -> str:
        """Return the command for the pages of a scheme."""
        template = self.templates.get("folder", "")
        if not template:
            return ""
        if self.dialect is None:
            return template.format(**self.words, pattern=shlex.quote(f"^{_literal(scheme)}:"))
        condition = self._starts_with(f"{scheme}:")
        return self._query(template.format(**self.words, prefix=condition))

    def _starts_with(self, text: str) -> str:
        visible = "".join(takewhile(str.isprintable, text))  # a longer prefix can't be written
        quoted = "'{}'".format(visible.replace("'", "''"))
        starts_with = self.dialect.starts_with if self.dialect else ""
        return starts_with.format(url=self.words["url"], text=quoted, length=len(visible))

    def _query(self, sql: str) -> str:
        command = self.dialect.command if self.dialect else ""
        return command.format(sql=_quoted(sql), file=shlex.quote(self.words["file"]))


def _quoted(sql: str) -> str:
    """Return a query as one word of a shell: in double quotes, where nothing in it is special."""
    return shlex.quote(sql) if _SPECIAL.search(sql) else f'"{sql}"'


def _table(query: str) -> str:
    """Return the name of the table that a query is about."""
    return query.partition("FROM {")[2].partition("}")[0]


def _literal(text: str) -> str:
    """Return a regular expression that matches a text; any character for what isn't printable."""
    return "".join(re.escape(one) if one.isprintable() else "." for one in text)


def changes_command(state: str, after: int, site: str) -> str:
    """Return the command that prints the changes of the last run."""
    words = ["usp", "changes", "--state", state, "--after", str(after)]
    return shlex.join([*words, *(["--site", site] if site else [])])
