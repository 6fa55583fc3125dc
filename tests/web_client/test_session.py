"""The session that our client makes for itself: TLS, proxies, kept connections."""

import copy
import pickle
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import certifi
import pytest
import requests

from tests.responses import body, error
from tests.server import Answer, Handler, LoopbackServer, urlset
from tests.servers import Certificate, TLSServer, Tunnels, drip
from usp.exceptions import DeadlineError, UsageError
from usp.stream import iter_pages
from usp.tree import sitemap_tree_for_homepage
from usp.web_client._requests.cookie_jar import BoundedCookieJar
from usp.web_client._requests.session import OwnSession
from usp.web_client.abstract_client import AbstractWebClientSuccessResponse
from usp.web_client.requests_client import RequestsWebClient

pytestmark = pytest.mark.usefixtures("no_settings")


def all_at_once(count: int, work: Callable[[], object]) -> None:
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# TLS


def test_an_unknown_certificate_authority_is_a_permanent_error(secure: TLSServer) -> None:
    with closing(RequestsWebClient()) as client:
        response = error(client.get(secure.url))
    assert "certificate" in response.message().lower()
    assert not response.retryable()


def test_verify_names_a_ca_bundle(
    secure: TLSServer, certificate: Certificate, tmp_path: Path
) -> None:
    for verify in (str(certificate.file), certificate.as_folder(tmp_path)):
        with closing(RequestsWebClient(verify=verify)) as client:
            assert body(client.get(secure.url)) == b"hello"


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_the_environment_names_a_ca_bundle(
    secure: TLSServer, certificate: Certificate, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, str(certificate.file))
    with closing(RequestsWebClient()) as client:
        assert body(client.get(secure.url)) == b"hello"


def test_verify_can_be_turned_off(secure: TLSServer) -> None:
    with closing(RequestsWebClient(verify=False)) as client:
        for _ in range(2):
            with pytest.warns(match="Unverified HTTPS request"):
                assert body(client.get(secure.url)) == b"hello"


def test_the_host_name_must_match(secure: TLSServer, certificate: Certificate) -> None:
    with closing(RequestsWebClient(verify=str(certificate.file))) as client:
        response = error(client.get(secure.url.replace("127.0.0.1", "localhost")))
    assert not response.retryable()
    assert "localhost" in response.message()


def test_a_missing_ca_bundle_is_an_error(tmp_path: Path) -> None:
    with closing(RequestsWebClient(verify=str(tmp_path / "none.pem"))) as client:
        response = error(client.get("https://127.0.0.1:1/"))
    assert "none.pem" in response.message()
    assert not response.retryable()


