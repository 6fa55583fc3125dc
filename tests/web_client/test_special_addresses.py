"""Which addresses are public: our own table, the same on every version of Python."""

import json
import os
import subprocess
import sys
from ipaddress import ip_network
from pathlib import Path

import pytest

import usp
from usp.web_client._http.special_addresses import (
    NOT_PUBLIC_IPV4,
    NOT_PUBLIC_IPV6,
    is_public,
)

PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.216.34",
    "100.63.255.255",
    "100.128.0.0",
    "168.63.129.17",
    "172.15.255.255",
    "172.32.0.0",
    "191.255.255.255",
    "192.0.1.0",
    "192.31.196.1",  # AS112 and AMT: special, but globally reachable
    "192.52.193.1",
    "192.175.48.1",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2000::1",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2606:4700:4700::1111",
    "2620:4f:8000::1",
    "2a00:1450:4001:80e::200e",
    "3ffe::1",
    "64:ff9b::808:808",
    "::ffff:8.8.8.8",
    "2002:808:808::1",
]
NOT_PUBLIC = [
    "0.0.0.0",  # noqa: S104 -- an example
    "0.1.2.3",
    "10.0.0.0",
    "10.255.255.255",
    "100.64.0.0",
    "100.100.100.200",  # the metadata service of Alibaba Cloud
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.255",
    "168.63.129.16",  # the host agent of Azure
    "169.254.169.254",  # the metadata service of most clouds
    "172.16.0.0",
    "172.31.255.255",
    "192.0.0.0",
    "192.0.0.8",
    "192.0.0.9",
    "192.0.0.170",
    "192.0.0.192",  # the metadata service of Oracle Cloud
    "192.0.0.255",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.0",
    "192.168.255.255",
    "198.18.0.0",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::8.8.8.8",  # IPv4-compatible, deprecated
    "::7f00:1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:192.0.0.192",
    "::ffff:0:127.0.0.1",  # IPv4-translated
    "64:ff9b::127.0.0.1",
    "64:ff9b::192.0.0.192",
    "64:ff9b:1::8.8.8.8",
    "100::1",
    "100:0:0:1::1",
    "1fff::1",
    "2001::1",  # Teredo
    "2001:0:7f00:1::",
    "2001:1::1",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:1ff::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::1",
    "2002:c000:c0::1",
    "3fff::1",
    "3fff:fff:ffff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",  # the metadata service of AWS
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "ffff::1",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_an_address_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_an_address_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("network", [*NOT_PUBLIC_IPV4, *NOT_PUBLIC_IPV6], ids=str)
def test_both_ends_of_a_network_are_in_it(network: object) -> None:
    block = ip_network(str(network))
    assert not is_public(str(block.network_address))
    assert not is_public(str(block.broadcast_address))


def pythons() -> list[str]:
    """The interpreters of this machine that usp supports, at least the one of the tests."""
    tool = Path(__file__).parents[2] / "tools" / "pythons.py"
    listed = subprocess.run([sys.executable, tool], capture_output=True, text=True, check=True)
    return [line.split(" ", 1)[1] for line in listed.stdout.splitlines()] or [sys.executable]


@pytest.mark.slow
def test_every_python_gives_the_same_answers() -> None:
    program = (
        "import json, sys; sys.dont_write_bytecode = True;"
        "from usp.web_client._http.special_addresses import is_public;"
        "print(json.dumps([is_public(a) for a in json.load(sys.stdin)]))"
    )
    for python in pythons():
        done = subprocess.run(
            [python, "-S", "-c", program],
            input=json.dumps([*PUBLIC, *NOT_PUBLIC]),
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": str(Path(usp.__file__).parents[1])},
        )
        assert done.stderr == "", python
        assert json.loads(done.stdout) == [True] * len(PUBLIC) + [False] * len(NOT_PUBLIC), python
