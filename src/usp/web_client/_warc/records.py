"""The records of a WARC file, in order or at an offset; warcio parses each.

warcio's own iterator takes a damaged or truncated file for one that has ended, prints, and unpacks
without a limit. So files are unpacked here.
"""

import io
import zlib
from collections.abc import Iterator
from typing import IO, Any, Final

from usp.web_client._warc import warcio_module
from usp.web_client._warc.heads import head_parser

__all__ = ["iter_records", "record_at"]

_CHUNK: Final = 64 * 1024
_GZIP: Final = b"\x1f\x8b"
_WARC: Final = b"WARC/"
_MAX_LINE: Final = 1024 * 1024
"""The longest line of a record's head, in bytes; one that is longer counts as several."""
_CUT_OFF: Final = "it was cut off in the middle of a record"


class _Lines(io.BufferedReader):
    """A file that is read in lines of a bounded length."""

    def readline(self, size: int | None = -1, /) -> bytes:
        limit = _MAX_LINE if size is None or size < 0 else min(size, _MAX_LINE)
        return super().readline(limit)


class _GzipMember(io.RawIOBase):
    """One member of a gzip file, unpacked with a bounded buffer."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._packed = b""

    def readable(self) -> bool:
        return True

    @property
    def end(self) -> int:
        """Where the member ends in the file, once it is read."""
        return self._file.tell() - len(self._unpacker.unused_data)

    def readinto(self, buffer: Any, /) -> int:  # noqa: ANN401 -- any buffer, as in io
        """Unpack into a buffer.

        :raises ValueError: if the member is damaged, or is not whole.
        """
        data = b""
        while not data and not self._unpacker.eof:
            packed = self._packed or self._file.read(_CHUNK)
            if not packed:
                raise ValueError(_CUT_OFF)
            try:
                data = self._unpacker.decompress(packed, len(buffer))
            except zlib.error as error:
                raise ValueError("it is damaged, or not a gzip file") from error
            self._packed = self._unpacker.unconsumed_tail
        buffer[: len(data)] = data
        return len(data)


def iter_records(file: IO[bytes]) -> Iterator[tuple[int, Any]]:
    """Yield each record with its offset; what is left of it is skipped.

    :raises ValueError: if the file is no WARC file, or not whole.
    """
    at = 0
    end = file.seek(0, io.SEEK_END)
    if not end:
        raise ValueError("it is empty")
    while at < end:
        record, stream, member = _open(file, at)
        yield at, record
        _skip(record)
        rest = stream.readline().strip() or stream.readline().strip()
        if member is not None:
            if rest or stream.read(_CHUNK).strip():
                raise ValueError("its records are not compressed one by one")
            at = member.end
        else:
            at = stream.tell()
            while (line := stream.readline()) and not line.strip():
                at = stream.tell()
            stream.detach()
            if rest:
                raise ValueError("a record is longer than it says")


def record_at(file: IO[bytes], offset: int) -> Any:  # noqa: ANN401 -- warcio has no types
    """Return the record at an offset, with its body to be read."""
    return _open(file, offset)[0]


def _open(file: IO[bytes], at: int) -> tuple[Any, _Lines, _GzipMember | None]:
    file.seek(at)
    head = file.read(len(_WARC))
    file.seek(at)
    if head[: len(_GZIP)] == _GZIP:
        member = _GzipMember(file)
        stream = _Lines(member, _CHUNK)
        return _parse(stream), stream, member
    if head != _WARC:
        found = "it begins with" if not at else "a record begins with"
        raise ValueError(f"{found} neither gzip nor WARC/")
    stream = _Lines(_Unbuffered(file), _CHUNK)
    return _parse(stream), stream, None


class _Unbuffered(io.RawIOBase):
    """An open file whose position is known; closing this leaves the file open."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._file.tell()

    def readinto(self, buffer: Any, /) -> int:  # noqa: ANN401 -- any buffer, as in io
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _parse(stream: _Lines) -> Any:  # noqa: ANN401 -- warcio has no types
    """Parse the head of a record.

    :raises ValueError: if it is malformed.
    """
    loader: Any = warcio_module("recordloader").ArcWarcRecordLoader(verify_http=False)
    loader.http_parser = head_parser()
    failed: Any = warcio_module("exceptions").ArchiveLoadFailed
    unparsed: Any = warcio_module("statusandheaders").StatusAndHeadersParserException
    try:
        record = loader.parse_record_stream(stream, known_format="warc")
    except (failed, unparsed, EOFError, AttributeError, TypeError) as error:
        # warcio expects fields that a malformed record may not have.
        raise ValueError("a record is malformed") from error
    if record.length is None:
        raise ValueError(_CUT_OFF)
    return record


def _skip(record: Any) -> None:  # noqa: ANN401 -- warcio has no types
    """Skip what is left of a record.

    :raises ValueError: if it is shorter than it says.
    """
    while record.raw_stream.read(_CHUNK):
        pass
    if record.raw_stream.limit > 0:
        raise ValueError(_CUT_OFF)
