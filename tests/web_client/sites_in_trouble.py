"""A site with failures of every kind, for recordings: each must replay as it was."""

import gzip
import zlib
from collections import Counter

from tests.server import Answer, Handler, LoopbackServer, Plain, index, redirect, reset, urlset

BIG = urlset(*(f"https://example.org/page-{number}" for number in range(5000)))


def truncated(handler: Handler) -> None:
    """Send half of a body, whatever its length says."""
    body = urlset("https://example.org/1", "https://example.org/2")
    handler.wfile.write(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\n"
        b"Content-Length: %d\r\n\r\n" % (2 * len(body))
    )
    handler.wfile.write(body[: len(body) - 20])


def chunked(handler: Handler) -> None:
    """Send a body in chunks."""
    body = urlset("https://example.org/chunked")
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    for at in range(0, len(body), 50):
        part = body[at : at + 50]
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
    handler.wfile.write(b"0\r\n\r\n")


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


def fill(server: LoopbackServer, closed_port: int) -> None:
    """Fill a server with the site."""
    seen: Counter[str] = Counter()

    def busy_twice(handler: Handler) -> Plain:
        seen[handler.path] += 1
        if seen[handler.path] <= 2:
            return Answer(503, "try later", {"Retry-After": "1"})
        return urlset("https://example.org/after-503")

    def resets_once(handler: Handler) -> Plain | None:
        seen[handler.path] += 1
        if seen[handler.path] == 1:
            reset(handler)
            return None
        return urlset("https://example.org/after-reset")

    paths = [
        *("ok.xml", "gzip.xml", "deflate.xml", "chunked.xml", "busy.xml", "reset.xml", "gone.xml"),
        *("teapot.xml", "half.xml", "moved.xml", "moved-away.xml", "loop.xml", "brotli.xml"),
        *("html.xml", "big.xml", "empty.xml", "index.xml", "always-reset.xml", "error-page.xml"),
    ]
    declared = [server.at(path) for path in paths]
    declared += [f"http://127.0.0.1:{closed_port}/dead-{number}.xml" for number in range(3)]
    declared += ["http://no-such-host.invalid/sitemap.xml", "ftp://127.0.0.1/sitemap.xml"]
    robots = "\n".join(f"Sitemap: {url}" for url in declared)
    ok = urlset("https://example.org/ok")
    server.site = {
        "/robots.txt": Answer(body=robots, headers={"Content-Type": "text/plain"}),
        "/ok.xml": Answer(
            body=ok,
            headers={
                "ETag": '"one"',
                "Last-Modified": "Tue, 17 Nov 2026 08:00:00 GMT",
                "Set-Cookie": "session=secret-cookie",
            },
        ),
        "/gzip.xml": Answer(body=gzip.compress(ok), headers={"Content-Encoding": "gzip"}),
        "/deflate.xml": Answer(body=raw_deflate(ok), headers={"Content-Encoding": "deflate"}),
        "/chunked.xml": chunked,
        "/busy.xml": busy_twice,
        "/reset.xml": resets_once,
        "/always-reset.xml": reset,
        "/gone.xml": 410,
        "/teapot.xml": Answer(418, "a body\n" * 10),
        "/error-page.xml": Answer(403, "<html>blocked</html>"),
        "/half.xml": truncated,
        "/moved.xml": redirect("/moved-again.xml"),
        "/moved-again.xml": redirect("/target.xml"),
        "/target.xml": urlset("https://example.org/target"),
        "/moved-away.xml": redirect(f"http://127.0.0.1:{closed_port}/elsewhere.xml"),
        "/loop.xml": redirect("/loop.xml"),
        "/brotli.xml": Answer(body=b"\x0b\x02\x80\x00\x01", headers={"Content-Encoding": "br"}),
        "/html.xml": "<!DOCTYPE html><html><body>no</body></html>",
        "/big.xml": BIG,
        "/empty.xml": b"",
        "/index.xml": index(server.at("ok.xml"), server.at("missing.xml"), server.at("index.xml")),
        "/sitemap.xml": b"<urlset><url><loc>https://example.org/known</loc></url>",
    }
