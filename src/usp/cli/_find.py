"""``usp find``: says where the sitemaps of a website are, without reading their pages.

Each URL that was tried is one line below its discovery stage: what is there, how many entries it
has, its size and its date; or why nothing is there.
"""

import argparse
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Final, TextIO

from usp._cause import cause
from usp._display import one_line, shown, shown_url
from usp._find import find
from usp._json import json_text
from usp._quantities import size
from usp.cli._exit import Exit
from usp.cli._log import setup_logging_for
from usp.cli._outcome import Summary, report
from usp.cli._output import tell
from usp.cli._progress import Progress
from usp.cli._settings import Settings
from usp.cli._source import NamedSource, SourceKind
from usp.cli._target import output
from usp.objects.discovery import Discovery, TriedURL
from usp.objects.outcome import Result

_STAGES: Final = ("robots.txt", "known paths", "homepage", "newer paths")
"""The stages of a website's discovery; feeds are on the homepage."""
_KINDS: Final = {"sitemapindex": "index", "robots": "robots.txt"}
"""What a kind is called here, if not by its name."""
_NESTED: Final = "indexes"
"""The stage of what indexes list: it is printed below them."""
_WIDTH: Final = 80
_MIN_WIDTH: Final = 60
_FACTS_WIDTH: Final = 10 + 2 + 9 + 2 + 8 + 2 + 10
"""The columns of kind, entries, size and date, with two spaces between."""


def run(args: argparse.Namespace) -> Exit:
    """Crawl, print what was tried, then print a summary to stderr."""
    setup_logging_for(args)
    source = NamedSource.of(args)
    settings = Settings.of(args)
    with closing(settings.web_client()) as client, output(args) as out:
        if source.doubt and not args.quiet:
            tell(source.doubt)
        with Progress.of(args) as progress:
            found = find(
                source.name,
                web_client=client,
                shallow=bool(args.shallow),
                observer=progress.tally.observe,
                policy=settings.policy,
                **settings.discovery,
            )
            progress.begin_output(out)
            is_site = source.kind is SourceKind.SITE
            out.writelines(f"{line}\n" for line in _FORMATS[args.format](found, is_site, out))
    return report(Summary.of_discovery(found), args)


def _text(found: Discovery, is_site: bool, out: TextIO) -> Iterator[str]:
    width, cut = _WIDTH, None
    if out is sys.stdout and out.isatty():
        cut = width = max(shutil.get_terminal_size((_WIDTH, 0)).columns, _MIN_WIDTH)
    site = found.url.rstrip("/")
    yield shown_url(found.url)
    ran: list[str] = []
    top = 0
    for tried in found.tried:
        if tried.stage != _NESTED:
            top = tried.level
            if tried.stage not in ran:
                ran.append(tried.stage)
                yield from ("", tried.stage)
        indent = "  " * (1 + tried.level - top)
        yield from (line[:cut] for line in _row(tried, site, indent, width))
    if is_site and (left := [stage for stage in _STAGES if stage not in ran]):
        yield from ("", f"not tried: {', '.join(left)}")


def _row(tried: TriedURL, site: str, indent: str, width: int) -> Iterator[str]:
    """Yield the line of a URL; two if its path is long."""
    mark = "+" if tried.result is Result.SITEMAP else "-"
    name = f"{indent}{mark} {_path(tried.url, site)}"
    facts = _facts(tried) if mark == "+" else _failure(tried, site)
    room = width - _FACTS_WIDTH
    if len(name) + 2 > room:
        yield name
        name = ""
    yield f"{name:{room}}{facts}".rstrip()


def _facts(tried: TriedURL) -> str:
    """Return kind, entries, size and date, in columns."""
    kind = _KINDS.get(tried.kind or "", tried.kind or "")
    entries = "" if tried.entries is None else f"{tried.entries:,}"
    bytes_ = "" if tried.bytes is None else size(tried.bytes)
    changed = tried.index_lastmod or tried.http_last_modified
    date = f"{changed:%Y-%m-%d}" if changed else ""
    return f"{kind:10}  {entries:>9}  {bytes_:>8}  {date:10}"


def _failure(tried: TriedURL, site: str) -> str:
    if tried.result is Result.ALREADY_FOUND:
        detail = _path(tried.final_url or "", site)
    else:
        detail = shown(cause(tried.detail))
    return f"{tried.result}: {detail}" if detail else str(tried.result)


def _path(url: str, site: str) -> str:
    """Return a URL of the site as a path, as it is printed; other URLs stay as they are."""
    return one_line(url.removeprefix(site)) if url.startswith(f"{site}/") else shown_url(url)


def _json(found: Discovery, is_site: bool, out: TextIO) -> Iterator[str]:
    del is_site, out
    yield json_text(found.to_dict(), indent=2)


def _jsonl(found: Discovery, is_site: bool, out: TextIO) -> Iterator[str]:
    del is_site, out
    for tried in found.tried:
        yield json_text(tried.to_dict())


_FORMATS: Final[dict[str, Callable[[Discovery, bool, TextIO], Iterator[str]]]] = {
    "text": _text,
    "json": _json,
    "jsonl": _jsonl,
}
