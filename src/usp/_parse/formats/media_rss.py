"""Media RSS: the images and videos of a feed's item, from its ``media:`` elements and enclosures.

A ``<media:group>`` holds the same thing in several forms: one video with renditions. What is said
of a medium is said inside it, in its group or in the item: the innermost counts. Whether it is an
image or a video is for its ``medium`` to say, then for its ``type``, then for its name.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from usp._parse.diagnostics import Diagnostics
from usp._parse.formats.field_reader import Understood, blocks, elements, first, understood_by
from usp._parse.values import text as values
from usp.objects.page import Record, SitemapImage, SitemapVideo
from usp.objects.video import VideoPrice, VideoRestriction

ToUrl = Callable[[str], str]
Scope = tuple[Record, str]
"""A part of the record, and how the keys begin of what is said just there."""

_SIGNS: Final = ("media:", "enclosure", "link@rel")
_MEDIUMS: Final = frozenset({"image", "video"})
_TYPES: Final = dict.fromkeys(
    (
        "application/x-shockwave-flash",
        "application/x-mpegurl",
        "application/vnd.apple.mpegurl",
        "application/dash+xml",
        "application/mp4",
    ),
    "video",
)
_VAGUE: Final = frozenset({"", "application", "binary"})
"""Kinds of types that don't tell what is to be seen."""
_ENDINGS: Final = {
    ending: medium
    for medium, endings in {
        "image": "avif bmp gif jpeg jpg png svg tif tiff webp",
        "video": "avi flv m3u8 m4v mkv mov mp4 mpeg mpg ogv webm wmv",
    }.items()
    for ending in endings.split()
}
_PATHS: Final = ("", "content/", "group/", "group/content/")
_CONTENTS: Final = ("media:content", "media:group/content")
_ENCLOSURES: Final = {"enclosure": "url", "link": "href"}
"""Where RSS and Atom keep files without Media RSS, and the attribute that has the URL; a link is
one if its ``rel`` says so."""

URL_KEYS: Final = frozenset(
    {f"{key}@url" for key in _CONTENTS}
    | {f"media:{path}{name}@url" for path in _PATHS for name in ("thumbnail", "player")}
    | {"enclosure@url"}
)
_NUMBER: Final = "SM405"
VALUES_OF: Final[Mapping[str, tuple[str, Understood]]] = {
    f"media:{path}{key}": row
    for path in _PATHS
    for key, row in {
        "starrating@average": (_NUMBER, understood_by(values.rating)),
        "statistics@views": (_NUMBER, understood_by(values.whole)),
        "price@price": (_NUMBER, understood_by(values.number)),
        "restriction@relationship": ("SM406", understood_by(values.one_of("allow", "deny"))),
    }.items()
} | {f"{key}@duration": (_NUMBER, understood_by(values.seconds)) for key in _CONTENTS}
"""The values that a checking read looks at."""


@dataclass(frozen=True, slots=True)
class _Medium:
    """One file: what it is, where it is, and the scopes in which something is said of it."""

    kind: str | None
    loc: str
    scopes: tuple[Scope, ...]
    duration: str = ""
    default: bool = False


def has_media(record: Record) -> bool:
    """Tell quickly whether there may be any."""
    return any(key.startswith(_SIGNS) for key, _ in record)


def images(record: Record, url: ToUrl) -> list[SitemapImage] | None:
    """Return the images of an item: its own, and thumbnails that are not those of a video."""
    found = {
        medium.loc: SitemapImage(
            medium.loc,
            caption=_text(medium.scopes, "description"),
            title=_text(medium.scopes, "title"),
        )
        for group in _groups(record, url)
        for medium in group
        if medium.kind == "image"
    }
    if not videos(record, url):
        thumbnails = (_urls(record, f"media:{path}thumbnail", url) for path in _PATHS)
        for loc in (loc for locs in thumbnails for loc in locs):
            found.setdefault(loc, SitemapImage(loc))
    return list(found.values()) or None


def videos(record: Record, url: ToUrl) -> list[SitemapVideo] | None:
    """Return the videos of an item, one for each group of files, or a player alone."""
    found = []
    for group in _groups(record, url):
        files = [medium for medium in group if medium.kind == "video"]
        files.sort(key=lambda medium: not medium.default)
        if files:
            found.append(_video(files, url))
    if not found:
        bare = _Medium("video", "", ((record, "media:group/"), (record, "media:")))
        found = [video for video in [_video([bare], url)] if video.player_loc]
    return found or None


def check(record: Record, diagnostics: Diagnostics) -> None:
    """Report media that have no URL."""
    files = [medium for group in _groups(record, values.clean) for medium in group]
    without = sum(not file.loc and file.kind is None for file in files)
    for key in ("enclosure", *(f"media:{path}thumbnail" for path in _PATHS)):
        without += sum(
            not values.clean(said.get("url", "") or text) for said, text in elements(record, key)
        )
    if without:
        diagnostics.report("SM507", f"an item has {without} media without a URL")


