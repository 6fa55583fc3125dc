"""The settings of both clients: wrong ones raise at once, in one line; right ones are used."""

import asyncio
import math
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import requests
import urllib3

from tests.loops import run, success
from tests.server import LoopbackServer, redirect, stall
from tests.servers import ServerAt
from usp.exceptions import UsageError
from usp.web_client._http import settings
from usp.web_client.abstract_client import AbstractWebClientResponse, RequestWaiter
from usp.web_client.aio_client import AioWebClient
from usp.web_client.requests_client import RequestsWebClient

pytestmark = pytest.mark.usefixtures("no_settings")

Use = Callable[[Any], object]
Get = Callable[..., list[AbstractWebClientResponse]]

NOT_SECONDS: list[object] = ["10", b"1", True, -1, -0.1, math.nan, -math.inf, [1, 2], object()]
NOT_LIMITS: list[object] = [*NOT_SECONDS, 0, ()]
NOT_TIMEOUTS: list[object] = [*NOT_LIMITS, (1,), (1, 2, 3), ("1", 2), (1, -2), (0, 1)]
NOT_BOOLEANS: list[object] = [None, "yes", 2, 1.0, []]
NOT_STRINGS: list[object] = [5, "ab", [("a", "b")], {"a": 5}, {5: "a"}, {"a": b"b"}]
NOT_HEADERS: list[object] = [
    *NOT_STRINGS,
    {"A": "b\r\nc"},
    {"A\n": "b"},
    {"A": "\0"},
    {"A b": "c"},
    {"": "c"},
    {"A": "\u20ac"},
]
NOT_AGENTS: list[object] = [5, b"x", "", " ", "a\nb", "\u20ac", ["x"]]
NOT_BUNDLES: list[object] = [2, 1.5, "", b"x", ["x"], object()]
NOT_RULES: list[object] = ["never", None, True, [], object()]
NOT_URLS: list[object] = [None, 5, b"http://127.0.0.1/", ["http://127.0.0.1/"]]


async def get_with_aio(url: Any) -> None:
    async with AioWebClient() as client:
        await client.get(url)


OF_BOTH: dict[str, list[object]] = {
    "verify": NOT_BUNDLES,
    "wait": NOT_SECONDS,
    "random_wait": NOT_BOOLEANS[1:],  # None is False, as in 1.8.1
    "timeout": NOT_TIMEOUTS,
    "document_deadline": NOT_LIMITS,
    "headers": NOT_HEADERS,
    "user_agent": NOT_AGENTS,
    "proxies": NOT_STRINGS,
    "private_addresses": NOT_RULES,
}
CASES: dict[str, tuple[str, Use, list[object]]] = {
    "requests: TLS context": (
        "verify",
        lambda given: RequestsWebClient(given()),
        [ssl.create_default_context],
    ),
    "requests: session": (
        "session",
        lambda given: RequestsWebClient(session=given),
        [5, "x", [], False, requests.Session],
    ),
    "requests: set_timeout": (
        "timeout",
        lambda given: RequestsWebClient().set_timeout(given),
        NOT_TIMEOUTS,
    ),
    "requests: set_document_deadline": (
        "seconds",
        lambda given: RequestsWebClient().set_document_deadline(given),
        NOT_LIMITS,
    ),
    "requests: set_proxies": (
        "proxies",
        lambda given: RequestsWebClient().set_proxies(given),
        NOT_STRINGS,
    ),
    "requests: set_max_response_data_length": (
        "max_response_data_length",
        lambda given: RequestsWebClient().set_max_response_data_length(given),
        ["x", -1, 1.5, True, math.inf, []],
    ),
    "requests: url": ("url", lambda given: RequestsWebClient().get(given), NOT_URLS),
    "aiohttp: url": ("url", lambda given: asyncio.run(get_with_aio(given)), NOT_URLS),
    "aiohttp: concurrency": (
        "concurrency",
        lambda given: AioWebClient(concurrency=given),
        ["x", 0, -1, 1.5, None, True, math.inf],
    ),
    "aiohttp: trust_env": ("trust_env", lambda given: AioWebClient(trust_env=given), NOT_BOOLEANS),
    "waiter: wait": ("wait", RequestWaiter, NOT_SECONDS),
    "waiter: random_wait": (
        "random_wait",
        lambda given: RequestWaiter(1, given),
        NOT_BOOLEANS[1:],
    ),
}


def assert_rejected(name: str, use: Use, wrong: list[object]) -> None:
    for given in wrong:
        with pytest.raises(UsageError, match=f"^{name} must be ") as caught:
            use(given)
        message = str(caught.value)
        assert "\n" not in message
        assert len(message) < 200


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_setting_raises_in_one_line(case: str) -> None:
    assert_rejected(*CASES[case])


