"""What the user named: a website, one sitemap, or a file, as people type it on the command line.

What was understood is said on stderr where there could be doubt.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from urllib.parse import urlsplit

from usp._crawl.urls import check_homepage
from usp._source import STDIN, WebName, is_local, looks_like_sitemap
from usp._validate import shown_argument
from usp.cli._files import check_listed_sources
from usp.cli._text_file import read_lines
from usp.exceptions import UsageError


class SourceKind(Enum):
    """What a source is."""

    SITE = "site"
    SITEMAP = "sitemap"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class NamedSource:
    """A source, as the library takes it."""

    name: str
    """A URL, a bare domain, or a file."""
    kind: SourceKind
    doubt: str = ""
    """What to say about it, if something else could have been meant."""

    @classmethod
    def of(cls, args: argparse.Namespace, *, detect_sitemaps: bool = True) -> "NamedSource":
        """Return the source of a command.

        :param detect_sitemaps: whether a URL that looks like that of a sitemap is one; otherwise
            only with ``--sitemap``, and the path of a URL is dropped, as in 1.8.1.
        :raises UsageError: if it is none.
        """
        typed: str = args.source
        if is_local(typed):
            plain = typed == STDIN or "/" in typed or Path(typed).is_dir()
            return cls(typed, SourceKind.FILE, "" if plain else f"reading the file ./{typed}")
        url = site_url(typed)
        # Without a scheme, http is tried if https doesn't respond. What is left of a URL may be the
        # name of a file, which was not typed.
        name = url if "://" in typed else WebName(url.removeprefix("https://"))
        parts = urlsplit(url)
        if args.sitemap:
            return cls(name, SourceKind.SITEMAP)
        if detect_sitemaps and looks_like_sitemap(url):
            return cls(name, SourceKind.SITEMAP, f"reading the sitemap {url}")
        site = f"{parts.scheme}://{parts.netloc}/"
        if parts.path.strip("/") or parts.query or parts.fragment:
            doubt = f"reading the site {site} (use -s to read one sitemap)"
        else:
            doubt = "" if "://" in typed else f"reading the site {site}"
        homepage = site if "://" in typed else WebName(parts.netloc)
        return cls(homepage, SourceKind.SITE, doubt)


def site_url(typed: str) -> str:
    """Return the URL of a website; a bare domain means https, as in the library.

    :raises UsageError: if it is not the URL of a website.
    """
    try:
        return check_homepage("url", typed.strip())
    except UsageError:
        raise UsageError(
            f"{shown_argument(typed)} is not the URL of a website: "
            "write it like https://example.org/ or example.org"
        ) from None


def each_source(args: argparse.Namespace) -> Iterator[argparse.Namespace]:
    """Yield the arguments for each source."""
    listed = getattr(args, "from")
    more = read_lines("--from", listed) if listed else []
    check_listed_sources(args, more)
    names = [*args.source, *more]
    if not names:
        raise UsageError("there is no source: name a website, a sitemap or a file")
    if [*names, listed].count(STDIN) > 1:  # the second one would find nothing left
        raise UsageError("standard input, -, can be read once only")
    for name in names:
        yield argparse.Namespace(**{**vars(args), "source": name})
