"""What is noted of each fetch beside its responses: one ``metadata`` record with JSON.

A fetch is one ``get()`` or ``head()`` of a client, redirects included. Its record says what the
client made of it, so that a replay gives exactly that, whichever client it was: the failure of a
fetch without a response is nowhere else.
"""

import json
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Self

from usp._json import parse_json

__all__ = ["FORMAT", "BodyEnd", "FetchOutcome", "FetchRecord"]

FORMAT: Final = "usp-fetch/1"
"""The name and version of the format; a later one may not be understood."""


class FetchOutcome:
    """What came of a fetch."""

    DOCUMENT: Final = "document"
    NOT_MODIFIED: Final = "not-modified"
    ERROR: Final = "error"
    """An error response."""
    RAISED: Final = "raised"
    """The client raised an exception."""


class BodyEnd:
    """How the body of a document ended."""

    WHOLE: Final = "whole"
    CUT: Final = "cut"
    """Whoever read it stopped: at a limit, or since the crawl ended."""
    FAILED: Final = "failed"
    """The connection was lost, or time was up: ``message`` says it."""


@dataclass(frozen=True, slots=True)
class FetchRecord:
    """One fetch: what was requested, and what the client returned."""

    url: str
    """The URL that was requested, without user and password."""
    outcome: str
    crawl: int = 0
    """The number of the crawl that it belongs to; 0 for none."""
    homepage: str = ""
    """The homepage of that crawl."""
    method: str = "GET"
    """``HEAD`` if only the head was requested."""
    conditional: bool = False
    """Whether validators were sent with it."""
    responses: tuple[str, ...] = ()
    """The IDs of the response records, redirects first."""
    final_url: str = ""
    redirects: tuple[str, ...] = ()
    status: int | None = None
    reason: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    """The headers that a crawl looks at, as the client returned them."""
    message: str = ""
    """What went wrong, of an error, an exception or a body that failed."""
    retryable: bool = False
    retry_after: float | None = None
    no_response: bool = False
    untrusted: bool = False
    body: str = BodyEnd.WHOLE
    seconds: float = 0.0

    def to_json(self) -> bytes:
        """Return the record as JSON, without what is as usual."""
        default = {field.name: field.default for field in fields(self)}
        noted = {name: value for name, value in asdict(self).items() if value != default[name]}
        # A lone surrogate, which a client of the caller's may return, is an escape of JSON: \udxxx.
        text = json.dumps({"format": FORMAT, **noted}, ensure_ascii=False)
        return text.encode("utf-8", "backslashreplace")

    @classmethod
    def from_json(cls, data: bytes) -> Self | None:
        """Return the record in a ``metadata`` record of ours; None if it is something else.

        :raises ValueError: if it is one of ours and malformed, or of a later version.
        """
        try:
            given: Any = parse_json(data)
        except ValueError:
            return None
        name = given.get("format") if isinstance(given, dict) else None
        if not isinstance(name, str) or not name.startswith(FORMAT.partition("/")[0]):
            return None
        if given.pop("format") != FORMAT:
            raise ValueError(f"its format is {name}, and this version reads {FORMAT}")
        known = {field.name for field in fields(cls)}
        if not {"url", "outcome"} <= given.keys() <= known:
            raise ValueError("the note of a fetch has other fields than expected")
        for name in ("responses", "redirects"):
            given[name] = tuple(map(str, given.get(name, ())))
        given["headers"] = tuple((str(key), str(value)) for key, value in given.get("headers", ()))
        return cls(**given)
