"""``usp ls``: prints the sitemaps and pages of a website.

stdout, or the file of ``-o``, gets the URLs, one per line: those of a stream while they arrive,
those of a tree when it is there. stderr gets a few lines about what failed, and a last line with
what was found; the exit code gives the outcome.
"""

import argparse
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import Any, Final, TextIO

from usp._crawl.deadline import ReadingTime
from usp._crawl.options import CrawlOptions
from usp._crawl.selected_pages import columns_of
from usp._crawl.source_result import is_worth_keeping
from usp._display import one_line, shown, shown_url
from usp._drive.run import CrawlClient
from usp._source import CrawlStart
from usp._store import Store
from usp.cli._exit import Exit
from usp.cli._log import setup_logging_for
from usp.cli._outcome import Summary, reason, report
from usp.cli._output import tell
from usp.cli._progress import Progress
from usp.cli._settings import Settings
from usp.cli._source import NamedSource, SourceKind
from usp.cli._target import output, tell_not_written
from usp.objects.events import Event, Observer, PagesRead
from usp.objects.sitemap import AbstractSitemap, IndexWebsiteSitemap
from usp.stream import PageStream, StreamStart, page_stream
from usp.tree import sitemap_tree, sitemap_tree_for_homepage
from usp.web_client.abstract_client import AbstractWebClient

Shorten = Callable[[str], str]


class _TreeReading:
    """Reads the pages of a tree as long as there is time: ``--max-seconds`` is for the command."""

    def __init__(self, progress: Progress, max_seconds: float | None) -> None:
        self._progress = progress
        self.time = ReadingTime(max_seconds, lambda: progress.seconds)

    def urls(self, sitemap: AbstractSitemap) -> Iterator[str]:
        """Yield the URLs of the pages that a sitemap lists itself, and count them."""
        if self.time.is_over:
            return
        try:
            for columns in columns_of(sitemap._own_pages(), ("url",), self.time.has_ended):
                self._progress.tally.pages += len(columns["url"])
                yield from columns["url"]
        except TimeoutError:
            self.time.end()


def _tabtree(root: AbstractSitemap, shorten: Shorten, reading: _TreeReading) -> Iterable[str]:
    if [sub.url for sub in root.sub_sitemaps] == [root.url]:
        (root,) = root.sub_sitemaps  # the source is one sitemap: print it as the root
    yield shown_url(root.url)
    yield from _nested(root, shorten, reading, depth=1)


def _nested(
    sitemap: AbstractSitemap, shorten: Shorten, reading: _TreeReading, depth: int
) -> Iterable[str]:
    tabs = "\t" * depth
    for url in reading.urls(sitemap):
        yield tabs + shorten(url)
    for child in sitemap.sub_sitemaps:
        yield tabs + shorten(child.url)
        yield from _nested(child, shorten, reading, depth + 1)


def _tried(root: IndexWebsiteSitemap, shorten: Shorten, reading: _TreeReading) -> Iterable[str]:
    for attempt in root.tried:
        columns = (attempt.result, attempt.stage, shorten(attempt.url), shown(reason(attempt)))
        yield "\t".join(columns)
    # Whether documents are damaged shows when they are read.
    for sitemap in root.all_sitemaps():
        deque(reading.urls(sitemap), maxlen=0)


_OfTree = Callable[[IndexWebsiteSitemap, Shorten, _TreeReading], Iterable[str]]
_OF_TREES: Final[dict[str, _OfTree]] = {"tabtree": _tabtree, "tried": _tried}
"""The formats that need the whole tree."""


def run(args: argparse.Namespace) -> Exit:
    """Crawl, print the URLs, then print a summary to stderr."""
    setup_logging_for(args)
    source = NamedSource.of(args, detect_sitemaps=False)
    settings = Settings.of(args)
    summary: Summary | None = None

    def is_kept() -> bool:
        return summary is not None and _is_worth_keeping(summary, args.format)

    with closing(settings.web_client()) as client, output(args, is_kept) as out:
        if source.doubt and not args.quiet:
            tell(source.doubt)
        summary = _LISTINGS[args.format](args, Crawling(source, settings, client), out)
    if not is_kept():
        tell_not_written(args)
    return report(summary, args)


