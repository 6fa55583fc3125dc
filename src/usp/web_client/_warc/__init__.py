"""Recordings: WARC files that are written while a crawl fetches, and read instead of a network.

- ``fetch_record``: what is noted of each fetch beside its responses, as one ``metadata`` record;
- ``redaction``: what never gets into a recording;
- ``heads``: heads of HTTP, byte for byte;
- ``writer``: writes records; ``in_progress``: one fetch while it is recorded;
- ``records``: reads records; ``reader``: opens a recording and finds its responses; ``playback``:
  which of them comes next.

warcio, which the extra ``warc`` installs, is imported where it is used. Nothing here is for asyncio
or threads in particular: the clients in ``recording`` and ``replay`` are.
"""

from types import ModuleType

from usp._extras import load

__all__ = ["warcio_module"]


def warcio_module(name: str) -> ModuleType:
    """Import a module of warcio.

    :raises MissingExtraError: if warcio isn't installed.
    """
    return load(f"warcio.{name}", "A recording", "warc")
