"""What the client on requests writes into a transcript: the heads of responses, unwanted bodies."""

from typing import Any

import requests
from urllib3.response import HTTPResponse

from usp.web_client._http.transcript import TRANSCRIPT, Exchange, header_list

__all__ = ["add_to_transcript", "drained"]


def add_to_transcript(response: requests.Response) -> None:
    """Add the head of a response to the transcript of its fetch, if one is wanted."""
    transcript = TRANSCRIPT.get()
    if transcript is None:
        return
    raw: Any = getattr(response.raw, "headers", None) or response.headers  # raw: duplicates, too
    sent: Any = getattr(response.request, "headers", None) or {}
    transcript.add_head(
        Exchange(
            str(response.url),
            response.status_code,
            str(response.reason or ""),
            header_list(raw.items()),
            header_list(sent.items()),
        )
    )


def drained(raw: HTTPResponse, chunk: bytes) -> None:
    """Add bytes of an unwanted body to the transcript of its fetch, if one is wanted."""
    transcript = TRANSCRIPT.get()
    if transcript is None:
        return
    transcript.add_body(chunk)
    if chunk and raw.connection is None:
        transcript.add_body(b"")  # it was the last chunk