@pytest.mark.parametrize("name", OF_BOTH)
@pytest.mark.parametrize("kind", [RequestsWebClient, AioWebClient])
def test_both_clients_reject_the_same_settings(kind: type, name: str) -> None:
    assert_rejected(name, lambda given: kind(**{name: given}), OF_BOTH[name])


def test_right_settings_are_accepted(tmp_path: Path) -> None:
    client = RequestsWebClient(0, math.inf, 1, requests.Session())  # type: ignore[arg-type]
    timeouts: list[Any] = [1, 0.5, None, (None, 3), (1, math.inf), 10**9, urllib3.Timeout(5)]
    for timeout in timeouts:
        client.set_timeout(timeout)
        RequestsWebClient(timeout=timeout)
        AioWebClient(timeout=timeout)
    for seconds in (1, None, math.inf, 10**12):
        client.set_document_deadline(seconds)
        RequestsWebClient(document_deadline=seconds, wait=seconds)
        AioWebClient(document_deadline=seconds, wait=seconds)
    for length in (0, 5, None, 2**70):
        client.set_max_response_data_length(length)
    for proxies in (None, {}, {"http": ""}, {"http": None}):
        client.set_proxies(proxies)
        RequestsWebClient(proxies=proxies)
        AioWebClient(proxies=proxies)
    RequestsWebClient(verify=tmp_path)
    AioWebClient(verify=ssl.create_default_context())
    waiter = RequestWaiter(10**12, random_wait=False)
    assert [waiter.claim(), waiter.claim() <= 30 * 24 * 3600] == [0.0, True]


@pytest.mark.parametrize(
    ("given", "connect", "read"),
    [
        (urllib3.Timeout(5), 5, 5),
        (urllib3.Timeout(connect=1, read=2), 1, 2),
        (urllib3.Timeout(total=3, connect=9, read=2), 3, 2),
        (urllib3.Timeout(connect=None, read=2), None, 2),
        (urllib3.Timeout(None), None, None),
    ],
    ids=repr,
)
def test_a_timeout_of_urllib3_has_two_parts(
    given: urllib3.Timeout, connect: float | None, read: float | None
) -> None:
    expected = tuple(
        None if part is None else pytest.approx(part, abs=0.01) for part in (connect, read)
    )
    assert settings.timeout(given) == expected


# What is sent, and how long is waited


def with_requests(home: str, *urls: str, **options: Any) -> list[AbstractWebClientResponse]:
    client = RequestsWebClient(**options)
    with client.for_crawl(home) as scope:
        found = [scope.get(url) for url in urls]
    for response in found:
        getattr(response, "close", lambda: None)()
    client.close()
    return found


def with_session(home: str, *urls: str, **options: Any) -> list[AbstractWebClientResponse]:
    with requests.Session() as session:
        return with_requests(home, *urls, session=session, **options)


def with_aiohttp(home: str, *urls: str, **options: Any) -> list[AbstractWebClientResponse]:
    async def main() -> list[AbstractWebClientResponse]:
        found: list[AbstractWebClientResponse] = []
        async with AioWebClient(**options) as client, client.for_crawl(home) as scope:
            for url in urls:
                found.append(await scope.get(url))
                if hasattr(found[-1], "close"):
                    await success(found[-1]).close()
        return found

    return run(main())


each_client = pytest.mark.parametrize("get", [with_requests, with_session, with_aiohttp])


@each_client
def test_headers_are_sent_in_addition_and_instead(server: LoopbackServer, get: Get) -> None:
    given = {"x-key": "k", "ACCEPT": "text/xml", "user-agent": "mine/1"}
    get(server.url, server.url, headers=given)
    sent = server.requests[0].headers
    assert [sent[name] for name in ("x-key", "accept", "user-agent")] == ["k", "text/xml", "mine/1"]


@each_client
def test_the_user_agent_is_sent(server: LoopbackServer, get: Get) -> None:
    get(server.url, server.url, user_agent="mine/2")
    get(server.url, server.url, user_agent="mine/3", headers={"user-agent": "mine/1"})
    get(server.url, server.url)
    agents = [request.headers["user-agent"] for request in server.requests]
    assert agents[:2] == ["mine/2", "mine/3"]
    assert agents[2].startswith("ultimate_sitemap_parser/")


