"""The schema: every table and column, as data.

Exports, SQLite tables, Arrow schemas and the data dictionary of the docs are made from it. A column
never changes its name, type or meaning; a change of the schema changes ``SCHEMA_VERSION``. Absent
values are null: nothing is invented.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from usp._validate import argument_error, hint
from usp.exceptions import UsageError

SCHEMA_VERSION: Final = 1
"""In the metadata of every file that can hold it."""


class ColumnType(StrEnum):
    """The type of a column."""

    TEXT = "text"
    INTEGER = "integer"
    """A whole number of 64 bits."""
    REAL = "real"
    BOOLEAN = "boolean"
    TIMESTAMP = "timestamp"
    """A time in UTC, in microseconds."""
    TEXTS = "list of text"
    ROWS = "list of rows"
    """The rows of a table of their own, such as the images of a page."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    name: str
    type: ColumnType
    origin: str
    """Where the value comes from."""
    meaning: str
    """What it is, in one sentence."""
    fields: tuple["Column", ...] = ()
    """The columns of each row, in a column of rows."""
    repeats: bool = False
    """Whether it has few different values: then formats that can store each of them once."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table: an iterable of its columns."""

    name: str
    meaning: str
    """What one row is, in one sentence."""
    columns: tuple[Column, ...]
    names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """The names of the columns."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(column.name for column in self.columns))

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def only(self, names: Iterable[str] | None) -> "Table":
        """Return the table with only these columns, in this order; all of them for None.

        :raises UsageError: if there is no such column, or one is named twice.
        """
        if names is None:
            return self
        wanted = list(names)
        known = {column.name: column for column in self.columns}
        for name in wanted:
            if name not in known:
                raise UsageError(
                    f"columns: {name!r} is no column of {self.name}{hint(name, known)}; it has "
                    f"{', '.join(known)}."
                )
        if not wanted or len(set(wanted)) < len(wanted):
            raise argument_error("columns", "names of columns, each once", wanted)
        return replace(self, columns=tuple(known[name] for name in wanted))


def table_named(name: str) -> Table:
    """Return a table of the schema.

    :raises UsageError: if there is none of this name.
    """
    if not isinstance(name, str):
        raise argument_error("table", "the name of a table", name)
    if name not in TABLES:
        raise UsageError(
            f"table: {name!r} is no table{hint(name, TABLES)}; the tables are {', '.join(TABLES)}."
        )
    return TABLES[name]


_TEXT, _INTEGER, _REAL = ColumnType.TEXT, ColumnType.INTEGER, ColumnType.REAL
_BOOLEAN, _TIMESTAMP = ColumnType.BOOLEAN, ColumnType.TIMESTAMP
_TEXTS, _ROWS = ColumnType.TEXTS, ColumnType.ROWS

_SITE: Final = Column(
    "site", _TEXT, "the source", "The site, file or sitemap that was read, as it was named; null for a document without a name.",
    repeats=True,
)  # fmt: skip
_SITEMAP_URL: Final = Column(
    "sitemap_url", _TEXT, "the response",
    "The URL of the sitemap, after redirects; the name of a file; null if it has none.",
    repeats=True,
)  # fmt: skip

_IMAGE_FIELDS: Final = (
    Column("url", _TEXT, "<image:loc>", "The URL of the image."),
    Column("caption", _TEXT, "<image:caption>", "Its caption."),
    Column("geo_location", _TEXT, "<image:geo_location>", "Where it was taken."),
    Column("title", _TEXT, "<image:title>", "Its title."),
    Column("license_url", _TEXT, "<image:license>", "The URL of its licence."),
)
_ALTERNATE_FIELDS: Final = (
    Column("language", _TEXT, "<xhtml:link hreflang>", "The language, as written.", repeats=True),
    Column("url", _TEXT, "<xhtml:link href>", "The URL of the page in that language."),
)
_LINK_FIELDS: Final = (
    Column("rel", _TEXT, "<xhtml:link rel>", "The relation to the page, as written.", repeats=True),
    Column("href", _TEXT, "<xhtml:link href>", "What the link leads to."),
    Column("hreflang", _TEXT, "<xhtml:link hreflang>", "Its language, as written."),
    Column("media", _TEXT, "<xhtml:link media>", "The devices that it is for (CSS media query)."),
    Column("type", _TEXT, "<xhtml:link type>", "Its media type."),
    Column("title", _TEXT, "<xhtml:link title>", "Its title."),
)
_NEWS_FIELDS: Final = (
    Column("title", _TEXT, "<news:title>", "The headline."),
    Column("published_at", _TIMESTAMP, "<news:publication_date>", "When it was published."),
    Column("publication", _TEXT, "<news:name>", "The publication's name.", repeats=True),
    Column("language", _TEXT, "<news:language>", "The publication's language.", repeats=True),
    Column("access", _TEXT, "<news:access>", "Who can read it, as written.", repeats=True),
    Column("genres", _TEXTS, "<news:genres>", "Its genres."),
    Column("keywords", _TEXTS, "<news:keywords>", "Its keywords."),
    Column("stock_tickers", _TEXTS, "<news:stock_tickers>", "The companies that it is about."),
)
_PRICE_FIELDS: Final = (
    Column("amount", _REAL, "<video:price>", "The price."),
    Column("currency", _TEXT, "<video:price currency>", "Its currency (ISO 4217)."),
    Column("type", _TEXT, "<video:price type>", "To own or to rent, as written."),
    Column("resolution", _TEXT, "<video:price resolution>", "HD or SD, as written."),
)
_ID_FIELDS: Final = (
    Column("value", _TEXT, "<video:id>", "The identifier."),
    Column("type", _TEXT, "<video:id type>", "The catalogue that it belongs to."),
)
_SEGMENT_FIELDS: Final = (
    Column("loc", _TEXT, "<video:content_segment_loc>", "The URL of the file."),
    Column("duration", _INTEGER, "<video:content_segment_loc duration>", "Its length in seconds."),
)
_VIDEO_FIELDS: Final = (
    Column("thumbnail_loc", _TEXT, "<video:thumbnail_loc>", "The URL of a thumbnail."),
    Column("title", _TEXT, "<video:title>", "Its title."),
    Column("description", _TEXT, "<video:description>", "What it shows."),
    Column("content_loc", _TEXT, "<video:content_loc>", "The URL of the video itself."),
    Column("player_loc", _TEXT, "<video:player_loc>", "The URL of a player for it."),
    Column(
        "player_allow_embed", _BOOLEAN, "<video:player_loc allow_embed>",
        "Whether others may embed that player.",
    ),
    Column(
        "player_autoplay", _TEXT, "<video:player_loc autoplay>",
        "What to append to the player's URL for autoplay.",
    ),
    Column("duration", _INTEGER, "<video:duration>", "Its length in seconds."),
    Column("expiration_date", _TIMESTAMP, "<video:expiration_date>", "When it expires."),
    Column("rating", _REAL, "<video:rating>", "Its rating, from 0 to 5."),
    Column("view_count", _INTEGER, "<video:view_count>", "How often it was watched."),
    Column("publication_date", _TIMESTAMP, "<video:publication_date>", "When it was published."),
    Column("family_friendly", _BOOLEAN, "<video:family_friendly>", "False if it is for adults."),
    Column(
        "restriction", _TEXT, "<video:restriction relationship>",
        "Whether the countries are those that may show it (allow) or may not (deny).",
    ),
    Column("restriction_countries", _TEXTS, "<video:restriction>", "Country codes (ISO 3166)."),
    Column(
        "platform", _TEXT, "<video:platform relationship>",
        "Whether the platforms are those that may show it (allow) or may not (deny).",
    ),
    Column("platforms", _TEXTS, "<video:platform>", "Among web, mobile and tv."),
    Column("prices", _ROWS, "<video:price>", "Its prices.", _PRICE_FIELDS),
    Column(
        "requires_subscription", _BOOLEAN, "<video:requires_subscription>",
        "Whether it takes a subscription to watch it.",
    ),
    Column("uploader", _TEXT, "<video:uploader>", "Who uploaded it."),
    Column("uploader_info", _TEXT, "<video:uploader info>", "A page about the uploader."),
    Column("live", _BOOLEAN, "<video:live>", "Whether it is a live stream."),
    Column("tags", _TEXTS, "<video:tag>", "Its tags."),
    Column("category", _TEXT, "<video:category>", "Its category."),
    Column("gallery_loc", _TEXT, "<video:gallery_loc>", "The gallery that contains it."),
    Column("gallery_title", _TEXT, "<video:gallery_loc title>", "That gallery's title."),
    Column("ids", _ROWS, "<video:id>", "Its identifiers in catalogues.", _ID_FIELDS),
    Column("show_title", _TEXT, "<video:show_title>", "The television show it belongs to."),
    Column("show_video_type", _TEXT, "<video:video_type>", "Full, preview, clip, interview …"),
    Column("show_episode_title", _TEXT, "<video:episode_title>", "The title of the episode."),
    Column("show_season_number", _INTEGER, "<video:season_number>", "The season."),
    Column("show_episode_number", _INTEGER, "<video:episode_number>", "The episode."),
    Column("show_premier_date", _TIMESTAMP, "<video:premier_date>", "When it was first aired."),
    Column(
        "content_segments", _ROWS, "<video:content_segment_loc>",
        "The files that it is made up of, if there are several.", _SEGMENT_FIELDS,
    ),
    Column("renditions", _TEXTS, "<media:group>", "URLs of it in other formats or sizes."),
)  # fmt: skip

_PAGES: Final = Table(
    "pages",
    "One page that a sitemap lists.",
    (
        _SITE,
        Column("url", _TEXT, "<loc>, <link>", "The URL of the page."),
        _SITEMAP_URL,
        Column("position", _INTEGER, "the document", "Its number among the pages of the sitemap, from 1."),
        Column("lastmod", _TIMESTAMP, "<lastmod>, date_modified", "When the page last changed; a bare date is midnight UTC."),
        Column("lastmod_raw", _TEXT, "<lastmod>, date_modified", "The same as it is written, also where it isn't understood."),
        Column("changefreq", _TEXT, "<changefreq>", "How often it changes: one of the seven words of the protocol.", repeats=True),
        Column("priority", _REAL, "<priority>", "Its importance within the site, from 0 to 1.", repeats=True),
        Column("updated_at", _TIMESTAMP, "lastmod, else published_at, <updated>", "When it last changed, else when it was published: what since and until compare."),
        Column("published_at", _TIMESTAMP, "<news:publication_date>, <pubDate>, <published>", "When the page was published."),
        Column("title", _TEXT, "<news:title>, <title>", "The headline of the story, or the title of the feed's item."),
        Column("news_publication", _TEXT, "<news:name>", "The publication in which the story appeared.", repeats=True),
        Column("news_language", _TEXT, "<news:language>", "The publication's language, as written.", repeats=True),
        Column("news_genres", _TEXTS, "<news:genres>", "The genres of the story."),
        Column("news_keywords", _TEXTS, "<news:keywords>", "The keywords of the story."),
        Column("news_stock_tickers", _TEXTS, "<news:stock_tickers>", "The companies that the story is about."),
        Column("images", _ROWS, "<image:image>, <media:content>", "The images on the page.", _IMAGE_FIELDS),
        Column("videos", _ROWS, "<video:video>, <media:content>", "The videos on the page.", _VIDEO_FIELDS),
        Column("alternates", _ROWS, "<xhtml:link rel=alternate hreflang>", "The page in other languages.", _ALTERNATE_FIELDS),
        Column("links", _ROWS, "<xhtml:link>, <atom:link>", "Other links: AMP, apps, canonical pages, print versions.", _LINK_FIELDS),
    ),
)  # fmt: skip

_SITEMAPS: Final = Table(
    "sitemaps",
    "One position in the tree of sitemaps: a document that was fetched, failed, or was skipped.",
    (
        _SITE,
        Column("url", _TEXT, "the response", "The URL of the sitemap, after redirects."),
        Column("declared_url", _TEXT, "robots.txt, an index, a known path", "The URL as it was declared."),
        Column("parent_url", _TEXT, "the tree", "The URL of the document that declares it."),
        Column("level", _INTEGER, "the tree", "The depth in the tree; robots.txt and known paths are at level 0."),
        Column("position", _INTEGER, "the tree", "Its number among all sitemaps of the site, in document order, from 1."),
        Column("found_by", _TEXT, "discovery", "How it was found: well-known, robots, index, html, known-path, given.", repeats=True),
        Column("kind", _TEXT, "the document", "The format: urlset, sitemapindex, robots, rss, atom, jsonfeed, text.", repeats=True),
        Column("state", _TEXT, "the crawl", "What came of it: ok, failed, skipped, unchanged.", repeats=True),
        Column("code", _TEXT, "the crawl", "The problem code of a failure, or of the first loss (SM…).", repeats=True),
        Column("reason", _TEXT, "the crawl", "Why it failed, was skipped, or was read only in part, in words."),
        Column("http_status", _INTEGER, "the response", "The HTTP status."),
        Column("attempts", _INTEGER, "the crawl", "How many requests were made for it, retries included."),
        Column("redirects", _TEXTS, "the responses", "The URLs that redirected, in order."),
        Column("content_type", _TEXT, "Content-Type", "The media type of the response.", repeats=True),
        Column("content_encoding", _TEXT, "Content-Encoding", "How the response was compressed.", repeats=True),
        Column("bytes_received", _INTEGER, "the response", "The size of the body as received."),
        Column("bytes", _INTEGER, "the document", "The size of the document, decompressed."),
        Column("etag", _TEXT, "ETag", "The validator of the response."),
        Column("http_last_modified", _TIMESTAMP, "Last-Modified", "When the document changed, by the server."),
        Column("sha256", _TEXT, "the body", "The SHA-256 of the body as received; of a tree, if it was asked for (hash_bodies)."),
        Column("index_lastmod", _TIMESTAMP, "<lastmod> of the index", "When it changed, by its index."),
        Column("pages", _INTEGER, "the document", "How many of its pages were taken: with `unique`, those that none before it has."),
        Column("children", _INTEGER, "the document", "How many sitemaps it lists."),
        Column("complete", _BOOLEAN, "the document", "Whether nothing of it was lost."),
        Column("fetched_at", _TIMESTAMP, "the clock", "When the body was complete."),
        Column("seconds", _REAL, "the clock", "From the request to the end of the body."),
    ),
)  # fmt: skip

_PROBLEMS: Final = Table(
    "problems",
    "One problem of a sitemap, or of the crawl.",
    (
        _SITE,
        _SITEMAP_URL,
        Column("code", _TEXT, "the table of problems", "The code (SM…); it never changes its meaning.", repeats=True),
        Column("name", _TEXT, "the table of problems", "The name of the code.", repeats=True),
        Column("severity", _TEXT, "the table of problems", "error, warning or info.", repeats=True),
        Column("message", _TEXT, "the document", "What was found, in words."),
        Column("line", _INTEGER, "the document", "The line, from 1."),
        Column("offset", _INTEGER, "the document", "The byte offset in the decompressed document, from 0."),
        Column("page_url", _TEXT, "the document", "The page, or the listed sitemap, whose entry has it."),
        Column("count", _INTEGER, "the document", "In SM702, how many more problems there are than are listed."),
    ),
)  # fmt: skip

_ATTEMPTS: Final = Table(
    "attempts",
    "One URL that discovery tried, and the result.",
    (
        _SITE,
        Column("url", _TEXT, "the crawl", "The URL."),
        Column("stage", _TEXT, "discovery", "The discovery stage: robots.txt, known paths, homepage, newer paths, feeds, indexes, given.", repeats=True),
        Column("result", _TEXT, "the crawl", "sitemap, missing, blocked, unreachable, not-a-sitemap …", repeats=True),
        Column("http_status", _INTEGER, "the response", "The HTTP status."),
        Column("code", _TEXT, "the crawl", "The problem code of a failure (SM…).", repeats=True),
        Column("detail", _TEXT, "the crawl", "The reason in words; null when it worked."),
        Column("seconds", _REAL, "the clock", "How long it took."),
        Column("at", _TIMESTAMP, "the clock", "When the last response was complete."),
    ),
)  # fmt: skip

_SITES: Final = Table(
    "sites",
    "One site, file or sitemap that was read.",
    (
        replace(_SITE, repeats=False),
        Column("homepage", _TEXT, "the source", "The URL of the homepage."),
        Column("final_url", _TEXT, "the responses", "The homepage that answered: of the other scheme, say."),
        Column("outcome", _TEXT, "the crawl", "found, partial, none, blocked, unreachable; bad_input for a line that is no site.", repeats=True),
        Column("code", _TEXT, "the crawl", "The problem code of the first failure (SM…).", repeats=True),
        Column("complete", _BOOLEAN, "the crawl", "Whether nothing is known to be missing."),
        Column("limit", _TEXT, "the crawl", "The problem code of the limit that ended the crawl.", repeats=True),
        Column("started_at", _TIMESTAMP, "the clock", "When the crawl began."),
        Column("seconds", _REAL, "the clock", "How long it took."),
        Column("requests", _INTEGER, "the crawl", "How many requests were made, with retries, without redirects."),
        Column("bytes", _INTEGER, "the responses", "The bytes of all bodies as received."),
        Column("sitemaps", _INTEGER, "the crawl", "How many sitemaps were read; the last line of the command adds those that failed."),
        Column("sitemaps_failed", _INTEGER, "the crawl", "How many declared sitemaps could not be read."),
        Column("pages", _INTEGER, "the crawl", "How many pages were read."),
        Column("problems", _INTEGER, "the crawl", "How many problems were recorded: the rows of `problems`. The last line of the command counts those that make something missing."),
        Column("robots_status", _TEXT, "robots.txt", "The HTTP status of robots.txt, or why there was none."),
        Column("robots_allows", _BOOLEAN, "robots.txt", "Whether robots.txt allows the homepage and the sitemaps."),
        Column("crawl_delay", _REAL, "Crawl-delay", "The seconds between requests that robots.txt asks for."),
        Column("content_signal", _TEXT, "Content-Signal", "What robots.txt says about uses of the content."),
    ),
)  # fmt: skip

LISTED_SITES: Final = replace(
    _SITES,
    meaning="One line of a list of sites.",
    columns=(
        *_SITES.columns,
        Column("line", _INTEGER, "the list", "The number of the line, from 1."),
        Column("input", _TEXT, "the list", "The line as it is written, or its cell in the column of sites."),
        Column("duplicate_of", _INTEGER, "the list", "The first line that names the same site, which is crawled once; null for that line itself."),
    ),
)  # fmt: skip
"""The table ``sites`` of a crawl of many sites."""


def _child_table(name: str, meaning: str, fields: tuple[Column, ...]) -> Table:
    """Return the table of what a page may have several of."""
    own = (
        _SITEMAP_URL,
        Column("page_url", _TEXT, "<loc>, <link>", "The URL of the page."),
        Column("position", _INTEGER, "the document", "Its number on the page, from 1."),
    )
    return Table(name, meaning, own + fields)


TABLES: Final = {
    table.name: table
    for table in (
        _PAGES,
        _SITEMAPS,
        _PROBLEMS,
        _ATTEMPTS,
        _SITES,
        _child_table("images", "One image on a page.", _IMAGE_FIELDS),
        _child_table("videos", "One video on a page.", _VIDEO_FIELDS),
        _child_table("alternates", "One page in another language.", _ALTERNATE_FIELDS),
        _child_table("links", "One other link of a page.", _LINK_FIELDS),
        _child_table("news", "The news story of a page: its <news:news>.", _NEWS_FIELDS),
    )
}
"""Every table by its name."""
PAGE_PARTS: Final = ("images", "videos", "alternates", "links", "news")
"""The tables of what a page has: their rows come from the rows of ``pages``."""
