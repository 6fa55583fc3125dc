"""A video on a page, and its parts: the Google Video extension, or Media RSS.

Values are frozen and hashable. Missing and invalid values are None or an empty tuple; the rest of
the video is kept.
"""

from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from usp.objects.named_fields import pickled_by_name

__all__ = [
    "SitemapVideo",
    "VideoId",
    "VideoPrice",
    "VideoRestriction",
    "VideoSegment",
    "VideoShow",
]


@pickled_by_name
@dataclass(frozen=True, slots=True)
class VideoRestriction:
    """Where a video may be shown, or may not: countries, or platforms."""

    relationship: str | None
    """``allow`` or ``deny``; None if missing."""
    values: tuple[str, ...]
    """Country codes (ISO 3166), or ``web``, ``mobile`` and ``tv``."""


@pickled_by_name
@dataclass(frozen=True, slots=True)
class VideoPrice:
    """The price of a video."""

    amount: Decimal | None
    currency: str | None = None
    """ISO 4217."""
    type: str | None = None
    """``own`` or ``rent``, as written."""
    resolution: str | None = None
    """``hd`` or ``sd``, as written."""


@pickled_by_name
@dataclass(frozen=True, slots=True)
class VideoId:
    """An identifier of a video in a catalogue."""

    value: str
    type: str | None = None
    """The catalogue: ``tms:series``, ``rovi:program``, ``freebase``, ``url``…"""


@pickled_by_name
@dataclass(frozen=True, slots=True)
class VideoSegment:
    """One of several files that make up a video."""

    loc: str
    duration: int | None = None
    """In seconds."""


@pickled_by_name
@dataclass(frozen=True, slots=True)
class VideoShow:
    """The television show that a video belongs to."""

    show_title: str | None = None
    video_type: str | None = None
    """``full``, ``preview``, ``clip``, ``interview``, ``news`` or ``other``."""
    episode_title: str | None = None
    season_number: int | None = None
    episode_number: int | None = None
    premier_date: datetime | None = None


@pickled_by_name
@dataclass(frozen=True, slots=True, kw_only=True)
class SitemapVideo:
    """A video on a page."""

    thumbnail_loc: str | None = None
    """The URL of a thumbnail image."""
    title: str | None = None
    description: str | None = None
    content_loc: str | None = None
    """The URL of the video itself."""
    player_loc: str | None = None
    """The URL of a player for it."""
    player_allow_embed: bool | None = None
    """Whether others may embed that player."""
    player_autoplay: str | None = None
    """What to append to the player's URL for autoplay."""
    duration: int | None = None
    """In seconds."""
    expiration_date: datetime | None = None
    """When it expires."""
    rating: Decimal | None = None
    """From 0 to 5."""
    view_count: int | None = None
    publication_date: datetime | None = None
    family_friendly: bool | None = None
    """False if it is for adults only."""
    restriction: VideoRestriction | None = None
    """The countries in which it may, or may not, be shown."""
    platform: VideoRestriction | None = None
    """The platforms on which it may, or may not, be shown."""
    prices: tuple[VideoPrice, ...] = ()
    requires_subscription: bool | None = None
    uploader: str | None = None
    uploader_info: str | None = None
    """The URL of a page about the uploader."""
    live: bool | None = None
    """Whether it is a live stream."""
    tags: tuple[str, ...] = ()
    category: str | None = None
    gallery_loc: str | None = None
    """The URL of the gallery that contains it."""
    gallery_title: str | None = None
    ids: tuple[VideoId, ...] = ()
    tv_show: VideoShow | None = None
    content_segments: tuple[VideoSegment, ...] = ()
    """The files that it is made up of, if there are several."""
    renditions: tuple[str, ...] = ()
    """Further URLs of the same video, in other formats or sizes (a ``<media:group>``)."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary of plain values."""
        return asdict(self)
