"""Rules about videos: SM570 to SM578."""

import re
from collections.abc import Iterator
from typing import Final

from usp._check.facts import EntryFacts
from usp._check.findings import Occurrence
from usp._check.origins import MAX_HOST_NAME, host_of
from usp._check.registry import entry_rule
from usp._check.value_rules import utc
from usp._display import excerpt
from usp._parse import clean_text, parse_date

_VIDEO: Final = "video:video"
_PREFIX: Final = "video:"
_MAX_SECONDS: Final = 28_800
MAX_TAGS: Final = 32
MAX_LENGTHS: Final = {
    "video:description": 2048,
    "video:title": 100,
    "video:uploader": 255,
    "video:category": 256,
}
"""How many characters a text may have."""
_NO_MEDIA: Final = re.compile(r"\.(?:html?|swf)(?:[?#]|\Z)|\Artmpe?:", re.IGNORECASE)
_DIGITS: Final = re.compile(r"[0-9]{1,9}")
_COUNTRY: Final = re.compile(r"[A-Z]{2}")
_PLATFORMS: Final = frozenset({"web", "mobile", "tv"})
_DROPPED: Final = frozenset(
    f"video:{name}"
    for name in (
        *("category", "gallery_loc", "price", "tvshow", "player_loc@allow_embed"),
        *("player_loc@autoplay", "content_segment_loc", "id"),
    )
)

Video = list[tuple[str, str]]


@entry_rule(
    *("SM570", "SM571", "SM572", "SM573", "SM574", "SM575", "SM576", "SM577", "SM578"),
    prefix="video:",
)
def videos(facts: EntryFacts) -> Iterator[Occurrence]:
    """Look at the videos of an entry."""
    pages, host = frozenset(facts.entry.urls), host_of(facts.entry.url or "")
    for video in facts.entry.groups(_VIDEO, _PREFIX):
        yield from _texts(facts, video)
        yield from _locations(facts, video, pages, host)
        yield from _lists(facts, video)
    if dropped := sorted(facts.entry.shape.at.keys() & _DROPPED):
        named = (name.replace("@", " ") for name in dropped)
        yield facts.occurrence("SM578", ", ".join(f"<{name}>" for name in named))


def _texts(facts: EntryFacts, video: Video) -> Iterator[Occurrence]:
    """Look at the duration, the lengths of texts, the number of tags, and the expiry."""
    for key, raw in video:
        text = clean_text(raw)
        if key == "video:duration" and text and not _is_duration(text):
            yield facts.occurrence("SM570", f"the duration {excerpt(text, 40)!r}")
        if len(text) > MAX_LENGTHS.get(key, len(text)):
            detail = f"<{key}> has {len(text):,} characters, {MAX_LENGTHS[key]:,} are allowed"
            yield facts.occurrence("SM571", detail)
        if key == "video:expiration_date":
            expiry = parse_date(text)
            if expiry and utc(expiry) < facts.sitemap.options.now:
                yield facts.occurrence("SM576", f"it expired on {excerpt(text, 40)}")
    tags = sum(key == "video:tag" for key, _ in video)
    if tags > MAX_TAGS:
        yield facts.occurrence("SM574", f"{tags:,} tags")


def _is_duration(text: str) -> bool:
    return bool(_DIGITS.fullmatch(text)) and 1 <= int(text) <= _MAX_SECONDS


def _locations(
    facts: EntryFacts, video: Video, pages: frozenset[str], host: str
) -> Iterator[Occurrence]:
    """Look at the URLs of a video, whose entry has these pages, the first on this host."""
    for key, raw in video:
        text = clean_text(raw)
        if key in {"video:content_loc", "video:player_loc"} and text in pages:
            yield facts.occurrence("SM572", f"<{key}> is the URL of the page")
        elif key == "video:content_loc" and _NO_MEDIA.search(text):
            yield facts.occurrence("SM573", f"<{key}> {excerpt(text, 200)}")
        if key == "video:uploader@info":
            info = host_of(text)
            if info and 0 < len(host) <= MAX_HOST_NAME and not _is_same_domain(host, info):
                yield facts.occurrence("SM577", f"the info is on {info}")


def _is_same_domain(own: str, other: str) -> bool:
    """Tell whether one host is the other one, or below it; www doesn't count."""
    one, two = own.removeprefix("www."), other.removeprefix("www.")
    return one == two or one.endswith(f".{two}") or two.endswith(f".{one}")


def _lists(facts: EntryFacts, video: Video) -> Iterator[Occurrence]:
    """Look at restrictions and platforms."""
    relationships: set[str] = set()
    for key, raw in video:
        element, is_attribute, _ = key.partition("@")
        if element not in {"video:restriction", "video:platform"}:
            continue
        if is_attribute:
            if raw.strip():
                relationships.add(element)
            continue
        if element not in relationships:
            yield facts.occurrence("SM575", f"<{element}> has no relationship")
        relationships.discard(element)
        words = clean_text(raw).split()
        is_country = element == "video:restriction"
        wrong = [word for word in words if not _is_known(word, is_country=is_country)]
        if wrong:
            yield facts.occurrence("SM575", f"<{element}> has {excerpt(wrong[0], 40)!r}")


def _is_known(word: str, *, is_country: bool) -> bool:
    return bool(_COUNTRY.fullmatch(word)) if is_country else word in _PLATFORMS
