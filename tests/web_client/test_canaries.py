"""Canaries: each fails if an undocumented part of a library that the adapters rely on has changed.

The tables in ``usp.web_client._requests`` and ``usp.web_client._aiohttp`` list them. A canary uses
the library alone, without our classes, so that it shows what changed before anything else does.
"""

import ast
import asyncio
import http.client
import inspect
import io
import re
import socket
import ssl
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from http.cookiejar import DefaultCookiePolicy
from typing import Any, NoReturn

import aiohttp
import pytest
import requests
import urllib3
from aiohttp.client_proto import ResponseHandler
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection
from urllib3.util.ssl_ import create_urllib3_context

from tests.loops import run
from tests.package_files import FILES, PACKAGE, tree_of_file
from tests.server import Answer, LoopbackServer, redirect
from tests.servers import TLSServer, raw
from usp.web_client import _aiohttp, _requests

pytestmark = pytest.mark.usefixtures("no_settings")


def changed(part: str, file: str) -> str:
    """What a canary says when it fails."""
    return f"{part} has changed, which src/usp/web_client/{file} relies on"


def test_every_reliance_has_its_canary() -> None:
    tables = f"{_requests.__doc__}{_aiohttp.__doc__}".replace("test_canaries.py", "")
    listed = re.findall(r"test_\w+", tables)
    assert len(listed) == len(set(listed))
    assert set(listed) == {name for name in globals() if name.startswith("test_")} - {
        "test_every_reliance_has_its_canary",
        "test_only_the_adapters_touch_private_parts",
    }


OUTSIDE_OF_THE_ADAPTERS = {
    "_ArgumentGroup",  # argparse, in an annotation alone
    "_actions",  # argparse: tests/cli/test_completion.py shows that files are completed
    "_at_fork_reinit",  # threading: tests/drive/test_processes_and_threads.py, locks after a fork
    "_exit",  # os: public, though it has an underscore
    "_is_text_encoding",  # tests/parse/test_canaries.py
    "_replace",  # documented: a named tuple has it
}


def private_names_of_ours(trees: Iterable[ast.Module]) -> set[str]:
    """The private names that the package itself defines: functions, classes, fields."""
    found = set[str]()
    for node in (node for tree in trees for node in ast.walk(tree)):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.Attribute(attr=name, ctx=ast.Store()) | ast.alias(asname=str(name)):
                found.add(name)
            case _:
                pass
    return found


@pytest.mark.slow
def test_only_the_adapters_touch_private_parts() -> None:
    trees = {
        file: tree_of_file(file)
        for file in FILES
        if not {"_requests", "_aiohttp"} & set(file.parts)
    }
    known = private_names_of_ours(trees.values()) | OUTSIDE_OF_THE_ADAPTERS
    touched = [
        f"{file.relative_to(PACKAGE)}:{node.lineno}: {ast.unparse(node)}"
        for file, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and re.match("_[^_]", node.attr)
        if node.attr not in known
    ]
    tree_of_file.cache_clear()  # or each garbage collection would look through the trees
    assert touched == []


# urllib3, http.client, ssl


@pytest.fixture
def pool(server: LoopbackServer) -> Iterator[urllib3.HTTPConnectionPool]:
    with urllib3.HTTPConnectionPool("127.0.0.1", server.port) as made:
        yield made


