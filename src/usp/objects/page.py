"""The page of a sitemap, and what sitemaps say about it: a news story, images, alternates.

A page that was read from a document holds what its entry said (a *record*) and the *meaning* of
that format; a field is converted when it is first asked for. A page that the caller builds holds
its values at once. Nobody can tell the two apart: same values, types, equality and pickles.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum, unique
from typing import Any, ClassVar, Final, Protocol, Self

from usp.objects.value import Value

__all__ = [
    "SITEMAP_PAGE_DEFAULT_PRIORITY",
    "SitemapImage",
    "SitemapNewsStory",
    "SitemapPage",
    "SitemapPageChangeFrequency",
]

Record = Sequence[tuple[str, str]]
"""What one entry said: (key, text) in document order; see ``usp._parse.grammar``."""

SITEMAP_PAGE_DEFAULT_PRIORITY: Final = Decimal("0.5")
"""The priority of a page that gives none (sitemaps.org, ``<priority>``)."""


class SitemapNewsStory(Value):
    """What a Google News entry, or the item of a feed, says about a page."""

    __slots__ = (
        "_access",
        "_genres",
        "_keywords",
        "_publication_language",
        "_publication_name",
        "_publish_date",
        "_stock_tickers",
        "_title",
    )
    _fields: ClassVar = (
        "title",
        "publish_date",
        "publication_name",
        "publication_language",
        "access",
        "genres",
        "keywords",
        "stock_tickers",
    )

    def __init__(
        self,
        title: str,
        publish_date: datetime | None,
        publication_name: str | None = None,
        publication_language: str | None = None,
        access: str | None = None,
        genres: list[str] | None = None,
        keywords: list[str] | None = None,
        stock_tickers: list[str] | None = None,
    ) -> None:
        self._title = title
        self._publish_date = publish_date
        self._publication_name = publication_name
        self._publication_language = publication_language
        self._access = access
        self._genres = genres or []
        self._keywords = keywords or []
        self._stock_tickers = stock_tickers or []

    @property
    def title(self) -> str:
        """The story's headline."""
        return self._title

    @property
    def publish_date(self) -> datetime | None:
        """When the story was published; naive where the sitemap named no zone."""
        return self._publish_date

    @property
    def publication_name(self) -> str | None:
        """The publication in which it appeared."""
        return self._publication_name

    @property
    def publication_language(self) -> str | None:
        """The publication's language, as the sitemap wrote it."""
        return self._publication_language

    @property
    def access(self) -> str | None:
        """``Subscription`` or ``Registration``, or None where everyone may read it."""
        return self._access

    @property
    def genres(self) -> list[str]:
        """Labels such as ``PressRelease`` or ``Blog``."""
        return self._genres

    @property
    def keywords(self) -> list[str]:
        """The story's topics."""
        return self._keywords

    @property
    def stock_tickers(self) -> list[str]:
        """Stock tickers of the companies that the story is about, such as ``NASDAQ:AMAT``."""
        return self._stock_tickers


class SitemapImage(Value):
    """An image on a page (the Google Image extension)."""

    __slots__ = ("_caption", "_geo_location", "_license", "_loc", "_title")
    _fields: ClassVar = ("loc", "caption", "geo_location", "title", "license")

    def __init__(
        self,
        loc: str,
        caption: str | None = None,
        geo_location: str | None = None,
        title: str | None = None,
        license_: str | None = None,
    ) -> None:
        self._loc = loc
        self._caption = caption
        self._geo_location = geo_location
        self._title = title
        self._license = license_

    @property
    def loc(self) -> str:
        """The URL of the image."""
        return self._loc

    @property
    def caption(self) -> str | None:
        """The image's caption."""
        return self._caption

    @property
    def geo_location(self) -> str | None:
        """Where it was taken, in words."""
        return self._geo_location

    @property
    def title(self) -> str | None:
        """The image's title."""
        return self._title

    @property
    def license(self) -> str | None:
        """The URL of its licence."""
        return self._license


@unique
class SitemapPageChangeFrequency(Enum):
    """How often a page is said to change."""

    ALWAYS = "always"
    HOURLY = "hourly"
    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"
    YEARLY = "yearly"
    NEVER = "never"

    @classmethod
    def has_value(cls, value: str) -> bool:
        """Tell whether this is one of the frequencies, as sitemaps write them."""
        return any(value == item.value for item in cls)


def as_utc(when: datetime | None) -> datetime | None:
    """Return a moment in UTC; one without a zone is taken as UTC."""
    if when is None:
        return None
    if when.tzinfo is None:
        return when.replace(tzinfo=UTC)
    try:
        return when.astimezone(UTC)
    except OverflowError:  # in the first or last hours of the calendar
        return when.replace(tzinfo=UTC)


class Meaning(Protocol):
    """How a format turns what an entry said into the values of a page."""

    def priority(self, record: Record) -> Decimal: ...
    def last_modified(self, record: Record) -> datetime | None: ...
    def change_frequency(self, record: Record) -> SitemapPageChangeFrequency | None: ...
    def news_story(self, record: Record) -> SitemapNewsStory | None: ...
    def images(self, record: Record) -> list[SitemapImage] | None: ...
    def alternates(self, record: Record) -> list[tuple[str, str]] | None: ...