def _groups(record: Record, url: ToUrl) -> Iterator[list[_Medium]]:
    """Yield the media of an item, those that are the same thing together."""
    item = (record, "media:")
    known = set[str]()
    for block in blocks(record, "media:content", "media:content"):
        medium = _medium(block, "media:content", (item,), url)
        known.add(medium.loc)
        yield [medium]
    for group in blocks(record, "media:group", "media:group"):
        around = ((group, "media:group/"), item)
        inside = blocks(group, "media:group/content", "media:group/content")
        media = [_medium(block, "media:group/content", around, url) for block in inside]
        known.update(medium.loc for medium in media)
        yield media
    for key, attribute in _ENCLOSURES.items():
        for said, _ in elements(record, key):
            loc = url(said.get(attribute, ""))
            if loc and loc not in known and _is_file(key, said):
                known.add(loc)
                yield [_Medium(kind_of("", said.get("type", ""), loc), loc, (item,))]


def _is_file(key: str, said: Mapping[str, str]) -> bool:
    rel = values.clean(said.get("rel", "")).lower()
    return key != "link" or rel.rpartition("/")[2] == "enclosure"  # also as IANA's URI


def _medium(block: Record, key: str, around: tuple[Scope, ...], url: ToUrl) -> _Medium:
    loc = url(first(block, f"{key}@url"))
    scopes = ((block, f"{key}/"), *around)
    kind = kind_of(first(block, f"{key}@medium"), first(block, f"{key}@type"), loc)
    player = any(name.startswith(f"{key}/player") for name, _ in block)
    return _Medium(
        kind if loc else "video" if player else None,
        loc,
        scopes,
        first(block, f"{key}@duration"),
        values.flag(first(block, f"{key}@isdefault")) or False,
    )


def kind_of(medium: str, type_: str, loc: str) -> str | None:
    """Tell whether a file is an image or a video: None where it is neither, or nobody knows."""
    said = values.clean(medium).lower()
    mime = values.clean(type_).lower().partition(";")[0].strip()
    known = said or _TYPES.get(mime) or mime.partition("/")[0]
    if known not in _VAGUE:
        return known if known in _MEDIUMS else None
    path = loc.partition("?")[0].partition("#")[0]
    return _ENDINGS.get(path.rpartition(".")[2].lower())


def _video(files: list[_Medium], url: ToUrl) -> SitemapVideo:
    """Return the video that is in all these files, the best one first."""
    locs = list(dict.fromkeys(file.loc for file in files if file.loc))
    durations = (values.seconds(file.duration) for file in files)
    own = (file.scopes[:1] for file in files[1:])  # all is said of one thing
    scopes = (*files[0].scopes, *chain.from_iterable(own))
    return SitemapVideo(
        content_loc=locs[0] if locs else None,
        duration=next((length for length in durations if length is not None), None),
        renditions=tuple(locs[1:]),
        title=_text(scopes, "title"),
        description=_text(scopes, "description"),
        category=_text(scopes, "category"),
        tags=tuple(values.comma_list(_text(scopes, "keywords") or "")),
        thumbnail_loc=_url(scopes, "thumbnail", url),
        player_loc=_url(scopes, "player", url),
        rating=_said(scopes, "starrating@average", values.rating),
        view_count=_said(scopes, "statistics@views", values.whole),
        restriction=_restriction(scopes),
        prices=_prices(scopes),
    )


def _said(scopes: tuple[Scope, ...], name: str, read: Callable[[str], Any]) -> Any:  # noqa: ANN401
    readings = (
        read(text) for record, prefix in scopes for key, text in record if key == f"{prefix}{name}"
    )
    return next((value for value in readings if value is not None), None)


def _text(scopes: tuple[Scope, ...], name: str) -> str | None:
    for record, prefix in scopes:
        for said, text in elements(record, f"{prefix}{name}"):
            is_html = values.clean(said.get("type", "")).lower() == "html"
            if words := values.plain_words(values.clean(text)) if is_html else values.clean(text):
                return words
    return None


def _url(scopes: tuple[Scope, ...], name: str, url: ToUrl) -> str | None:
    found = (loc for record, prefix in scopes for loc in _urls(record, f"{prefix}{name}", url))
    return next(found, None)


def _urls(record: Record, key: str, url: ToUrl) -> Iterator[str]:
    for said, text in elements(record, key):
        if loc := url(said.get("url", "") or text):
            yield loc


def _restriction(scopes: tuple[Scope, ...]) -> VideoRestriction | None:
    """Return the countries; Media RSS also knows restrictions to URLs, which say nothing here."""
    read = values.one_of("allow", "deny")
    for record, prefix in scopes:
        for said, text in elements(record, f"{prefix}restriction"):
            countries = values.clean(said.get("type", "country")).lower() == "country"
            if countries and (names := values.word_list(text)):
                return VideoRestriction(read(said.get("relationship", "")), names)
    return None


def _prices(scopes: tuple[Scope, ...]) -> tuple[VideoPrice, ...]:
    """Return the prices of the innermost scope that has some."""
    for record, prefix in scopes:
        found = tuple(
            VideoPrice(
                values.number(said.get("price", "")),
                values.text_or_none(said.get("currency", "")),
                values.text_or_none(said.get("type", "")),
            )
            for said, _ in elements(record, f"{prefix}price")
        )
        if found:
            return found
    return ()
