"""A program that interrupts a crawl while a server sends its document a byte at a time."""

import _thread
import json
import os
import signal
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import usp.web_client.requests_client  # noqa: F401 -- an import must not be interrupted
from usp.tree import sitemap_tree_for_homepage

SOON = 0.4
"""Seconds until the interruption: the crawl is waiting by then."""
WITHIN = 1.0
LONGEST = 8.0
"""Seconds that the server goes on at most, so that this program ends whatever happens."""


class OutOfTime(Exception):
    """What the handler of SIGALRM raises."""


class Dripping(BaseHTTPRequestHandler):
    """One URL comes a byte at a time; a robots.txt names it."""

    slow = ""
    done = threading.Event()

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        if self.path != self.slow:
            self.wfile.write(f"Sitemap: http://{self.headers['Host']}{self.slow}\n".encode())
            return
        until = time.monotonic() + LONGEST
        try:
            while time.monotonic() < until and not self.done.wait(0.05):
                self.wfile.write(b" ")
        except OSError:
            pass  # the client has gone

    def log_message(self, format: str, *args: object) -> None:
        pass


def on_alarm(_number: int, _frame: object) -> None:
    raise OutOfTime


def alarm() -> None:
    signal.setitimer(signal.ITIMER_REAL, SOON)


def interrupt_main() -> None:
    threading.Timer(SOON, _thread.interrupt_main).start()


def ctrl_c() -> None:
    threading.Timer(SOON, os.kill, (os.getpid(), signal.SIGINT)).start()


def interrupted(url: str, slow: str, interrupt: Callable[[], None]) -> list[object]:
    """What reached the caller, and whether it did in time."""
    Dripping.slow = slow
    Dripping.done.clear()
    interrupt()
    begin = time.monotonic()
    try:
        sitemap_tree_for_homepage(url, use_known_paths=False)
        reached = "nothing"
    except (KeyboardInterrupt, OutOfTime) as error:
        reached = type(error).__name__
    finally:
        Dripping.done.set()
    return [reached, time.monotonic() - begin < SOON + WITHIN]


server = ThreadingHTTPServer(("127.0.0.1", 0), Dripping)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
signal.signal(signal.SIGALRM, on_alarm)
signal.signal(signal.SIGINT, signal.default_int_handler)
homepage = f"http://127.0.0.1:{server.server_port}/"

facts = {
    f"{name} at {slow}": interrupted(homepage, slow, interrupt)
    for slow in ("/robots.txt", "/slow.xml")
    for name, interrupt in (
        ("interrupt_main", interrupt_main),
        ("SIGALRM", alarm),
        ("Ctrl-C", ctrl_c),
    )
}
server.shutdown()
print(json.dumps(facts))
