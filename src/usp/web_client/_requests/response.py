"""The responses of the client on requests: bodies in chunks, and errors.

Bodies stay compressed as they arrived: the parser recognises gzip and zlib by their first bytes and
has a limit on decompressed bytes.

A session of the caller's may return objects that only look like ``requests.Response``: mocks, or
responses built by hand. 1.8.1 needs their ``content``, ``url``, ``status_code`` and ``headers``.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from http import HTTPStatus
from typing import Any, Final

import requests
import urllib3.exceptions
from urllib3.response import HTTPResponse

from usp._display import without_credentials
from usp._parse import decompress_all
from usp.exceptions import CancelledFetchError, ConnectionDroppedError, DeadlineError
from usp.objects.fetch_info import Validators
from usp.web_client._http import encodings, error_responses
from usp.web_client._http.errors import LIBRARY_BUGS, is_transient, is_untrusted
from usp.web_client._http.transcript import TRANSCRIPT
from usp.web_client._requests.response_hook import drain
from usp.web_client._requests.tracked_sockets import TrackedSockets
from usp.web_client.abstract_client import (
    AbstractWebClientSuccessResponse,
    WebClientErrorResponse,
    WebClientNotModifiedResponse,
)

__all__ = [
    "RequestsWebClientErrorResponse",
    "RequestsWebClientSuccessResponse",
    "encoding_response",
    "failure_response",
    "is_not_modified",
    "malformed_response",
    "not_modified_response",
    "status_response",
]

_CHUNK: Final = 256 * 1024
"""The most that is read at a time: while a large sitemap is parsed, each piece of the next one has
to wait for the interpreter lock."""
_SHOWN: Final = 200
_NO_RESPONSE: Final = (requests.exceptions.ConnectionError, requests.exceptions.Timeout)


class RequestsWebClientSuccessResponse(AbstractWebClientSuccessResponse):
    """A response of requests that brings a document; the body is read on demand."""

    def __init__(
        self,
        requests_response: requests.Response,
        max_response_data_length: int | None = None,
        *,
        deadline: float | None = None,
        _sockets: TrackedSockets | None = None,
    ) -> None:
        """Wrap a response.

        :param deadline: when the body has to be complete, by the monotonic clock.
        :param _sockets: those of the crawl; they know whether it is cancelled.
        """
        self._response = requests_response
        self._max_length = max_response_data_length or sys.maxsize
        self._data: bytes | None = None
        self._deadline = deadline
        self._sockets = _sockets or TrackedSockets()
        self._first = b""
        self._error: Exception | None = None
        self._transcript = TRANSCRIPT.get()

    def status_code(self) -> int:
        """Return the HTTP status."""
        return int(self._response.status_code)

    def status_message(self) -> str:
        """Return the reason phrase of the status: the server's, or else the usual one."""
        return error_responses.reason_phrase(self.status_code(), self._response.reason)

    def header(self, case_insensitive_name: str) -> str | None:
        """Return the value of a header, or None if it is missing."""
        return self._response.headers.get(case_insensitive_name)

    def raw_data(self) -> bytes:
        """Return the body, decompressed, up to the limit."""
        if self._data is None:
            named = encodings.labels(self.header("Content-Encoding"))
            layers = sum(name in encodings.DECODED_BY_PARSER for name in named)
            self._data, _ = decompress_all(self.chunks(), self._max_length, max_layers=layers)
        return self._data

    def chunks(self) -> Iterator[bytes]:
        """Yield the body in chunks as it arrives, up to the limit.

        gzip and zlib stay on it. What arrived before an error is yielded before it is raised.

        :raises DeadlineError: if the body is not complete in time.
        :raises CancelledFetchError: if the crawl is cancelled.
        :raises FetchError: if the body is raw deflate, and truncated or damaged.
        """
        if self._data is not None:
            yield self._data
            return
        left = self._max_length
        raw_deflate = encodings.RawDeflate(self.header("Content-Encoding"))
        for received in self._received():
            for chunk in raw_deflate.feed(received):
                yield chunk[:left]
                left -= len(chunk)
                if left <= 0:
                    self.close()
                    return
        raw_deflate.end()

    def undecodable(self) -> str | None:
        """Return the content encoding if it can't be decoded; the response is closed then.

        Servers name encodings that they don't use: the first bytes of the body decide.
        """
        name = encodings.undecodable(self.header("Content-Encoding"))
        raw = _unread_body(self._response)
        if name is None or raw is None or self._is_decoded_by_urllib3:
            return None
        with ExitStack() as undo:
            undo.callback(self.close)
            try:
                self._first = self._read(raw)
            except (
                urllib3.exceptions.HTTPError,
                DeadlineError,
                CancelledFetchError,
                ConnectionDroppedError,
            ) as error:
                self._error = error  # raised by chunks()
            if not self._first or encodings.is_readable(self._first):
                undo.pop_all()
                return None
        return name

    @property
    def _is_decoded_by_urllib3(self) -> bool:
        """Whether a session of the caller's requested an encoding that only urllib3 can decode."""
        request = getattr(self._response, "request", None)
        requested = request.headers.get("Accept-Encoding") if request is not None else None
        name = encodings.undecodable(self.header("Content-Encoding"))
        return name in HTTPResponse.CONTENT_DECODERS and name in encodings.labels(requested)

    def _received(self) -> Iterator[bytes]:
        """Yield the body as it arrives."""
        raw = _unread_body(self._response)
        if raw is None:
            yield from _stored_body(self._response)
            return
        if self._error is not None:
            raise self._error
        # read1() returns what has arrived; iter_content() loses it when the connection is dropped,
        # and never returns while a slow server sends a byte at a time.
        while chunk := self._first or self._read(raw):
            self._first = b""
            yield chunk
            self._sockets.check()
            self._check_deadline()
        self._sockets.check()  # a socket that was shut down looks like the end of the body

    def _read(self, raw: HTTPResponse) -> bytes:
        try:
            chunk = raw.read1(_CHUNK, decode_content=self._is_decoded_by_urllib3)
        except urllib3.exceptions.HTTPError:
            self._sockets.check()
            self._check_deadline()
            raise
        except LIBRARY_BUGS as error:
            self._sockets.check()
            raise ConnectionDroppedError(f"{type(error).__name__}: {error}") from error
        if self._transcript is not None:
            self._transcript.add_body(chunk)
        return chunk

    def _check_deadline(self) -> None:
        if self._deadline is not None and time.monotonic() >= self._deadline:
            raise DeadlineError(error_responses.DEADLINE_MESSAGE)

    def url(self) -> str:
        """Return the URL of the document, after redirects."""
        url: Any = self._response.url  # that of a mock is not a string
        return without_credentials(url) if isinstance(url, str) else url

    def redirects(self) -> tuple[str, ...]:
        """Return the URLs that redirected, in order."""
        return _redirects(self._response)

    def close(self) -> None:
        """Release the connection; one that was built by hand has none."""
        close = getattr(self._response, "close", None)
        if callable(close) and getattr(self._response, "raw", None) is not None:
            close()


