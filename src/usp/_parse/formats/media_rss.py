"""Media RSS: the images and videos of a feed's item, from its ``media:`` elements and enclosures.

A ``<media:group>`` contains one thing in several forms: one video with renditions. The fields of a
file are inside its element, in its group or in the item: the innermost one is used. Whether a file
is an image or a video is decided by its ``medium``, else its ``type``, else its file extension.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Final

from usp._parse.diagnostics import Diagnostics
from usp._parse.formats.field_reader import (
    IsValid,
    Value,
    blocks,
    elements,
    first,
    first_value,
    is_parsed_by,
)
from usp._parse.values.enumerations import one_of, parse_boolean
from usp._parse.values.numbers import parse_duration, parse_integer, parse_number, parse_rating
from usp._parse.values.text import (
    clean_text,
    html_to_text,
    split_commas,
    split_words,
    text_or_none,
)
from usp.objects.page import Record, SitemapImage, SitemapVideo
from usp.objects.video import VideoPrice, VideoRestriction

ToUrl = Callable[[str], str]
Scope = tuple[Record, str]
"""A part of the record, and the prefix of the keys of that part alone."""

_KEY_PREFIXES: Final = ("media:", "enclosure", "link@rel")
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
_UNSPECIFIC_TYPES: Final = frozenset({"", "application", "binary"})
"""Types that don't tell an image from a video."""
_FILE_EXTENSIONS: Final = {
    extension: medium
    for medium, extensions in {
        "image": "avif bmp gif jpeg jpg png svg tif tiff webp",
        "video": "avi flv m3u8 m4v mkv mov mp4 mpeg mpg ogv webm wmv",
    }.items()
    for extension in extensions.split()
}
_PATHS: Final = ("", "content/", "group/", "group/content/")
_CONTENTS: Final = ("media:content", "media:group/content")
_ENCLOSURES: Final = {"enclosure": "url", "link": "href"}
"""The elements for files in RSS and Atom without Media RSS, and the attribute with the URL; a link
is a file if its ``rel`` is ``enclosure``."""

URL_KEYS: Final = frozenset(
    {f"{key}@url" for key in _CONTENTS}
    | {f"media:{path}{name}@url" for path in _PATHS for name in ("thumbnail", "player")}
    | {"enclosure@url"}
)
_NUMBER: Final = "SM405"
VALIDATORS: Final[Mapping[str, tuple[str, IsValid]]] = {
    f"media:{path}{key}": row
    for path in _PATHS
    for key, row in {
        "starrating@average": (_NUMBER, is_parsed_by(parse_rating)),
        "statistics@views": (_NUMBER, is_parsed_by(parse_integer)),
        "price@price": (_NUMBER, is_parsed_by(parse_number)),
        "restriction@relationship": ("SM406", is_parsed_by(one_of("allow", "deny"))),
    }.items()
} | {f"{key}@duration": (_NUMBER, is_parsed_by(parse_duration)) for key in _CONTENTS}
"""The values that are checked: problem code and check."""


@dataclass(frozen=True, slots=True)
class _Medium:
    """One file: its kind, its URL, and the scopes that contain its fields, innermost first."""

    kind: str | None
    loc: str
    scopes: tuple[Scope, ...]
    duration: str = ""
    default: bool = False


def has_media(record: Record) -> bool:
    """Tell quickly whether there may be any media."""
    return any(key.startswith(_KEY_PREFIXES) for key, _ in record)


def images(record: Record, url: ToUrl) -> list[SitemapImage] | None:
    """Return the images of an item: its own, and its thumbnails unless it has videos."""
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
        player = _Medium("video", "", ((record, "media:group/"), (record, "media:")))
        found = [video for video in [_video([player], url)] if video.player_loc]
    return found or None


def check(record: Record, diagnostics: Diagnostics) -> None:
    """Report media that have no URL."""
    files = [medium for group in _groups(record, clean_text) for medium in group]
    without_url = sum(not file.loc and file.kind is None for file in files)
    for key in ("enclosure", *(f"media:{path}thumbnail" for path in _PATHS)):
        without_url += sum(
            not clean_text(attributes.get("url", "") or text)
            for attributes, text in elements(record, key)
        )
    if without_url:
        diagnostics.report("SM507", f"an item has {without_url} media without a URL")


