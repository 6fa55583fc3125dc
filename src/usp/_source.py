"""Sources: what a caller names (a site, the URL of a sitemap, a file, standard input), and where
the crawl of it starts.

An unusable source raises ``UsageError`` at the call; faults in a document do not.
"""

import errno
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final, Self, TypeVar
from urllib.parse import urlsplit

from usp._crawl import Crawl
from usp._crawl.children import child_selection
from usp._crawl.deadline import TIME_IS_UP_IN_BODY, TIME_LIMIT
from usp._crawl.discovery import (
    KNOWN_PATHS,
    DiscoveryPlan,
    StartUrl,
    discovery_plan,
    in_fixed_order,
)
from usp._crawl.options import CrawlOptions
from usp._crawl.policy import Policy, selection_of
from usp._crawl.scheme_choice import Site
from usp._crawl.urls import (
    check_homepage,
    check_paths,
    is_start_url,
    schemes_to_try,
    url_with_scheme,
)
from usp._drive.events import log_homepage
from usp._drive.in_time import in_time
from usp._drive.time_limit import GRACE_SECONDS
from usp._parse import ChildSelection, Document, Ended, Kind, Source, inspect
from usp._signatures import SIGNATURE_BYTES, kind_of_file
from usp._store import Store
from usp._validate import argument_error, check_flags, shown_argument
from usp.exceptions import StorageError, UsageError
from usp.helpers import strip_url_to_homepage
from usp.objects.outcome import FoundBy

SourceName = str | os.PathLike[str]
"""A homepage, a bare domain (which means https), the URL of a sitemap, a file, or ``-``."""


class WebName(str):
    """A domain or URL without a scheme that is known to be no file, whatever files there are.

    With a scheme, it could not be read over http where https doesn't respond.
    """

    __slots__ = ()


STDIN: Final = "-"
_FILE_NAME: Final = re.compile(
    r"^[./~\\]|^[^/]*\.(?:xml|gz|zst|txt|rss|atom|json|jsonl|csv|tsv|parquet|arrow|db|warc)$",
    re.IGNORECASE,
)
"""What looks like a file name; no domain does."""
_SITEMAP_PATH: Final = re.compile(
    r"sitemap|\.(?:xml|rss|atom|txt|json)(?:\.gz)?$|/(?:feed|rss|atom)/?$", re.IGNORECASE
)
"""The path of a URL that is a sitemap rather than any page of the site."""
_TABLES: Final = "not a sitemap: usp check, diff and report read it, if it is an export of usp"
_NO_SITEMAPS: Final = {
    "recording": "a recording, not a sitemap: name the site that was recorded, and read it with "
    "--replay (in Python, with a ReplayWebClient)",
    "database": f"an SQLite database, {_TABLES}",
    "parquet": f"a Parquet file, {_TABLES}",
    "arrow": f"an Arrow file, {_TABLES}",
}
"""What to say of files that a crawl can't start from."""
_WHITESPACE: Final = re.compile(r"\s")
_CHUNK: Final = 256 * 1024
_UNREAD: Final = Document(
    "",
    Kind.INVALID,
    (),
    code=TIME_LIMIT,
    reason="the crawl reached its time limit before the document was read",
)
"""A file for which there was no time."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class CrawlStart:
    """Where a crawl starts."""

    homepage: str
    """The homepage of the site; empty if there is none."""
    site: Site
    other: Site | None = None
    """The same with http, if the caller named no scheme: for a site that has no https."""
    file: "LocalFile | None" = field(default=None, kw_only=True)
    """The file, if the source is one; it needs no request."""

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
        name = check_source(source)
        if is_local(source):
            _check_discovery(use_robots, use_known_paths)
            return cls("", Site(name, ()), file=LocalFile(name, store))
        return cls.for_url(name, policy, use_robots=use_robots, use_known_paths=use_known_paths)

    @classmethod
    def for_url(
        cls, name: str, policy: Policy, *, use_robots: bool, use_known_paths: bool | None
    ) -> Self:
        """Start at a homepage or a sitemap, never at a file."""
        _check_discovery(use_robots, use_known_paths)
        url = start_url(name)
        homepage = strip_url_to_homepage(url)
        if names_a_document(url):
            given = schemes_to_try(name, url)
            return cls(homepage, *(Site(one, (StartUrl(one, FoundBy.GIVEN),)) for one in given))
        plan = discovery_plan(policy, use_robots=use_robots, use_known_paths=use_known_paths)
        return cls(homepage, *_sites(plan, schemes_to_try(name, homepage)))

    def crawl(self, policy: Policy, options: CrawlOptions) -> Crawl:
        """Return the crawl. If the source is a file, it is read now, which may take seconds.

        :raises UsageError: if the file can't be read.
        """
        now, started = datetime.now(UTC), time.monotonic()
        if self.file is None:
            return Crawl._started(*self.site, policy, options, now, other=self.other)
        children = child_selection(policy, selection_of(policy, now), options)
        document = self.file.document(policy, children, started)
        start_url = StartUrl(self.file.name, FoundBy.GIVEN, document=document)
        crawl = Crawl._started(self.file.name, [start_url], policy, options, now)
        crawl._deadline.has_passed(started)  # its time began when the file was opened
        return crawl


def _check_discovery(use_robots: bool, use_known_paths: bool | None) -> None:
    check_flags(use_robots=use_robots)
    if use_known_paths is not None:
        check_flags(use_known_paths=use_known_paths)


def start_url(name: str) -> str:
    """Return the URL that a name stands for, if a crawl can start there.

    :raises UsageError: if it can't; ``urlsplit`` reads every URL that this returns.
    """
    url = url_with_scheme(name)
    if not is_start_url(url) or _WHITESPACE.search(url):
        raise UsageError(f"{shown_argument(name)} is neither a URL, nor a domain, nor a file.")
    return url


def looks_like_sitemap(url: str) -> bool:
    """Tell whether a URL is that of a sitemap rather than of any page of the site."""
    return bool(_SITEMAP_PATH.search(urlsplit(url).path))


def names_a_document(url: str) -> bool:
    """Tell whether a URL is that of one sitemap, and not of a website: it has a path or a query."""
    parts = urlsplit(url)
    return bool(parts.path.strip("/") or parts.query)


def _sites(plan: DiscoveryPlan, homepages: Iterable[str]) -> Iterator[Site]:
    return (Site(homepage, tuple(plan.start_urls(homepage))) for homepage in homepages)


def source_name(source: object) -> str:
    """Return a source as a string.

    :raises UsageError: if it is neither a string nor a path.
    """
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
    if isinstance(source, WebName):
        return False
    if source == STDIN or not isinstance(source, str):
        return True
    return "://" not in source and (os.path.lexists(source) or bool(_FILE_NAME.search(source)))


def check_source(source: SourceName) -> str:
    """Return the name of a source, if a crawl can start there: nothing is fetched to tell that.

    Of a file, the first bytes are read; what a pipe has is known only when it is read.

    :raises UsageError: if it can't: it is no URL, or a file that can't be read, or is no sitemap.
    """
    name = source_name(source)
    if is_local(source):
        check_readable(name)
        _check_signature(name)
    else:
        start_url(name)
    return name


def check_readable(name: str) -> None:
    """Check that a file can be opened, without opening it: it may be a pipe.

    :raises UsageError: if it can't.
    """
    with as_usage_error(name):
        if name == STDIN:
            standard_input()
        elif Path(name).is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        elif not os.access(name, os.R_OK):
            Path(name).stat()  # says what is missing
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file, and the store into which it is read."""

    name: str
    store: Store

    def document(self, policy: Policy, children: ChildSelection, started: float) -> Document:
        """Read the file, as long as there is time; its relative URLs stay relative.

        What came of a pipe before its time was up is read like a body that broke off.

        :raises UsageError: if it can't be read.
        """
        reading = _FileReading(self.name, policy, started)
        with as_usage_error(self.name):
            body = self.store.keep(reading)
        _check_head(self.name, next(iter(body), b""))  # of a pipe, too
        source = Source(
            body,
            None,
            self.name,
            limit=policy.max_document_bytes,
            truncated=TIME_IS_UP_IN_BODY if reading.is_cut else "",
            extensions=policy.extensions,
        )
        if reading.is_cut and not any(body):
            return _UNREAD
        try:
            return inspect(source, None, children, _time_limit(policy, started, GRACE_SECONDS))
        except TimeoutError:
            return _UNREAD