class SitemapPage(Value):
    """One page that a sitemap names."""

    __slots__ = (
        "_alternates",
        "_change_frequency",
        "_images",
        "_last_modified",
        "_meaning",
        "_news_story",
        "_priority",
        "_record",
        "_sitemap_url",
        "_url",
    )
    _fields: ClassVar = (
        "url",
        "priority",
        "last_modified",
        "change_frequency",
        "news_story",
        "images",
        "alternates",
    )

    _record: Record
    _meaning: Meaning
    _sitemap_url: str | None

    def __init__(
        self,
        url: str,
        priority: Decimal = SITEMAP_PAGE_DEFAULT_PRIORITY,
        last_modified: datetime | None = None,
        change_frequency: SitemapPageChangeFrequency | None = None,
        news_story: SitemapNewsStory | None = None,
        images: list[SitemapImage] | None = None,
        alternates: list[tuple[str, str]] | None = None,
    ) -> None:
        self._url = url
        self._priority = priority
        self._last_modified = last_modified
        self._change_frequency = change_frequency
        self._news_story = news_story
        self._images = images
        self._alternates = alternates
        self._sitemap_url = None

    @classmethod
    def from_entry(
        cls, url: str, record: Record, meaning: Meaning, sitemap_url: str | None
    ) -> Self:
        """Make the page of an entry, its fields being converted when they are asked for."""
        page = cls.__new__(cls)
        page._url = url
        page._sitemap_url = sitemap_url
        page._record = record
        page._meaning = meaning
        return page

    def __getstate__(self) -> tuple[dict[str, Any] | None, dict[str, Any]]:
        attributes, fields = super().__getstate__()
        return attributes, fields | {"_SitemapPage__sitemap_url": self._sitemap_url}

    def __setstate__(self, state: tuple[dict[str, Any] | None, dict[str, Any]]) -> None:
        super().__setstate__(state)
        self._sitemap_url = state[1].get("_SitemapPage__sitemap_url")  # 1.8.1 has none

    def __hash__(self) -> int:
        return hash((self._url,))

    def __repr__(self) -> str:
        # Alternates came late to 1.8.1 and never reached its repr; they are shown where there are.
        shown = [name for name in self._fields if name != "alternates" or self.alternates]
        fields = ", ".join(f"{name}={getattr(self, name)}" for name in shown)
        return f"{type(self).__name__}({fields})"

    def to_dict(self) -> dict[str, Any]:
        """Return the page as plain values: the keys of 1.8.1, newer ones where they say something.

        Dates stay ``datetime`` and the priority ``Decimal``, as they always have.
        """
        page: dict[str, Any] = {
            "url": self.url,
            "priority": self.priority,
            "last_modified": self.last_modified,
            "change_frequency": self.change_frequency.value if self.change_frequency else None,
            "news_story": self.news_story.to_dict() if self.news_story else None,
            "images": [image.to_dict() for image in self.images] if self.images else None,
        }
        if self.alternates:
            page["alternates"] = self.alternates
        return page

    def __getattr__(self, slot: str) -> Any:  # noqa: ANN401 -- any field
        """Convert a field that nobody has asked for yet: its slot is still empty."""
        name = slot[1:]
        if slot[:1] != "_" or name not in self._fields:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {slot!r}")
        value = getattr(self._meaning, name)(self._record)
        setattr(self, slot, value)
        return value

    @property
    def url(self) -> str:
        """The page's URL."""
        return self._url

    @property
    def sitemap_url(self) -> str | None:
        """The URL of the sitemap that lists the page; no part of what makes two pages equal."""
        return self._sitemap_url

    @property
    def priority(self) -> Decimal:
        """How important the page is within its site, from 0 to 1; 0.5 where nothing is said."""
        return self._priority

    @property
    def last_modified(self) -> datetime | None:
        """When the page last changed; naive where the sitemap named no zone."""
        return self._last_modified

    @property
    def updated_at(self) -> datetime | None:
        """When the page last changed, else when it was published, in UTC: for sorting and choosing.

        A bare date is midnight, and a time without a zone is taken as UTC.
        """
        story = self.news_story if self.last_modified is None else None
        return as_utc(story.publish_date if story else self.last_modified)

    @property
    def change_frequency(self) -> SitemapPageChangeFrequency | None:
        """How often the page is said to change; ALWAYS for a word that is none of the seven."""
        return self._change_frequency

    @property
    def news_story(self) -> SitemapNewsStory | None:
        """The news story on the page, or the title and date of a feed's item."""
        return self._news_story

    @property
    def images(self) -> list[SitemapImage] | None:
        """The images on the page; None where there are none."""
        return self._images

    @property
    def alternates(self) -> list[tuple[str, str]] | None:
        """The page in other languages as (language, URL); None where there are none."""
        return self._alternates
