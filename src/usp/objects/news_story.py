"""News stories and images of a page.

Their ``__module__`` is ``usp.objects.page``, as in 1.8.1, for pickles.
"""

from datetime import datetime
from typing import ClassVar

from usp.objects.value_object import ValueObject

__all__ = ["SitemapImage", "SitemapNewsStory"]


class SitemapNewsStory(ValueObject):
    """A news story: the Google News extension of an entry, or the title and date of a feed item."""

    __module__ = "usp.objects.page"
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
        """When the story was published; naive if the sitemap gives no time zone."""
        return self._publish_date

    @property
    def publication_name(self) -> str | None:
        """The publication in which it appeared."""
        return self._publication_name

    @property
    def publication_language(self) -> str | None:
        """The publication's language, as written."""
        return self._publication_language

    @property
    def access(self) -> str | None:
        """``Subscription`` or ``Registration``; None if everyone may read it."""
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


class SitemapImage(ValueObject):
    """An image on a page (the Google Image extension)."""

    __module__ = "usp.objects.page"
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
        """The place where it was taken, as text."""
        return self._geo_location

    @property
    def title(self) -> str | None:
        """The image's title."""
        return self._title

    @property
    def license(self) -> str | None:
        """The URL of its licence."""
        return self._license
