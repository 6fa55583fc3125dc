"""Documents for the benchmarks: well-formed ones, and the same with a fault in each entry.

A document is the same in every run. A fault does not change the URL of an entry, so that both
documents must give the same pages.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

SITEMAPS: Final = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


@dataclass(frozen=True, slots=True)
class Format:
    """The text of one format: before, between and after the entries, and one entry."""

    head: str
    entry: str
    tail: str
    closed: tuple[str, str]
    """The end tags of two adjacent fields: faults omit the first one, or swap the two."""

    def document(self, entries: int, fault: "Fault") -> str:
        """Return a document with this many entries, each with the fault."""
        body = "\n".join(fault(self, self.entry.format(number=at)) for at in range(entries))
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{self.head}\n{body}\n{self.tail}\n'


Fault = Callable[[Format, str], str]

FORMATS: Final[Mapping[str, Format]] = {
    "urlset": Format(
        f"<urlset {SITEMAPS}>",
        "<url><loc>https://example.org/articles/{number}?page=1&amp;size=20</loc>"
        "<lastmod>2024-05-17T12:00:00+00:00</lastmod>"
        "<changefreq>weekly</changefreq><priority>0.8</priority></url>",
        "</urlset>",
        ("</lastmod>", "</changefreq>"),
    ),
    "rss": Format(
        '<rss version="2.0"><channel><title>News</title><link>https://example.org/</link>'
        "<description>All of it</description>",
        "<item><title>Story {number}</title>"
        "<link>https://example.org/articles/{number}?page=1&amp;size=20</link>"
        "<description>What happened</description>"
        "<pubDate>Fri, 17 May 2024 12:00:00 GMT</pubDate></item>",
        "</channel></rss>",
        ("</description>", "</pubDate>"),
    ),
    "atom": Format(
        '<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title>'
        "<id>https://example.org/</id><updated>2024-05-17T12:00:00Z</updated>",
        "<entry><title>Story {number}</title>"
        '<link href="https://example.org/articles/{number}?page=1&amp;size=20"/>'
        "<id>https://example.org/{number}</id><summary>What happened</summary>"
        "<updated>2024-05-17T12:00:00Z</updated></entry>",
        "</feed>",
        ("</summary>", "</updated>"),
    ),
    "index": Format(
        f"<sitemapindex {SITEMAPS}>",
        "<sitemap><loc>https://example.org/articles/{number}?page=1&amp;size=20</loc>"
        "<lastmod>2024-05-17T12:00:00+00:00</lastmod></sitemap>",
        "</sitemapindex>",
        ("</loc>", "</lastmod>"),
    ),
}


def _crossed(form: Format, entry: str) -> str:
    first, second = form.closed
    before, _, after = entry.partition(first)
    between, _, rest = after.partition(second)
    return f"{before}{between}{first}{second}{rest}"


def _before_end(entry: str, inserted: str) -> str:
    before, end_tag, name = entry.rpartition("</")
    return f"{before}{inserted}{end_tag}{name}"


WELL_FORMED: Final = "well-formed"
FAULTS: Final[Mapping[str, Fault]] = {
    WELL_FORMED: lambda _, entry: entry,
    "bare &": lambda _, entry: entry.replace("&amp;", "&"),
    "control character": lambda _, entry: entry.replace("/articles/", "/arti\x0bcles/"),
    "undefined entity": lambda _, entry: entry.replace("?page=", "&quest;page="),
    "undeclared prefix": lambda _, entry: _before_end(entry, "<odd:word>1</odd:word>"),
    "unclosed field": lambda form, entry: entry.replace(form.closed[0], ""),
    "unclosed entry": lambda _, entry: entry.rpartition("</")[0],
    "crossed tags": _crossed,
    "stray <": lambda _, entry: _before_end(entry, " < "),
    "stray < between entries": lambda _, entry: f"{entry}\n < ",
    "stray end tag": lambda _, entry: f"{entry}</b>",
}
