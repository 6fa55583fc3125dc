"""Feeds as sites have them: 10 to 100 items with long descriptions and the whole article.

A document is the same in every run (the random generator is seeded). A format is a row of
``FEEDS``.
"""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from random import Random
from typing import Final

SEED: Final = 1808
SITE: Final = "https://www.example.org"
SIZES: Final = (10, 20, 50, 100)
"""How many items the documents have, in turn."""
DESCRIPTION: Final = 60
ARTICLE: Final = 400
"""How many words these have."""
_WORDS: Final = (
    *("the", "river", "and", "a", "garden", "of", "winter", "market", "letter", "window"),
    *("bridge", "harbour", "was"),
)
_CONTENT: Final = 'xmlns:content="http://purl.org/rss/1.0/modules/content/"'
_OTHERS: Final = (
    'xmlns:dc="http://purl.org/dc/elements/1.1/"'
    ' xmlns:slash="http://purl.org/rss/1.0/modules/slash/"'
)
_MEDIA: Final = 'xmlns:media="http://search.yahoo.com/mrss/"'
_RDF: Final = (
    'xmlns="http://purl.org/rss/1.0/" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
)

Item = tuple[str, str, datetime, str, str]
"""The URL, the title, the date, the description and the article of an item."""


def _items(count: int, rng: Random) -> list[Item]:
    start = datetime(2024, 1, 1, tzinfo=UTC)
    return [
        (
            f"{SITE}/{rng.randrange(10**9)}/{'-'.join(rng.sample(_WORDS, 4))}",
            f"{' '.join(rng.sample(_WORDS, 6))} &amp; {number}",
            start + timedelta(seconds=rng.randrange(31_536_000)),
            " ".join(rng.choices(_WORDS, k=DESCRIPTION)),
            "".join(
                f"<p>{' '.join(rng.choices(_WORDS, k=40))} <a href='{SITE}/'>more</a></p>\n"
                for _ in range(ARTICLE // 40)
            ),
        )
        for number in range(count)
    ]


def _rss(items: list[Item]) -> str:
    return _rss_with(items, lambda _: "")


def _media_rss(items: list[Item]) -> str:
    return _rss_with(
        items,
        lambda url: (
            f'<media:content url="{url}.jpg" medium="image" type="image/jpeg" width="800">'
            f"<media:title>An image</media:title></media:content>"
            f'<media:thumbnail url="{url}-small.jpg"/>'
        ),
    )


def _rss_with(items: list[Item], media: Callable[[str], str]) -> str:
    listed = "".join(
        f"<item>\n<title>{title}</title>\n<link>{url}</link>\n<dc:creator>A. Writer</dc:creator>\n"
        f"<pubDate>{format_datetime(date)}</pubDate>\n<category><![CDATA[News]]></category>\n"
        f'<guid isPermaLink="false">{url}</guid>\n{media(url)}'
        f"<description><![CDATA[{text}]]></description>\n"
        f"<content:encoded><![CDATA[{article}]]></content:encoded>\n"
        "<slash:comments>0</slash:comments>\n</item>\n"
        for url, title, date, text, article in items
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0" {_CONTENT} {_OTHERS} {_MEDIA}>'
        f"<channel>\n<title>News</title>\n<link>{SITE}</link>\n{listed}</channel></rss>\n"
    )


def _rss_1(items: list[Item]) -> str:
    sequence = "".join(f'<rdf:li rdf:resource="{url}"/>' for url, *_ in items)
    listed = "".join(
        f'<item rdf:about="{url}"><title>{title}</title><link>{url}</link>'
        f"<dc:date>{date.isoformat()}</dc:date><description>{text}</description>"
        f"<content:encoded><![CDATA[{article}]]></content:encoded></item>\n"
        for url, title, date, text, article in items
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<rdf:RDF {_RDF} {_CONTENT} {_OTHERS}>'
        f'<channel rdf:about="{SITE}"><title>News</title><items><rdf:Seq>{sequence}</rdf:Seq>'
        f"</items></channel>\n{listed}</rdf:RDF>\n"
    )


def _atom(items: list[Item]) -> str:
    listed = "".join(
        f'<entry>\n<title type="html">{title}</title>\n<link rel="alternate" href="{url}"/>\n'
        f"<id>{url}</id>\n<published>{date.isoformat()}</published>\n"
        f"<updated>{date.isoformat()}</updated>\n<author><name>A. Writer</name></author>\n"
        f'<summary>{text}</summary>\n<content type="html"><![CDATA[{article}]]></content>\n'
        "</entry>\n"
        for url, title, date, text, article in items
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f"<title>News</title>\n<id>{SITE}/</id>\n{listed}</feed>\n"
    )


def _json(items: list[Item]) -> str:
    listed = [
        {
            "id": url,
            "url": url,
            "title": title,
            "date_published": date.isoformat(),
            "summary": text,
            "content_html": article,
        }
        for url, title, date, text, article in items
    ]
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": "News", "items": listed}
    return json.dumps(feed, indent=1)


FEEDS: Final[Mapping[str, Callable[[list[Item]], str]]] = {
    "RSS": _rss,
    "Media RSS": _media_rss,
    "RSS 1.0": _rss_1,
    "Atom": _atom,
    "JSON Feed": _json,
}


def feeds(name: str, items: int) -> list[str]:
    """Return documents of a format that have so many items in all, or a few more."""
    rng = Random(SEED)  # noqa: S311 -- reproducible on purpose
    documents: list[str] = []
    written = 0
    while written < items:
        size = SIZES[len(documents) % len(SIZES)]
        documents.append(FEEDS[name](_items(size, rng)))
        written += size
    return documents
