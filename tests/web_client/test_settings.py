"""Wrong settings of a client: refused where they are set, in one clear line, by all clients."""

import asyncio
import math
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import requests

from usp.exceptions import SitemapException
from usp.web_client.abstract_client import RequestWaiter
from usp.web_client.aio_client import AioWebClient
from usp.web_client.requests_client import RequestsWebClient

Use = Callable[[Any], object]

NO_TIMES: list[object] = ["10", b"1", True, -1, -0.1, math.nan, -math.inf, [1, 2], object()]
NO_LIMITS: list[object] = [*NO_TIMES, 0, ()]
NO_TIMEOUTS: list[object] = [*NO_LIMITS, (1,), (1, 2, 3), ("1", 2), (1, -2), (0, 1)]
NO_SWITCHES: list[object] = [None, "yes", 2, 1.0, []]
NO_TEXTS: list[object] = [5, "ab", [("a", "b")], {"a": 5}, {5: "a"}, {"a": b"b"}]
NO_AUTHORITIES: list[object] = [None, 2, 1.5, "", b"x", ["x"], object()]
NO_RULES: list[object] = ["never", None, True, [], object()]

NO_URLS: list[object] = [None, 5, b"http://127.0.0.1/", ["http://127.0.0.1/"]]


async def fetched_by_aio(url: Any) -> None:
    async with AioWebClient() as client:
        await client.get(url)


CASES: dict[str, tuple[str, Use, list[object]]] = {
    "requests: verify": ("verify", lambda given: RequestsWebClient(verify=given), NO_AUTHORITIES),
    "requests: TLS": (
        "verify",
        lambda given: RequestsWebClient(given()),
        [ssl.create_default_context],
    ),
    "requests: url": ("url", lambda given: RequestsWebClient().get(given), NO_URLS),
    "aio: url": ("url", lambda given: asyncio.run(fetched_by_aio(given)), NO_URLS),
    "aio: lines in headers": (
        "headers",
        lambda given: AioWebClient(headers=given),
        [{"A": "b\r\nc"}, {"A\n": "b"}, {"A": "\0"}],
    ),
    "requests: wait": ("wait", lambda given: RequestsWebClient(wait=given), NO_TIMES),
    "requests: random_wait": (
        "random_wait",
        lambda given: RequestsWebClient(random_wait=given),
        NO_SWITCHES,
    ),
    "requests: session": (
        "session",
        lambda given: RequestsWebClient(session=given),
        [5, "x", [], False, requests.Session],
    ),
    "requests: private_addresses": (
        "private_addresses",
        lambda given: RequestsWebClient(private_addresses=given),
        NO_RULES,
    ),
    "requests: timeout": (
        "timeout",
        lambda given: RequestsWebClient().set_timeout(given),
        NO_TIMEOUTS,
    ),
    "requests: deadline": (
        "seconds",
        lambda given: RequestsWebClient().set_document_deadline(given),
        NO_LIMITS,
    ),
    "requests: proxies": (
        "proxies",
        lambda given: RequestsWebClient().set_proxies(given),
        NO_TEXTS,
    ),
    "requests: length": (
        "max_response_data_length",
        lambda given: RequestsWebClient().set_max_response_data_length(given),
        ["x", -1, 1.5, True, math.inf, []],
    ),
    "waiter: wait": ("wait", RequestWaiter, NO_TIMES),
    "waiter: random_wait": ("random_wait", lambda given: RequestWaiter(1, given), NO_SWITCHES),
    "aiohttp: concurrency": (
        "concurrency",
        lambda given: AioWebClient(concurrency=given),
        ["x", 0, -1, 1.5, None, True, math.inf],
    ),
    "aiohttp: verify": ("verify", lambda given: AioWebClient(verify=given), NO_AUTHORITIES),
    "aiohttp: wait": ("wait", lambda given: AioWebClient(wait=given), NO_TIMES),
    "aiohttp: random_wait": (
        "random_wait",
        lambda given: AioWebClient(random_wait=given),
        NO_SWITCHES,
    ),
    "aiohttp: timeout": ("timeout", lambda given: AioWebClient(timeout=given), NO_TIMEOUTS),
    "aiohttp: document_deadline": (
        "document_deadline",
        lambda given: AioWebClient(document_deadline=given),
        NO_LIMITS,
    ),
    "aiohttp: headers": ("headers", lambda given: AioWebClient(headers=given), NO_TEXTS),
    "aiohttp: proxies": ("proxies", lambda given: AioWebClient(proxies=given), NO_TEXTS),
    "aiohttp: trust_env": ("trust_env", lambda given: AioWebClient(trust_env=given), NO_SWITCHES),
    "aiohttp: private_addresses": (
        "private_addresses",
        lambda given: AioWebClient(private_addresses=given),
        NO_RULES,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_setting_is_refused_in_one_line(case: str) -> None:
    name, use, wrong = CASES[case]
    for given in wrong:
        with pytest.raises(SitemapException, match=f"^{name} must be ") as caught:
            use(given)
        said = str(caught.value)
        assert "\n" not in said
        assert len(said) < 200


def test_what_can_be_meant_is_taken(tmp_path: Path) -> None:
    client = RequestsWebClient(0, math.inf, 1, requests.Session())  # type: ignore[arg-type]
    for timeout in (1, 0.5, None, (None, 3), (1, math.inf), 10**9):
        client.set_timeout(timeout)
        AioWebClient(timeout=timeout)
    for seconds in (1, None, math.inf, 10**12):
        client.set_document_deadline(seconds)
        AioWebClient(document_deadline=seconds, wait=seconds)
    for length in (0, 5, None, 2**70):
        client.set_max_response_data_length(length)
    for proxies in (None, {}, {"http": ""}, {"http": None}):
        client.set_proxies(proxies)
        AioWebClient(proxies=proxies)
    RequestsWebClient(verify=tmp_path)
    AioWebClient(verify=ssl.create_default_context())
    waiter = RequestWaiter(10**12, random_wait=False)
    assert [waiter.claim(), waiter.claim() <= 30 * 24 * 3600] == [0.0, True]
