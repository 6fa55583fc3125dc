"""Certificates and proxies of the client on aiohttp."""

import ssl
from pathlib import Path

import pytest

from tests.loops import body, message, run
from tests.responses import error
from tests.server import LoopbackServer
from tests.servers import Certificate, TLSServer, Tunnels
from usp.exceptions import UsageError
from usp.web_client._aiohttp.connector import Verify
from usp.web_client.aio_client import AioWebClient

pytestmark = pytest.mark.usefixtures("no_settings")


# Certificates


def test_an_unknown_certificate_authority_is_a_permanent_error(secure: TLSServer) -> None:
    async def main() -> None:
        async with AioWebClient() as client:
            response = error(await client.get(secure.url))
        assert "certificate" in response.message().lower()
        assert response.untrusted()
        assert not response.retryable()

    run(main())


def test_a_server_without_tls_gives_no_response(server: LoopbackServer) -> None:
    async def main() -> None:
        async with AioWebClient() as client:
            response = error(await client.get(server.url.replace("http:", "https:")))
        assert response.no_response()
        assert not response.untrusted()

    run(main())


@pytest.mark.parametrize("how", ["file", "folder", "context", "none", "environment"])
def test_verify_and_the_environment_name_a_ca_bundle(
    secure: TLSServer,
    certificate: Certificate,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
) -> None:
    if how == "environment":
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate.file))
    ways: dict[str, Verify] = {
        "file": certificate.file,
        "folder": certificate.as_folder(tmp_path),
        "context": ssl.create_default_context(cafile=str(certificate.file)),
        "none": False,
        "environment": True,
    }

    async def main() -> None:
        async with AioWebClient(verify=ways[how]) as client:
            assert await body(client, secure.url) == b"hello"

    run(main())


def test_a_missing_ca_bundle_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty.pem").write_text("nothing")
    for name in ("none.pem", "empty.pem"):
        with pytest.raises(UsageError, match=f"^verify: .*{name}"):
            AioWebClient(verify=tmp_path / name)
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / name))
        with pytest.raises(UsageError, match=f"^REQUESTS_CA_BUNDLE: .*{name}"):
            AioWebClient()


# Proxies


def test_a_tunnel_through_a_proxy(
    secure: TLSServer, certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        async with AioWebClient(verify=certificate.file) as client:
            assert await body(client, secure.url) == b"hello"

    with Tunnels() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url.removeprefix("http://"))
        run(main())
        assert proxy.requested == [f"127.0.0.1:{secure.port}"]
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        run(main())
        assert len(proxy.requested) == 1


def test_the_credentials_of_a_proxy_are_sent_to_it(server: LoopbackServer) -> None:
    server.site["http://far.example/a"] = b"through the proxy"
    proxy = server.url.replace("http://", "http://user:secret@")

    async def main() -> None:
        async with AioWebClient(proxies={"http": proxy}) as client:
            assert await body(client, "http://far.example/a") == b"through the proxy"

    run(main())
    assert server.requests[0].headers["proxy-authorization"] == "Basic dXNlcjpzZWNyZXQ="


def test_a_proxy_of_another_scheme_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> str:
        async with AioWebClient() as client:
            return await message(client, "http://far.example/")

    monkeypatch.setenv("ALL_PROXY", "ftp://user:secret@127.0.0.1:1")
    assert run(main()) == "not an HTTP(S) proxy: ftp"


def test_a_proxy_that_refuses_tunnels_is_an_error(server: LoopbackServer) -> None:
    async def main() -> None:
        async with AioWebClient(proxies={"https": server.url}) as client:
            response = error(await client.get("https://far.example/"))
            assert response.message().startswith("the proxy responded 501")
            assert (response.status_code(), response.retryable()) == (None, False)

    run(main())
