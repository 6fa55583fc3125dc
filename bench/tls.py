"""TLS: what a new connection costs the processor, beside 1.8.1 and plain requests in one run.

A loopback server with a certificate made for the occasion ends each connection after its answer,
so that each request makes a new one. The authorities are those that requests comes with, and the
certificate's own: as many to load as on the open web. The figure is the processor's time for a
whole request, after a first one. The sides take turns; the shortest time of each counts.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import certifi

from bench.results import Table
from bench.sides import OURS, Answer, Reader, best, reference
from bench.site import Site, served

CONNECTIONS: Final = 20
RUNS: Final = 3
MOST: Final = 5.0
"""Milliseconds of the processor for a new connection of ours."""
HEADINGS: Final = ("client", "ms of CPU", "times as cheap as plain requests")
PLAIN: Final = "requests.Session"
RENEW: Final = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    " -subj /CN=bench -addext subjectAltName=IP:127.0.0.1"
    " -addext keyUsage=critical,digitalSignature,keyCertSign"
)


def run(*, full: bool) -> Iterator[Table]:  # noqa: ARG001 -- as quick as it can be
    """Measure all clients in turns."""
    if shutil.which("openssl") is None:
        print("tls is left out: there is no openssl command to make a certificate with")
        return
    rule = f"a new connection of ours takes less than {MOST:g} ms"
    table = Table(f"a request over a new TLS connection, {CONNECTIONS} in a row", HEADINGS, rule)
    with tempfile.TemporaryDirectory() as folder:
        found = _measure(Path(folder))
    for client, answer in found.items():
        milliseconds = answer["seconds"] * 1000
        cheaper = found[PLAIN]["seconds"] / answer["seconds"]
        table.rows.append([client, milliseconds, cheaper])
        if not answer["good"] or (client == OURS.name and milliseconds >= MOST):
            table.broken.append(client)
    yield table


def _measure(folder: Path) -> dict[str, Answer]:
    certificate, authorities = _certificate(folder)
    environment = {"REQUESTS_CA_BUNDLE": str(authorities)}
    with ExitStack() as stack:
        home = stack.enter_context(served(Site(0, 0, certificate=str(certificate))))
        readers = {
            side.name: stack.enter_context(Reader(side, environment=environment))
            for side in (OURS, reference())
            if side
        }
        rounds = [
            {
                PLAIN: readers[OURS.name].ask("connect_plainly", f"{home}robots.txt", CONNECTIONS),
                **{
                    name: reader.ask("connect", f"{home}robots.txt", CONNECTIONS)
                    for name, reader in readers.items()
                },
            }
            for _ in range(RUNS)
        ]
    return {name: best(found[name] for found in rounds) for name in rounds[0]}


def _certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate that is its own authority, and the file of all authorities."""
    certificate, key, authorities = (folder / name for name in ("own.pem", "key.pem", "all.pem"))
    command = [*RENEW.split(), "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 -- our own words
    authorities.write_text(Path(certifi.where()).read_text("utf-8") + certificate.read_text())
    with certificate.open("a") as both:
        both.write(key.read_text())
    return certificate, authorities
