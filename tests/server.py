"""A real web server on the loopback interface, for tests.

A test fills ``server.site`` (path to answer) and crawls ``server.url``. An answer is one of:

- ``bytes`` or ``str``: status 200 with that body;
- ``int``: that status with an empty body;
- ``Answer``: status, body and headers;
- a callable: gets the ``Handler``, and returns one of the above, or writes to ``handler.wfile``
  and returns None. Then the connection is closed, unless ``handler.keep_open`` is set.

A path that is not in the site gets ``server.otherwise`` (404). Requests are recorded in order of
arrival.

The end of the ``with`` block closes every connection and joins every thread. An exception in a
callable fails its test: it is raised there, not lost in a server thread.
"""

import socket
import struct
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from types import TracebackType
from typing import Any, Self, TypeAlias
from urllib.parse import urljoin
from xml.sax.saxutils import escape

SITEMAP_NS = "http://www.sitemaps.org/schemas/sitemap/0.9"


@dataclass(frozen=True, slots=True)
class Answer:
    """The response to one request; Content-Length is added unless given."""

    status: int = 200
    body: bytes | str = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def payload(self) -> bytes:
        return self.body.encode() if isinstance(self.body, str) else self.body


@dataclass(frozen=True, slots=True)
class Request:
    """One request that was received; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes = b""


Plain: TypeAlias = Answer | bytes | str | int


def as_answer(plain: Plain) -> Answer:
    if isinstance(plain, Answer):
        return plain
    return Answer(status=plain) if isinstance(plain, int) else Answer(body=plain)


class Handler(BaseHTTPRequestHandler):
    """One connection. ``self.server.owner`` is the LoopbackServer."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each response waits 40 ms for an acknowledgement
    server: "_Listener"
    keep_open = False

    @property
    def owner(self) -> "LoopbackServer":
        return self.server.owner

    def answer_from_site(self) -> None:
        owner = self.owner
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers.get("content-length", 0)))
        owner.requests.append(Request(self.command, self.path, headers, body))
        without_query = self.path.partition("?")[0]
        found = owner.site.get(self.path, owner.site.get(without_query, owner.otherwise))
        self.keep_open = False
        plain = found(self) if callable(found) else found
        if plain is None:
            self.close_connection = not self.keep_open
        else:
            self.send(as_answer(plain))

    do_GET = do_HEAD = do_POST = answer_from_site  # noqa: N815 -- the names that http.server looks for

    def send(self, answer: Answer) -> None:
        """Write a whole response, without its body for HEAD."""
        payload = answer.payload
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        given = {name.lower() for name in answer.headers}
        if not given & {"content-length", "transfer-encoding"}:
            self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(payload)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: requests are recorded in ``requests``."""


Callback: TypeAlias = Callable[[Handler], Plain | None]
Site: TypeAlias = dict[str, Plain | Callback]


class _Listener(ThreadingHTTPServer):
    daemon_threads = False  # so that server_close() joins the threads of all connections
    request_queue_size = 128

    def __init__(self, owner: "LoopbackServer") -> None:
        self.owner = owner
        self.connections: set[socket.socket] = set()
        self.guard = threading.Lock()
        super().__init__(("127.0.0.1", 0), Handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        with self.guard:
            self.connections.add(connection)
        return connection, address

    def close_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        with self.guard:
            self.connections.discard(request)
        super().close_request(request)

    def server_close(self) -> None:
        """Shut down idle and stalled connections, too, so that their threads finish."""
        with self.guard:
            for connection in self.connections:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        super().server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        del request, client_address
        error = sys.exception()
        # A client may close its connection at any time. Anything else is a bug in a callable.
        if isinstance(error, Exception) and not isinstance(error, OSError):
            self.owner.errors.append(error)


class Running:
    """A server at a free port of 127.0.0.1, which runs inside a ``with`` block."""

    def __init__(self, listener: TCPServer) -> None:
        self._listener = listener
        self._thread = threading.Thread(target=listener.serve_forever, args=(0.02,))

    @property
    def port(self) -> int:
        return int(self._listener.server_address[1])

    @property
    def url(self) -> str:
        """The homepage, with its final slash."""
        return f"http://127.0.0.1:{self.port}/"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listener.shutdown()
        self._thread.join()
        self._listener.server_close()


class LoopbackServer(Running):
    """A web server for the site of one test."""

    def __init__(self, site: Site | None = None) -> None:
        super().__init__(_Listener(self))
        self.site: Site = {} if site is None else site
        self.otherwise: Plain | Callback = 404
        self.requests: list[Request] = []
        self.errors: list[Exception] = []
        self.closing = threading.Event()

    @property
    def requested(self) -> list[str]:
        """The requested paths, in order."""
        return [request.path for request in self.requests]

    def at(self, path: str) -> str:
        """Return the full URL of a path."""
        return urljoin(self.url, path)

    def robots(self, *paths: str) -> None:
        """Serve a robots.txt that declares these sitemaps."""
        self.site["/robots.txt"] = "".join(f"Sitemap: {self.at(path)}\n" for path in paths)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.closing.set()
        super().__exit__(kind, error, trace)
        if self.errors and error is None:
            raise ExceptionGroup("errors in the loopback server", self.errors)


def redirect(to: str, status: int = 302) -> Answer:
    return Answer(status=status, headers={"Location": to})


def stall(handler: Handler) -> None:
    """Never respond: keep the connection open until the server closes."""
    handler.owner.closing.wait()


def reset(handler: Handler) -> None:
    """Drop the connection with a TCP reset, without a response."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def urlset(*urls: str) -> bytes:
    """Return an XML sitemap of these pages."""
    return _document("urlset", "url", urls)


def index(*urls: str) -> bytes:
    """Return an XML sitemap index of these sitemaps."""
    return _document("sitemapindex", "sitemap", urls)


def _document(root: str, entry: str, urls: tuple[str, ...]) -> bytes:
    entries = "".join(f"<{entry}><loc>{escape(url)}</loc></{entry}>\n" for url in urls)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return f'{head}<{root} xmlns="{SITEMAP_NS}">\n{entries}</{root}>\n'.encode()
