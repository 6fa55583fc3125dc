"""What a caller names (a site, a sitemap on the web, a file, standard input), and where that leads.

Rules of the room: what can't be meant raises at once, in one line; what a document is, is data.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Self

from usp._crawl.discovery import KNOWN_PATHS, StartUrl, discovery_plan, in_fixed_order
from usp._crawl.policy import Policy
from usp._crawl.urls import check_paths, check_start_url, is_start_url
from usp._drive import events as report
from usp._parse import Source, inspect
from usp._store import Store
from usp._validate import argument_error, check_flags
from usp.exceptions import SitemapException
from usp.helpers import strip_url_to_homepage
from usp.objects.outcome import FoundBy

SourceName = str | os.PathLike[str]
"""A homepage, a bare domain (which means https), the URL of a sitemap, a file, or ``-``."""

_STDIN: Final = "-"
_FILE: Final = re.compile(r"^[./~\\]|^[^/]*\.(?:xml|gz|txt|rss|atom|json)$", re.IGNORECASE)
"""What is named like a file; no domain of the web is."""
_BLANK: Final = re.compile(r"\s")
_PIECE: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class CrawlStart:
    """Where a crawl begins."""

    name: str
    """What stands for it at the root of the tree."""
    homepage: str
    """Whose site it is; empty where nobody can emit."""
    start_urls: Iterable[StartUrl]

    @classmethod
    def of_homepage(
        cls,
        url: str,
        policy: Policy,
        *,
        use_robots: bool,
        use_known_paths: bool,
        known_paths: Iterable[str] = KNOWN_PATHS,
        normalize: bool = True,
    ) -> Self:
        """Begin at a homepage, as 1.8.1 does."""
        check_flags(  # programs for 1.8.1 write None for False
            use_robots=use_robots or False,
            use_known_paths=use_known_paths or False,
            normalize_homepage_url=normalize or False,
        )
        homepage = _homepage(url, normalize=normalize)
        stages = discovery_plan(
            policy,
            known_paths,
            use_robots=bool(use_robots),
            use_known_paths=bool(use_known_paths),
            classic=True,
        )
        return cls(homepage, homepage, stages.start_urls(homepage))

    @classmethod
    def of_source(
        cls,
        source: SourceName,
        policy: Policy,
        *,
        use_robots: bool,
        use_known_paths: bool | None,
        store: Store,
    ) -> Self:
        """Begin at whatever is named."""
        check_flags(use_robots=use_robots)
        if use_known_paths is not None:
            check_flags(use_known_paths=use_known_paths)
        name = _name(source)
        if is_local(source):
            start_url = _seed_at_hand(name, policy, store)
            return cls(name, "", [start_url])
        url = url_of(name)
        if not is_start_url(url) or _BLANK.search(url):
            raise SitemapException(f"{name!r} is neither a URL, nor a domain, nor a file.")
        homepage = strip_url_to_homepage(url)
        if url.rstrip("/") != homepage.rstrip("/"):
            return cls(url, homepage, [StartUrl(url, FoundBy.GIVEN)])
        stages = discovery_plan(
            policy, use_robots=use_robots, use_known_paths=use_known_paths, classic=False
        )
        return cls(homepage, homepage, stages.start_urls(homepage))


def _name(source: object) -> str:
    name = os.fspath(source) if isinstance(source, os.PathLike) else source
    if not isinstance(name, str):
        raise argument_error("source", "a URL, a domain or a file", source)
    return name


def url_of(name: str) -> str:
    """Return the URL that is meant: a bare domain means https."""
    return name if "://" in name else f"https://{name}"


def known_and_extra(known: Iterable[str], extra: Iterable[str] | None) -> Iterable[str]:
    """Return paths to try: known ones in our order, then the caller's, in the order of a list.

    A set gets an order that doesn't change from run to run.
    """
    more = [] if extra is None else check_paths("extra_known_paths", extra)
    more = in_fixed_order(more) if isinstance(extra, set | frozenset) else more
    return dict.fromkeys([*in_fixed_order(known), *more])


def _homepage(url: str, *, normalize: bool) -> str:
    check_start_url("homepage_url", url)
    if not normalize:
        return url if url.endswith("/") else f"{url}/"
    homepage = strip_url_to_homepage(url)
    if homepage != url:
        report.assumed_homepage(url, homepage)
    return homepage


def is_local(source: SourceName) -> bool:
    """Emit whether a file is meant: a path always, a text if there is such a file or may be."""
    if source == _STDIN or not isinstance(source, str):
        return True
    return "://" not in source and (os.path.lexists(source) or bool(_FILE.search(source)))


def _seed_at_hand(name: str, policy: Policy, store: Store) -> StartUrl:
    """Return a document that needn't be asked for; it has no URL that others are relative to."""
    try:
        kept = store.keep(_pieces(name, policy.max_document_bytes))
    except OSError as error:
        raise SitemapException(f"{name} can't be read: {error.strerror or error}.") from error
    except ValueError as error:  # what no system takes for a name
        raise SitemapException(f"{name!r} can't be read: {error}.") from error
    limit = policy.max_document_bytes
    source = Source(kept, None, name, limit=limit, extensions=policy.extensions)
    document = inspect(source)
    return StartUrl(name, FoundBy.GIVEN, document=document)


def _pieces(name: str, limit: int) -> Iterator[bytes]:
    with nullcontext(_stdin()) if name == _STDIN else Path(name).open("rb") as file:
        while limit >= 0 and (piece := file.read(min(_PIECE, limit + 1))):
            limit -= len(piece)  # one byte more than allowed shows that it was cut
            yield piece


def _stdin() -> BinaryIO:
    """Return standard input, unless the process has none or something without bytes is there."""
    file: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    if file is None:
        raise OSError("there is no standard input")
    return file
