"""``usp.check``: what a caller may say, and how each kind of source is read."""

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final, Unpack

from usp._check.baseline import Baseline
from usp._check.check_run import CheckParts, CheckRun, OnOccurrence
from usp._check.earlier_rules import AgainstEarlierRun
from usp._check.earlier_run import EarlierRun
from usp._check.facts import CheckOptions
from usp._check.findings import Occurrence
from usp._check.folder import BuildFolder
from usp._check.live import LiveOptions, MakeAioClient
from usp._check.samples import SampleSize
from usp._check.site_facts import SiteFacts
from usp._check.stream import CheckedSource, CheckStream
from usp._check.suppression import RuleSelection, SitemapIgnore, Suppression, check_codes
from usp._crawl.policy import Policy, PolicyFields, explains_policy, policy_with
from usp._extras import load
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
from usp.objects.events import Observer
from usp.web_client.abstract_client import AbstractWebClient

ENGINES: Final = ("google", "bing", "yandex", "baidu")
_AGENTS: Final = ("Googlebot", "Bingbot", "YandexBot")
_MAX_DROP: Final = "20%"
_NO_EARLIER: Final = "SM458, SM801 to SM804: the state has no earlier run of this source"


@explains_policy
def check(
    source: SourceName,
    *,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    engine: Iterable[str] = (),
    agent: Iterable[str] = (),
    now: datetime | None = None,
    require: Iterable[str] = (),
    min_pages: int | None = None,
    twice: bool = False,
    base_url: str | None = None,
    state: str | os.PathLike[str] | None = None,
    max_drop: Share | None = None,
    live: int | str | bool = False,
    seed: int = 0,
    live_client: MakeAioClient | None = None,
    per_sitemap_ignore: Iterable[str] = (),
    baseline: str | os.PathLike[str] | None = None,
    on_occurrence: OnOccurrence | None = None,
    web_client: AbstractWebClient | None = None,
    use_robots: bool = True,
    use_known_paths: bool | None = None,
    observer: Observer | None = None,
    policy: Policy | None = None,
    **policy_fields: Unpack[PolicyFields],
) -> CheckStream:
    """Check the sitemaps of a site, one sitemap, a file, a build folder, an export or a recording.

    :param source: a homepage, a bare domain (which means https), the URL of one sitemap, a file
        (gzipped or not), ``-`` for standard input; with ``base_url`` a folder with a built website;
        an export, the state of a sync, or a recording.
    :param select: only these rules: codes such as ``SM350``, or prefixes such as ``SM3``.
    :param ignore: not these rules; the longer of two prefixes wins.
    :param engine: engines whose own limits count, too: google, bing, yandex, baidu.
    :param agent: agents for which robots.txt is asked, beside those of the engines.
    :param now: the time by which dates are judged; by default the current time.
    :param require: URLs that some sitemap must list.
    :param min_pages: the least number of pages that the sitemaps must list in all.
    :param twice: whether to fetch everything a second time, and to compare what is listed.
    :param base_url: the URL of the folder, if the source is one: nothing is fetched then.
    :param state: a file that ``usp sync --state`` wrote: the site is compared with its last run.
        It is only read.
    :param max_drop: the share of pages that may be missing since then; by default 20 %.
    :param live: how many of the listed pages are requested: a number, a share such as ``"5%"``,
        ``"all"``, or True for 200. It needs the extra ``async``.
    :param seed: the same seed chooses the same pages.
    :param live_client: makes the client for these pages; by default an ``AioWebClient``.
    :param per_sitemap_ignore: texts such as ``SM457 https://example.org/old-*.xml until
        2026-12-31``: rules that don't count for sitemaps whose URL matches.
    :param baseline: a file that ``usp check --write-baseline`` wrote: what it has doesn't count.
    :param on_occurrence: called with every single occurrence, also beyond the five examples.
    :param web_client: the client to fetch with; by default a ``RequestsWebClient``.
    :param use_robots: whether to read robots.txt.
    :param use_known_paths: whether to try paths at which sitemaps are common; by default, only
        where what robots.txt declares leads to nothing.
    :param observer: called with each event of the crawl; see ``usp.objects.events``.
    :param policy: limits and options of the crawl. Fields that choose pages have no effect.
    :param policy_fields: single fields of the policy, such as ``per_host=4``.
    :return: an iterator of findings, with ``summary``, ``outcome``, ``problems`` and ``close()``.
    :raises UsageError: if there is no such rule or engine, or another argument is wrong.
    """
    check_callables(on_occurrence=on_occurrence)
    check_flags(twice=twice)
    options = _options(engine, agent, now, require, min_pages)
    suppression = _suppression(options, select, ignore, per_sitemap_ignore, baseline)
    made_policy = policy_with(policy, policy_fields)
    folder = None if base_url is None else BuildFolder.of(source, base_url)
    chosen_live = _live(live, seed, live_client)
    if folder and (chosen_live or twice):
        raise UsageError("live and twice need a network; a folder is checked without one.")
    earlier = _earlier(source, base_url, state, max_drop)
    checked = CheckedSource(
        source, made_policy, web_client, use_robots, use_known_paths, folder, observer
    )

    def make_run(site: SiteFacts) -> CheckRun:
        again = checked.digests if twice and not checked.is_local else None
        parts = CheckParts(folder, earlier, chosen_live, again)
        run = CheckRun(site, parts, suppression, on_occurrence)
        if state is not None and earlier is None:
            run.take([Occurrence("SM750", None, detail=_NO_EARLIER)])
        return run

    return checked.stream(options, make_run)


