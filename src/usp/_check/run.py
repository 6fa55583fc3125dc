"""``usp.check``."""

from typing import Final, Unpack

from usp._check.check_run import CheckParts, CheckRun, OnOccurrence
from usp._check.choices import CheckChoices, CheckFields, explains_check
from usp._check.earlier_rules import AgainstEarlierRun
from usp._check.findings import Occurrence
from usp._check.site_facts import SiteFacts
from usp._check.stream import CheckedSource, CheckStream
from usp._check.table_source import table_input, table_stream
from usp._crawl.policy import Policy
from usp._drive.run import CrawlClient
from usp._inputs.crawled import replayed
from usp._inputs.kinds import InputKind
from usp._keywords import crawl_keywords, explains_crawl, taken
from usp._source import SourceName, source_name
from usp._validate import check_callables
from usp.objects.events import Observer
from usp.web_client.abstract_client import AbstractWebClient

_NO_EARLIER: Final = "SM458, SM801 to SM805: the state has no earlier run of this source"


@explains_crawl
@explains_check
def check(
    source: SourceName,
    *,
    on_occurrence: OnOccurrence | None = None,
    web_client: AbstractWebClient | None = None,
    use_robots: bool = True,
    use_known_paths: bool | None = None,
    observer: Observer | None = None,
    policy: Policy | None = None,
    **check_fields: Unpack[CheckFields],
) -> CheckStream:
    """Check the sitemaps of a site, one sitemap, a file, a build folder, an export or a recording.

    :param source: a homepage, a bare domain (which means https), the URL of one sitemap, a file
        (gzipped or not), ``-`` for standard input; with ``base_url`` a folder with a built website;
        an export, the state of a sync, or a recording.
    :param on_occurrence: called with every single occurrence, also beyond the five examples.
    :param web_client: the client to fetch with; by default a ``RequestsWebClient``.
    :param use_robots: whether to read robots.txt.
    :param use_known_paths: whether to try paths at which sitemaps are common; by default, only
        where what robots.txt declares leads to nothing.
    :param observer: called with each event of the crawl; see ``usp.objects.events``.
    :param policy: limits and options of the crawl. Fields that choose pages have no effect.
    :param check_fields: what you can choose, single fields of the policy, settings of the client.
    :return: an iterator of findings, with ``summary``, ``outcome``, ``problems`` and ``close()``.
    :raises UsageError: if there is no such rule or engine, or another argument is wrong.
    """
    source_name(source)
    check_callables(on_occurrence=on_occurrence)
    chosen, given = taken(CheckChoices, check_fields)
    crawl_policy, client = crawl_keywords(policy, web_client, given, source)
    options = chosen.options()
    suppression = chosen.suppression(options)
    folder, earlier = chosen.folder(source), chosen.earlier(source)
    named = None if folder else table_input(source)
    recording = named if named and named.kind is InputKind.RECORDING else None
    if recording:
        source, replaying = replayed(recording)
        client = CrawlClient(replaying, is_owned=True)
    live = chosen.live_options(client)
    checked = CheckedSource(
        source, crawl_policy, client, use_robots, use_known_paths, folder, observer
    )

    def make_run(site: SiteFacts, codes: frozenset[str] | None = None) -> CheckRun:
        again = checked.digests if chosen.twice and not checked.is_local else None
        compared = AgainstEarlierRun(*earlier, site.go_on) if earlier else None
        parts = CheckParts(folder, compared, live, again, codes)
        run = CheckRun(site, parts, suppression, on_occurrence)
        if chosen.state is not None and earlier is None:
            run.take([Occurrence("SM750", None, detail=_NO_EARLIER)])
        return run

    if named and not recording:
        return table_stream(source, crawl_policy, options, make_run)
    return checked.stream(options, make_run)
