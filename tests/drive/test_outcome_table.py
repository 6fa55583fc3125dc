"""Every outcome, exactly when it is given: one case for each row of the table in the docs.

Each case is a loopback site, crawled as a tree and as a stream, in threads and in asyncio, and by
the command where that has the options. All of them agree.
"""

import gzip
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import usp
from tests.cli.command import Finished
from tests.cli.command import usp as command
from tests.drive.ways import WAYS, Finding, finding_of_tree
from tests.server import Answer, Handler, LoopbackServer, index, redirect, stall, urlset

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "crawling.md"
Prepare = Callable[[LoopbackServer], None]


@dataclass(frozen=True)
class Case:
    """A site, the options of its crawl, and the codes of its problems.

    The command has no such options. Where ``patient`` is set, it would take two minutes, since a
    server that asks for fewer requests gets them.
    """

    prepare: Prepare
    options: dict[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    patient: bool = False


def site(*declared: str, otherwise: Any = 404, **answers: Any) -> Prepare:
    """A site whose robots.txt declares sitemaps; a.xml lists a page, if nothing else is said."""

    def prepare(server: LoopbackServer) -> None:
        server.otherwise = otherwise
        if declared:
            server.robots(*(f"/{name}.xml" for name in declared))
        server.site["/a.xml"] = urlset(server.at("/1"))
        for name, answer in answers.items():
            path = "/robots.txt" if name == "robots" else f"/{name}.xml"
            server.site[path] = answer

    return prepare


def circles(**answers: Any) -> Prepare:
    """A site that redirects every path to itself; these are answered."""
    return site(otherwise=lambda handler: redirect(handler.path), **answers)


def damaged(damage: Callable[[bytes], Any]) -> Prepare:
    """A site with a whole sitemap, and a damaged one."""

    def prepare(server: LoopbackServer) -> None:
        site("b", "a")(server)
        server.site["/b.xml"] = damage(urlset(*(server.at(f"/b{n}") for n in range(50))))

    return prepare


def lose_connection(document: bytes) -> Callable[[Handler], None]:
    def answer(handler: Handler) -> None:
        length = {"Content-Length": str(len(document))}
        handler.send(Answer(body=document[:-20], headers=length))

    return answer


def cut_robots(*declared: str, **answers: Any) -> Prepare:
    """A site whose robots.txt breaks off behind these sitemaps."""

    def prepare(server: LoopbackServer) -> None:
        site(**answers)(server)
        lines = "".join(f"Sitemap: {server.at(path)}\n" for path in declared)
        robots = f"User-agent: *\nDisallow: /x\n{lines}Sitemap: http://h.example/"
        server.site["/robots.txt"] = lose_connection(robots.encode())

    return prepare


def named_by_homepage(*paths: str, **answers: Any) -> Prepare:
    """A site without a robots.txt, whose homepage names sitemaps."""

    def prepare(server: LoopbackServer) -> None:
        site(**answers)(server)
        links = "".join(f'<link rel="sitemap" href="{path}">' for path in paths)
        server.site["/"] = f"<!doctype html><html><head>{links}</head></html>"

    return prepare


def slow_first(server: LoopbackServer) -> None:
    """A site whose first sitemap never comes; the others have more pages than are wanted."""
    answers = {name: urlset(*(server.at(f"/{name}{n}") for n in range(20))) for name in "cde"}
    site("b", *answers, b=stall, **answers)(server)


def with_index(*children: str) -> Prepare:
    def prepare(server: LoopbackServer) -> None:
        site("a", "i")(server)
        server.site["/i.xml"] = index(*(server.at(f"/{name}.xml") for name in children))

    return prepare


def repeated(server: LoopbackServer) -> None:
    site("i", "j")(server)
    server.site["/i.xml"] = server.site["/j.xml"] = index(server.at("/k.xml"))
    server.site["/k.xml"] = index(server.at("/a.xml"))


def at_known_path(server: LoopbackServer) -> None:
    server.site |= {"/robots.txt": 403, "/sitemap.xml": urlset(server.at("/1"))}


def no_robots_and_refusals(server: LoopbackServer) -> None:
    server.site["/robots.txt"] = 404
    server.otherwise = 403


def no_robots_and_challenges(server: LoopbackServer) -> None:
    server.site["/robots.txt"] = 404
    server.otherwise = CHALLENGES[0]


def cut(server: LoopbackServer) -> None:
    """Every connection is lost before a response."""
    server.otherwise = lambda handler: handler.connection.close()


def cut_index(server: LoopbackServer) -> None:
    with_index("a")(server)
    document = server.site["/i.xml"]
    assert isinstance(document, bytes)
    server.site["/i.xml"] = document[:-20]


def flip(compressed: bytes) -> bytes:
    """Return the data with one bit flipped."""
    at = len(compressed) // 2
    return compressed[:at] + bytes([compressed[at] ^ 0x10]) + compressed[at + 1 :]


def damage_entry(document: bytes) -> bytes:
    """Return the document with an entry that has lost its URL."""
    return re.sub(rb"<loc>[^<]*/b7</loc>", b"<loc", document)


CHALLENGES = [
    Answer(202, headers={"x-amzn-waf-action": "challenge"}),
    Answer(405, "<html>", {"x-amzn-waf-action": "captcha"}),
    Answer(200, "<!doctype html><html>Just a moment", {"cf-mitigated": "challenge"}),
    Answer(503, "<!doctype html><html>Just a moment", {"cf-mitigated": "challenge"}),
]
"""As AWS WAF and Cloudflare send them, and a cache that makes 200 of it."""
QUICK: dict[str, Any] = {"backoff_initial": 0.01, "backoff_factor": 1.0}
TIME = {"max_seconds": 0.7}
SKIPS_A: list[dict[str, Any]] = [
    {"exclude_sitemaps": r"/a\.xml"},
    {"recurse_callback": lambda url, _level, _parents: "/a.xml" not in url},
    {"recurse_list_callback": lambda urls, *_: [url for url in urls if "/a.xml" not in url]},
]
"""The ways in which a caller skips a.xml."""
SLOW_RETRY = Answer(429, headers={"Retry-After": "60"})

CASES: dict[tuple[str, str], list[Case]] = {
    ("unreachable", "`max_seconds` was reached, and no usable response had come"): [
        Case(site(otherwise=stall), TIME, ("SM705",)),
        Case(site(otherwise=Answer(503, headers={"Retry-After": "60"})), TIME, ("SM705",)),
    ],
    ("blocked", "`max_seconds` was reached, and nothing but refusals had come"): [
        Case(site(otherwise=SLOW_RETRY), TIME, ("SM705",)),
    ],
    ("partial", "`max_seconds` was reached after a usable response"): [
        Case(site("a", "b", b=stall), TIME, ("SM705",)),
        Case(site("b", b=stall), TIME, ("SM705",)),
        Case(site("a", "b", b=stall), {**TIME, **SKIPS_A[0]}, ("SM705",)),
        Case(slow_first, {**TIME, "limit": 30}, ("SM705",)),
        Case(slow_first, {**TIME, "stop_callback": lambda page: "d9" in page.url}, ("SM705",)),
    ],
    ("partial", "`max_bytes` was reached"): [
        Case(site("a", "b", b=stall), {"max_bytes": 100}, ("SM707",)),
        Case(site("b", "a", b=stall), {"max_bytes": 100}, ("SM707",)),
    ],
    ("partial", "`max_sitemaps` was reached"): [
        Case(site("a", "b"), {"max_sitemaps": 1}, ("SM703",)),
    ],
    ("partial", "`limit` was reached"): [Case(site("a", "b"), {"limit": 1}, ("SM704",))],
    ("partial", "`stop_callback` ended the crawl"): [
        Case(site("a"), {"stop_callback": lambda _page: True}, ("SM706",)),
    ],
    ("partial", "a sitemap was read, and another declared one could not be fetched"): [
        Case(site("a", "lost"), problems=("SM101",)),
        Case(site("a", "refused", refused=403), problems=("SM101",)),
        *(Case(site("a", "b", b=challenge), problems=("SM101",)) for challenge in CHALLENGES),
        Case(with_index("lost"), problems=("SM101",)),
    ],
    ("partial", "a sitemap was read, and another declared one is not a sitemap"): [
        Case(site("a", "b", b="<!doctype html><html>Hello</html>"), problems=("SM202",)),
        Case(site("a", "b", b=b""), problems=("SM204",)),
    ],
    ("partial", "a sitemap was read, and an index lists itself or is nested too deeply"): [
        Case(with_index("i"), problems=("SM601",)),
        Case(with_index("a"), {"max_level": 1}, ("SM603",)),
    ],
    (
        "partial",
        "a sitemap was read, and a repeated index was not expanded (`max_repeated_nodes`)",
    ): [Case(repeated, {"max_repeated_nodes": 0}, ("SM606",))],
    ("partial", "a sitemap was read, and robots.txt is truncated, so it may declare more"): [
        Case(cut_robots("/a.xml"), problems=("SM102",)),
    ],
    ("partial", "a sitemap is truncated: the connection was lost"): [
        Case(damaged(lose_connection), problems=("SM102", "SM207")),
    ],
    ("partial", "a sitemap is truncated: its end is missing"): [
        Case(damaged(lambda document: document[:-20]), problems=("SM207",)),
        Case(damaged(lambda document: document[:-60]), problems=("SM207",)),
        Case(damaged(lambda document: gzip.compress(document[:-60])), problems=("SM207",)),
        Case(cut_index, problems=("SM207",)),
    ],
    ("partial", "a sitemap is truncated or corrupt gzip"): [
        Case(damaged(lambda document: gzip.compress(document)[:-9]), problems=("SM214",)),
        Case(damaged(lambda document: flip(gzip.compress(document))), problems=("SM214",)),
        Case(site("b", b=gzip.compress(urlset("http://h/1"))[:12]), problems=("SM214",)),
    ],
    ("partial", "a sitemap has something in it, but no URL could be read from it"): [
        Case(site("b", b="<rss><channel><itm>x</itm></channel></rss>"), problems=("SM204",)),
        Case(site("b", b="<urlset><url><loc/></url></urlset>"), problems=("SM204",)),
        Case(
            site("b", b="<sitemapindex><sitemap><loc/></sitemap></sitemapindex>"),
            problems=("SM204",),
        ),
    ],
    ("partial", "a sitemap is larger than `max_document_bytes`"): [
        Case(damaged(bytes), {"max_document_bytes": 600}, ("SM701", "SM207")),
    ],
    ("partial", "an entry of a sitemap was too damaged to be read"): [
        Case(damaged(damage_entry), problems=("SM209",)),
    ],
    ("found", "every declared sitemap was read"): [
        Case(site("a")),
        Case(with_index("a")),
        Case(site("a", "b", b=urlset())),
    ],
    ("found", "a sitemap was read at a known path, whatever became of robots.txt"): [
        Case(at_known_path),
    ],
    (
        "found",
        "nothing was read, since your filters or callbacks skipped every sitemap that is listed",
    ): [
        Case(site("a"), {"exclude_sitemaps": "."}),
        *(Case(site("a"), skip) for skip in SKIPS_A),
        Case(site("a", otherwise=403), SKIPS_A[0]),
        Case(named_by_homepage("/a.xml"), SKIPS_A[0]),
    ],
    ("blocked", "nothing was read; robots.txt was refused (401, 403, 429, 451, a bot challenge)"): [
        Case(site(robots=401)),
        Case(site(robots=403)),
        Case(site(robots=451, otherwise=451)),
        Case(site(otherwise=429), patient=True),
        *(Case(site(otherwise=challenge)) for challenge in CHALLENGES),
        *(Case(site(robots=challenge)) for challenge in CHALLENGES),
    ],
    ("blocked", "nothing was read; a declared sitemap was refused"): [
        Case(site("b", b=403), problems=("SM101",)),
        Case(site("b", b=CHALLENGES[0]), problems=("SM101",)),
        *(Case(site("a", "b", b=403), skip, ("SM101",)) for skip in SKIPS_A),
        Case(named_by_homepage("/a.xml", "/b.xml", b=403), SKIPS_A[0], ("SM101",)),
        Case(cut_robots("/b.xml", b=403), problems=("SM101", "SM102")),
    ],
    ("blocked", "nothing was read; all known paths and the homepage were refused"): [
        Case(no_robots_and_refusals),
        Case(no_robots_and_challenges),
    ],
    (
        "unreachable",
        "nothing was read; robots.txt got no response (DNS, TLS, refused connection, timeout)",
    ): [Case(cut), Case(site(robots=lambda handler: handler.connection.close()))],
    ("unreachable", "nothing was read; robots.txt got a server error (5xx)"): [
        Case(site(robots=500)),
        Case(site(otherwise=503), patient=True),
    ],
    (
        "unreachable",
        "nothing was read; robots.txt got a redirect that says not where to, or an odd status",
    ): [Case(site(robots=odd)) for odd in (300, 302, 304, 600, 999)],
    (
        "unreachable",
        "nothing was read; a declared sitemap got no response or a server error",
    ): [
        Case(site("b", b=500), problems=("SM101",)),
        *(Case(site("a", "b", b=500), skip, ("SM101",)) for skip in SKIPS_A),
    ],
    (
        "unreachable",
        "nothing was read; a declared sitemap got a redirect that leads nowhere, or an odd status",
    ): [
        *(Case(site("b", b=odd), problems=("SM101",)) for odd in (300, 302, 304, 421, 600, 999)),
        Case(site("b", b=redirect("/b.xml")), problems=("SM101",)),
    ],
    (
        "unreachable",
        "nothing was read; all known paths and the homepage got such a redirect or status",
    ): [
        Case(circles(), {"use_homepage": True}),
        Case(circles(robots=404), {"use_homepage": True}),
        Case(site(otherwise=304)),
    ],
    ("partial", "nothing was read; robots.txt is truncated, so it may declare more"): [
        Case(cut_robots(), problems=("SM102",)),
        *(Case(cut_robots("/a.xml"), skip, ("SM102",)) for skip in SKIPS_A),
    ],
    ("none", "the site responded and declares no sitemap"): [
        Case(site()),
        Case(site(robots=redirect("/robots.txt"))),
        Case(circles(robots=404, sitemap=404)),
        Case(site(robots="User-agent: *\nDisallow:\n")),
        Case(site(otherwise="<!doctype html><html>Hello</html>")),
    ],
    ("none", "the declared sitemaps are missing (404) or are not sitemaps"): [
        Case(site("lost"), problems=("SM101",)),
        Case(site("b", b="<!doctype html><html>Hello</html>"), problems=("SM202",)),
        *(Case(site("a", "lost"), skip, ("SM101",)) for skip in SKIPS_A),
    ],
}


ROWS = [
    pytest.param(outcome, case, id=f"{outcome}-{row}-{number}")
    for row, ((outcome, _), cases) in enumerate(CASES.items())
    for number, case in enumerate(cases)
]


def test_the_table_in_the_docs_has_the_rows_of_this_one() -> None:
    section = PAGE.read_text(encoding="utf-8").partition("\n## Outcome\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.MULTILINE) == list(CASES)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("outcome", "case"), ROWS)
def test_every_way_gives_the_outcome_of_the_table(
    way: str, outcome: str, case: Case, server: LoopbackServer
) -> None:
    case.prepare(server)
    found = WAYS[way](server.url, **QUICK, **case.options)
    assert found.outcome == outcome
    assert codes(found) >= set(case.problems)
    assert bool(found.problems) == bool(case.problems)
    for problem in found.problems:
        is_limit = problem.code.startswith("SM70") and problem.code != "SM701"
        assert (problem.sitemap_url is None) == is_limit
    if outcome in {"unreachable", "blocked"}:
        assert outcome in {attempt.result for attempt in found.tried}


def codes(found: Finding) -> set[str]:
    return {problem.code for problem in found.problems}


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("outcome", "case"), ROWS)
def test_a_stream_tells_what_the_tree_tells(
    outcome: str, case: Case, server: LoopbackServer
) -> None:
    case.prepare(server)
    stream = WAYS["stream"](server.url, **QUICK, **case.options)
    tree = finding_of_tree(usp.sitemap_tree(server.url, **QUICK, **case.options))
    assert stream.outcome == outcome
    assert stream.pages == list(dict.fromkeys(tree.pages))
    assert stream.problems == tree.problems
    assert results(stream) == results(tree)


def results(found: Finding) -> list[tuple[str, str, str]]:
    """What was tried; which request it is that gives a host up depends on time."""
    return [(attempt.url, attempt.stage, attempt.result) for attempt in found.tried]


EXITS = {"found": 0, "partial": 0, "none": 1, "blocked": 3, "unreachable": 3}


@pytest.mark.sampled(13)
@pytest.mark.parametrize(
    ("outcome", "case"),
    [
        pytest.param(outcome, case, id=f"{outcome}-{row}-{number}")
        for row, ((outcome, _), cases) in enumerate(CASES.items())
        for number, case in enumerate(cases)
        if not case.options and not case.patient
    ],
)
def test_the_command_gives_the_outcome_of_the_table(
    outcome: str, case: Case, server: LoopbackServer
) -> None:
    case.prepare(server)
    ended = command("ls", server.url, "-f", "pages")
    assert ended.code == EXITS[outcome]
    assert outcome_of(ended) == outcome
    damage = [code for code in case.problems if code in {"SM102", "SM207", "SM209", "SM214"}]
    if damage and outcome == "partial":
        damaged_url = next(
            server.at(path) for path in ("/i.xml", "/b.xml", "/robots.txt") if path in server.site
        )
        assert f"1 sitemap incomplete: {damaged_url} (" in str(ended.partial)


@pytest.mark.parametrize(
    ("answer", "outcome"), [(403, "blocked"), (500, "unreachable"), (404, "none"), (None, "found")]
)
def test_of_the_command_too_what_was_skipped_hides_no_failure(
    answer: int | None, outcome: str, server: LoopbackServer
) -> None:
    site("a")(server) if answer is None else site("a", "b", b=answer)(server)
    options = ("--exclude-sitemaps", "/a.xml", "--max-attempts", "1")
    ended = command("ls", server.url, "-f", "pages", *options)
    assert (ended.code, outcome_of(ended)) == (EXITS[outcome], outcome)


def outcome_of(ended: Finished) -> str:
    """The outcome that the last line of the command names."""
    if ended.partial:
        return "partial"
    last = ended.found.removeprefix("usp: ")
    return "none" if "no sitemap found" in last else last.partition(":")[0]


@pytest.mark.parametrize("way", WAYS)
def test_without_time_for_a_single_request_a_site_is_unreachable(
    way: str, server: LoopbackServer
) -> None:
    site("a")(server)
    found = WAYS[way](server.url, max_seconds=0)
    assert (found.outcome, codes(found)) == ("unreachable", {"SM705"})


@pytest.mark.parametrize("way", WAYS)
def test_of_what_had_arrived_in_time_the_first_pages_are_taken(
    way: str, server: LoopbackServer
) -> None:
    slow_first(server)
    arrived = [server.at(f"/{name}{n}") for name in "cd" for n in range(20)]
    found = WAYS[way](server.url, limit=30, **TIME)
    assert (found.outcome, found.pages) == ("partial", arrived[:30])
    found = WAYS[way](server.url, stop_callback=lambda page: page.url == arrived[30], **TIME)
    assert (found.outcome, found.pages) == ("partial", arrived[:30])


@pytest.mark.slow
def test_the_command_lists_the_first_pages_of_what_had_arrived_in_time(
    server: LoopbackServer,
) -> None:
    slow_first(server)
    for form, listed in (("pages", 30), ("tabtree", 32)):
        ended = command("ls", server.url, "-f", form, "--limit", "30", "--max-seconds", "0.7")
        urls = [line for line in ended.out.splitlines() if re.search(r"/[cd]", line)]
        assert (ended.code, outcome_of(ended), len(urls)) == (0, "partial", listed)


@pytest.mark.parametrize("way", WAYS)
def test_a_limit_of_bytes_is_named_and_no_url_is_blamed_for_it(
    way: str, server: LoopbackServer
) -> None:
    def begin(handler: Handler) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(b"<urlset>")
        stall(handler)

    def late(_: Handler) -> bytes:
        time.sleep(0.3)  # the others have been requested, and the response to one has begun
        return urlset(server.at("/1"))

    site("a", "b", "c", a=late, b=stall, c=begin)(server)
    found = WAYS[way](server.url, max_bytes=200)
    assert (found.outcome, codes(found)) == ("partial", {"SM707"})
    details = {one.url: (one.result, one.detail) for one in found.tried}
    limit = "the crawl reached its limit of 200 bytes"
    assert details[server.at("/b.xml")] == ("unfinished", f"no response before {limit}")
    in_body = f"{limit} before the document was complete"
    assert details[server.at("/c.xml")] == ("unfinished", in_body)


def test_the_command_names_the_limit_that_left_no_time(
    server: LoopbackServer, tmp_path: Path
) -> None:
    site("a")(server)
    ended = command("ls", server.url, "-f", "pages", "--max-seconds", "0")
    limit = "The crawl took more than 0.0 seconds"
    assert (ended.code, ended.messages) == (3, [f"usp: unreachable: {server.url}: {limit}"])
    file = tmp_path / "sitemap.xml"
    file.write_bytes(urlset(server.at("/1")))
    ended = command("ls", str(file), "-f", "pages", "--max-seconds", "0")
    assert "list no pages" not in ended.err  # nobody has read them


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("challenge", CHALLENGES, ids=lambda answer: str(answer.status))
def test_a_bot_challenge_is_requested_once_and_named(
    way: str, challenge: Answer, server: LoopbackServer
) -> None:
    site("a", "b", b=challenge)(server)
    found = WAYS[way](server.url, **QUICK)
    assert server.requested.count("/b.xml") == 1
    attempt = next(one for one in found.tried if one.url == server.at("/b.xml"))
    assert attempt.result == "blocked"
    ((name, value),) = challenge.headers.items()
    assert str(challenge.status) in attempt.detail
    assert attempt.detail.lower().endswith(f", a bot challenge ({name}: {value})")


@pytest.mark.parametrize("challenge", CHALLENGES, ids=lambda answer: str(answer.status))
def test_a_recording_of_bot_challenges_gives_the_same(
    challenge: Answer, server: LoopbackServer, tmp_path: Path
) -> None:
    pytest.importorskip("warcio")
    server.otherwise = challenge
    file = tmp_path / "site.warc.gz"
    recorded = usp.sitemap_tree(server.url, record=file)
    replayed = usp.sitemap_tree(server.url, replay=file)
    assert recorded.outcome == replayed.outcome == "blocked"
    assert recorded.tried == replayed.tried


@pytest.mark.parametrize("headers", [{"cf-mitigated": "none"}, {"x-amzn-waf-action": "count"}])
def test_other_values_of_those_headers_are_no_challenge(
    headers: dict[str, str], server: LoopbackServer
) -> None:
    site("a")(server)
    server.site["/a.xml"] = Answer(200, urlset(server.at("/1")), headers)
    assert WAYS["tree"](server.url).outcome == "found"