@pytest.fixture(params=["none.pem", "empty.pem", "wrong.pem"])
def no_bundle(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A path at which there is no CA bundle."""
    (tmp_path / "empty.pem").touch()
    (tmp_path / "wrong.pem").write_text("-----BEGIN CERTIFICATE-----\nx\n")
    return tmp_path / str(request.param)


@pytest.mark.parametrize("setting", ["verify", "session", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_a_crawl_with_a_ca_bundle_that_is_none_raises_and_fetches_nothing(
    server: LoopbackServer, no_bundle: Path, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    session = requests.Session()
    if setting == "session":
        session.verify = str(no_bundle)
    elif setting != "verify":
        monkeypatch.setenv(setting, str(no_bundle))
    verify = no_bundle if setting == "verify" else True
    named = setting if setting.endswith("BUNDLE") else "verify"
    own = RequestsWebClient(verify=verify)
    theirs = RequestsWebClient(verify=verify, session=session)
    with closing(own), closing(theirs), session:
        for client in [theirs] if setting == "session" else [own, theirs]:
            with pytest.raises(UsageError, match=f"^{named}: the CA bundle .*{no_bundle.name}"):
                # The server has no TLS: by http, it would be read.
                sitemap_tree_for_homepage(server.url.replace("http:", "https:"), client)
    assert not server.requested


def test_a_ca_bundle_that_is_not_used_may_be_none(
    server: LoopbackServer, no_bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(no_bundle))
    file = no_bundle.with_suffix(".xml")
    file.write_bytes(urlset("https://example.org/"))
    with closing(RequestsWebClient(verify=False)) as client:
        assert sitemap_tree_for_homepage(server.url, client).outcome == "none"
    with closing(RequestsWebClient()) as client:
        assert len(list(iter_pages(file, web_client=client))) == 1


def test_a_ca_bundle_that_is_none_is_no_reason_to_use_http(
    secure: TLSServer, no_bundle: Path
) -> None:
    with closing(RequestsWebClient(verify=no_bundle)) as client:
        response = error(client.get(secure.url))
    assert response.untrusted() or not response.no_response()


def test_a_client_certificate_is_sent(certificate: Certificate) -> None:
    context = certificate.context()
    context.load_verify_locations(certificate.file)
    context.verify_mode = context.verify_mode.CERT_REQUIRED
    with (
        TLSServer(context) as server,
        OwnSession() as session,
    ):
        server.otherwise = b"hello"
        session.verify = str(certificate.file)
        session.cert = (str(certificate.file), str(certificate.key))
        assert session.get(server.url).content == b"hello"
        session.cert = None
        with pytest.raises(requests.exceptions.ConnectionError):
            session.get(server.url)


def test_certificates_are_loaded_once(
    secure: TLSServer, certificate: Certificate, tmp_path: Path
) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.write_text(Path(certifi.where()).read_text() + certificate.file.read_text())
    secure.otherwise = Answer(body=b"hello", headers={"Connection": "close"})

    def cost(get: Callable[[], bytes]) -> float:
        """CPU of this thread for ten new connections, the first of all not counted."""
        get()
        begun = time.thread_time()
        for _ in range(10):
            assert get() == b"hello"
        return time.thread_time() - begun

    with requests.Session() as session:
        plain = cost(lambda: session.get(secure.url, verify=str(bundle)).content)
        for given in (None, session):
            with closing(RequestsWebClient(verify=str(bundle), session=given)) as client:
                assert cost(lambda client=client: body(client.get(secure.url))) * 3 < plain  # type: ignore[misc]


def test_many_threads_share_a_tls_context(secure: TLSServer, certificate: Certificate) -> None:
    secure.otherwise = Answer(body=b"hello", headers={"Connection": "close"})
    received: list[bytes] = []
    with closing(RequestsWebClient(verify=str(certificate.file))) as client:
        all_at_once(32, lambda: received.append(body(client.get(secure.url))))
    assert received == [b"hello"] * 32


def test_the_deadline_holds_with_tls(secure: TLSServer, certificate: Certificate) -> None:
    secure.otherwise = drip("Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n", b"0")
    with closing(RequestsWebClient(verify=str(certificate.file))) as client:
        client.set_document_deadline(0.3)
        response = client.get(secure.url)
        assert isinstance(response, AbstractWebClientSuccessResponse)
        chunks = response.chunks()
        assert next(chunks) == b"x"
        with pytest.raises(DeadlineError):
            next(chunks)


# Proxies and what else a session reads from the environment


def test_a_tunnel_through_a_proxy(
    secure: TLSServer, certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Tunnels() as proxy:
        with closing(RequestsWebClient(verify=str(certificate.file))) as client:
            client.set_proxies({"https": proxy.url})
            assert body(client.get(secure.url)) == b"hello"
        assert len(proxy.requested) == 1
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        with closing(RequestsWebClient(verify=str(certificate.file))) as client:
            assert body(client.get(secure.url)) == b"hello"
            assert len(proxy.requested) == 2
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        with closing(RequestsWebClient(verify=str(certificate.file))) as client:
            assert body(client.get(secure.url)) == b"hello"
        assert len(proxy.requested) == 2


def test_no_proxy_holds_for_every_request(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.site |= {"http://far.example/a": b"by proxy", "/a": b"straight"}
    monkeypatch.setenv("HTTP_PROXY", server.url)
    monkeypatch.setenv("http_proxy", server.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with closing(RequestsWebClient()) as client:
        client.set_proxies({"https": "http://127.0.0.1:1/"})
        assert body(client.get("http://far.example/a")) == b"by proxy"
        assert body(client.get(server.at("/a"))) == b"straight"


def test_netrc_credentials_are_sent(server: LoopbackServer, tmp_path: Path) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password it\n")
    with closing(RequestsWebClient()) as client:
        client.get(server.url)
    assert server.requests[0].headers["authorization"] == "Basic bWU6aXQ="


# Kept connections


def test_as_many_connections_are_kept_as_threads_use(server: LoopbackServer) -> None:
    crowd = threading.Barrier(64)
    seen: list[int] = []

    def together(handler: Handler) -> bytes:
        crowd.wait(30)
        seen.append(handler.client_address[1])
        return b"x"

    server.otherwise = together
    with closing(RequestsWebClient()) as client:
        for _ in range(2):
            all_at_once(64, lambda: body(client.get(server.url)))
    assert len(seen) == 128
    assert len(set(seen)) == 64


def test_cookies_are_kept_and_sent(server: LoopbackServer) -> None:
    server.otherwise = Answer(headers={"Set-Cookie": "a=b; Path=/"})
    with closing(RequestsWebClient()) as client:
        for _ in range(2):
            body(client.get(server.url))
    assert [request.headers.get("cookie") for request in server.requests] == [None, "a=b"]


def test_a_bounded_number_of_cookies_is_kept(server: LoopbackServer) -> None:
    """Else a site that sets others with every response would cost quadratic time."""

    def set_sixty(handler: Handler) -> None:
        number = len(server.requests)
        cookies = "".join(f"Set-Cookie: c{number}_{one}=v\r\n" for one in range(60))
        handler.wfile.write(f"HTTP/1.1 200 OK\r\n{cookies}Content-Length: 0\r\n\r\n".encode())
        handler.keep_open = True

    server.otherwise = set_sixty
    with closing(RequestsWebClient()) as client:
        for _ in range(5):
            body(client.get(server.url))
    sent = server.requests[-1].headers["cookie"].split("; ")
    assert sorted(sent) == sorted(f"c4_{one}=v" for one in range(10, 60)), "the newest"


def test_cookies_of_many_hosts_are_bounded_while_threads_read_them() -> None:
    jar = BoundedCookieJar()

    def set_and_read() -> None:
        for number in range(60):
            for name in ("a", "b", "c", "d", "e"):
                jar.set(name, "v", domain=f"h{number}.example")
            sum(1 for _ in jar)

    all_at_once(4, set_and_read)
    assert len(jar) == 200
    assert jar.get("e", domain="h59.example") == "v"
    assert jar.get("a", domain="h0.example") is None


def test_a_client_can_be_pickled_and_copied(server: LoopbackServer) -> None:
    server.otherwise = b"hello"
    with closing(RequestsWebClient(wait=0.01)) as client:
        client.set_timeout(7)
        body(client.get(server.url))
        for other in (pickle.loads(pickle.dumps(client)), copy.deepcopy(client)):
            with closing(other):
                client.abort()
                assert body(other.get(server.url)) == b"hello"
            client.for_crawl(server.url)
