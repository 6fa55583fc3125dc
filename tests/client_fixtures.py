"""Fixtures of tests that reach a server through a client of ours.

- ``certificate``: a self-signed one for 127.0.0.1;
- ``secure``: a TLS server that has it;
- ``no_settings``: the test runs without the proxies, CA bundles and ``.netrc`` of the environment.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import Certificate, TLSServer


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return Certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def secure(certificate: Certificate) -> Iterator[TLSServer]:
    with TLSServer(certificate.context()) as running:
        running.otherwise = b"hello"
        yield running


@pytest.fixture
def no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:
        if name.lower().endswith("_proxy") or name in {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"}:
            monkeypatch.delenv(name)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
