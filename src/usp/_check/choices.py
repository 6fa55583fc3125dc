"""What a caller chooses for a check, and what becomes of it: checked once, at the call."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from usp._check.baseline import Baseline
from usp._check.earlier_run import EarlierRun
from usp._check.facts import CheckOptions
from usp._check.folder import BuildFolder
from usp._check.live import LiveOptions, MakeAioClient
from usp._check.samples import SampleSize
from usp._check.suppression import RuleSelection, SitemapIgnore, Suppression, check_codes
from usp._docstrings import explains_fields
from usp._drive.run import CrawlClient
from usp._extras import load
from usp._keywords import CrawlFields
from usp._source import SourceName
from usp._sync.options import Share, parse_share
from usp._validate import (
    argument_error,
    check_callables,
    check_flags,
    check_instance,
    check_int,
    check_strings,
)
from usp.exceptions import UsageError

ENGINES: Final = ("google", "bing", "yandex", "baidu")
_AGENTS: Final = ("Googlebot", "Bingbot", "YandexBot")
_MAX_DROP: Final = "20%"
_Path = str | os.PathLike[str]


class CheckFields(CrawlFields, total=False):
    """The keywords of a check, beside its source."""

    select: Iterable[str]
    ignore: Iterable[str]
    engine: Iterable[str]
    agent: Iterable[str]
    now: datetime | None
    require: Iterable[str]
    min_pages: int | None
    twice: bool
    per_sitemap_ignore: Iterable[str]
    baseline: _Path | None
    base_url: str | None
    state: _Path | None
    max_drop: Share | None
    live: int | str | bool
    seed: int
    live_client: MakeAioClient | None


@dataclass(frozen=True, slots=True)
class CheckChoices:
    """What a caller chooses for a check. Every field is a keyword of ``usp.check``.

    :param select: only these rules: codes such as ``SM350``, or prefixes such as ``SM3``.
    :param ignore: not these rules; the longer of two prefixes wins.
    :param engine: engines whose own limits count, too: google, bing, yandex, baidu.
    :param agent: agents for which robots.txt is asked, beside those of the engines.
    :param now: the time by which dates are judged; by default the current time.
    :param require: URLs that some sitemap must list.
    :param min_pages: the least number of pages that the sitemaps must list in all.
    :param twice: whether to fetch everything a second time, and to compare what is listed.
    :param per_sitemap_ignore: texts such as ``SM457 https://example.org/old-*.xml until
        2026-12-31``: rules that don't count for sitemaps whose URL matches.
    :param baseline: a file that ``usp check --write-baseline`` wrote: what it has doesn't count.
    :param base_url: the URL of the folder, if the source is one: nothing is fetched then.
    :param state: a file that ``usp sync --state`` wrote: the site is compared with its last run.
        It is only read.
    :param max_drop: the share of pages that may be missing since then; by default 20 %.
    :param live: how many of the listed pages are requested: a number, a share such as ``"5%"``,
        ``"all"``, or True for 200. It needs the extra ``async``.
    :param seed: the same seed chooses the same pages.
    :param live_client: makes the client for these pages; by default ``for_asyncio()`` of
        ``web_client``: an ``AioWebClient``, or what shares the recording of ``web_client``. Without
        a ``web_client``, it has the same settings as the client for sitemaps.
    """

    select: Iterable[str] = ()
    ignore: Iterable[str] = ()
    engine: Iterable[str] = ()
    agent: Iterable[str] = ()
    now: datetime | None = None
    require: Iterable[str] = ()
    min_pages: int | None = None
    twice: bool = False
    per_sitemap_ignore: Iterable[str] = ()
    baseline: _Path | None = None
    base_url: str | None = None
    state: _Path | None = None
    max_drop: Share | None = None
    live: int | str | bool = False
    seed: int = 0
    live_client: MakeAioClient | None = None

    def __post_init__(self) -> None:
        check_flags(twice=self.twice)
        if self.base_url is not None and (self.twice or self.live is not False):
            raise UsageError("base_url is for a folder: live and twice need a network.")

    def options(self) -> CheckOptions:
        """Return what all rules need to know."""
        engines = frozenset(check_strings("engine", self.engine))
        if not engines <= set(ENGINES):
            raise argument_error("engine", " or ".join(ENGINES), min(engines - set(ENGINES)))
        if self.now is not None and check_instance("now", self.now, datetime).tzinfo is None:
            raise argument_error("now", "a time with a time zone", self.now)
        return CheckOptions(
            self.now or datetime.now(UTC),
            engines,
            tuple(dict.fromkeys((*_AGENTS, *check_strings("agent", self.agent)))),
            None if self.min_pages is None else check_int("min_pages", self.min_pages, 1),
            tuple(check_strings("require", self.require)),
        )

    def suppression(self, options: CheckOptions) -> Suppression:
        """Return what decides which occurrences count."""
        selection = RuleSelection(
            check_codes("select", self.select), check_codes("ignore", self.ignore), options.engines
        )
        texts = check_strings("per_sitemap_ignore", self.per_sitemap_ignore)
        known = None if self.baseline is None else Baseline.read(self.baseline)
        return Suppression(selection, map(SitemapIgnore.of, texts), known, options.now)

    def folder(self, source: SourceName) -> BuildFolder | None:
        """Return the build folder, if the source is one."""
        return None if self.base_url is None else BuildFolder.of(source, self.base_url)

    def live_options(self, client: CrawlClient) -> LiveOptions | None:
        """Return how live pages are checked, if they are.

        :param client: the client that fetches the sitemaps.
        :raises MissingExtraError: if aiohttp is not installed.
        :raises UsageError: if it replays, and can't do so in asyncio.
        """
        if self.live is False or self.live is None:
            return None
        check_callables(live_client=self.live_client)
        make_client = self.live_client or _live_client_for(client)
        return LiveOptions(SampleSize.of(self.live), check_int("seed", self.seed, 0), make_client)

    def earlier(self, source: SourceName) -> tuple[EarlierRun, float] | None:
        """Return the last run, and the share of pages that may be missing; None without one."""
        if self.state is None:
            if self.max_drop is not None:
                raise UsageError("max_drop needs a state: what was there before is not known.")
            return None
        allowed = parse_share("max_drop", _MAX_DROP if self.max_drop is None else self.max_drop)
        run = EarlierRun.of(self.state, self.base_url or os.fspath(source))
        return (run, allowed) if run else None


def _live_client_for(client: CrawlClient) -> MakeAioClient:
    """Return what makes the client that goes with the one for sitemaps, and shares its recording.

    :raises MissingExtraError: if aiohttp is needed, and not installed.
    :raises UsageError: if it replays, and can't do so in asyncio.
    """
    if client.replays and client.is_open:
        replay = client.for_asyncio()  # now: a replay needs no loop, and wrong use is told at once
        return lambda: replay
    if not client.replays:
        load("aiohttp", "live", "async")
        client.check_for_asyncio()
    return client.for_asyncio


explains_check = explains_fields(CheckChoices, "What you can choose, each a keyword")