class Recorder:
    """Notes that it was called."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method
        self.count = 0

    def __call__(self, *args: Any, **options: Any) -> Any:
        self.count += 1
        return self._method(*args, **options)


def test_urllib3_new_conn(pool: urllib3.HTTPConnectionPool) -> None:
    made: list[socket.socket] = []

    class Connection(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            made.append(super()._new_conn())
            return made[0]

    pool.ConnectionCls = Connection
    response = pool.request("GET", "/", preload_content=False)
    used = getattr(response.connection, "sock", None)
    response.drain_conn()
    message = changed("urllib3.connection.HTTPConnection._new_conn()", "_requests/connections.py")
    assert used is made[0], message


def test_urllib3_is_connected(pool: urllib3.HTTPConnectionPool) -> None:
    made: list[socket.socket] = []

    class Connection(HTTPConnection):
        is_connected = False

        def _new_conn(self) -> socket.socket:
            made.append(super()._new_conn())
            return made[-1]

    pool.ConnectionCls = Connection
    for _ in range(2):
        pool.request("GET", "/")
    message = changed("urllib3.connection.HTTPConnection.is_connected", "_requests/connections.py")
    assert len(made) == 2, message


def test_http_client_response_class(pool: urllib3.HTTPConnectionPool) -> None:
    made: list[http.client.HTTPResponse] = []

    class Response(http.client.HTTPResponse):
        def begin(self) -> None:
            made.append(self)
            super().begin()

    class Connection(HTTPConnection):
        response_class = Response

    pool.ConnectionCls = Connection
    pool.request("GET", "/")
    message = changed("http.client.HTTPConnection.response_class", "_requests/connections.py")
    assert len(made) == 1, message


def test_ssl_context_class(secure: TLSServer) -> None:
    class Socket(ssl.SSLSocket):
        pass

    class Context(ssl.SSLContext):
        sslsocket_class = Socket

    made = create_urllib3_context(cert_reqs=ssl.CERT_NONE)
    made.check_hostname = False
    made.__class__ = Context
    plain = socket.create_connection(("127.0.0.1", secure.port))
    with made.wrap_socket(plain) as wrapped:
        message = changed("ssl.SSLContext (its __class__)", "_requests/connections.py")
        assert isinstance(wrapped, Socket), message


def test_socket_recv_into() -> None:
    counts: list[int] = []

    class Socket(socket.socket):
        def recv_into(self, *args: Any, **options: Any) -> int:
            counts.append(super().recv_into(*args, **options))
            return counts[-1]

    near, far = socket.socketpair()
    with Socket(fileno=near.detach()) as ours, far:
        far.sendall(b"line\n")
        with ours.makefile("rb") as file:
            assert file.readline() == b"line\n"
    message = changed(
        "socket.socket.makefile() reading with recv_into()", "_requests/connections.py"
    )
    assert counts == [5], message


class Given:
    """A socket that has received these bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def makefile(self, *_: object) -> io.BytesIO:
        return io.BytesIO(self.data)


def test_http_client_read_status() -> None:
    statuses: list[object] = []

    class Response(http.client.HTTPResponse):
        def _read_status(self) -> tuple[str, int, str]:
            status: tuple[str, int, str] = super()._read_status()  # type: ignore[misc]  # not in stubs
            statuses.append(status)
            return status

    Response(Given(b"HTTP/1.1 200 Fine\r\n\r\n")).begin()  # type: ignore[arg-type]
    message = changed("http.client.HTTPResponse._read_status()", "_requests/response_head.py")
    assert statuses == [("HTTP/1.1", 200, "Fine\r\n")], message


