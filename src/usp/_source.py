"""Sources: what a caller names (a site, the URL of a sitemap, a file, standard input), and where
the crawl of it starts.

An unusable source raises ``UsageError`` at the call; faults in a document do not.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final, Self

from usp._crawl import Crawl
from usp._crawl.discovery import (
    KNOWN_PATHS,
    DiscoveryPlan,
    StartUrl,
    discovery_plan,
    in_fixed_order,
)
from usp._crawl.options import CrawlOptions
from usp._crawl.policy import Policy
from usp._crawl.scheme_choice import Site
from usp._crawl.urls import (
    check_homepage,
    check_paths,
    is_start_url,
    schemes_to_try,
    url_with_scheme,
)
from usp._drive.events import log_homepage
from usp._parse import Source, inspect
from usp._store import Store
from usp._validate import argument_error, check_flags
from usp.exceptions import StorageError, UsageError
from usp.helpers import strip_url_to_homepage
from usp.objects.outcome import FoundBy

SourceName = str | os.PathLike[str]
"""A homepage, a bare domain (which means https), the URL of a sitemap, a file, or ``-``."""

_STDIN: Final = "-"
_FILE_NAME: Final = re.compile(r"^[./~\\]|^[^/]*\.(?:xml|gz|txt|rss|atom|json)$", re.IGNORECASE)
"""What looks like a file name; no domain does."""
_WHITESPACE: Final = re.compile(r"\s")
_CHUNK: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class CrawlStart:
    """Where a crawl starts."""

    homepage: str
    """The homepage of the site; empty if there is none."""
    site: Site
    other: Site | None = None
    """The same with http, if the caller named no scheme: for a site that has no https."""

    @classmethod
    def for_homepage(
        cls,
        url: str,
        policy: Policy,
        *,
        use_robots: bool | None,
        use_known_paths: bool | None,
        known_paths: Iterable[str] = KNOWN_PATHS,
        normalize: bool | None = True,
    ) -> Self:
        """Start at a homepage, with the scope of 1.8.1."""
        check_flags(
            # None is False, as in 1.8.1.
            use_robots=False if use_robots is None else use_robots,
            use_known_paths=False if use_known_paths is None else use_known_paths,
            normalize_homepage_url=False if normalize is None else normalize,
        )
        homepage = _homepage(url, normalize=normalize)
        plan = discovery_plan(
            policy,
            known_paths,
            use_robots=bool(use_robots),
            use_known_paths=bool(use_known_paths),
            classic=True,
        )
        return cls(homepage, *_sites(plan, schemes_to_try(url, homepage)))

    @classmethod
    def for_source(
        cls,
        source: SourceName,
        policy: Policy,
        *,
        use_robots: bool,
        use_known_paths: bool | None,
        store: Store,
    ) -> Self:
        """Start at whatever the caller names."""
        check_flags(use_robots=use_robots)
        if use_known_paths is not None:
            check_flags(use_known_paths=use_known_paths)
        name = _name(source)
        if is_local(source):
            return cls("", Site(name, (_local_document(name, policy, store),)))
        url = url_with_scheme(name)
        if not is_start_url(url) or _WHITESPACE.search(url):
            raise UsageError(f"{name!r} is neither a URL, nor a domain, nor a file.")
        homepage = strip_url_to_homepage(url)
        if url.rstrip("/") != homepage.rstrip("/"):
            given = schemes_to_try(name, url)
            return cls(homepage, *(Site(one, (StartUrl(one, FoundBy.GIVEN),)) for one in given))
        plan = discovery_plan(
            policy, use_robots=use_robots, use_known_paths=use_known_paths, classic=False
        )
        return cls(homepage, *_sites(plan, schemes_to_try(name, homepage)))

    def crawl(self, policy: Policy, options: CrawlOptions) -> Crawl:
        """Return the crawl."""
        now = datetime.now(UTC)
        return Crawl._started(*self.site, policy, options, now, other=self.other)


def _sites(plan: DiscoveryPlan, homepages: Iterable[str]) -> Iterator[Site]:
    return (Site(homepage, tuple(plan.start_urls(homepage))) for homepage in homepages)


def _name(source: object) -> str:
    name = os.fspath(source) if isinstance(source, os.PathLike) else source
    if not isinstance(name, str):
        raise argument_error("source", "a URL, a domain or a file", source)
    return name


def known_and_extra_paths(known: Iterable[str], extra: Iterable[str] | None) -> Iterable[str]:
    """Return the paths to try: known ones in our order, then the caller's in theirs.

    A set gets an order that doesn't change from run to run.
    """
    more = [] if extra is None else check_paths("extra_known_paths", extra)
    more = in_fixed_order(more) if isinstance(extra, set | frozenset) else more
    return dict.fromkeys([*in_fixed_order(known), *more])


def _homepage(given: str, *, normalize: bool | None) -> str:
    url = check_homepage("homepage_url", given)
    if not normalize:
        return url if url.endswith("/") else f"{url}/"
    homepage = strip_url_to_homepage(url)
    if homepage != url:
        log_homepage(url, homepage)
    return homepage


def is_local(source: SourceName) -> bool:
    """Tell whether a source is a file: a path always is, a str if it exists or looks like one."""
    if source == _STDIN or not isinstance(source, str):
        return True
    return "://" not in source and (os.path.lexists(source) or bool(_FILE_NAME.search(source)))


def _local_document(name: str, policy: Policy, store: Store) -> StartUrl:
    """Return a file as a start URL that needs no request; its relative URLs stay relative."""
    try:
        body = store.keep(_chunks(name, policy.max_document_bytes))
    except StorageError:
        raise
    except OSError as error:
        raise UsageError(f"{name} can't be read: {error.strerror or error}.") from error
    except ValueError as error:  # a name that no system accepts
        raise UsageError(f"{name!r} can't be read: {error}.") from error
    limit = policy.max_document_bytes
    source = Source(body, None, name, limit=limit, extensions=policy.extensions)
    return StartUrl(name, FoundBy.GIVEN, document=inspect(source))


def _chunks(name: str, limit: int) -> Iterator[bytes]:
    with nullcontext(_stdin()) if name == _STDIN else Path(name).open("rb") as file:
        while limit >= 0 and (chunk := file.read(min(_CHUNK, limit + 1))):
            limit -= len(chunk)  # one byte more than the limit shows that the file is longer
            yield chunk


def _stdin() -> BinaryIO:
    """Return standard input, unless the process has none or it has no bytes."""
    file: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    if file is None:
        raise OSError("there is no standard input")
    return file
