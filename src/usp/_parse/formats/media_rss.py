"""Media RSS: the images and videos of a feed's item, from its ``media:`` elements and enclosures.

A ``<media:group>`` contains one thing in several forms: one video with renditions. The fields of a
file are inside its element, in its group or in the item: the innermost one is used. Whether a file
is an image or a video is decided by its ``medium``, else its ``type``, else its file extension.

An item may have thousands of files, which share its fields: those are looked up and converted once,
and a long one is given to the first file only.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from usp._parse.diagnostics import Diagnostics
from usp._parse.formats.field_reader import (
    IsValid,
    Value,
    blocks,
    elements,
    first,
    has_key,
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
Elements = list[tuple[dict[str, str], str]]
"""The attributes and the text of each element of a name."""
Reader = Callable[["_Scope", str], Value | None]
"""Returns the value of the field of this name in a scope; None if there is none."""

_KEY_PREFIXES: Final = ("media:", "enclosure")
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
_THUMBNAILS: Final = tuple(f"media:{path}thumbnail" for path in _PATHS)
_PLAYERS: Final = ("media:player", "media:group/player")
_ENCLOSURES: Final = {"enclosure": "url", "link": "href"}
"""The elements for files in RSS and Atom without Media RSS, and the attribute with the URL; a link
is a file if its ``rel`` is ``enclosure``."""

URL_KEYS: Final = frozenset(
    {f"{key}@url" for key in _CONTENTS}
    | {f"media:{path}{name}@url" for path in _PATHS for name in ("thumbnail", "player")}
    | {"enclosure@url"}
)
_NUMBER: Final = "SM405"
_MAX_SHARED: Final = 32
"""How many times as long as an item or group a field may be in all its files together."""
_FILE_KEYS: Final = frozenset({*_CONTENTS, *_ENCLOSURES})
_relationship: Final = one_of("allow", "deny")
VALIDATORS: Final[Mapping[str, tuple[str, IsValid]]] = {
    f"media:{path}{key}": row
    for path in _PATHS
    for key, row in {
        "starrating@average": (_NUMBER, is_parsed_by(parse_rating)),
        "statistics@views": (_NUMBER, is_parsed_by(parse_integer)),
        "price@price": (_NUMBER, is_parsed_by(parse_number)),
        "restriction@relationship": ("SM406", is_parsed_by(_relationship)),
    }.items()
} | {f"{key}@duration": (_NUMBER, is_parsed_by(parse_duration)) for key in _CONTENTS}
"""The values that are checked: problem code and check."""


class _Scope:
    """A part of the record that contains fields of files, under keys with this prefix."""

    def __init__(self, record: Record, prefix: str) -> None:
        self._record = record
        self._prefix = prefix
        self._files = 0
        self._length = 0
        self._texts: dict[str, list[str]] | None = None
        self._elements: dict[str, Elements] = {}
        self._values: dict[str, Any] = {}

    def texts(self, name: str) -> list[str]:
        """Return the texts of all elements or attributes of this name."""
        return self._indexed().get(name, [])

    def elements(self, name: str) -> Elements:
        """Return all elements of this name."""
        self._indexed()
        return self._elements.get(name, [])

    def value(self, name: str, read: Reader[Value]) -> Value | None:
        """Return the value of the field of this name, which always has the same reader.

        One that is too long for all files is returned once.
        """
        if name in self._values:
            known: Value | None = self._values[name]
            return known
        value = read(self, name)
        is_shared = value is not None and self._files > 1
        is_long = is_shared and self._size(name) * self._files > _MAX_SHARED * self._length
        self._values[name] = None if is_long else value
        return value

    def _size(self, name: str) -> int:
        return sum(
            len(text) + sum(map(len, attributes.values())) + len(name)
            for attributes, text in self.elements(name)
        )

    def _indexed(self) -> dict[str, list[str]]:
        if self._texts is None:
            self._texts, self._elements, self._files = {}, {}, 0
            attributes: dict[str, dict[str, str]] = {}
            for key, text in self._record:
                self._files += key in _FILE_KEYS
                self._length += len(key) + len(text)
                if key.startswith(self._prefix):
                    name = key[len(self._prefix) :]
                    self._texts.setdefault(name, []).append(text)
                    element, is_attribute, attribute = name.partition("@")
                    if is_attribute:
                        attributes.setdefault(element, {})[attribute] = text
                    else:
                        found = (attributes.pop(name, {}), text)
                        self._elements.setdefault(name, []).append(found)
        return self._texts


Scopes = tuple[_Scope, ...]


@dataclass(frozen=True, slots=True)
class _Medium:
    """One file: its kind, its URL, and the scopes that contain its fields, innermost first."""

    kind: str | None
    loc: str
    scopes: Scopes
    duration: str = ""
    default: bool = False


def has_media(record: Record) -> bool:
    """Tell quickly whether there may be any media."""
    for key, text in record:
        if key.startswith(_KEY_PREFIXES) or (key == "link@rel" and "enclosure" in text.lower()):
            return True
    return False


def images(record: Record, url: ToUrl) -> list[SitemapImage] | None:
    """Return the images of an item: its own, and its thumbnails unless it has videos."""
    media = [medium for group in _groups(record, url) for medium in group]
    found = {
        medium.loc: SitemapImage(
            medium.loc,
            caption=_find(medium.scopes, "description", _text),
            title=_find(medium.scopes, "title", _text),
        )
        for medium in media
        if medium.kind == "image"
    }
    has_videos = any(medium.kind == "video" for medium in media)
    if not has_videos and not _player(record, url):
        present = {key for key, _ in record}
        for key in filter(present.__contains__, _THUMBNAILS):
            for loc in _urls(elements(record, key), url):
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
    return found or _player(record, url)


def _player(record: Record, url: ToUrl) -> list[SitemapVideo] | None:
    """Return the video of a player without any file."""
    if not any(key.startswith(_PLAYERS) for key, _ in record):
        return None
    around = (_Scope(record, "media:group/"), _Scope(record, "media:"))
    video = _video([_Medium("video", "", around)], url)
    return [video] if video.player_loc else None


def check(record: Record, diagnostics: Diagnostics) -> None:
    """Report media that have no URL."""
    files = [medium for group in _groups(record, clean_text) for medium in group]
    without_url = sum(not file.loc and file.kind is None for file in files)
    for key in ("enclosure", *_THUMBNAILS):
        without_url += sum(
            not clean_text(attributes.get("url", "") or text)
            for attributes, text in elements(record, key)
        )
    if without_url:
        diagnostics.report("SM507", f"an item has {without_url} media without a URL")


def _groups(record: Record, url: ToUrl) -> Iterator[list[_Medium]]:
    """Yield the media of an item, the renditions of one thing together."""
    item = _Scope(record, "media:")
    known = set[str]()
    for block in blocks(record, "media:content", "media:content"):
        medium = _medium(block, "media:content", (item,), url)
        known.add(medium.loc)
        yield [medium]
    for group in blocks(record, "media:group", "media:group"):
        around = (_Scope(group, "media:group/"), item)
        inside = blocks(group, "media:group/content", "media:group/content")
        media = [_medium(block, "media:group/content", around, url) for block in inside]
        known.update(medium.loc for medium in media)
        yield media
    for key, attribute in _ENCLOSURES.items():
        if not has_key(record, f"{key}@{attribute}"):
            continue
        for attributes, _ in elements(record, key):
            loc = url(attributes.get(attribute, ""))
            if loc and loc not in known and _is_file(key, attributes):
                known.add(loc)
                yield [_Medium(kind_of("", attributes.get("type", ""), loc), loc, (item,))]


def _is_file(key: str, attributes: Mapping[str, str]) -> bool:
    rel = clean_text(attributes.get("rel", "")).lower()
    return key != "link" or rel.rpartition("/")[2] == "enclosure"  # also as IANA's URI


def _medium(block: Record, key: str, around: Scopes, url: ToUrl) -> _Medium:
    loc = url(first(block, f"{key}@url"))
    scopes = (_Scope(block, f"{key}/"), *around)
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

    def first_url(scope: _Scope, name: str) -> str | None:
        return next(_urls(scope.elements(name), url), None)

    return SitemapVideo(
        content_loc=locs[0] if locs else None,
        duration=next((length for length in durations if length is not None), None),
        renditions=tuple(locs[1:]),
        title=_find(scopes, "title", _text),
        description=_find(scopes, "description", _text),
        category=_find(scopes, "category", _text),
        tags=_find(scopes, "keywords", _tags) or (),
        thumbnail_loc=_find(scopes, "thumbnail", first_url),
        player_loc=_find(scopes, "player", first_url),
        rating=_find(scopes, "starrating@average", _first(parse_rating)),
        view_count=_find(scopes, "statistics@views", _first(parse_integer)),
        restriction=_find(scopes, "restriction", _restriction),
        prices=_find(scopes, "price", _prices) or (),
    )


def _find(scopes: Scopes, name: str, read: Reader[Value]) -> Value | None:
    """Return the value of a field in the first scope that has one."""
    for scope in scopes:
        if (value := scope.value(name, read)) is not None:
            return value
    return None


def _first(parse: Callable[[str], Value | None]) -> Reader[Value]:
    """Return a reader of the first valid text."""
    return lambda scope, name: next(
        (value for text in scope.texts(name) if (value := parse(text)) is not None), None
    )


def _text(scope: _Scope, name: str) -> str | None:
    for attributes, text in scope.elements(name):
        is_html = clean_text(attributes.get("type", "")).lower() == "html"
        if cleaned := html_to_text(clean_text(text)) if is_html else clean_text(text):
            return cleaned
    return None


def _tags(scope: _Scope, name: str) -> tuple[str, ...] | None:
    text = _text(scope, name)
    return tuple(split_commas(text)) if text else None


def _urls(found: Iterable[tuple[Mapping[str, str], str]], url: ToUrl) -> Iterator[str]:
    for attributes, text in found:
        if loc := url(attributes.get("url", "") or text):
            yield loc


def _restriction(scope: _Scope, name: str) -> VideoRestriction | None:
    """Return the restriction to countries; those to URLs, which Media RSS has too, are ignored."""
    for attributes, text in scope.elements(name):
        is_country = clean_text(attributes.get("type", "country")).lower() == "country"
        if is_country and (names := split_words(text)):
            return VideoRestriction(_relationship(attributes.get("relationship", "")), names)
    return None


def _prices(scope: _Scope, name: str) -> tuple[VideoPrice, ...] | None:
    found = tuple(
        VideoPrice(
            parse_number(attributes.get("price", "")),
            text_or_none(attributes.get("currency", "")),
            text_or_none(attributes.get("type", "")),
        )
        for attributes, _ in scope.elements(name)
    )
    return found or None