def _groups(record: Record, url: ToUrl) -> Iterator[list[_Medium]]:
    """Yield the media of an item, the renditions of one thing together."""
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
        for attributes, _ in elements(record, key):
            loc = url(attributes.get(attribute, ""))
            if loc and loc not in known and _is_file(key, attributes):
                known.add(loc)
                yield [_Medium(kind_of("", attributes.get("type", ""), loc), loc, (item,))]


def _is_file(key: str, attributes: Mapping[str, str]) -> bool:
    rel = clean_text(attributes.get("rel", "")).lower()
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
        parse_boolean(first(block, f"{key}@isdefault")) or False,
    )


def kind_of(medium: str, type_: str, loc: str) -> str | None:
    """Return ``image`` or ``video``; None for a file that is neither, or unknown."""
    mime_type = clean_text(type_).lower().partition(";")[0].strip()
    kind = clean_text(medium).lower() or _TYPES.get(mime_type) or mime_type.partition("/")[0]
    if kind not in _UNSPECIFIC_TYPES:
        return kind if kind in _MEDIUMS else None
    path = loc.partition("?")[0].partition("#")[0]
    return _FILE_EXTENSIONS.get(path.rpartition(".")[2].lower())


def _video(files: list[_Medium], url: ToUrl) -> SitemapVideo:
    """Return the video that all these files contain, the preferred file first."""
    locs = list(dict.fromkeys(file.loc for file in files if file.loc))
    durations = (parse_duration(file.duration) for file in files)
    others = (file.scopes[:1] for file in files[1:])
    scopes = (*files[0].scopes, *chain.from_iterable(others))
    return SitemapVideo(
        content_loc=locs[0] if locs else None,
        duration=next((length for length in durations if length is not None), None),
        renditions=tuple(locs[1:]),
        title=_text(scopes, "title"),
        description=_text(scopes, "description"),
        category=_text(scopes, "category"),
        tags=tuple(split_commas(_text(scopes, "keywords") or "")),
        thumbnail_loc=_url(scopes, "thumbnail", url),
        player_loc=_url(scopes, "player", url),
        rating=_first_value(scopes, "starrating@average", parse_rating),
        view_count=_first_value(scopes, "statistics@views", parse_integer),
        restriction=_restriction(scopes),
        prices=_prices(scopes),
    )


def _first_value(
    scopes: tuple[Scope, ...], name: str, parse: Callable[[str], Value | None]
) -> Value | None:
    values = (first_value(record, f"{prefix}{name}", parse) for record, prefix in scopes)
    return next((value for value in values if value is not None), None)


def _text(scopes: tuple[Scope, ...], name: str) -> str | None:
    for record, prefix in scopes:
        for attributes, text in elements(record, f"{prefix}{name}"):
            is_html = clean_text(attributes.get("type", "")).lower() == "html"
            if cleaned := html_to_text(clean_text(text)) if is_html else clean_text(text):
                return cleaned
    return None


def _url(scopes: tuple[Scope, ...], name: str, url: ToUrl) -> str | None:
    found = (loc for record, prefix in scopes for loc in _urls(record, f"{prefix}{name}", url))
    return next(found, None)


def _urls(record: Record, key: str, url: ToUrl) -> Iterator[str]:
    for attributes, text in elements(record, key):
        if loc := url(attributes.get("url", "") or text):
            yield loc


def _restriction(scopes: tuple[Scope, ...]) -> VideoRestriction | None:
    """Return the restriction to countries; those to URLs, which Media RSS has too, are ignored."""
    parse_relationship = one_of("allow", "deny")
    for record, prefix in scopes:
        for attributes, text in elements(record, f"{prefix}restriction"):
            is_country = clean_text(attributes.get("type", "country")).lower() == "country"
            if is_country and (names := split_words(text)):
                relationship = parse_relationship(attributes.get("relationship", ""))
                return VideoRestriction(relationship, names)
    return None


def _prices(scopes: tuple[Scope, ...]) -> tuple[VideoPrice, ...]:
    """Return the prices of the innermost scope that has some."""
    for record, prefix in scopes:
        found = tuple(
            VideoPrice(
                parse_number(attributes.get("price", "")),
                text_or_none(attributes.get("currency", "")),
                text_or_none(attributes.get("type", "")),
            )
            for attributes, _ in elements(record, f"{prefix}price")
        )
        if found:
            return found
    return ()