def _check_signature(name: str) -> None:
    """Check that a file may be a sitemap, if it can be read more than once."""
    if name != STDIN and Path(name).is_file():
        with as_usage_error(name), Path(name).open("rb") as file:
            head = file.read(SIGNATURE_BYTES)
        _check_head(name, head)


def _check_head(name: str, head: bytes) -> None:
    kind = kind_of_file(head)
    if kind:
        raise UsageError(f"{name} is {_NO_SITEMAPS[kind]}.")


def _time_limit(policy: Policy, started: float, grace: float = 0.0) -> Ended:
    seconds = policy.max_seconds
    return lambda: seconds is not None and time.monotonic() >= started + seconds + grace


@contextmanager
def as_usage_error(name: str) -> Iterator[None]:
    """Raise a ``UsageError`` where a file can't be read."""
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        raise UsageError(f"{name} can't be read: {error.strerror or error}.") from error
    except ValueError as error:  # a name that no system accepts
        raise UsageError(f"{name!r} can't be read: {error}.") from error


class _FileReading:
    """The bytes of a file, as far as they come in time."""

    def __init__(self, name: str, policy: Policy, started: float) -> None:
        self._name = name
        self._limit = policy.max_document_bytes
        self._ended = _time_limit(policy, started)
        # Standard input and named pipes may have nothing to read for ever.
        self._may_block = policy.max_seconds is not None and not Path(name).is_file()
        self.is_cut = False
        """Whether the time was up before the end of the file."""

    def __iter__(self) -> Iterator[bytes]:
        left = self._limit
        try:
            with self._in_time(self._open) as file:
                # What a pipe has, without waiting for more.
                read = getattr(file, "read1", file.read)
                # One byte more than the limit shows that the file is longer.
                while left >= 0 and (chunk := self._in_time(partial(read, min(_CHUNK, left + 1)))):
                    left -= len(chunk)
                    yield chunk
        except TimeoutError:
            if not self._ended():  # an error of the file system
                raise
            self.is_cut = True

    def _open(self) -> AbstractContextManager[BinaryIO]:
        if self._name == STDIN:
            return nullcontext(standard_input())
        # A buffered file can't be closed while a thread waits for its bytes.
        return Path(self._name).open("rb", buffering=0)

    def _in_time(self, call: Callable[[], _T]) -> _T:
        if self._ended():
            raise TimeoutError
        return in_time(call, self._ended) if self._may_block else call()


def standard_input() -> BinaryIO:
    """Return standard input.

    :raises OSError: if the process has none, or it has no bytes.
    """
    file: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    if file is None:
        raise OSError("there is no standard input")
    return file
