"""Baselines: what was found once and is known, in a file.

A row is a code, a sitemap and the keys of URLs, so that neither line numbers nor spellings matter.
Above a thousand URLs a row has a ceiling instead: so many occurrences are known.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from usp._check.findings import Occurrence
from usp._check.url_key import url_key
from usp._json import parse_json
from usp._whole_file import whole_file
from usp.exceptions import UsageError

MAX_KEYS: Final = 1000
"""A row with more URLs has a ceiling."""
_VERSION: Final = 1
_Key = tuple[str, str | None]


@dataclass(slots=True)
class _Row:
    """What is known of one code in one sitemap."""

    urls: dict[str, bool] = field(default_factory=dict)
    """The keys of URLs, empty for the document; and whether each was found again."""
    ceiling: int | None = None
    """How many are known, if there are too many to list."""
    count: int = 0
    """How many were found."""

    def add(self, key: str) -> None:
        self.count += 1
        if self.ceiling is None:
            self.urls[key] = True
            if len(self.urls) > MAX_KEYS:
                self.urls.clear()
                self.ceiling = 0

    def covers(self, key: str) -> bool:
        self.count += 1
        if self.ceiling is not None:
            return self.count <= self.ceiling
        if key not in self.urls:
            return False
        self.urls[key] = True
        return True


class Baseline:
    """The rows of a baseline."""

    def __init__(self) -> None:
        self._rows: dict[_Key, _Row] = {}

    def add(self, occurrence: Occurrence) -> None:
        """Make an occurrence known."""
        row = self._rows.setdefault((occurrence.code, occurrence.sitemap_url), _Row())
        row.add(_key(occurrence))

    def covers(self, occurrence: Occurrence) -> bool:
        """Tell whether an occurrence is known."""
        row = self._rows.get((occurrence.code, occurrence.sitemap_url))
        return row is not None and row.covers(_key(occurrence))

    def stale(self) -> Iterator[tuple[str, str | None, str | None]]:
        """Yield code, sitemap and key of what is known, but was not found again."""
        for (code, sitemap_url), row in sorted(self._rows.items(), key=_order):
            if row.ceiling is not None and not row.count:
                yield code, sitemap_url, None
            for key, is_used in row.urls.items():
                if not is_used:
                    yield code, sitemap_url, key or None

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the rows to a file, which is replaced as a whole."""
        rows = [
            {
                "code": code,
                "sitemap_url": sitemap_url,
                **({"urls": sorted(row.urls)} if row.ceiling is None else {"count": row.count}),
            }
            for (code, sitemap_url), row in sorted(self._rows.items(), key=_order)
        ]
        content = {"schema_version": _VERSION, "known": rows}
        with whole_file(os.fspath(path), replace=True, append=False) as file:
            file.write(json.dumps(content, indent=1, ensure_ascii=False).encode() + b"\n")

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read the rows of a file.

        :raises UsageError: if it can't be read, or is no baseline.
        """
        try:
            content = parse_json(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise UsageError(f"baseline {path} can't be read: {error.strerror}.") from error
        except ValueError as error:
            raise UsageError(f"baseline {path} is not JSON: {error}.") from error
        try:
            baseline = cls()
            for row in _rows(content):
                key = str(row["code"]), row["sitemap_url"]
                ceiling = int(row["count"]) if "count" in row else None
                urls = {str(url): False for url in row.get("urls", ())}
                baseline._rows[key] = _Row(urls, ceiling)
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"{path} is no baseline of usp check: {error!r}.") from error
        return baseline


def _rows(content: Any) -> list[dict[str, Any]]:  # noqa: ANN401 -- any JSON
    if content["schema_version"] != _VERSION:
        raise ValueError(f"schema_version {content['schema_version']!r}")
    return list(content["known"])


def _key(occurrence: Occurrence) -> str:
    return url_key(occurrence.url) if occurrence.url else ""


def _order(item: tuple[_Key, _Row]) -> tuple[str, str]:
    (code, sitemap_url), _ = item
    return code, sitemap_url or ""