def test_http_client_fp() -> None:
    response = http.client.HTTPResponse(Given(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody"))  # type: ignore[arg-type]
    file = response.fp
    lines: list[bytes] = []

    class Lines:
        def readline(self, limit: int = -1) -> bytes:
            lines.append(file.readline(limit))
            return lines[-1]

    response.fp = Lines()  # type: ignore[assignment]
    response.begin()
    response.fp = file
    message = changed("http.client.HTTPResponse.fp", "_requests/response_head.py")
    assert lines == [b"HTTP/1.1 200 OK\r\n", b"A: b\r\n", b"\r\n"], message


def test_http_client_chunked() -> None:
    head = b"HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n"
    response = http.client.HTTPResponse(Given(head))  # type: ignore[arg-type]
    response.begin()
    message = changed("http.client.HTTPResponse.chunked", "_requests/response_head.py")
    assert response.chunked, message
    response.chunked, response.length = False, 0
    assert response.read() == b"", message


def test_urllib3_connection_class(pool: urllib3.HTTPConnectionPool) -> None:
    class Connection(HTTPConnection):
        pass

    message = changed("urllib3.HTTPConnectionPool.ConnectionCls", "_requests/session.py")
    assert pool.ConnectionCls is HTTPConnection, message
    pool.ConnectionCls = Connection
    response = pool.request("GET", "/", preload_content=False)
    connection = response.connection
    response.drain_conn()
    assert type(connection) is Connection, message


def test_urllib3_pools(server: LoopbackServer) -> None:
    with requests.Session() as session:
        session.get(server.url)
        adapter = session.get_adapter(server.url)
        assert isinstance(adapter, HTTPAdapter)
        managers = (adapter.poolmanager, *adapter.proxy_manager.values())
        pools = [each.pools.get(key) for each in managers for key in each.pools.keys()]  # noqa: SIM118 -- as we do
    message = changed("urllib3.PoolManager.pools", "_requests/session.py")
    assert [type(each) for each in pools] == [urllib3.HTTPConnectionPool], message


def test_urllib3_response_connection(
    pool: urllib3.HTTPConnectionPool, server: LoopbackServer
) -> None:
    server.otherwise = b"hello"
    response = pool.request("GET", "/", preload_content=False)
    connection: Any = response.connection
    message = changed("urllib3.HTTPResponse.connection", "_requests/response_hook.py")
    assert type(connection) is HTTPConnection, message
    assert connection.proxy is None, message
    assert isinstance(connection.sock, socket.socket), message
    assert response.read1(100) == b"hello"
    response.read()
    assert response.connection is None, message


def test_urllib3_length_remaining(pool: urllib3.HTTPConnectionPool, server: LoopbackServer) -> None:
    message = changed("urllib3.HTTPResponse.length_remaining", "_requests/response_hook.py")
    chunked = Answer(body=b"0\r\n\r\n", headers={"Transfer-Encoding": "chunked"})
    for served, expected in ((b"hello", (5, False)), (chunked, (None, True))):
        server.otherwise = served
        response: Any = pool.request("GET", "/", preload_content=False)
        assert (response.length_remaining, response.chunked) == expected, message
        response.drain_conn()


def test_ssl_socket_shutdown(secure: TLSServer) -> None:
    context = create_urllib3_context(cert_reqs=ssl.CERT_NONE)
    context.check_hostname = False
    plain = socket.create_connection(("127.0.0.1", secure.port))
    with context.wrap_socket(plain) as wrapped:
        socket.socket.shutdown(wrapped, socket.SHUT_RDWR)
        part = "socket.socket.shutdown() of an ssl.SSLSocket"
        message = changed(part, "_requests/tracked_sockets.py")
        assert wrapped.version() is not None, message
        with suppress(ConnectionResetError):  # the server may have been sending
            assert wrapped.recv(10) == b"", message


# requests


def test_requests_rebuild_auth(server: LoopbackServer) -> None:
    calls: list[tuple[str | None, str, bool]] = []

    class Session(requests.Session):
        def rebuild_auth(
            self, prepared_request: requests.PreparedRequest, response: requests.Response
        ) -> None:
            super().rebuild_auth(prepared_request, response)  # type: ignore[no-untyped-call]
            has_cookie = "Cookie" in prepared_request.headers
            calls.append((prepared_request.url, response.url, has_cookie))
            prepared_request.headers["Cookie"] = "a=c"

    server.site["/a"] = redirect("/b")
    with Session() as session:
        session.get(server.at("/a"), headers={"Cookie": "a=b"})
    message = changed("requests.Session.rebuild_auth()", "_requests/session.py")
    assert calls == [(server.at("/b"), server.at("/a"), False)], message
    sent = [request.headers["cookie"] for request in server.requests]
    assert sent == ["a=b", "a=c"], message


def test_requests_send(server: LoopbackServer) -> None:
    class Session(requests.Session):
        def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
            sent.append(request.url)
            return super().send(request, **options)

    sent: list[str | None] = []
    server.site["/a"] = redirect("/b")
    with Session() as session:
        session.get(server.at("/a"))
    message = changed("requests.Session.send(), once a hop", "_requests/session.py")
    assert sent == [server.at("/a"), server.at("/b")], message


def test_requests_copies_headers(server: LoopbackServer) -> None:
    def drop(response: requests.Response, **_: object) -> None:
        response.request.headers.pop("X-Key", None)

    server.site["/a"] = redirect("/b")
    with requests.Session() as session:
        session.get(server.at("/a"), headers={"X-Key": "k"}, hooks={"response": [drop]})
    message = changed("requests.Session.resolve_redirects()", "_requests/response_hook.py")
    assert [request.headers.get("x-key") for request in server.requests] == ["k", None], message


def test_requests_adapter_settings() -> None:
    adapter: Any = HTTPAdapter(3, 5, 2, True)
    settings = (adapter._pool_connections, adapter._pool_maxsize, adapter._pool_block)
    assert settings == (3, 5, True), changed("HTTPAdapter._pool_…", "_requests/session.py")
    assert isinstance(adapter.poolmanager.connection_pool_kw, dict)
    assert type(adapter.poolmanager) is urllib3.PoolManager


def test_requests_session_attributes(server: LoopbackServer) -> None:
    class View(requests.Session):
        pass

    with requests.Session() as session:
        view = object.__new__(View)
        view.__dict__ = session.__dict__
        session.headers["X-Theirs"] = "1"
        view.get(server.url)
    assert server.requests[-1].headers["x-theirs"] == "1", changed(
        "requests.Session", "_requests/session.py"
    )


class _NoCookies(DefaultCookiePolicy):
    def return_ok(self, *_: Any) -> bool:
        return False


def test_requests_copies_cookies(server: LoopbackServer) -> None:
    server.site |= {"/a": redirect("/b"), "/b": b"here"}

    def forbid(request: Any) -> Any:
        request._cookies.set_policy(_NoCookies())
        return request

    with requests.Session() as session:
        session.cookies.set("a", "b")
        session.get(server.at("/a"), auth=forbid)
    sent = [request.headers.get("cookie") for request in server.requests]
    assert sent == ["a=b", None], changed("PreparedRequest._cookies", "_requests/identity.py")


def test_locks_of_pools(pool: urllib3.HTTPConnectionPool) -> None:
    """The pools have a lock, and so has the queue of a pool; ``threading`` can renew them."""
    with urllib3.PoolManager() as manager:
        locks = [manager.pools.lock, getattr(pool.pool, "mutex", None)]
    for lock in locks:
        assert hasattr(lock, "_at_fork_reinit"), changed(
            "the lock of pools", "_requests/session.py"
        )


def test_cookie_jar_lock() -> None:
    """A jar has a lock that its thread may take again."""
    lock = getattr(requests.cookies.RequestsCookieJar(), "_cookies_lock", None)
    assert lock is not None, changed("CookieJar._cookies_lock", "_requests/cookie_jar.py")
    with lock:
        again = lock.acquire(blocking=False)
    assert again, changed("CookieJar._cookies_lock", "_requests/cookie_jar.py")
    lock.release()


def test_requests_applies_auth_last(server: LoopbackServer) -> None:
    seen: list[str | None] = []

    def look(request: Any) -> Any:
        seen.append(request.headers.get("Cookie"))
        return request

    with requests.Session() as session:
        session.cookies.set("a", "b")
        session.get(server.url, auth=look)
    assert seen == ["a=b"], changed("the order of PreparedRequest.prepare()", "identity.py")


def test_urllib3_original_response(server: LoopbackServer) -> None:
    server.site["/a"] = b"here"
    with requests.Session() as session:
        response: Any = session.get(server.at("/a"))
        assert type(response.raw._original_response) is http.client.HTTPResponse, changed(
            "HTTPResponse._original_response", "_requests/peer.py"
        )


def test_requests_content(server: LoopbackServer) -> None:
    message = changed("requests.Response._content", "_requests/response.py")
    server.otherwise = b"hello"
    with requests.Session() as session, session.get(server.url, stream=True) as response:
        before = vars(response)["_content"]
        assert before is False, message
        assert response.content == vars(response)["_content"] == b"hello", message
    by_hand = requests.Response()
    by_hand._content = b"hello"
    assert by_hand.content == b"hello", message


# aiohttp


def test_aiohttp_factory(server: LoopbackServer) -> None:
    used: list[object] = []

    class Handler(ResponseHandler):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            used.append(self)
            super().connection_made(transport)

    async def main() -> None:
        connector = aiohttp.TCPConnector()
        connector._factory = partial(Handler, loop=connector._loop)  # type: ignore[assignment]
        async with aiohttp.ClientSession(connector=connector) as session:
            await session.get(server.url)

    run(main())
    message = changed("aiohttp.TCPConnector._factory", "_aiohttp/connector.py")
    assert len(used) == 1, message


def test_aiohttp_connect(server: LoopbackServer) -> None:
    seen: list[tuple[object, bool, bool]] = []

    class Connector(aiohttp.TCPConnector):
        async def connect(self, req: Any, traces: Any, timeout: Any) -> Any:  # noqa: ASYNC109 -- as aiohttp has it
            made = await super().connect(req, traces, timeout)
            is_handler = isinstance(made.protocol, ResponseHandler)
            peer = made.transport.get_extra_info("peername") if made.transport else None
            seen.append((req.proxy, is_handler, peer == ("127.0.0.1", server.port)))
            return made

    async def main() -> None:
        async with aiohttp.ClientSession(connector=Connector()) as session:
            await session.get(server.url)

    message = changed("aiohttp.TCPConnector.connect()", "_aiohttp/connector.py")
    assert list(inspect.signature(aiohttp.TCPConnector.connect).parameters) == [
        "self",
        "req",
        "traces",
        "timeout",
    ], message
    run(main())
    assert seen == [(None, True, True)], message


def test_aiohttp_data_received() -> None:
    async def main() -> bytes:
        handler = ResponseHandler(asyncio.get_running_loop())
        handler.set_response_params(timer=None, read_until_eof=True)
        handler.data_received(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        _, payload = await handler.read()
        handler.data_received(b"hello")
        return await payload.readany()

    message = changed(
        "aiohttp.client_proto.ResponseHandler.data_received()", "_aiohttp/connector.py"
    )
    assert asyncio.run(main()) == b"hello", message


def test_aiohttp_payload() -> None:
    async def main() -> None:
        handler = ResponseHandler(asyncio.get_running_loop())
        handler.set_response_params(timer=None, read_until_eof=True)
        handler.data_received(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        _, payload = await handler.read()
        message = changed("aiohttp.client_proto.ResponseHandler._payload", "_aiohttp/connector.py")
        assert handler._payload is payload, message
        assert handler.exception() is None, message
        payload.set_exception(aiohttp.ClientPayloadError("malformed"))
        with pytest.raises(aiohttp.ClientPayloadError):
            await payload.readany()

    asyncio.run(main())


def test_aiohttp_connection_lost() -> None:
    async def main() -> None:
        handler = ResponseHandler(asyncio.get_running_loop())
        handler.set_response_params(timer=None, read_until_eof=True)
        handler.data_received(b"HTTP/1.1 200 OK\r\n\r\n")
        handler.data_received(b"half")
        _, payload = await handler.read()
        payload.set_exception(aiohttp.ClientPayloadError("reset"))
        handler.connection_lost(ConnectionResetError("reset"))
        message = changed(
            "aiohttp.client_proto.ResponseHandler.connection_lost()", "_aiohttp/connector.py"
        )
        assert isinstance(payload.exception(), aiohttp.ClientPayloadError), message

    asyncio.run(main())


def test_aiohttp_socket_context(server: LoopbackServer) -> None:
    variable: ContextVar[str] = ContextVar("variable", default="")
    seen: list[str] = []

    def make(address: Any) -> socket.socket:
        seen.append(variable.get())
        return socket.socket(*address[:3])

    async def main() -> None:
        connector = aiohttp.TCPConnector(socket_factory=make)
        async with aiohttp.ClientSession(connector=connector) as session:
            variable.set("of the request")
            await session.get(server.url)

    run(main())
    message = changed("aiohttp.TCPConnector(socket_factory=)", "_aiohttp/connector.py")
    assert seen == ["of the request"], message


def test_aiohttp_retry_connection(server: LoopbackServer) -> None:
    server.site["/drop"] = raw(b"")

    async def main() -> None:
        async with aiohttp.ClientSession() as session:
            session._retry_connection = False
            await (await session.get(server.url)).read()
            with pytest.raises(aiohttp.ServerDisconnectedError):
                await session.get(server.at("/drop"))

    run(main())
    message = changed("aiohttp.ClientSession._retry_connection", "_aiohttp/crawl_scope.py")
    assert server.requested == ["/", "/drop"], message


def test_aiohttp_read_nowait(server: LoopbackServer) -> None:
    server.otherwise = raw(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")

    async def main() -> bytes:
        async with aiohttp.ClientSession() as session:
            response = await session.get(server.url)
            async with asyncio.timeout(5):
                while response.content.exception() is None:  # noqa: ASYNC110 -- the connection is dropped
                    await asyncio.sleep(0.001)
            with pytest.raises(aiohttp.ClientPayloadError):
                await response.content.readany()
            rest = response.content._read_nowait(-1)
            response.close()
            return rest

    message = changed("aiohttp.StreamReader._read_nowait()", "_aiohttp/response.py")
    assert run(main()) == b"hello", message


def test_aiohttp_disconnect_message(server: LoopbackServer) -> None:
    server.site |= {"/part": raw(b"HTTP/1.1 200 OK\r\nContent-"), "/none": raw(b"")}
    kinds: list[bool] = []

    async def get(path: str) -> NoReturn:
        async with aiohttp.ClientSession() as session:
            await session.get(server.at(path))
        raise AssertionError

    for path in ("/part", "/none"):
        with pytest.raises(aiohttp.ServerDisconnectedError) as caught:
            run(get(path))
        kinds.append(isinstance(caught.value.message, str))
    message = changed("aiohttp.ServerDisconnectedError.message", "_aiohttp/response.py")
    assert kinds == [False, True], message
