"""What a crawl needs of the system: threads that start, and its own process. Real processes."""

import sys
from pathlib import Path

import pytest

from tests.cli.command import TIMEOUT, Finished, script, search_path
from tests.server import Answer, Handler, LoopbackServer, stall, urlset

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no fork, other thread limits")

ENV = {"PYTHONPATH": search_path(Path(__file__).parents[2])}
NO_THREADS = """
import threading; threading.stack_size(1 << 45)  # no thread gets such a stack
import asyncio
def in_loop(coroutine):  # asyncio.run() itself needs a thread at its end
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(coroutine)
    finally:
        loop.close()
"""


def python(code: str, *args: str) -> Finished:
    return script(code, *args, env=ENV)


@pytest.fixture
def site(server: LoopbackServer) -> LoopbackServer:
    server.robots("/a.xml", "/b.xml")
    server.site["/a.xml"] = urlset(*(server.at(f"/a{number}") for number in range(500)))
    server.site["/b.xml"] = urlset(server.at("/b"))
    return server


# Threads


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "call",
    [
        "usp.sitemap_tree_for_homepage(sys.argv[1])",
        "list(usp.iter_pages(sys.argv[1]))",
        "in_loop(aio.sitemap_tree(sys.argv[1]))",
        "in_loop(anext(aio.iter_pages(sys.argv[1].replace('127.0.0.1', 'localhost'))))",
    ],
)
def test_one_clear_error_if_no_thread_can_be_started(site: LoopbackServer, call: str) -> None:
    ended = python(f"import sys, usp\nfrom usp import aio\n{NO_THREADS}{call}", site.url)
    assert ended.code == 1
    assert ended.err.splitlines()[-1] == (
        "usp.exceptions.ThreadStartError: No thread can be started for the requests of the crawl: "
        "can't start new thread. Raise the limit of threads, or use concurrency=1 "
        "without max_seconds."
    )
    assert "Warning" not in ended.err


def test_the_command_says_so_in_one_line(site: LoopbackServer) -> None:
    code = f"{NO_THREADS}import sys\nfrom usp.cli.cli import main\nmain(['ls', sys.argv[1]])"
    ended = python(code, site.url)
    assert (ended.code, ended.out) == (3, "")
    (line,) = ended.err.splitlines()
    assert line.startswith("usp: error: No thread can be started")


def test_one_request_at_a_time_needs_no_thread(site: LoopbackServer) -> None:
    code = (
        f"{NO_THREADS}import sys, usp\nprint(len(list(usp.iter_pages(sys.argv[1], concurrency=1))))"
    )
    ended = python(code, site.url)
    assert (ended.code, ended.out, ended.err) == (0, "501\n", "")


def test_the_threads_that_could_be_started_do_all_the_work(site: LoopbackServer) -> None:
    code = """
import sys, threading, usp
real = threading.Thread.start
def start(thread):
    real(thread)
    threading.stack_size(1 << 45)  # from now on none
threading.Thread.start = start
print(len(list(usp.iter_pages(sys.argv[1]))))
"""
    ended = python(code, site.url)
    assert (ended.code, ended.out, ended.err) == (0, "501\n", "")


# Processes


FORK = """
import os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of any fork with threads
import usp
from usp.exceptions import SitemapException

{client}
stream = usp.iter_pages(sys.argv[1], web_client=client)
first = next(stream)
child = os.fork()
if child == 0:
    try:
        rest = sum(1 for _ in stream)
        print("child read", rest, flush=True)
    except SitemapException as error:
        print("child:", error, flush=True)
        stream.close()
    sys.stdout.flush()
    os._exit(0)
_, status = os.waitpid(child, 0)
{release}
print("parent read", sum(1 for _ in stream), os.waitstatus_to_exitcode(status))
"""
CLIENTS = {
    "threads": "client = None",
    "one at a time": """
from usp.web_client.requests_client import RequestsWebClient
class Client(RequestsWebClient):
    pass
client = Client()
""",
}


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", CLIENTS)
def test_a_forked_process_that_reads_on_gets_one_clear_error(
    site: LoopbackServer, kind: str
) -> None:
    """And the stream of the parent is not disturbed: both share the sockets."""

    def later(handler: Handler) -> bytes:
        handler.owner.closing.wait(1.5)  # the process forks before this arrives
        return urlset(site.at("/b"))

    site.site["/b.xml"] = later
    code = FORK.format(client=CLIENTS[kind], release="")
    ended = python(code, site.url)
    assert ended.err == ""
    child, parent = ended.out.splitlines()
    assert child == (
        "child: This crawl was started by another process, before a fork; start a new one here."
    )
    assert parent == "parent read 500 0"


def test_a_forked_process_does_not_read_what_has_arrived_already(site: LoopbackServer) -> None:
    """Else several processes would read the same pages, each taking them for its own."""
    code = FORK.replace("child = os.fork()", "import time; time.sleep(0.5); child = os.fork()")
    ended = python(code.format(client="client = None", release=""), site.url)
    assert ended.err == ""
    child, parent = ended.out.splitlines()
    assert child.startswith("child: This crawl was started by another process, before a fork;")
    assert parent == "parent read 500 0"


def test_a_stream_that_is_not_read_yet_is_read_by_a_forked_process(site: LoopbackServer) -> None:
    code = FORK.replace("first = next(stream)", "")
    ended = python(code.format(client="client = None", release=""), site.url)
    assert ended.out.splitlines() == ["child read 501", "parent read 501 0"]


