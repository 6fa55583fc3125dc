"""Loopback servers of other kinds: at another address, with TLS, and proxies.

127.0.0.0/8 is all loopback on Linux: two addresses of it can stand for a public and a private host.
"""

import shutil
import socket
import socketserver
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest

from tests.server import Answer, Callback, Handler, LoopbackServer, Running


class ServerAt(LoopbackServer):
    """A server at another address than 127.0.0.1."""

    def __init__(self, host: str) -> None:
        super().__init__()
        self.host = f"[{host}]" if ":" in host else host
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            listening = socket.create_server((host, 0), family=family)
        except OSError as error:
            self._listener.server_close()
            pytest.skip(f"{host} is not an address of this machine: {error}")
        self._listener.socket.close()
        self._listener.socket = listening
        self._listener.server_address = listening.getsockname()

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}/"


class ServerEverywhere(LoopbackServer):
    """A server at all addresses of 127.0.0.0/8: as many hosts as a test likes, on one port."""

    def __init__(self) -> None:
        super().__init__()
        listening = socket.socket()
        try:
            option = getattr(socket, "SO_BINDTODEVICE", -1)
            listening.setsockopt(socket.SOL_SOCKET, option, b"lo")  # only this machine may reach it
            listening.bind(("0.0.0.0", 0))  # noqa: S104 -- on the loopback device only
            listening.listen(1024)
        except OSError as error:
            listening.close()
            self._listener.server_close()
            pytest.skip(f"one socket can't have all loopback addresses here: {error}")
        self._listener.socket.close()
        self._listener.socket = listening
        self._listener.server_address = listening.getsockname()

    def homepage(self, number: int) -> str:
        """The homepage of one of 60,000 hosts."""
        return f"http://127.1.{number // 250}.{number % 250 + 1}:{self.port}/"


class TLSServer(LoopbackServer):
    """A server with TLS."""

    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__()
        plain = self._listener.socket
        self._listener.socket = context.wrap_socket(plain, server_side=True)

    @property
    def url(self) -> str:
        return super().url.replace("http:", "https:")


@contextmanager
def server_at_capacity() -> Iterator[str]:
    """The URL of a server whose backlog is full: connections are never established."""
    with ExitStack() as stack:
        full = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(4):  # they fill the backlog
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        yield f"http://127.0.0.1:{full.getsockname()[1]}/"


class Certificate:
    """A certificate for 127.0.0.1 that is its own authority, made by the openssl command."""

    def __init__(self, folder: Path) -> None:
        if shutil.which("openssl") is None:
            pytest.skip("there is no openssl command to make certificates with")
        self.file = folder / "certificate.pem"
        self.key = folder / "key.pem"
        openssl(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
            " -subj /CN=test -addext subjectAltName=IP:127.0.0.1"
            " -addext keyUsage=critical,digitalSignature,keyCertSign",
            "-keyout",
            str(self.key),
            "-out",
            str(self.file),
        )

    def context(self) -> ssl.SSLContext:
        made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        made.load_cert_chain(self.file, self.key)
        return made

    def as_folder(self, folder: Path) -> str:
        """A folder of CA certificates in the form that OpenSSL needs."""
        digest = openssl("x509 -noout -hash", "-in", str(self.file)).strip()
        shutil.copy(self.file, folder / f"{digest}.0")
        return str(folder)


def openssl(command: str, *paths: str) -> str:
    whole = ["openssl", *command.split(), *paths]
    return subprocess.run(whole, check=True, capture_output=True, text=True).stdout


class Tunnels(Running):
    """A proxy that makes tunnels (CONNECT)."""

    def __init__(self) -> None:
        self.requested: list[str] = []
        proxy = self

        class Tunnel(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                target = self.rfile.readline().split()[1].decode()
                proxy.requested.append(target)
                while self.rfile.readline().strip():
                    pass
                host, _, port = target.rpartition(":")
                with socket.create_connection((host, int(port))) as far:
                    self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
                    back = threading.Thread(target=pump, args=(far, self.connection))
                    back.start()
                    pump(self.connection, far)
                    back.join()

        super().__init__(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Tunnel))


def forward(handler: Handler) -> Answer:
    """Do what an HTTP proxy does: request the URL that was asked for, and pass its response on."""
    url = urlsplit(handler.path)
    connection = HTTPConnection(url.netloc, timeout=10)
    with closing(connection):
        connection.request("GET", urlunsplit(("", "", url.path, url.query, "")))
        response = connection.getresponse()
        passed = {
            name: value
            for name in ("Content-Type", "Location")
            if (value := response.getheader(name))
        }
        return Answer(response.status, response.read(), passed)


def pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


def drip(head: str, drop: bytes, pause: float = 0.05, status: int = 200) -> Callback:
    """A response that begins with a head (headers, perhaps more) and sends drops without an end."""

    def respond(handler: Handler) -> None:
        handler.wfile.write(f"HTTP/1.1 {status} Slow\r\n{head}".encode())
        handler.wfile.write(drop)
        while not handler.owner.closing.wait(pause):
            handler.wfile.write(drop)

    return respond


def raw(respond: bytes) -> Callback:
    """A response byte for byte; then the connection is closed."""

    def write(handler: Handler) -> None:
        handler.wfile.write(respond)

    return write
