"""The values of a run: what the caller chooses, what was read, what came of it."""

from collections import Counter
from dataclasses import dataclass, field

from usp._parse import Kind
from usp._sync.changes import ChangeKind
from usp._sync.listing import Listing
from usp.objects.fetch_info import FetchInfo

ListedChild = tuple[str, str | None]
"""The URL of a sitemap that a document lists, and its ``<lastmod>``."""


@dataclass(frozen=True, slots=True)
class RunRules:
    """What the caller chooses for a run."""

    confirm: int = 2
    """In how many runs a URL must be absent before it is removed."""
    max_removed: float = 0.5
    """The share of the URLs that may be removed at once."""
    emit_initial: bool = False
    """Whether the pages of the first run are reported as added."""
    only_due: bool = False
    """Whether only those sitemaps are requested that are due."""


@dataclass(frozen=True, slots=True)
class SitemapReading:
    """What a run has read of one sitemap."""

    url: str
    """The URL as requested."""
    final_url: str
    kind: Kind
    fetch_info: FetchInfo
    entries: Listing = field(default_factory=dict)
    news: int = 0
    """How many entries have a news story."""
    children: tuple[ListedChild, ...] = ()
    """The sitemaps that it lists, each with its ``<lastmod>``."""
    is_whole: bool = True
    """Whether nothing of it was lost."""
    is_storable: bool = True
    """Whether an unchanged one can be used without reading it."""
    parent_url: str | None = None
    """The URL, as requested, of the document that lists it."""


@dataclass(frozen=True, slots=True)
class Structure:
    """What is known of the sitemaps of a site when its crawl is over."""

    outcome: str
    has_sitemaps: bool
    """Whether some were found."""
    was_stopped: bool = False
    """Whether a limit ended the crawl."""
    lists_more: bool = False
    """Whether some sitemaps that are listed were left out."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """What came of a run."""

    is_baseline: bool
    changes: Counter[ChangeKind]
    pages: int
    """The pages that the sitemaps list; one that several list counts for each."""
    held_back: int = 0
    """The URLs that were not removed, since they were too many at once."""