def _live(
    live: int | str | bool, seed: int, make_client: MakeAioClient | None
) -> LiveOptions | None:
    """Return how live pages are checked, if they are."""
    if live is False or live is None:
        return None
    size = SampleSize.of(live)
    if make_client is None:
        load("aiohttp", "live", "async")
        from usp.web_client.aio_client import AioWebClient

        make_client = AioWebClient
    check_callables(live_client=make_client)
    return LiveOptions(size, check_int("seed", seed, 0), make_client)


def _earlier(
    source: SourceName,
    base_url: str | None,
    state: str | os.PathLike[str] | None,
    max_drop: Share | None,
) -> AgainstEarlierRun | None:
    """Return the comparison with an earlier run; None if there is none."""
    if state is None:
        if max_drop is not None:
            raise UsageError("max_drop needs a state: what was there before is not known.")
        return None
    allowed = parse_share("max_drop", _MAX_DROP if max_drop is None else max_drop)
    run = EarlierRun.of(state, base_url or os.fspath(source))
    return AgainstEarlierRun(run, allowed) if run else None


def _suppression(
    options: CheckOptions,
    select: Iterable[str],
    ignore: Iterable[str],
    per_sitemap_ignore: Iterable[str],
    baseline: str | os.PathLike[str] | None,
) -> Suppression:
    selection = RuleSelection(
        check_codes("select", select), check_codes("ignore", ignore), options.engines
    )
    ignores = map(SitemapIgnore.of, check_strings("per_sitemap_ignore", per_sitemap_ignore))
    known = None if baseline is None else Baseline.read(baseline)
    return Suppression(selection, ignores, known, options.now)


def _options(
    engine: Iterable[str],
    agent: Iterable[str],
    now: datetime | None,
    require: Iterable[str],
    min_pages: int | None,
) -> CheckOptions:
    engines = frozenset(check_strings("engine", engine))
    if not engines <= set(ENGINES):
        raise argument_error("engine", " or ".join(ENGINES), min(engines - set(ENGINES)))
    if now is not None and check_instance("now", now, datetime).tzinfo is None:
        raise argument_error("now", "a time with a time zone", now)
    return CheckOptions(
        now or datetime.now(UTC),
        engines,
        tuple(dict.fromkeys((*_AGENTS, *check_strings("agent", agent)))),
        None if min_pages is None else check_int("min_pages", min_pages, 1),
        tuple(check_strings("require", require)),
    )
