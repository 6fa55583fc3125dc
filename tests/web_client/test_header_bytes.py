"""Bytes of a response's head that are not ASCII: the same text in both clients, fit for tables."""

import socketserver
import threading
from pathlib import Path
from typing import Any

import pytest

import usp
from tests.bulk.sites import ALLOWED, USER_AGENT, Tables
from tests.loops import run
from tests.server import Handler, LoopbackServer, urlset
from tests.servers import raw
from usp import aio
from usp.bulk import crawl_shard
from usp.objects.fetch_info import Validators
from usp.objects.sitemap import InvalidSitemap
from usp.web_client.abstract_client import WebClientErrorResponse
from usp.web_client.aio_client import AioWebClient

QUICK: Any = {"use_known_paths": False, "use_homepage": False, "use_newer_paths": False}
ODD = {"Latin-1": b"caf\xe9", "UTF-8": "café€".encode(), "neither": b"\x80\xff\xed\xa0\x80"}
HEADS = {
    "ETag": b'200 OK\r\nETag: "%b"',
    "Last-Modified": b"200 OK\r\nLast-Modified: %b",
    "Content-Type": b"200 OK\r\nContent-Type: text/xml; x=%b",
    "Content-Encoding": b"200 OK\r\nContent-Encoding: %b",
    "reason of a document": b"200 %b",
    "reason": b"404 %b",
}


def respond_with(server: LoopbackServer, head: bytes) -> None:
    body = urlset(server.at("page"))
    server.robots("sitemap.xml")
    server.site["/sitemap.xml"] = raw(
        b"HTTP/1.1 %b\r\nContent-Length: %d\r\n\r\n%b" % (head, len(body), body)
    )


def facts(tree: usp.objects.sitemap.AbstractSitemap) -> list[object]:
    return [
        (
            sitemap.reason if isinstance(sitemap, InvalidSitemap) else type(sitemap),
            sitemap.fetch_info.etag,
            sitemap.fetch_info.last_modified,
            sitemap.fetch_info.content_type,
            sitemap.fetch_info.content_encoding,
        )
        for sitemap in tree.all_sitemaps()
    ]


@pytest.mark.parametrize("name", HEADS)
@pytest.mark.parametrize("odd", ODD)
def test_both_clients_read_the_same_and_every_table_can_have_it(
    server: LoopbackServer, tmp_path: Path, name: str, odd: str
) -> None:
    respond_with(server, HEADS[name] % ODD[odd])
    found = usp.sitemap_tree_for_homepage(server.url, **QUICK)
    in_asyncio = run(aio.sitemap_tree_for_homepage(server.url, **QUICK))
    assert facts(in_asyncio) == facts(found)
    assert in_asyncio.tried == found.tried
    for tree in (found, in_asyncio):
        for table in ("sitemaps", "attempts", "sites", "problems"):
            usp.to_arrow(tree, table=table)
        usp.export(tree, tmp_path / "x.db", replace=True)


@pytest.mark.parametrize("name", HEADS)
def test_a_shard_has_the_rows_of_all_sites(
    server: LoopbackServer, tmp_path: Path, name: str
) -> None:
    with LoopbackServer() as good:
        good.robots("sitemap.xml")
        good.site["/sitemap.xml"] = urlset(good.at("page"))
        respond_with(server, HEADS[name] % ODD["Latin-1"])
        done = crawl_shard(
            [server.url, good.url],
            tmp_path,
            user_agent=USER_AGENT,
            client_settings=ALLOWED,
            **QUICK,
        )
        assert done.sites == 2
        assert (good.at("page"),) in Tables(tmp_path).query("SELECT url FROM {pages}")


@pytest.mark.parametrize(
    ("etag", "sent"), [("é€", "é€".encode().decode("latin-1")), ("\xe9", None)]
)
def test_a_validator_is_sent_in_asyncio_as_it_was_received_or_not_at_all(
    server: LoopbackServer, etag: str, sent: str | None
) -> None:
    received = f'"{etag}"'.encode() if sent else b'"\xe9"'
    got: list[str | None] = []

    def answer(handler: Handler) -> None:
        got.append(handler.headers.get("If-None-Match"))
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nETag: %b\r\nContent-Length: 0\r\n\r\n" % received)

    server.otherwise = answer

    async def main() -> None:
        async with AioWebClient() as client:
            scope = client.for_crawl(server.url)
            first = await scope.get(server.url)
            assert not isinstance(first, WebClientErrorResponse)
            value = first.header("ETag")  # type: ignore[attr-defined]  # a document
            await first.close()  # type: ignore[attr-defined]
            second = await scope.get(server.url, Validators(etag=value))
            await second.close()  # type: ignore[attr-defined]
            await scope.close()

    run(main())
    assert got == [None, f'"{sent}"' if sent else None]


class RefusesTunnels(socketserver.StreamRequestHandler):
    """A proxy that refuses, in Latin-1."""

    def handle(self) -> None:
        self.rfile.readline()
        self.wfile.write(b"HTTP/1.1 403 n\xe3o\r\nContent-Length: 0\r\n\r\n")


def test_the_refusal_of_a_proxy_may_have_any_bytes() -> None:
    async def main(proxy: str) -> str:
        async with AioWebClient(proxies={"https": proxy}) as client:
            response = await client.get("https://site.example/")
            assert isinstance(response, WebClientErrorResponse)
            return response.message()

    with socketserver.TCPServer(("127.0.0.1", 0), RefusesTunnels) as proxy:
        thread = threading.Thread(target=proxy.handle_request)
        thread.start()
        assert run(main(f"http://127.0.0.1:{proxy.server_address[1]}")) == (
            "the proxy responded 403 não"
        )
        thread.join()


@pytest.mark.parametrize(
    "url", ["http://h.example/\ud800.xml", "\udce9", "http://h.example/?\udfff"]
)
def test_a_url_with_half_a_surrogate_pair_is_a_wrong_argument(url: str) -> None:
    with pytest.raises(usp.exceptions.UsageError, match="surrogate"):
        usp.parse(urlset("http://h.example/"), url=url)
    with pytest.raises(usp.exceptions.UsageError):
        usp.sitemap_tree(url)
