"""A generated site that looks like a real one: a shop with a magazine, news and four languages.

It is the same in every run. A client in memory serves it as https://www.example.org/, so that a
report of it looks as one of a real site does. Some of its sitemaps are missing or damaged.
"""

import gzip
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final
from xml.sax.saxutils import escape

from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientResponse,
    AbstractWebClientSuccessResponse,
    WebClientErrorResponse,
)

HOME: Final = "https://www.example.org/"
NOW: Final = datetime(2026, 11, 17, 9, 30, tzinfo=UTC)
LANGUAGES: Final = ("en", "de", "fr", "nl")
_NAMESPACES: Final = (
    'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
    'xmlns:xhtml="http://www.w3.org/1999/xhtml" '
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" '
    'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
)
_DEPARTMENTS: Final = {
    "garden": ("tools", "furniture", "plants", "lighting"),
    "kitchen": ("pans", "knives", "small-appliances", "storage", "coffee"),
    "outdoor": ("tents", "backpacks", "shoes"),
    "living": ("sofas", "lamps", "carpets", "shelves"),
    "workshop": ("drills", "saws", "screws"),
}
_WEIGHTS: Final = (9, 7, 4, 3, 2)
_WORDS: Final = ("oak", "steel", "light", "large", "classic", "compact", "blue", "folding", "pro")


def pages_of_shop(count: int) -> Iterator[tuple[str, datetime | None]]:
    """Yield URLs of the site without the host, with their dates: products, then articles."""
    random = Random(17)  # noqa: S311 -- the same site in every run
    for number in range(count):
        if number % 7 == 6:
            day = _date(random, 3600)
            yield f"magazine/{day.year}/{day.month:02}/{_slug(random, number)}", day
            continue
        language = random.choices(LANGUAGES, (6, 3, 2, 1))[0]
        department = random.choices(list(_DEPARTMENTS), _WEIGHTS)[0]
        kind = random.choice(_DEPARTMENTS[department])
        path = f"{language}/shop/{department}/{kind}/{_slug(random, number)}"
        yield path, None if number % 11 == 0 else _date(random, 2200)


def _slug(random: Random, number: int) -> str:
    return f"{random.choice(_WORDS)}-{random.choice(_WORDS)}-{number}"


def _date(random: Random, days: int) -> datetime:
    """Return a time before now: the newer, the more likely, and rarely at a weekend."""
    age = days * random.random() ** 2.6
    day = NOW - timedelta(days=age)
    return day - timedelta(days=day.weekday() - 4) if day.weekday() > 4 and age > 3 else day


def shop(pages: int) -> dict[str, bytes | int]:
    """Return the documents of the site by path; a number is a status without a document."""
    listed = list(pages_of_shop(pages))
    per_sitemap = max(min(pages // 12, 5000), 10)
    site: dict[str, bytes | int] = {}
    names = []
    for number, at in enumerate(range(0, pages, per_sitemap)):
        name = f"sitemaps/products-{number + 1}.xml"
        names.append(name)
        site[name] = _urlset(_entry(*page) for page in listed[at : at + per_sitemap])
    first, last = names[0], names[-1]
    site[f"{last}.gz"] = gzip.compress(bytes(site.pop(last)))
    site[first] = bytes(site[first]).replace(b"</loc>", b"", 1).replace(b"2026-", b"2062-", 2)
    lost = ["sitemaps/spring-sale.xml", "sitemaps/old-shop.xml"]
    names = [*names[:-1], f"{last}.gz", *lost]
    site[lost[1]] = 403
    site["sitemaps/news.xml"] = _urlset(map(_story, range(180)))
    site["sitemap.xml"] = _index([*names, "sitemaps/news.xml"])
    site["robots.txt"] = f"User-agent: *\nDisallow: /cart\nSitemap: {HOME}sitemap.xml\n".encode()
    return site


def _entry(path: str, day: datetime | None) -> str:
    lastmod = f"<lastmod>{day:%Y-%m-%dT%H:%M:%SZ}</lastmod>" if day else ""
    url = escape(HOME + path)
    extra = ""
    if "/shop/" in path:
        extra = "<changefreq>weekly</changefreq>" if day else "<changefreq>monthly</changefreq>"
        extra += f"<image:image><image:loc>{url}.jpg</image:loc></image:image>"
        if path.endswith(("0", "5")):
            rest = path.partition("/")[2]
            extra += "".join(
                f'<xhtml:link rel="alternate" hreflang="{one}" href="{HOME}{one}/{escape(rest)}"/>'
                for one in LANGUAGES
            )
    return f"<url><loc>{url}</loc>{lastmod}{extra}</url>"


def _story(number: int) -> str:
    published = NOW - timedelta(minutes=23 * number * (1 + number / 60))
    return (
        f"<url><loc>{HOME}news/{published:%Y/%m/%d}/story-{number}</loc><news:news>"
        "<news:publication><news:name>The Example Times</news:name>"
        f"<news:language>{'de' if number % 3 == 0 else 'en'}</news:language></news:publication>"
        f"<news:publication_date>{published:%Y-%m-%dT%H:%M:%SZ}</news:publication_date>"
        f"<news:title>Story {number}</news:title></news:news></url>"
    )


def _urlset(entries: Iterator[str]) -> bytes:
    body = "\n".join(entries)
    head = f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {_NAMESPACES}>'
    return f"{head}\n{body}\n</urlset>\n".encode()


def _index(names: list[str]) -> bytes:
    body = "".join(f"<sitemap><loc>{HOME}{name}</loc></sitemap>\n" for name in names)
    return f"<sitemapindex {_NAMESPACES}>\n{body}</sitemapindex>\n".encode()


class _Response(AbstractWebClientSuccessResponse):
    def __init__(self, url: str, body: bytes) -> None:
        self._url, self._body = url, body

    def status_code(self) -> int:
        return 200

    def status_message(self) -> str:
        return "OK"

    def header(self, case_insensitive_name: str) -> str | None:
        is_robots = self._url.endswith("robots.txt")
        kind = "text/plain" if is_robots else "application/xml"
        return kind if case_insensitive_name.lower() == "content-type" else None

    def raw_data(self) -> bytes:
        return self._body

    def url(self) -> str:
        return self._url


class SiteClient(AbstractWebClient):
    """A client that serves a site in memory, and remembers what was requested."""

    def __init__(self, site: dict[str, bytes | int], home: str = HOME) -> None:
        self.site = site
        self.home = home
        self.requested: list[str] = []

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        pass

    def get(self, url: str) -> AbstractWebClientResponse:
        self.requested.append(url)
        found = self.site.get(url.removeprefix(self.home), 404)
        if isinstance(found, bytes):
            return _Response(url, found)
        text = {403: "403 Forbidden", 404: "404 Not Found"}[found]
        return WebClientErrorResponse(text, retryable=False)
