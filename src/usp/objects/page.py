"""The page of a sitemap, and what sitemaps say about it: a news story, images, alternates, more.

A page that was read from a document holds what its entry said (a *record*) and the *field_reader* of
that format; a field is converted when it is first asked for. A page that the caller builds holds
its values at once. Nobody can tell the two apart: same values, types, equality and pickles.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum, unique
from types import MappingProxyType
from typing import Any, ClassVar, Final, Protocol, Self, TypeAlias

from usp.objects.markup import PageElement, PageLink, PageMapObject
from usp.objects.news_story import SitemapImage, SitemapNewsStory
from usp.objects.value_object import ValueObject
from usp.objects.video import SitemapVideo

__all__ = [
    "SITEMAP_PAGE_DEFAULT_PRIORITY",
    "PageElement",
    "PageLink",
    "PageMapObject",
    "SitemapImage",
    "SitemapNewsStory",
    "SitemapPage",
    "SitemapPageChangeFrequency",
    "SitemapVideo",
]

Record = Iterable[tuple[str, str]]
"""What one entry said: (key, text) in document order; see ``usp._parse.xml.grammar``."""

SITEMAP_PAGE_DEFAULT_PRIORITY: Final = Decimal("0.5")
"""The priority of a page that gives none (sitemaps.org, ``<priority>``)."""


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


RawEntry: TypeAlias = Any
"""What an entry said: a record, or whatever else the field_reader of its page was made for."""

_new: Final = object.__new__
_UNREAD: Final[Any] = object()
"""Stands in a slot whose value nobody has asked for yet. The slots of what is rarer stay empty:
that costs less as long as nobody asks, and more then. (A ``__getattr__`` for them would cost every
other field a third of a microsecond.)"""


class PageFieldReader(Protocol):
    """How a format turns what an entry said into the values of a page."""

    def priority(self, record: RawEntry) -> Decimal: ...
    def last_modified(self, record: RawEntry) -> datetime | None: ...
    def change_frequency(self, record: RawEntry) -> SitemapPageChangeFrequency | None: ...
    def news_story(self, record: RawEntry) -> SitemapNewsStory | None: ...
    def images(self, record: RawEntry) -> list[SitemapImage] | None: ...
    def alternates(self, record: RawEntry) -> list[tuple[str, str]] | None: ...
    def videos(self, record: RawEntry) -> list[SitemapVideo] | None: ...
    def links(self, record: RawEntry) -> list[PageLink] | None: ...
    def mobile(self, record: RawEntry) -> bool: ...
    def page_map(self, record: RawEntry) -> list[PageMapObject] | None: ...
    def extensions(self, record: RawEntry) -> list[PageElement] | None: ...
    def title(self, record: RawEntry) -> str | None: ...
    def published_at(self, record: RawEntry) -> datetime | None: ...
    def declared(self, record: RawEntry) -> dict[str, str]: ...
    def says_more(self, record: RawEntry) -> bool: ...


def _dictionaries(values: Sequence[Any]) -> list[dict[str, Any]]:
    return [value.to_dict() for value in values]


_LATER: Final[Mapping[str, Callable[[Any], Any]]] = {
    # Alternates came late to 1.8.1 and never reached its repr.
    "alternates": list,
    "videos": _dictionaries,
    "links": _dictionaries,
    "mobile": bool,
    "page_map": _dictionaries,
    "extensions": _dictionaries,
}
"""Fields that are shown where they say something, and how they look in a dictionary."""


class SitemapPage(ValueObject):
    """One page that a sitemap names."""

    __slots__ = (
        "_alternates",
        "_change_frequency",
        "_declared",
        "_extensions",
        "_field_reader",
        "_images",
        "_last_modified",
        "_links",
        "_mobile",
        "_news_story",
        "_page_map",
        "_priority",
        "_published_at",
        "_record",
        "_says_more",
        "_sitemap_url",
        "_title",
        "_url",
        "_videos",
    )
    _fields: ClassVar = (
        "url",
        "priority",
        "last_modified",
        "change_frequency",
        "news_story",
        "images",
        *_LATER,
    )
    _provenance: ClassVar = ("sitemap_url", "title", "published_at", "declared")
    """What travels in pickles, and is no part of what makes two pages equal."""
    _record: RawEntry
    _field_reader: PageFieldReader
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
        *,
        videos: list[SitemapVideo] | None = None,
        links: list[PageLink] | None = None,
        mobile: bool = False,
        page_map: list[PageMapObject] | None = None,
        extensions: list[PageElement] | None = None,
    ) -> None:
        self._url = url
        self._priority = priority
        self._last_modified = last_modified
        self._change_frequency = change_frequency
        self._news_story = news_story
        self._images = images
        self._alternates = alternates
        self._videos = videos
        self._links = links
        self._mobile = mobile
        self._page_map = page_map
        self._extensions = extensions
        self._take_provenance({})

    @classmethod
    def from_entry(
        cls, url: str, record: RawEntry, field_reader: PageFieldReader, sitemap_url: str | None
    ) -> Self:
        """Make the page of an entry, its fields being converted when they are asked for."""
        page = _new(cls)
        page._url = url
        page._sitemap_url = sitemap_url
        page._record = record
        page._field_reader = field_reader
        page._priority = page._last_modified = page._change_frequency = _UNREAD
        page._news_story = page._images = page._alternates = _UNREAD
        return page

    def __getstate__(self) -> tuple[dict[str, Any] | None, dict[str, Any]]:
        attributes, fields = super().__getstate__()
        told = {f"_SitemapPage__{name}": self._rarer(name) for name in self._provenance}
        return attributes, fields | told

    def __setstate__(self, state: tuple[dict[str, Any] | None, dict[str, Any]]) -> None:
        super().__setstate__(state)
        self._mobile = bool(self._mobile)  # None in a pickle of 1.8.1
        self._take_provenance(state[1])

    def _take_provenance(self, told: Mapping[str, Any]) -> None:
        """Take what a pickle tells beside the fields; 1.8.1 and a caller tell nothing."""
        self._says_more = True
        story = self._news_story
        untold: tuple[Any, ...] = (
            None,
            story and story.title,
            story and as_utc(story.publish_date),
            {},
        )
        for name, value in zip(self._provenance, untold, strict=True):
            setattr(self, f"_{name}", told.get(f"_SitemapPage__{name}", value))

    def __hash__(self) -> int:
        return hash((self._url,))

    def __repr__(self) -> str:
        shown = [name for name in self._fields if name not in _LATER or name in self._later()]
        fields = ", ".join(f"{name}={getattr(self, name)}" for name in shown)
        return f"{type(self).__name__}({fields})"

    def to_dict(self, *, extended: bool = False) -> dict[str, Any]:
        """Return the page as plain values, with exactly the keys of 1.8.1.

        Dates stay ``datetime`` and the priority ``Decimal``.

        :param extended: whether to add all other fields.
        """
        page: dict[str, Any] = {
            "url": self.url,
            "priority": self.priority,
            "last_modified": self.last_modified,
            "change_frequency": self.change_frequency.value if self.change_frequency else None,
            "news_story": self.news_story.to_dict() if self.news_story else None,
            "images": [image.to_dict() for image in self.images] if self.images else None,
        }
        return page | self._extended_dict() if extended else page

    def _extended_dict(self) -> dict[str, Any]:
        listed = {name: getattr(self, name) for name in _LATER}
        return {
            **{name: value and _LATER[name](value) for name, value in listed.items()},
            "title": self.title,
            "published_at": self.published_at,
            "updated_at": self.updated_at,
            "declared": dict(self.declared),
            "sitemap_url": self.sitemap_url,
        }

    def _later(self) -> dict[str, Callable[[Any], Any]]:
        """Return those of the later fields that say something."""
        # Most entries have none, and asking all of them takes longer than all the rest.
        if not self._rarer("says_more"):
            return {}
        return {name: show for name, show in _LATER.items() if getattr(self, name)}

    def _rarer(self, name: str) -> Any:  # noqa: ANN401 -- any field
        """Return a field, converted now if nobody has asked for it yet: its slot is empty then."""
        value = getattr(self, f"_{name}", _UNREAD)
        if value is _UNREAD:
            value = getattr(self._field_reader, name)(self._record)
            setattr(self, f"_{name}", value)
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
        if self._priority is _UNREAD:
            self._priority = self._field_reader.priority(self._record)
        return self._priority

    @property
    def last_modified(self) -> datetime | None:
        """When the page last changed; naive where the sitemap named no zone."""
        if self._last_modified is _UNREAD:
            self._last_modified = self._field_reader.last_modified(self._record)
        return self._last_modified

    @property
    def updated_at(self) -> datetime | None:
        """When the page last changed, else when it was published, in UTC: for sorting and choosing.

        A bare date is midnight, and a time without a zone is taken as UTC.
        """
        when = self.last_modified or self.published_at
        if when is None and self.news_story:
            when = self.news_story.publish_date
        return as_utc(when)

    @property
    def change_frequency(self) -> SitemapPageChangeFrequency | None:
        """How often the page is said to change; ALWAYS for a word that is none of the seven."""
        if self._change_frequency is _UNREAD:
            self._change_frequency = self._field_reader.change_frequency(self._record)
        return self._change_frequency

    @property
    def news_story(self) -> SitemapNewsStory | None:
        """The news story on the page, or the title and date of a feed's item."""
        if self._news_story is _UNREAD:
            self._news_story = self._field_reader.news_story(self._record)
        return self._news_story

    @property
    def images(self) -> list[SitemapImage] | None:
        """The images on the page; None where there are none."""
        if self._images is _UNREAD:
            self._images = self._field_reader.images(self._record)
        return self._images

    @property
    def alternates(self) -> list[tuple[str, str]] | None:
        """The page in other languages as (language, URL); None where there are none."""
        if self._alternates is _UNREAD:
            self._alternates = self._field_reader.alternates(self._record)
        return self._alternates

    @property
    def videos(self) -> list[SitemapVideo] | None:
        """The videos on the page; None where there are none."""
        found: list[SitemapVideo] | None = self._rarer("videos")
        return found

    @property
    def links(self) -> list[PageLink] | None:
        """The links that ``alternates`` can't hold, or not in full; None where there are none."""
        found: list[PageLink] | None = self._rarer("links")
        return found

    @property
    def mobile(self) -> bool:
        """Whether the page is marked as one for mobile phones (``<mobile:mobile/>``)."""
        found: bool = self._rarer("mobile")
        return found

    @property
    def page_map(self) -> list[PageMapObject] | None:
        """The objects of the page's PageMap; None where there is none."""
        found: list[PageMapObject] | None = self._rarer("page_map")
        return found

    @property
    def extensions(self) -> list[PageElement] | None:
        """The elements of the entry that mean nothing here, where that was asked for."""
        found: list[PageElement] | None = self._rarer("extensions")
        return found

    @property
    def title(self) -> str | None:
        """The title of the story or of the feed's item; a text that stands for it is none."""
        found: str | None = self._rarer("title")
        return found

    @property
    def published_at(self) -> datetime | None:
        """When the page was published, if the entry tells; in UTC if it names no time zone."""
        found: datetime | None = self._rarer("published_at")
        return found

    @property
    def declared(self) -> Mapping[str, str]:
        """What the entry said, as text; what it didn't say is absent.

        Of an element that it has more than once it is the first. Empty on a page that wasn't read.
        """
        return MappingProxyType(self._rarer("declared"))