def test_a_forked_process_does_not_hang_on_a_silent_server(site: LoopbackServer) -> None:
    site.robots("/a.xml", "/slow.xml")
    site.site["/slow.xml"] = stall
    code = FORK.format(client="client = None", release="stream.close()")
    ended = python(code, site.url)
    assert "child: This crawl was started by another process" in ended.out
    assert ended.out.splitlines()[-1] == "parent read 0 0"
    assert TIMEOUT > 10  # the process ended by itself


@pytest.mark.slow
def test_a_forked_process_makes_its_own_connections(site: LoopbackServer) -> None:
    """Else both processes would read parts of each other's responses."""
    code = """
import os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)
import usp
from usp.web_client.requests_client import RequestsWebClient

client = RequestsWebClient()
tree = usp.sitemap_tree(sys.argv[1], web_client=client)
child = os.fork()
for _ in range(20):
    tree = usp.sitemap_tree(sys.argv[1], web_client=client)
    assert (tree.outcome, len(list(tree.all_pages()))) == ("found", 501), tree.tried
if child == 0:
    os._exit(0)
client.close()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    ended = python(code, site.url)
    assert (ended.err, ended.out) == ("", "0\n")


CRAWL_IN_CHILDREN = """
import faulthandler, logging, os, sys, threading, warnings
warnings.simplefilter("ignore", DeprecationWarning)
logging.disable()
import usp
from usp.web_client.requests_client import RequestsWebClient

url = sys.argv[1]

def crawl(client):
    return usp.sitemap_tree(url, web_client=client).outcome

def status_of_child(make_client):
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(10, exit=True)
        os._exit(0 if crawl(make_client()) == "found" else 2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

shared = RequestsWebClient()
crawl(shared)  # what is imported later has locks of its own
"""


@pytest.mark.slow
def test_forked_processes_crawl_while_threads_of_the_parent_do(
    site: LoopbackServer, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"  # a long one, so that most forks happen while a thread reads it
    netrc.write_text("".join(f"machine h{n}.example login a password b\n" for n in range(300)))
    netrc.chmod(0o600)
    site.site["/b.xml"] = Answer(body=urlset(site.at("/b")), headers={"Set-Cookie": "a=b"})
    code = (
        CRAWL_IN_CHILDREN
        + """
def crawl_on():
    while True:
        crawl(shared)

for _ in range(4):
    threading.Thread(target=crawl_on, daemon=True).start()
print([status_of_child(RequestsWebClient) for _ in range(8)])
print([status_of_child(lambda: shared) for _ in range(8)], flush=True)
os._exit(0)
"""
    )
    ended = script(code, site.url, env={**ENV, "NETRC": str(netrc)})
    assert (ended.err, ended.out) == ("", f"{[0] * 8}\n{[0] * 8}\n")


HELD_LOCKS = {
    "cookies": "shared._session.cookies._cookies_lock",
    "scopes": "shared._scopes._lock",
    "waiter": "shared._waiter._lock",
    "adapter": "shared._session.get_adapter(url)._lock",
    "pools": "shared._session.get_adapter(url).poolmanager.pools.lock",
    "pool": "shared._session.get_adapter(url).poolmanager.connection_from_url(url).pool.mutex",
}


def test_a_forked_process_uses_a_client_whatever_threads_of_the_parent_held(
    site: LoopbackServer,
) -> None:
    code = (
        CRAWL_IN_CHILDREN
        + f"""
held, done = threading.Event(), threading.Event()

def hold(lock):
    with lock:
        held.set()
        done.wait()

for lock in [{", ".join(HELD_LOCKS.values())}]:
    held.clear()
    done.clear()
    holder = threading.Thread(target=hold, args=[lock])
    holder.start()
    held.wait()
    print(status_of_child(lambda: shared), end=" ", flush=True)
    done.set()
    holder.join()
shared.close()
"""
    )
    ended = python(code, site.url)
    assert (ended.err, ended.out.split()) == ("", ["0"] * len(HELD_LOCKS))


# Streams that are dropped


DROPPED = """
import asyncio, gc, sys, usp
from usp import aio
gc.disable()
async def main():
    asyncio.get_running_loop().slow_callback_duration = 60  # no warnings of a slow machine
    async with aio.AioWebClient(concurrency=2) as client, asyncio.timeout(30):
        for _ in range(5):  # each has two requests in flight when it is dropped
            stream = aio.iter_pages(sys.argv[1], web_client=client)
            await anext(stream)
            del stream
        tree = await aio.sitemap_tree(sys.argv[1] + "b.xml", web_client=client)
        print(tree.outcome)
asyncio.run(main())
"""


@pytest.mark.slow
def test_a_dropped_stream_frees_the_client_that_it_shares(site: LoopbackServer) -> None:
    site.robots("/a.xml", "/slow.xml", "/slower.xml")
    site.site["/slow.xml"] = site.site["/slower.xml"] = stall
    ended = python(DROPPED, site.url)
    assert (ended.code, ended.out, ended.err) == (0, "found\n", "")


def test_a_dropped_stream_ends_its_threads(site: LoopbackServer) -> None:
    site.robots("/a.xml", "/slow.xml")
    site.site["/slow.xml"] = stall
    code = """
import gc, sys, threading, usp
gc.disable()
stream = usp.iter_pages(sys.argv[1])
next(stream)
del stream
print([thread.name for thread in threading.enumerate()])
"""
    ended = python(code, site.url)
    assert (ended.code, ended.out, ended.err) == (0, "['MainThread']\n", "")