class RequestsWebClientErrorResponse(WebClientErrorResponse):
    """The response to a request that brought no document."""


def _unread_body(response: requests.Response) -> HTTPResponse | None:
    """Return the body that still arrives over a connection; None if it is there already."""
    raw = getattr(response, "raw", None)
    is_there = getattr(response, "_content", False)
    return raw if isinstance(raw, HTTPResponse) and not is_there else None


def _stored_body(response: requests.Response) -> Iterator[bytes]:
    """Yield the body of a cache, a mock, or a response that was built by hand."""
    if getattr(response, "_content", None) is False:
        yield from response.iter_content(_CHUNK)
    else:
        yield response.content


def _redirects(response: requests.Response) -> tuple[str, ...]:
    history = getattr(response, "history", ())
    if not isinstance(history, list | tuple):  # a mock
        return ()
    return tuple(without_credentials(str(passed.url)) for passed in history)


def is_not_modified(response: requests.Response, validators: Validators | None) -> bool:
    """Tell whether a response answers a conditional request with 304.

    A redirect to another host is not conditional any more.
    """
    if response.status_code != HTTPStatus.NOT_MODIFIED or not validators:
        return False
    sent: Any = getattr(getattr(response, "request", None), "headers", None)
    return sent is None or any(name in sent for name in validators.headers())


def not_modified_response(response: requests.Response) -> WebClientNotModifiedResponse:
    """Return the response to a conditional request whose document has not changed."""
    drain(response)
    url = without_credentials(str(response.url))
    return WebClientNotModifiedResponse(url, response.headers, _redirects(response))


def status_response(response: requests.Response) -> WebClientErrorResponse:
    """Return the error for a status that is not a success."""
    drain(response)
    return error_responses.status_response(
        RequestsWebClientErrorResponse,
        response.status_code,
        getattr(response, "reason", None),
        response.headers,
        _redirects(response),
    )


def encoding_response(response: requests.Response, encoding: str) -> WebClientErrorResponse:
    """Return the error for a body with a content encoding that was not requested."""
    return error_responses.encoding_response(
        RequestsWebClientErrorResponse,
        encoding,
        response.status_code,
        response.headers,
        _redirects(response),
    )


def malformed_response(
    error: requests.exceptions.InvalidHeader,
) -> requests.exceptions.ConnectionError | None:
    """Return the error for a header of a response; None if one of the request is wrong.

    requests raises the same for both. That of urllib3 is inside if it is about the response: it has
    two ``Content-Length`` headers that differ.
    """
    reason = next(iter(error.args), None)
    if not isinstance(reason, urllib3.exceptions.InvalidHeader):
        return None
    words = " ".join(str(reason).split())[:_SHOWN]
    return requests.exceptions.ConnectionError(f"the response is malformed: {words}")


def failure_response(error: Exception) -> WebClientErrorResponse:
    """Return the error for what requests raised."""
    response = getattr(error, "response", None)
    if not isinstance(response, requests.Response):
        return RequestsWebClientErrorResponse(
            str(error),
            is_transient(error),
            no_response=isinstance(error, _NO_RESPONSE),
            untrusted=is_untrusted(error),
        )
    if isinstance(error, requests.exceptions.HTTPError):  # raised by a hook of the caller's
        return status_response(response)
    response.close()
    return RequestsWebClientErrorResponse(
        str(error),
        is_transient(error),
        status_code=response.status_code,
        redirects=_redirects(response),
    )
