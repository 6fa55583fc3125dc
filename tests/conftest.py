"""Fixtures that every test may use.

- ``server``: a fresh loopback web server with an empty site (see ``tests.server``);
- ``demo_site``: the running demo site of ``usp demo``, with ``.url`` and ``.asked``;
- ``corpus``: the folder of real documents, or a skip where it isn't there.

Rules of this room: real servers, real files, nothing patched; what a fixture starts it stops. No
test is timed: Hypothesis, too, lets a busy machine take as long as it takes.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.server import LoopbackServer
from usp.cli._demo_site import DemoSite

PROJECT = Path(__file__).resolve().parent.parent

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "quick", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=20
)
settings.load_profile("untimed")


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer() as running:
        yield running


@pytest.fixture
def demo_site() -> Iterator[DemoSite]:
    with DemoSite() as running:
        yield running


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The real documents: ``USP_CORPUS``, else ``../shared/corpus`` beside the project."""
    folder = Path(os.environ.get("USP_CORPUS") or PROJECT.parent / "shared" / "corpus")
    if not folder.is_dir():
        pytest.skip("no folder of real documents: set USP_CORPUS to one to run this test")
    return folder
