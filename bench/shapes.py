"""Well-formed sitemaps as sites have them: kinds of entries, and how much the entries vary.

A document is the same in every run (the random generator is seeded). A kind is a row of ``KINDS``,
a variation a row of ``VARIATIONS``. Dates, titles and URLs differ from entry to entry, so that
caches of values have little effect.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
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
OMITTED: Final = 0.3
"""The share of fields that are missing in a mixed document."""

Fields = list[str]


def _date(rng: Random) -> str:
    moment = datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=rng.randrange(5 * 31_536_000))
    return moment.isoformat()


def _path(at: int, rng: Random) -> str:
    query = f"?ref=map&amp;page={at}" if rng.random() < WITH_QUERY else ""
    return f"{'-'.join(rng.sample(WORDS, 3))}-{at}{query}"


def _common(at: int, rng: Random) -> Fields:
    path = _path(at, rng)
    return [f"<loc>{SITE}/{path}</loc>", f"<lastmod>{_date(rng)}</lastmod>"]


def _plain(at: int, rng: Random) -> Fields:
    return [
        *_common(at, rng),
        f"<changefreq>{rng.choice(FREQUENCIES)}</changefreq>",
        f"<priority>0.{rng.randrange(1, 10)}</priority>",
    ]


def _news(
    at: int, rng: Random, all_words: Sequence[str] = WORDS, conjunction: str = "and"
) -> Fields:
    words = rng.sample(all_words, 6)
    story = (
        "<news:publication><news:name>The Example</news:name>"
        "<news:language>en</news:language></news:publication>"
        f"<news:publication_date>{_date(rng)}</news:publication_date>"
        f"<news:title>{' '.join(words)} {conjunction} {at}</news:title>"
        f"<news:keywords>{', '.join(words[:3])}</news:keywords>"
    )
    return [*_common(at, rng), f"<news:news>{story}</news:news>"]


def _images(at: int, rng: Random) -> Fields:
    images = (
        f"<image:image><image:loc>{SITE}/images/{at}-{number}.jpg</image:loc>"
        f"<image:title>{' '.join(rng.sample(WORDS, 2))} {number}</image:title>"
        f"<image:caption>{' '.join(rng.sample(WORDS, 5))}</image:caption></image:image>"
        for number in range(IMAGES)
    )
    return [*_common(at, rng), *images]


def _hreflang(at: int, rng: Random) -> Fields:
    path = _path(at, rng)
    links = (
        f'<xhtml:link rel="alternate" hreflang="{language}" href="{SITE}/{language}/{path}"/>'
        for language in LANGUAGES
    )
    return [*_common(at, rng), *links]


KINDS: Final[Mapping[str, Callable[[int, Random], Fields]]] = {
    "plain": _plain,
    "news": _news,
    "images": _images,
    "hreflang": _hreflang,
}


TITLES: Final[Mapping[str, Callable[[int, Random], Fields]]] = {
    "news, &amp; in titles": partial(_news, conjunction="&amp;"),
    "news, Cyrillic": partial(
        _news,
        all_words=("река", "сад", "зима", "рынок", "письмо", "окно", "мост", "гавань"),
    ),
    "news, Chinese": partial(
        _news, all_words=("河流", "花园", "冬天", "市场", "信件", "窗户", "桥梁", "港口")
    ),
}
"""News whose titles and keywords are not plain ASCII."""


def _one_shape(_at: int, fields: Fields, _chance: Random) -> Fields:
    return fields


def _mixed(_at: int, fields: Fields, rng: Random) -> Fields:
    return [fields[0], *(field for field in fields[1:] if rng.random() > OMITTED)]


def _all_different(at: int, fields: Fields, rng: Random) -> Fields:
    """Return the fields shuffled, with one that no other entry has."""
    own = f"<own:field{at}>1</own:field{at}>"
    return rng.sample([*fields, own], len(fields) + 1)


ONE_SHAPE: Final = "one shape"
MIXED: Final = "mixed"
ALL_DIFFERENT: Final = "all different"
VARIATIONS: Final[Mapping[str, Callable[[int, Fields, Random], Fields]]] = {
    ONE_SHAPE: _one_shape,
    MIXED: _mixed,
    ALL_DIFFERENT: _all_different,
}


def document(kind: str, variation: str, numbers: range) -> str:
    """Return a sitemap with these entries."""
    rng = Random(SEED + numbers.start)  # noqa: S311 -- reproducible on purpose
    entry, shape = {**KINDS, **TITLES}[kind], VARIATIONS[variation]
    entries = (shape(at, entry(at, rng), rng) for at in numbers)
    body = "\n".join("\t<url>\n\t\t" + "\n\t\t".join(one) + "\n\t</url>" for one in entries)
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    return f"{head}\n<urlset {NAMESPACES}>\n{body}\n</urlset>\n"
