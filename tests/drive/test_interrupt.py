"""Signals interrupt a crawl that waits for a slow server: real processes, real signals."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.server import Callback, LoopbackServer, Plain, stall
from tests.servers import drip
from tests.waiting import wait_until
from tests.warm import WarmPython

PROGRAM = """
import _thread, asyncio, os, signal, sys, threading, time

from usp import aio
from usp.tree import sitemap_tree_for_homepage
from usp.web_client.requests_client import RequestsWebClient

how, driver, url, now = sys.argv[1:]


class Alarm(TimeoutError if how == "TimeoutError" else Exception):
    pass


def on_alarm(*_):
    raise Alarm


def interrupt():
    while not os.path.exists(now):
        time.sleep(0.01)
    global begun
    begun = time.monotonic()
    if how == "interrupt_main":
        _thread.interrupt_main()
    else:
        os.kill(os.getpid(), signal.SIGINT if how == "SIGINT" else signal.SIGALRM)


signal.signal(signal.SIGALRM, on_alarm)
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Thread(target=interrupt, daemon=True).start()
client = RequestsWebClient()
client.thread_safe = driver == "threads"
try:
    if driver == "asyncio":
        asyncio.run(aio.sitemap_tree_for_homepage(url))
    else:
        sitemap_tree_for_homepage(url, client)
except (KeyboardInterrupt, Alarm) as error:
    left = [thread.name for thread in threading.enumerate() if thread.name == "usp-fetch"]
    print(type(error).__name__, f"{time.monotonic() - begun:.3f}", len(left))
client.close()
"""

SLOW: dict[str, Plain | Callback] = {
    "silent": stall,
    "dripping": drip("Content-Length: 99999\r\n\r\n", b"x", pause=0.05),
    "retried": 503,  # the crawl waits for the next attempt
}


PYTHON = WarmPython(("usp.aio", "usp.tree", "usp.cli._ls"), ("-W", "always"))


def interrupted(server: LoopbackServer, how: str, driver: str, folder: Path) -> list[str]:
    """What a program prints that is interrupted while it waits for a slow sitemap."""
    server.robots("/slow.xml")
    now = folder / "now"
    with ThreadPoolExecutor() as pool:
        ending = pool.submit(PYTHON.run, "-c", PROGRAM, how, driver, server.url, str(now))
        wait_until(lambda: "/slow.xml" in server.requested)
        time.sleep(0.2)  # asyncio drops what is raised while it sends the request
        now.touch()
        ended = ending.result()
    assert (ended.returncode, ended.stderr) == (0, b"")
    return ended.stdout.decode().split()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("server_is", SLOW)
@pytest.mark.parametrize("driver", ["threads", "inline"])
@pytest.mark.parametrize("how", ["SIGINT", "SIGALRM", "TimeoutError", "interrupt_main"])
def test_a_signal_interrupts_a_crawl_within_a_second(
    server: LoopbackServer, how: str, driver: str, server_is: str, tmp_path: Path
) -> None:
    server.site["/slow.xml"] = SLOW[server_is]
    name, seconds, threads = interrupted(server, how, driver, tmp_path)
    by_alarm = how in {"SIGALRM", "TimeoutError"}
    assert name == ("Alarm" if by_alarm else "KeyboardInterrupt")
    assert float(seconds) < 1
    assert threads == "0"


@pytest.mark.parametrize("server_is", ["silent", "dripping"])
@pytest.mark.parametrize("how", ["SIGINT", "SIGALRM"])
def test_a_signal_interrupts_a_crawl_in_asyncio(
    server: LoopbackServer, how: str, server_is: str, tmp_path: Path
) -> None:
    server.site["/slow.xml"] = SLOW[server_is]
    name, seconds, _ = interrupted(server, how, "asyncio", tmp_path)
    assert name == ("Alarm" if how == "SIGALRM" else "KeyboardInterrupt")
    assert float(seconds) < 1


UNSTOPPABLE = """
import _thread, sys, threading, time

from usp.tree import sitemap_tree_for_homepage
from usp.web_client.abstract_client import AbstractWebClient, LocalWebClientSuccessResponse


class Client(AbstractWebClient):
    thread_safe = True

    def set_max_response_data_length(self, max_response_data_length):
        pass

    def get(self, url):
        if url.endswith("robots.txt"):
            return LocalWebClientSuccessResponse(url, "Sitemap: http://h.example/slow.xml")
        threading.Timer(0.1, _thread.interrupt_main).start()
        time.sleep(600)


begun = time.monotonic()
try:
    sitemap_tree_for_homepage("http://h.example/", Client(), use_known_paths=False)
except KeyboardInterrupt:
    print(f"{time.monotonic() - begun:.3f}")
"""


def test_a_request_that_can_not_be_cancelled_does_not_keep_the_process_alive() -> None:
    done = subprocess.run(
        [sys.executable, "-c", UNSTOPPABLE], capture_output=True, text=True, check=True, timeout=30
    )
    assert float(done.stdout) < 5
