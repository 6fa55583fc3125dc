"""A crawl of a whole list: which shards are to be run, and the engine that runs them."""

import os
import re
from collections.abc import Iterable
from typing import Final

from usp._validate import argument_error
from usp.bulk._folder import CrawlFolder, crawl_folder
from usp.bulk._input import read_input
from usp.bulk._local import LocalEngine
from usp.bulk._markers import CrawlManifest, done_shards, read_marker
from usp.bulk._messages import WorkerOrder
from usp.bulk._options import BulkOptions, EngineChoice
from usp.bulk._previous import check_previous
from usp.bulk._progress import CrawlProgress, OnProgress
from usp.bulk._recordings import RecordingsManifest, check_recordings
from usp.bulk._sites import SiteList
from usp.exceptions import UsageError

_SHARE: Final = re.compile(r"(\d{1,6})/(\d{1,6})")


def share_of(text: str | None, shards: int) -> range:
    """Return the shards of a share such as ``2/8``: the second of eight; all for None.

    :raises UsageError: if it is no share.
    """
    if text is None:
        return range(shards)
    found = _SHARE.fullmatch(text)
    number, of = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= number <= of:
        raise argument_error("shard", "K/N, such as 2/8 for the second of eight shares", text)
    return range(number - 1, shards, of)


def run_crawl(
    sites: str | os.PathLike[str] | Iterable[str],
    out: str,
    options: BulkOptions,
    choice: EngineChoice,
    *,
    shards: int | None = None,
    shard: str | None = None,
    column: str | None = None,
    on_progress: OnProgress = lambda _progress: None,
) -> None:
    """Run the shards of a list that are not done.

    :raises UsageError: if an argument is wrong, or the folder has the crawl of another list.
    :raises StorageError: if something can't be written.
    """
    if choice.scheduler is None:  # else workers have an environment of their own
        options.client().check_settings()  # raises what each worker would die of
    folder = crawl_folder(out)
    manifest = CrawlManifest.read(folder)
    listed = SiteList(read_input(sites, column), _shard_count(shards, manifest, options))
    share = share_of(shard, listed.shards)
    done = done_shards(folder) & set(share)
    again = [one for one in sorted(done) if _has_any(folder, one, options.retry)]
    crawl = _checked_manifest(manifest, folder, sites, listed, options)
    recordings = RecordingsManifest.of(crawl, folder, options)
    check_recordings(options, recordings, done)
    if manifest is None:
        crawl.write(folder)
    if options.record is not None:
        recordings.write(crawl_folder(options.record))
    to_run = sorted(set(share) - done)
    finished = [one for one in done if one not in again]
    progress = CrawlProgress(
        len(share),
        sum(map(listed.size_of, share)),
        len(finished),
        sum(map(listed.size_of, finished)),
    )
    if to_run or again:
        run_shards = [*to_run, *again]
        if choice.engine == "dask":
            from usp.bulk._dask import run_on_dask

            run_on_dask(run_shards, listed, out, options, choice, progress, on_progress)
        else:
            order = WorkerOrder(options, out, choice.log_level, choice.log_file)
            LocalEngine(order, choice.processes, listed, progress, on_progress).run(run_shards)


def _has_any(folder: CrawlFolder, shard: int, outcomes: frozenset[str]) -> bool:
    if not outcomes:
        return False
    marker = read_marker(folder, shard)
    return marker is not None and not outcomes.isdisjoint(marker.outcomes)


def _shard_count(
    given: int | None, manifest: CrawlManifest | None, options: BulkOptions
) -> int | None:
    """Return the number of shards: that of the folder, or of the previous crawl, if there is one.

    :raises UsageError: if another number was given.
    """
    known = manifest.shards if manifest else None
    if options.previous is not None:
        previous = crawl_folder(options.previous)
        found = check_previous(CrawlManifest.read(previous), previous.name, options.selection)
        known = known or found
    if options.replay is not None:
        known = known or RecordingsManifest.read_to_replay(options.replay).shards
    if known is not None and given not in (None, known):
        raise UsageError(f"shards must be {known}, as in the crawl that is there, not {given}.")
    return known or given


def _checked_manifest(
    manifest: CrawlManifest | None,
    folder: CrawlFolder,
    sites: object,
    listed: SiteList,
    options: BulkOptions,
) -> CrawlManifest:
    """Return what the folder is the crawl of, or will be.

    :raises UsageError: if it isn't.
    """
    name = os.fspath(sites) if isinstance(sites, str | os.PathLike) else ""
    new = CrawlManifest(name, listed.fingerprint, len(listed), listed.shards, options.selection)
    if manifest is None:
        return new
    if manifest.fingerprint != new.fingerprint:
        raise UsageError(
            f"{folder.name} has the crawl of another list ({manifest.sites:,} sites, these are "
            f"{new.sites:,}); name another folder."
        )
    if other := manifest.other_filter(new.selection):
        raise UsageError(f"{folder.name} has a crawl with another {other}; name another folder.")
    return manifest
