"""The recordings of a crawl of many sites: a folder with a WARC file for each shard.

``_recordings.json`` says of which crawl they are. Recording itself is in ``usp.web_client``.
"""

import shutil
from collections.abc import AsyncIterator, Collection
from contextlib import ExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Final, Self

from usp._drive.off_loop import in_thread
from usp._extras import check_installed
from usp.bulk._folder import CrawlFolder, crawl_folder
from usp.bulk._markers import CrawlManifest, json_of, parsed
from usp.bulk._options import BulkOptions
from usp.exceptions import UsageError
from usp.web_client.abstract_aio_client import AbstractAioWebClient

_NAME: Final = "_recordings.json"


def recording_name(shard: int) -> str:
    """Return the recording of a shard."""
    return f"part-{shard:05}.warc.gz"


@dataclass(frozen=True, slots=True)
class RecordingsManifest:
    """What a folder has the recordings of; the same for every process that runs the crawl."""

    crawl: str
    """The last part of the name of the crawl's folder."""
    fingerprint: str
    """That of the list."""
    sites: int
    """The lines of the list."""
    shards: int
    is_conditional: bool
    """Whether what had not changed since a previous crawl was not sent again."""

    @classmethod
    def of(cls, crawl: CrawlManifest, folder: CrawlFolder, options: BulkOptions) -> Self:
        """Return that of a crawl."""
        name = Path(folder.name.rstrip("/")).name
        is_conditional = options.previous is not None
        return cls(name, crawl.fingerprint, crawl.sites, crawl.shards, is_conditional)

    @classmethod
    def read(cls, folder: CrawlFolder) -> Self | None:
        """Return that of a folder; None if it has no recordings.

        :raises StorageError: if it can't be read.
        """
        content = folder.read(_NAME)
        return None if content is None else cls(**parsed(content, _NAME, _fields(cls)))

    @classmethod
    def read_to_replay(cls, name: str) -> Self:
        """Return that of a folder whose recordings are replayed.

        :raises UsageError: if there are none.
        """
        found = cls.read(crawl_folder(name))
        if found is None:
            raise UsageError(f"{name} has no recordings of a crawl.")
        return found

    def write(self, folder: CrawlFolder) -> None:
        """Write it to the folder of the recordings."""
        folder.write(_NAME, json_of(asdict(self)))


def _fields(kind: type[RecordingsManifest]) -> set[str]:
    return {one.name for one in fields(kind)}


def check_recordings(
    options: BulkOptions, wanted: RecordingsManifest, done: Collection[int]
) -> None:
    """Check that a crawl may write its recordings, or has those that it replays.

    :param done: the shards that are not run again.
    :raises MissingExtraError: if warcio is needed and not installed.
    :raises UsageError: if the folder has the recordings of another crawl, or not all of this one.
    """
    if options.record is not None or options.replay is not None:
        check_installed("warcio", "A recording", "warc")
    if options.record is not None:
        _check_to_record(crawl_folder(options.record), wanted, done)
    if options.replay is not None:
        _check_to_replay(options.replay, wanted)


def _check_to_record(
    folder: CrawlFolder, wanted: RecordingsManifest, done: Collection[int]
) -> None:
    found = RecordingsManifest.read(folder)
    if found not in {None, wanted}:
        raise UsageError(f"{folder.name} has the recordings of another crawl; name another folder.")
    recorded = folder.names("") if done else []
    if missing := [one for one in done if recording_name(one) not in recorded]:
        raise UsageError(
            f"record must be given from the first run on: shard {min(missing)} is done, and not "
            f"recorded in {folder.name}."
        )


def _check_to_replay(name: str, wanted: RecordingsManifest) -> None:
    found = RecordingsManifest.read_to_replay(name)
    if found.fingerprint != wanted.fingerprint:
        raise UsageError(
            f"{name} has the recordings of another list ({found.sites:,} sites, these are "
            f"{wanted.sites:,})."
        )
    if found.shards != wanted.shards:
        raise UsageError(f"shards must be {found.shards}, as in {name}, not {wanted.shards}.")
    if found.is_conditional != wanted.is_conditional:
        how = "with" if found.is_conditional else "without"
        raise UsageError(f"{name} was recorded {how} previous, and can be replayed {how} it only.")


@asynccontextmanager
async def client_of_shard(
    shard: int, options: BulkOptions, client: AbstractAioWebClient
) -> AsyncIterator[AbstractAioWebClient]:
    """Return the client of a shard: the one of its worker, or one that records or replays.

    :raises MissingExtraError: if warcio is needed and not installed.
    :raises UsageError: if the recording to replay is missing, or can't be read.
    :raises StorageError: if the recording can't be written.
    """
    name = recording_name(shard)
    if options.record is not None:
        from usp.web_client.recording import AioRecordingWebClient

        folder = crawl_folder(options.record)
        with folder.scratch() as scratch:
            async with AioRecordingWebClient(scratch / name, client) as recording:
                yield recording
            await in_thread(folder.place, {name: scratch / name})
    elif options.replay is not None:
        from usp.web_client.replay import AioReplayWebClient

        with ExitStack() as stack:
            file = await in_thread(_local_file, stack, crawl_folder(options.replay), name)
            async with await in_thread(AioReplayWebClient, file) as replay:
                yield replay
    else:
        yield client


def _local_file(stack: ExitStack, folder: CrawlFolder, name: str) -> Path:
    """Return a recording on this machine, since it is read at any offset; else a copy of it."""
    path = folder.local_path(name)
    try:
        if path is not None:
            path.open("rb").close()
            return path
        path = stack.enter_context(folder.scratch()) / name
        with folder.open(name) as recorded, path.open("wb") as written:
            shutil.copyfileobj(recorded, written)
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"{folder.name} has no recording {name}: {reason}") from error
    return path
