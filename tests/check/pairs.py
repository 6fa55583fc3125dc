"""For each rule that one file can violate, two documents: one that does, and one just inside."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from tests.check.documents import (
    HEAD,
    NAMESPACES,
    PAGE,
    alternates,
    dated,
    image,
    index,
    lastmod,
    story,
    url,
    urlset,
    video,
)

Document: TypeAlias = str | bytes | Callable[[], str]
"""A document, or what makes a large one when it is needed."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A document that trips a rule, and one that doesn't."""

    wrong: Document
    right: Document
    severity: str
    name: str = "sitemap.xml"
    options: dict[str, Any] = field(default_factory=dict)


def many(count: int) -> str:
    return urlset(*(f"<loc>{PAGE}{at}</loc>" for at in range(count)))


def lines(count: int) -> str:
    return "".join(f"{PAGE}{at}\n" for at in range(count))


def children(count: int) -> str:
    return index(*(f"<loc>{PAGE}{at}.xml</loc>" for at in range(count)))


def sized(size: int) -> str:
    """A sitemap of so many bytes, most of them in comments between entries."""
    comment = f"<!--{'x' * 100_000}-->\n"
    parts = [f"{HEAD}<urlset {NAMESPACES}>\n<url><loc>{PAGE}</loc></url>\n"]
    end = "</urlset>"
    left = size - len(parts[0]) - len(end)
    parts += [comment] * (left // len(comment))
    return "".join((*parts, " " * (left % len(comment)), end))


def page(query: str) -> str:
    return url(loc=f"https://example.org/{query}")


def of_length(length: int) -> str:
    return url(loc=f"https://example.org/{'a' * (length - len('https://example.org/'))}")


def built_on(day: str, others: int, total: int = 20) -> str:
    """A sitemap with so many dates of one day, and others of one day each."""
    dates = [f"{day}T{at:02}:00:00Z" for at in range(total - others)]
    return dated(*dates, *(f"2026-10-{at + 1:02}" for at in range(others)))


def restricted(text: str, relationship: str = ' relationship="allow"') -> str:
    return url(video(f"<video:restriction{relationship}>{text}</video:restriction>"))


def duration(text: str) -> str:
    return url(video(f"<video:duration>{text}</video:duration>"))


def titled(length: int) -> str:
    return url(video(f"<video:title>{'x' * length}</video:title>"))


def tagged(count: int) -> str:
    return url(video(*(f"<video:tag>t{at}</video:tag>" for at in range(count))))


def published(date: str) -> str:
    return url(story(f"<news:publication_date>{date}</news:publication_date>"))


def language(code: str) -> str:
    name = "<news:name>The Name</news:name>"
    return url(story(publication=f"{name}<news:language>{code}</news:language>"))


EMPTY = f"{HEAD}<urlset {NAMESPACES.split(' xmlns:news')[0]}>\n</urlset>\n"
LATIN = url().replace("UTF-8", "ISO-8859-1").encode("latin-1")
TRAP = "User-agent: *\nSitemap: {0}\n\nUser-agent: BadBot\nDisallow: /\n"
NO_TRAP = "User-agent: *\nDisallow:\nSitemap: {0}\n\nUser-agent: BadBot\nDisallow: /\n"
SESSION = "0123456789abcdef0123456789abcdef"
TWO_REGIONS = {"en_GB": PAGE, "en_US": f"{PAGE}2"}

PAIRS: dict[str, Pair] = {
    "SM250": Pair(partial(lines, 50_001), partial(lines, 50_000), "error", "urls.txt"),
    "SM251": Pair(partial(sized, 52_428_801), partial(sized, 52_428_800), "error"),
    "SM252": Pair(
        partial(sized, 10_485_761),
        partial(sized, 10_485_760),
        "info",
        options={"engine": ["baidu"]},
    ),
    "SM253": Pair(partial(children, 50_001), partial(children, 50_000), "error"),
    "SM255": Pair(EMPTY, url(), "warning"),
    "SM256": Pair(
        index("<loc>https://example.org/b.xml</loc><priority>1</priority>"),
        index("<loc>https://example.org/b.xml</loc><lastmod>2026-11-01</lastmod>"),
        "warning",
    ),
    "SM257": Pair(
        urlset(f"<lastmod>2026-11-01</lastmod><loc>{PAGE}</loc>"),
        index("<lastmod>2026-11-01</lastmod><loc>https://example.org/b.xml</loc>"),
        "info",
    ),
    "SM258": Pair(LATIN, url(), "warning"),
    "SM350": Pair(of_length(2049), of_length(2048), "error"),
    "SM351": Pair(of_length(1025), of_length(1024), "info", options={"engine": ["yandex"]}),
    "SM355": Pair(page("{id}"), page("(id)'!*,;$+=:@~"), "warning"),
    "SM356": Pair(page("100%"), page("100%25%C3%A9"), "error"),
    "SM357": Pair(page("a#b"), page("a%23b"), "warning"),
    "SM358": Pair(
        url(loc="https://user:secret@example.org/"), url(loc="https://example.org/@user"), "error"
    ),
    "SM359": Pair(page(f"?sid={SESSION}"), page(f"?sid={SESSION[:-1]}"), "warning"),
    "SM360": Pair(page("?a=1&amp;utm_source=x"), page("?a=utm_source"), "warning"),
    "SM361": Pair(
        url(loc="http://192.168.1.10/a"), url(loc="http://192.0.1.10/local/localhost"), "error"
    ),
    "SM362": Pair(
        url(loc=f"https://{'a' * 64}.example.org/"),
        url(loc=f"https://{'a' * 63}.example.org/"),
        "error",
    ),
    "SM369": Pair(url(loc=f"{PAGE}/"), url(), "error", options={"require": [PAGE]}),
    "SM370": Pair(many(2), many(3), "error", options={"min_pages": 3}),
    "SM450": Pair(url("<priority/>"), url("<priority>0.5</priority>"), "warning"),
    "SM451": Pair(lastmod("2026-1-14"), lastmod("2026-01-14"), "error"),
    "SM452": Pair(lastmod("2026-01-14T10:00:00"), lastmod("2026-01-14T10:00Z"), "warning"),
    "SM453": Pair(lastmod("2026-01"), lastmod("2026-01-01"), "info"),
    "SM454": Pair(lastmod("2026-11-18T12:00:01Z"), lastmod("2026-11-18T12:00:00Z"), "warning"),
    "SM455": Pair(lastmod("1969-12-31"), lastmod("1970-01-01"), "warning"),
    "SM456": Pair(dated(*["1970-01-01"] * 5), dated(*["1970-01-01"] * 4, "2026-11-01"), "warning"),
    "SM457": Pair(built_on("2026-11-16", 2), built_on("2026-11-16", 3), "warning"),
    "SM460": Pair(
        urlset(
            f"<loc>{PAGE}</loc>",
            f"<loc>{PAGE}2</loc>",
            f"<loc>{PAGE}3</loc><lastmod>2026-11-01</lastmod>",
        ),
        urlset(f"<loc>{PAGE}</loc>", f"<loc>{PAGE}3</loc><lastmod>2026-11-01</lastmod>"),
        "info",
    ),
    "SM462": Pair(url("<changefreq>daily</changefreq>"), url(), "info"),
    "SM550": Pair(
        urlset(*(f"<loc>{PAGE}{at}</loc>{story()}" for at in range(1001))),
        urlset(*(f"<loc>{PAGE}{at}</loc>{story()}" for at in range(1000))),
        "error",
    ),
    "SM551": Pair(published("2026-11-15T10:59:59Z"), published("2026-11-15T11:00:00Z"), "warning"),
    "SM552": Pair(url(story(publication="<news:name>A</news:name>")), url(story()), "error"),
    "SM553": Pair(language("zh-hk"), language("zh-cn"), "error"),
    "SM554": Pair(url(story(), story()), url(story()), "error"),
    "SM555": Pair(
        url(story("<news:geo_locations>Rome, Italy</news:geo_locations>")), url(story()), "info"
    ),
    "SM560": Pair(url(*[image()] * 1001), url(*[image()] * 1000), "error"),
    "SM561": Pair(url(image("<image:caption>A</image:caption>")), url(image()), "info"),
    "SM562": Pair(url(image(loc="https://cdn.example.net/a.jpg")), url(image()), "info"),
    "SM570": Pair(duration("28801"), duration("28800"), "error"),
    "SM571": Pair(titled(101), titled(100), "error"),
    "SM572": Pair(
        url(video(f"<video:player_loc>{PAGE}</video:player_loc>")),
        url(video(f"<video:player_loc>{PAGE}/player</video:player_loc>")),
        "error",
    ),
    "SM573": Pair(
        url(video("<video:content_loc>https://example.org/v.html</video:content_loc>")),
        url(video("<video:content_loc>https://example.org/v.html.mp4</video:content_loc>")),
        "warning",
    ),
    "SM574": Pair(tagged(33), tagged(32), "warning"),
    "SM575": Pair(restricted("de"), restricted("DE FR"), "error"),
    "SM576": Pair(
        url(video("<video:expiration_date>2026-11-17T11:59:59Z</video:expiration_date>")),
        url(video("<video:expiration_date>2026-11-17T12:00:00Z</video:expiration_date>")),
        "warning",
    ),
    "SM577": Pair(
        url(video('<video:uploader info="https://example.net/u">U</video:uploader>')),
        url(video('<video:uploader info="https://www.example.org/u">U</video:uploader>')),
        "warning",
    ),
    "SM578": Pair(url(video("<video:category>News</video:category>")), url(video()), "info"),
    "SM580": Pair(
        url(alternates(en_UK=PAGE)), url(alternates(zh_Hant_TW=PAGE, x_default=PAGE)), "error"
    ),
    "SM581": Pair(
        url(alternates(en=PAGE), alternates(en=f"{PAGE}2")),
        url(alternates(en=PAGE), alternates(en=PAGE)),
        "error",
    ),
    "SM582": Pair(url(alternates(de=f"{PAGE}2")), url(alternates(en=PAGE)), "warning"),
    "SM589": Pair(
        url(alternates(**TWO_REGIONS)), url(alternates(**TWO_REGIONS, x_default=PAGE)), "info"
    ),
    "SM663": Pair(TRAP.format(PAGE), NO_TRAP.format(PAGE), "warning", name="robots.txt"),
}
"""By code."""
