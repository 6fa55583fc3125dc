"""The recordings of a crawl of many sites: a folder with a WARC file for each shard.

Beside them is what they are the recordings of. How requests are recorded and replayed is known to
``usp.web_client``.
"""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from usp._drive.off_loop import in_thread
from usp._extras import check_installed
from usp.bulk._folder import CrawlFolder, crawl_folder
from usp.bulk._markers import CrawlManifest
from usp.bulk._options import BulkOptions
from usp.exceptions import UsageError
from usp.web_client.abstract_aio_client import AbstractAioWebClient

_MANIFEST: Final = "_recordings.json"


def recording_name(shard: int) -> str:
    """Return the recording of a shard."""
    return f"part-{shard:05}.warc.gz"


def recorded_shards(options: BulkOptions) -> int | None:
    """Return the number of shards of what is replayed; None if nothing is.

    :raises UsageError: if there are no recordings.
    """
    return None if options.replay is None else _manifest_to_replay(options.replay).shards


def check_recordings(options: BulkOptions, manifest: CrawlManifest) -> None:
    """Check that a crawl may write its recordings, or has those that it replays.

    :raises UsageError: if the folder has the recordings of another crawl, or of another list.
    """
    if options.record is not None:
        check_installed("warcio", "A recording", "warc")
        folder = crawl_folder(options.record)
        found = CrawlManifest.read(folder, _MANIFEST)
        if found is None:
            manifest.write(folder, _MANIFEST)
        elif (found.fingerprint, found.started_at) != (manifest.fingerprint, manifest.started_at):
            raise UsageError(
                f"{folder.name} has the recordings of another crawl; name another folder."
            )
    if options.replay is not None:
        check_installed("warcio", "A recording", "warc")
        found = _manifest_to_replay(options.replay)
        if found.fingerprint != manifest.fingerprint:
            raise UsageError(
                f"{options.replay} has the recordings of another list ({found.sites:,} sites, "
                f"these are {manifest.sites:,})."
            )


def _manifest_to_replay(name: str) -> CrawlManifest:
    found = CrawlManifest.read(crawl_folder(name), _MANIFEST)
    if found is None:
        raise UsageError(f"{name} has no recordings of a crawl.")
    return found


@asynccontextmanager
async def client_of_shard(
    shard: int, options: BulkOptions, client: AbstractAioWebClient
) -> AsyncIterator[AbstractAioWebClient]:
    """Return the client of a shard: the one of its worker, or one that records or replays.

    :raises MissingExtraError: if warcio is needed and not installed.
    :raises UsageError: if the recording to replay is missing, or can't be read.
    :raises StorageError: if the recording can't be written.
    """
    if options.record is not None:
        from usp.web_client.recording import AioRecordingWebClient

        folder, name = crawl_folder(options.record), recording_name(shard)
        with folder.scratch() as scratch:
            async with AioRecordingWebClient(scratch / name, client) as recording:
                yield recording
            await in_thread(folder.place, {name: scratch / name})
    elif options.replay is not None:
        from usp.web_client.replay import AioReplayWebClient

        folder = crawl_folder(options.replay)
        with folder.scratch() as scratch:
            file = await in_thread(_copied, folder, recording_name(shard), scratch)
            async with await in_thread(AioReplayWebClient, file) as replay:
                yield replay
    else:
        yield client


def _copied(folder: CrawlFolder, name: str, scratch: Path) -> Path:
    """Return a copy of a recording on this machine: a recording is read at any offset."""
    copy = scratch / name
    try:
        with folder.open(name) as recorded, copy.open("wb") as written:
            shutil.copyfileobj(recorded, written)
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"{folder.name} has no recording {name}: {reason}") from error
    return copy
