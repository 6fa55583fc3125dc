"""The sitemaps and feeds that a homepage links to; few crawls come so far as to look."""

from collections.abc import Iterable
from typing import Final

from usp._parse.children import Child, Children, ChildSelection
from usp._parse.formats import html
from usp._parse.input.chunks import take_head

_MAX_LINKS: Final = 1000
"""The sitemaps that are taken from a homepage, and the feeds: real ones name a few."""


def linked_children(
    chunks: Iterable[bytes], link_header: str | None, url: str
) -> tuple[tuple[Child, ...], int]:
    """Return what a homepage links to in its HTML and its ``Link`` header, and how much more."""
    head, _ = take_head(chunks, html.MAX_HOMEPAGE_BYTES)
    page = head[: html.MAX_HOMEPAGE_BYTES].decode("utf-8", "replace")
    found = {rel: Children(ChildSelection(_MAX_LINKS)) for rel in html.Rel}
    for link, rel in html.links(page, link_header, url):
        found[rel].add(link, is_feed=rel is html.Rel.FEED)
    kept = tuple(child for children in found.values() for child in children.kept)
    return kept, sum(children.more for children in found.values())