def _is_worth_keeping(summary: Summary, format: str) -> bool:
    """Tell whether a file takes the place of an earlier one; what was tried always does."""
    return is_worth_keeping([summary.result], None if format == "tried" else summary.pages)


class Crawling:
    """The crawl of a source with the settings of a command: as a tree, or as a stream."""

    def __init__(self, source: NamedSource, settings: Settings, client: AbstractWebClient) -> None:
        self._source = source
        self._policy = settings.policy
        self._client = client
        self._discovery: dict[str, Any] = dict(settings.discovery)
        self.max_seconds = settings.policy.max_seconds

    def tree(self, progress: Progress) -> IndexWebsiteSitemap:
        """Return the tree."""
        observer = progress.tally.observe
        if self._source.kind is SourceKind.SITE:
            return sitemap_tree_for_homepage(
                self._source.name,
                self._client,
                observer=observer,
                policy=self._policy,
                **self._discovery,
            )
        return sitemap_tree(
            self._source.name, web_client=self._client, observer=observer, policy=self._policy
        )

    def stream(self, observer: Observer) -> PageStream:
        """Return the pages."""
        store = Store(file_per_document=True)
        start = (
            CrawlStart.for_homepage(self._source.name, self._policy, **self._discovery)
            if self._source.kind is SourceKind.SITE
            else CrawlStart.for_source(
                self._source.name, self._policy, store=store, **self._discovery
            )
        )
        options = CrawlOptions(observer=observer)
        client = CrawlClient(self._client)
        return page_stream(StreamStart.at(start, self._policy, options, client, store))

    def rows(
        self, args: argparse.Namespace, progress: Progress, observer: Observer, out: TextIO
    ) -> Summary:
        """Write the rows of the table of pages."""
        from usp.cli._rows import list_rows  # the other formats need none of it

        crawl_options = {"web_client": self._client, "policy": self._policy, **self._discovery}
        return list_rows(args, self._source.name, crawl_options, progress, observer, out)


def _list_tree(args: argparse.Namespace, crawling: Crawling, out: TextIO) -> Summary:
    with Progress.of(args) as progress:
        tree = crawling.tree(progress)
        progress.begin_output(out)
        shorten = _shortener(tree.url) if args.strip_url else shown_url
        reading = _TreeReading(progress, crawling.max_seconds)
        lines = _OF_TREES[args.format](tree, shorten, reading)
        out.writelines(f"{line}\n" for line in lines)
        return Summary.of_tree(tree, progress.tally.pages, progress.seconds, reading.time)


def _list_stream(args: argparse.Namespace, crawling: Crawling, out: TextIO) -> Summary:
    progress = Progress.of(args, prints_to=out)
    with progress, crawling.stream(_flushing(progress, out)) as stream:
        shorten: Shorten | None = None
        for page in progress.counted(stream):
            # The scheme of the site is known as soon as there is a page.
            shorten = shorten or (_shortener(stream.url) if args.strip_url else shown_url)
            out.write(f"{shorten(page.url)}\n")
        return Summary.of_stream(stream, progress.tally.pages, progress.seconds)


def _list_rows(args: argparse.Namespace, crawling: Crawling, out: TextIO) -> Summary:
    progress = Progress.of(args, prints_to=out)
    with progress:
        return crawling.rows(args, progress, _flushing(progress, out), out)


def _flushing(progress: Progress, out: TextIO) -> Observer:
    """Return the observer of a stream: what was read of a sitemap is printed before the next."""

    def observe(event: Event) -> None:
        progress.tally.observe(event)
        if isinstance(event, PagesRead):
            out.flush()  # the next sitemap may take a while

    return observe


_LISTINGS: Final[dict[str, Callable[[argparse.Namespace, Crawling, TextIO], Summary]]] = {
    **dict.fromkeys(_OF_TREES, _list_tree),
    "pages": _list_stream,
    **dict.fromkeys(("csv", "jsonl"), _list_rows),
}
"""What makes each format."""


def _shortener(homepage: str) -> Shorten:
    """Return a function that turns URLs of the site into paths; other URLs stay as they are."""
    site = homepage.rstrip("/")

    def shorten(url: str) -> str:
        if url == site:
            return "/"
        return one_line(url.removeprefix(site)) if url.startswith(f"{site}/") else shown_url(url)

    return shorten
