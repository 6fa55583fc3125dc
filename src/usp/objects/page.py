"""The page of a sitemap: its URL and what the sitemap gives for it.

A page that was parsed holds its raw entry (a *record*) and the *field reader* of the format; a
field is converted lazily, on first access. A page that the caller builds holds its values. The two
behave alike: same values, types, equality and pickles.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum, unique
from types import MappingProxyType
from typing import Any, ClassVar, Final, Protocol, Self, TypeAlias

from usp._display import redact, shown
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
"""The raw fields of an entry: (key, text) in document order; see ``usp._parse.xml.grammar``."""

SITEMAP_PAGE_DEFAULT_PRIORITY: Final = Decimal("0.5")
"""The priority of a page that gives none (sitemaps.org, ``<priority>``)."""


@unique
class SitemapPageChangeFrequency(Enum):
    """How often a page changes, by its sitemap."""

    ALWAYS = "always"
    HOURLY = "hourly"
    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"
    YEARLY = "yearly"
    NEVER = "never"

    @classmethod
    def has_value(cls, value: str) -> bool:
        """Tell whether this is one of the frequencies, as written in sitemaps."""
        return any(value == item.value for item in cls)


def as_utc(when: datetime | None) -> datetime | None:
    """Return a time in UTC; one without a time zone is taken as UTC."""
    if when is None:
        return None
    if when.tzinfo is None:
        return when.replace(tzinfo=UTC)
    try:
        return when.astimezone(UTC)
    except OverflowError:  # in the first or last hours of the calendar
        return when.replace(tzinfo=UTC)


RawEntry: TypeAlias = Any
"""An entry before conversion: a record, or whatever else its field reader takes."""

_new: Final = object.__new__
NOT_CONVERTED: Final[Any] = object()
"""The value of a slot that was not converted yet. The slots of rare fields stay empty instead: that
costs less until they are accessed. (A ``__getattr__`` would slow every other field down.)"""
CORE_FIELDS: Final = (
    *("priority", "last_modified", "change_frequency"),
    *("news_story", "images", "alternates"),
)
"""The fields that a page has from the beginning: those of 1.8.1."""


class PageFieldReader(Protocol):
    """How a format turns a raw entry into the values of a page."""

    @property
    def first_values(self) -> tuple[Any, ...]: ...  # of CORE_FIELDS, before these are read

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
    def has_later_fields(self, record: RawEntry) -> bool: ...


def _dictionaries(values: Sequence[Any]) -> list[dict[str, Any]]:
    return [value.to_dict() for value in values]


_LATER_FIELDS: Final[Mapping[str, Callable[[Any], Any]]] = {
    # 1.8.1 has alternates, but not in its repr.
    "alternates": list,
    "videos": _dictionaries,
    "links": _dictionaries,
    "mobile": bool,
    "page_map": _dictionaries,
    "extensions": _dictionaries,
}
"""Fields that the repr shows if they are not empty, and their form in a dictionary."""


class SitemapPage(ValueObject):
    """One page that a sitemap lists."""

    __slots__ = (
        "_alternates",
        "_change_frequency",
        "_declared",
        "_extensions",
        "_field_reader",
        "_has_later_fields",
        "_images",
        "_last_modified",
        "_links",
        "_mobile",
        "_news_story",
        "_page_map",
        "_priority",
        "_published_at",
        "_record",
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
        *_LATER_FIELDS,
    )
    _uncompared: ClassVar = ("sitemap_url", "title", "published_at", "declared")
    """Fields that are pickled, and are not compared."""
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
        self._set_uncompared({})

    @classmethod
    def from_entry(
        cls, url: str, record: RawEntry, field_reader: PageFieldReader, sitemap_url: str | None
    ) -> Self:
        """Return the page of an entry; its fields are converted lazily, on first access."""
        page = _new(cls)
        page._url = url
        page._sitemap_url = sitemap_url
        page._record = record
        page._field_reader = field_reader
        (
            page._priority,
            page._last_modified,
            page._change_frequency,
            page._news_story,
            page._images,
            page._alternates,
        ) = field_reader.first_values
        return page

    def __getstate__(self) -> tuple[dict[str, Any] | None, dict[str, Any]]:
        attributes, fields = super().__getstate__()
        pickled = {f"_SitemapPage__{name}": self._rare_field(name) for name in self._uncompared}
        return attributes, fields | pickled

    def __setstate__(self, state: tuple[dict[str, Any] | None, dict[str, Any]]) -> None:
        super().__setstate__(state)
        self._mobile = bool(self._mobile)  # None in a pickle of 1.8.1
        self._set_uncompared(state[1])

    def _set_uncompared(self, pickled: Mapping[str, Any]) -> None:
        """Set the fields that aren't compared; pickles of 1.8.1 and callers don't have them."""
        self._has_later_fields = True
        story = self._news_story
        defaults: tuple[Any, ...] = (
            None,
            story and story.title,
            story and as_utc(story.publish_date),
            {},
        )
        for name, value in zip(self._uncompared, defaults, strict=True):
            setattr(self, f"_{name}", pickled.get(f"_SitemapPage__{name}", value))

    def __hash__(self) -> int:
        return hash((self._url,))

    def __repr__(self) -> str:
        names = [
            name
            for name in self._fields
            if name not in _LATER_FIELDS or name in self._present_later_fields()
        ]
        fields = ", ".join(f"{name}={getattr(self, name)}" for name in names)
        return shown(f"{type(self).__name__}({fields})")

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
        listed = {name: getattr(self, name) for name in _LATER_FIELDS}
        return {
            **{name: value and _LATER_FIELDS[name](value) for name, value in listed.items()},
            "title": self.title,
            "published_at": self.published_at,
            "updated_at": self.updated_at,
            "declared": {name: redact(text) for name, text in self.declared.items()},
            "sitemap_url": self.sitemap_url,
        }

    def _present_later_fields(self) -> dict[str, Callable[[Any], Any]]:
        """Return those of the later fields that are not empty."""
        # Most entries have none, and looking at each takes longer than all the rest.
        if not self._rare_field("has_later_fields"):
            return {}
        return {name: show for name, show in _LATER_FIELDS.items() if getattr(self, name)}

    def _rare_field(self, name: str) -> Any:  # noqa: ANN401 -- any field
        """Return a field, converted on first access: until then its slot is empty."""
        value = getattr(self, f"_{name}", NOT_CONVERTED)
        if value is NOT_CONVERTED:
            value = getattr(self._field_reader, name)(self._record)
            setattr(self, f"_{name}", value)
        return value

    @property
    def url(self) -> str:
        """The page's URL."""
        return self._url

    @property
    def sitemap_url(self) -> str | None:
        """The URL of the sitemap that lists the page; not compared."""
        return self._sitemap_url

    @property
    def priority(self) -> Decimal:
        """The importance of the page within its site, from 0 to 1; 0.5 if it is not given."""
        if self._priority is NOT_CONVERTED:
            self._priority = self._field_reader.priority(self._record)
        return self._priority

    @property
    def last_modified(self) -> datetime | None:
        """When the page last changed; naive if the sitemap gives no time zone, as in 1.8.1."""
        if self._last_modified is NOT_CONVERTED:
            self._last_modified = self._field_reader.last_modified(self._record)
        return self._last_modified

    @property
    def updated_at(self) -> datetime | None:
        """When the page last changed, else when it was published, in UTC; ``since`` compares it.

        A bare date is midnight, and a time without a time zone is taken as UTC.
        """
        when = self.last_modified or self.published_at
        if when is None and self.news_story:
            when = self.news_story.publish_date
        return as_utc(when)

    @property
    def change_frequency(self) -> SitemapPageChangeFrequency | None:
        """How often the page changes; ALWAYS for an unknown word, as in 1.8.1."""
        if self._change_frequency is NOT_CONVERTED:
            self._change_frequency = self._field_reader.change_frequency(self._record)
        return self._change_frequency

    @property
    def news_story(self) -> SitemapNewsStory | None:
        """The news story on the page, or the title and date of a feed's item."""
        if self._news_story is NOT_CONVERTED:
            self._news_story = self._field_reader.news_story(self._record)
        return self._news_story

    @property
    def images(self) -> list[SitemapImage] | None:
        """The images on the page; None if there are none."""
        if self._images is NOT_CONVERTED:
            self._images = self._field_reader.images(self._record)
        return self._images

    @property
    def alternates(self) -> list[tuple[str, str]] | None:
        """The page in other languages as (language, URL); None if there are none."""
        if self._alternates is NOT_CONVERTED:
            self._alternates = self._field_reader.alternates(self._record)
        return self._alternates

    @property
    def videos(self) -> list[SitemapVideo] | None:
        """The videos on the page; None if there are none."""
        found: list[SitemapVideo] | None = self._rare_field("videos")
        return found

    @property
    def links(self) -> list[PageLink] | None:
        """The links that ``alternates`` can't hold, or not in full; None if there are none."""
        found: list[PageLink] | None = self._rare_field("links")
        return found

    @property
    def mobile(self) -> bool:
        """Whether the page is marked as one for mobile phones (``<mobile:mobile/>``)."""
        found: bool = self._rare_field("mobile")
        return found

    @property
    def page_map(self) -> list[PageMapObject] | None:
        """The objects of the page's PageMap; None if there is none."""
        found: list[PageMapObject] | None = self._rare_field("page_map")
        return found

    @property
    def extensions(self) -> list[PageElement] | None:
        """The unknown elements of the entry, if ``extensions=True`` was given."""
        found: list[PageElement] | None = self._rare_field("extensions")
        return found

    @property
    def title(self) -> str | None:
        """The title of the news story or of the feed's item; never its description."""
        found: str | None = self._rare_field("title")
        return found

    @property
    def published_at(self) -> datetime | None:
        """When the page was published, if the entry has that; in UTC if it has no time zone."""
        found: datetime | None = self._rare_field("published_at")
        return found

    @property
    def declared(self) -> Mapping[str, str]:
        """The raw texts of the entry by key, without conversion.

        Of a repeated element it has the first. Empty for a page that was not parsed.
        """
        return MappingProxyType(self._rare_field("declared"))
