"""Sitemaps as sites have them: kinds of entries, and how alike they are.

Rules of this room: a document is the same in every run (chance is seeded); a kind is a row of
``KINDS``, a manner of being alike a row of ``MANNERS``. Dates, titles and URLs differ from entry to
entry, so that no cache of values has an easy life.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final

from bench.documents import SITEMAPS

SEED: Final = 1808
SITE: Final = "https://www.example.org"
NAMESPACES: Final = (
    f"{SITEMAPS}"
    ' xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
    ' xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
    ' xmlns:xhtml="http://www.w3.org/1999/xhtml"'
    ' xmlns:own="https://www.example.org/own"'
)
WORDS: Final = ("river", "garden", "winter", "market", "letter", "window", "bridge", "harbour")
FREQUENCIES: Final = ("hourly", "daily", "weekly", "monthly")
LANGUAGES: Final = ("de", "fr", "es", "it", "nl")
IMAGES: Final = 2
WITH_QUERY: Final = 0.1
LEFT_OUT: Final = 0.3
"""How often a field is missing from an entry of a mixed document."""

Fields = list[str]


def _date(chance: Random) -> str:
    moment = datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=chance.randrange(5 * 31_536_000))
    return moment.isoformat()


def _path(at: int, chance: Random) -> str:
    query = f"?ref=map&amp;page={at}" if chance.random() < WITH_QUERY else ""
    return f"{'-'.join(chance.sample(WORDS, 3))}-{at}{query}"


def _common(at: int, chance: Random) -> Fields:
    path = _path(at, chance)
    return [f"<loc>{SITE}/{path}</loc>", f"<lastmod>{_date(chance)}</lastmod>"]


def _plain(at: int, chance: Random) -> Fields:
    return [
        *_common(at, chance),
        f"<changefreq>{chance.choice(FREQUENCIES)}</changefreq>",
        f"<priority>0.{chance.randrange(1, 10)}</priority>",
    ]


def _news(at: int, chance: Random) -> Fields:
    words = chance.sample(WORDS, 6)
    story = (
        "<news:publication><news:name>The Example</news:name>"
        "<news:language>en</news:language></news:publication>"
        f"<news:publication_date>{_date(chance)}</news:publication_date>"
        f"<news:title>{' '.join(words)} {at}</news:title>"
        f"<news:keywords>{', '.join(words[:3])}</news:keywords>"
    )
    return [*_common(at, chance), f"<news:news>{story}</news:news>"]


def _images(at: int, chance: Random) -> Fields:
    images = (
        f"<image:image><image:loc>{SITE}/images/{at}-{number}.jpg</image:loc>"
        f"<image:title>{' '.join(chance.sample(WORDS, 2))} {number}</image:title>"
        f"<image:caption>{' '.join(chance.sample(WORDS, 5))}</image:caption></image:image>"
        for number in range(IMAGES)
    )
    return [*_common(at, chance), *images]


def _hreflang(at: int, chance: Random) -> Fields:
    path = _path(at, chance)
    links = (
        f'<xhtml:link rel="alternate" hreflang="{language}" href="{SITE}/{language}/{path}"/>'
        for language in LANGUAGES
    )
    return [*_common(at, chance), *links]


KINDS: Final[Mapping[str, Callable[[int, Random], Fields]]] = {
    "plain": _plain,
    "news": _news,
    "images": _images,
    "hreflang": _hreflang,
}


def _one_shape(_at: int, fields: Fields, _chance: Random) -> Fields:
    return fields


def _mixed(_at: int, fields: Fields, chance: Random) -> Fields:
    return [fields[0], *(field for field in fields[1:] if chance.random() > LEFT_OUT)]


def _none_alike(at: int, fields: Fields, chance: Random) -> Fields:
    """Shuffle the fields, and add one that no other entry has."""
    own = f"<own:field{at}>1</own:field{at}>"
    return chance.sample([*fields, own], len(fields) + 1)


ONE_SHAPE: Final = "one shape"
MIXED: Final = "mixed"
NONE_ALIKE: Final = "no two alike"
MANNERS: Final[Mapping[str, Callable[[int, Fields, Random], Fields]]] = {
    ONE_SHAPE: _one_shape,
    MIXED: _mixed,
    NONE_ALIKE: _none_alike,
}


def document(kind: str, manner: str, numbers: range) -> str:
    """Write a sitemap with these entries."""
    chance = Random(SEED + numbers.start)  # noqa: S311 -- meant to be the same every time
    entry, shape = KINDS[kind], MANNERS[manner]
    entries = (shape(at, entry(at, chance), chance) for at in numbers)
    body = "\n".join("\t<url>\n\t\t" + "\n\t\t".join(one) + "\n\t</url>" for one in entries)
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    return f"{head}\n<urlset {NAMESPACES}>\n{body}\n</urlset>\n"
