"""What the client on aiohttp writes into a transcript: the heads of responses."""

import aiohttp

from usp.web_client._aiohttp.head import reason_of
from usp.web_client._http.transcript import TRANSCRIPT, Exchange, header_list

__all__ = ["add_to_transcript"]


def add_to_transcript(response: aiohttp.ClientResponse, url: str) -> None:
    """Add the head of a response to the transcript of its fetch, if one is wanted."""
    transcript = TRANSCRIPT.get()
    if transcript is None:
        return
    transcript.add_head(
        Exchange(
            url,
            response.status,
            reason_of(response),
            header_list(response.raw_headers),
            header_list(response.request_info.headers.items()),
            response.method,
        )
    )
