"""TLS: the CPU time of a new connection, beside 1.8.1 and plain requests in the same run.

A loopback server with a temporary certificate closes each connection after its response, so that
each request makes a new one. The CA bundle is that of certifi plus the certificate, so that it is
as large as usual. The figure is the CPU time of a whole request, after a first one. The
implementations take turns; the shortest time of each is used.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import certifi

from bench.implementations import OURS, JobResult, WorkerProcess, best, reference
from bench.results import Table
from bench.site import Site, served

CONNECTIONS: Final = 20
RUNS: Final = 3
MAX_MS: Final = 5.0
"""The most CPU milliseconds for a new connection of ours."""
HEADINGS: Final = ("client", "CPU ms", "speedup over requests")
PLAIN: Final = "requests.Session"
MAKE_CERTIFICATE: Final = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    " -subj /CN=bench -addext subjectAltName=IP:127.0.0.1"
    " -addext keyUsage=critical,digitalSignature,keyCertSign"
)


def run(*, full: bool) -> Iterator[Table]:  # noqa: ARG001 -- both runs are the same
    """Measure all clients in turns."""
    if shutil.which("openssl") is None:
        print("tls is skipped: it needs the openssl command to make a certificate")
        return
    target = f"a new connection of ours takes less than {MAX_MS:g} ms"
    table = Table(f"a request over a new TLS connection, {CONNECTIONS} in a row", HEADINGS, target)
    with tempfile.TemporaryDirectory() as folder:
        found = _measure(Path(folder))
    for client, result in found.items():
        milliseconds = result["seconds"] * 1000
        speedup = found[PLAIN]["seconds"] / result["seconds"]
        table.rows.append([client, milliseconds, speedup])
        if not result["good"] or (client == OURS.name and milliseconds >= MAX_MS):
            table.failed.append(client)
    yield table


def _measure(folder: Path) -> dict[str, JobResult]:
    certificate, ca_bundle = _certificate(folder)
    environment = {"REQUESTS_CA_BUNDLE": str(ca_bundle)}
    with ExitStack() as stack:
        home = stack.enter_context(served(Site(0, 0, certificate=str(certificate))))
        workers = {
            implementation.name: stack.enter_context(
                WorkerProcess(implementation, environment=environment)
            )
            for implementation in (OURS, reference())
            if implementation
        }
        rounds = [
            {
                PLAIN: workers[OURS.name].run(
                    "connect_with_requests", f"{home}robots.txt", CONNECTIONS
                ),
                **{
                    name: worker.run("connect", f"{home}robots.txt", CONNECTIONS)
                    for name, worker in workers.items()
                },
            }
            for _ in range(RUNS)
        ]
    return {name: best(found[name] for found in rounds) for name in rounds[0]}


def _certificate(folder: Path) -> tuple[Path, Path]:
    """Make a self-signed certificate; return it with its key, and a CA bundle that includes it."""
    certificate, key, ca_bundle = (folder / name for name in ("own.pem", "key.pem", "all.pem"))
    command = [*MAKE_CERTIFICATE.split(), "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 -- a fixed command
    ca_bundle.write_text(Path(certifi.where()).read_text("utf-8") + certificate.read_text())
    with certificate.open("a") as both:
        both.write(key.read_text())
    return certificate, ca_bundle