def test_the_user_agent_takes_precedence_over_that_of_a_session(server: LoopbackServer) -> None:
    class _RequestsWebClient(RequestsWebClient):
        __USER_AGENT = "private/1"  # as programs for 1.8.1 set it

    with requests.Session() as session:
        session.headers["User-Agent"] = "session/1"
        RequestsWebClient(session=session).get(server.url)
        _RequestsWebClient(session=session).get(server.url)
        _RequestsWebClient(session=session, user_agent="mine/1").get(server.url)
        RequestsWebClient(session=session, headers={"User-Agent": "mine/2"}).get(server.url)
    agents = [request.headers["user-agent"] for request in server.requests]
    assert agents == ["session/1", "private/1", "mine/1", "mine/2"]


def test_the_private_user_agent_of_1_8_1_can_be_assigned(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = RequestsWebClient()
    client._RequestsWebClient__USER_AGENT = "instance/1"  # type: ignore[attr-defined]
    client.get(server.url)
    client.close()
    monkeypatch.setattr(RequestsWebClient, "_RequestsWebClient__USER_AGENT", "class/1")
    with_requests(server.url, server.url)
    agents = [request.headers["user-agent"] for request in server.requests]
    assert agents == ["instance/1", "class/1"]


@each_client
def test_proxies_are_used(server: LoopbackServer, get: Get) -> None:
    server.site["http://far.example/a"] = b"through the proxy"
    (response,) = get("http://far.example/", "http://far.example/a", proxies={"http": server.url})
    assert response.status_code() == 200  # type: ignore[attr-defined]


@pytest.mark.parametrize("client", [RequestsWebClient, AioWebClient])
@pytest.mark.parametrize("proxy", ["(", "http://u:pa/SECRET@h:1", "http://h:99999", "http://"])
def test_a_malformed_proxy_is_rejected_at_once(client: type, proxy: str) -> None:
    with pytest.raises(UsageError, match="proxies must be URLs") as raised:
        client(proxies={"http": proxy})
    assert "SECRET" not in str(raised.value)


@each_client
def test_the_timeout_holds(server: LoopbackServer, get: Get) -> None:
    server.site["/a"] = stall
    for timeout in (0.2, (5, 0.2), urllib3.Timeout(0.2)):
        (response,) = get(server.url, server.at("/a"), timeout=timeout)
        assert response.no_response()  # type: ignore[attr-defined]
        assert response.retryable()  # type: ignore[attr-defined]


@pytest.mark.parametrize("get", [with_requests, with_aiohttp])
def test_the_document_deadline_holds(server: LoopbackServer, get: Get) -> None:
    server.site["/a"] = stall
    (response,) = get(server.url, server.at("/a"), document_deadline=0.2)
    assert "before its deadline" in response.message()  # type: ignore[attr-defined]


@each_client
def test_credentials_in_headers_stay_in_the_domain_of_the_homepage(
    server: LoopbackServer, get: Get
) -> None:
    given = {"authorization": "Bearer abc", "COOKIE": "own=1", "X-Other": "everywhere"}
    server.site |= {"/a": b"x", "/s": redirect("/a")}
    with ServerAt("127.0.0.2") as other:
        server.site["/r"] = redirect(other.at("/b"))
        other.site["/back"] = redirect(server.at("/back"))
        urls = [server.at("/a"), server.at("/r"), other.at("/b"), other.at("/back")]
        get(server.url, *urls, headers=given)
        for request in server.requests[:2]:
            assert request.headers["authorization"] == "Bearer abc"
            assert request.headers["cookie"] == "own=1"
        for request in [*other.requests, server.requests[2]]:
            assert not {"authorization", "cookie"} & set(request.headers)
            assert request.headers["x-other"] == "everywhere"
        assert len(other.requests) == 3


@pytest.mark.parametrize("get", [with_requests, with_aiohttp])
def test_credentials_in_headers_stay_on_redirects_within_their_host(
    server: LoopbackServer, get: Get, tmp_path: Path
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password it\n")
    server.site["/s"] = redirect("/a")
    given = {"Authorization": "Bearer abc", "Cookie": "own=1"}
    get(server.url, server.at("/s"), headers=given)
    for request in server.requests:
        assert request.headers["authorization"] == "Bearer abc", "not that of .netrc"
        assert request.headers["cookie"] == "own=1"
    assert server.requested == ["/s", "/a"]


@pytest.mark.parametrize("get", [with_requests, with_aiohttp])
def test_userinfo_takes_precedence_over_credentials_in_headers(
    server: LoopbackServer, get: Get
) -> None:
    url = server.url.replace("http://", "http://user:p%40ss@")
    get(server.url, url, headers={"Authorization": "Bearer abc"})
    assert server.requests[0].headers["authorization"] == "Basic dXNlcjpwQHNz"
