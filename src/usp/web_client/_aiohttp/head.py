"""The head of a response as text: header values and the reason phrase.

aiohttp reads bytes as UTF-8, and keeps those that aren't as lone surrogates, which no file and no
table can have. Here they are Latin-1, as ``http.client`` reads them: every byte is a character,
so both clients return the same text, and the bytes can be had back from it.
"""

import aiohttp
from multidict import CIMultiDict

__all__ = ["header_bytes", "header_text", "reason_of", "received_headers", "sent_conditions"]


def header_text(text: str) -> str:
    """Return a text that aiohttp read as UTF-8 in Latin-1."""
    return text if text.isascii() else header_bytes(text).decode("latin-1")


def header_bytes(text: str) -> bytes:
    """Return the bytes that aiohttp read as a text."""
    return text.encode("utf-8", "surrogateescape")


def received_headers(response: aiohttp.ClientResponse) -> CIMultiDict[str]:
    """Return the headers of a response."""
    pairs = response.headers.items()
    return CIMultiDict((header_text(name), header_text(value)) for name, value in pairs)


def reason_of(response: aiohttp.ClientResponse) -> str:
    """Return the reason phrase of a response; empty if there is none."""
    return header_text(response.reason or "")


def sent_conditions(headers: dict[str, str]) -> dict[str, str]:
    """Return headers of a conditional request so that aiohttp sends the bytes that were received.

    aiohttp sends UTF-8. What was received in another charset it can't send, and another value would
    be another document's: the request has one condition less then.
    """
    sent = {}
    for name, value in headers.items():
        try:
            sent[name] = value.encode("latin-1").decode()
        except UnicodeError:
            continue
    return sent
