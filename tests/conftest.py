"""Fixtures for all tests.

- ``server``: a new loopback web server with an empty site (see ``tests.server``);
- ``demo_site``: the running demo site of ``usp demo``;
- ``browser``: Chromium, driven by Playwright; the test is skipped where one of them is missing;
- ``corpus``: the folder of real documents; the test is skipped where that is missing.

Servers, files and processes are real: no code of the library is replaced by a mock.

Hypothesis has no deadline, since a busy machine may be slow. Its profile says how many examples a
property draws: ``usual`` draws the same few in every run, so that a failure belongs to a change;
``thorough`` draws many new ones (``make test-thorough``); ``quick`` is for further Pythons.
"""

import gc
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.server import LoopbackServer
from usp.cli._demo_site import DemoSite

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PROJECT = Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

for name, examples in {"quick": 5, "usual": 6, "thorough": 500}.items():
    settings.register_profile(
        name,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        max_examples=examples,
        derandomize=name != "thorough",
    )
settings.load_profile("usual")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Use more processes than there are CPUs, since many tests wait for servers.

    Not many more: each of them collects all tests, and has processes with imports of its own.
    """
    return ((os.cpu_count() or 1) * 3 + 1) // 2


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Make those cases of a sampled test thorough that are not in the sample."""
    counts = Counter[str]()
    for item in items:
        if sampled := item.get_closest_marker("sampled"):
            test = item.nodeid.partition("[")[0]
            if counts[test] % sampled.args[0]:
                item.add_marker("thorough")
            counts[test] += 1


def pytest_collection_finish() -> None:
    """Let the garbage collector, which many tests call, skip the modules and the tests."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer() as running:
        yield running


@pytest.fixture
def demo_site() -> Iterator[DemoSite]:
    with DemoSite() as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="there is no Playwright")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("there is no Chromium")
    # Chromium refuses its sandbox to root, as whom tests run in containers.
    arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with (
        sync_api.sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=found, args=arguments) as launched,
    ):
        yield launched


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Return the folder of real documents: ``USP_CORPUS``, else ``../shared/corpus``."""
    folder = Path(os.environ.get("USP_CORPUS") or PROJECT.parent / "shared" / "corpus")
    if not folder.is_dir():
        pytest.skip("no folder of real documents: set USP_CORPUS to one to run this test")
    return folder
