"""Live pages: requested politely, judged by what they say, never called broken without a proof."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import usp
from tests.check.documents import NOW
from tests.check.source_pairs import page
from tests.server import Answer, Handler, LoopbackServer, Plain, redirect, stall, urlset
from usp._check.samples import (
    FixedSample,
    PageEntry,
    SampleSize,
    ShareSample,
    wilson_interval,
)
from usp._drive.live_pages import MAX_PAGE_BYTES
from usp.exceptions import UsageError
from usp.web_client.aio_client import AioWebClient

HTML = {"Content-Type": "text/html; charset=utf-8"}
GOOD = "<html><head><title>A</title></head><body><main><p>A text.</p></main></body></html>"
LIVE = ["SM9", "SM750"]


def live(server: LoopbackServer, *paths: str, **options: Any) -> list[usp.Occurrence]:
    """What is found on some pages, in order."""
    server.robots("/sitemap.xml")
    server.site.setdefault("/sitemap.xml", urlset(*map(server.at, paths)))
    found: list[usp.Occurrence] = []
    chosen = {"live": "all", "select": LIVE, "max_attempts": 1, "now": NOW, **options}
    with usp.check(server.url, on_occurrence=found.append, **chosen) as stream:
        list(stream)
    assert stream.live is not None
    return found


def codes(
    server: LoopbackServer, answer: Plain | Callable[[Handler], Any], **options: Any
) -> dict[str, str]:
    """The codes and severities that one page gets."""
    server.site["/page"] = answer
    found = live(server, "/page", **options)
    return {one.code: str(one.severity or "") for one in found}


def listed(server: LoopbackServer, entry: str) -> None:
    """Serve a sitemap with one entry for /page."""
    server.site["/sitemap.xml"] = (
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
        'xmlns:xhtml="http://www.w3.org/1999/xhtml" '
        'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">'
        f"<url><loc>{server.at('/page')}</loc>{entry}</url></urlset>"
    )


def test_a_good_page_has_no_finding_and_is_requested_once(server: LoopbackServer) -> None:
    assert codes(server, page()) == {}
    assert server.requested.count("/page") == 1


@pytest.mark.parametrize(
    ("answer", "code", "severity"),
    [
        (404, "SM901", ""),
        (410, "SM901", ""),
        (418, "SM901", ""),
        (500, "SM902", ""),
        (503, "SM902", ""),
        (redirect("/other"), "SM903", ""),
        (redirect("/twice"), "SM903", "error"),
        (redirect("/page"), "SM903", "error"),
        (redirect("/dead"), "SM903", "error"),
        (redirect("/"), "SM907", ""),
    ],
    ids=["404", "410", "418", "500", "503", "redirect", "chain", "loop", "dead-end", "home"],
)
def test_the_status_of_a_page_is_judged(
    server: LoopbackServer, answer: Plain, code: str, severity: str
) -> None:
    server.site |= {"/other": page(), "/twice": redirect("/other"), "/": page(body="home")}
    assert codes(server, answer) == {code: severity}


@pytest.mark.parametrize("status", [401, 403, 429])
def test_what_a_server_refuses_is_not_verified_and_never_broken(
    server: LoopbackServer, status: int
) -> None:
    assert codes(server, status) == {"SM906": ""}


def test_a_challenge_is_not_verified(server: LoopbackServer) -> None:
    assert codes(server, page("<title>Just a moment...</title>")) == {"SM906": ""}
    challenge = Answer(503, "wait", {**HTML, "Cf-Mitigated": "challenge"})
    assert codes(server, challenge) == {"SM906": ""}


def test_a_page_that_does_not_answer_in_time_is_not_verified(server: LoopbackServer) -> None:
    def impatient() -> AioWebClient:
        return AioWebClient(timeout=0.2)

    assert codes(server, stall, live_client=impatient) == {"SM906": ""}


def test_a_server_error_is_told_only_after_retries(server: LoopbackServer) -> None:
    answers: list[Plain] = [500, page()]
    options = {"max_attempts": 2, "backoff_initial": 0.01}
    assert codes(server, lambda _: answers.pop(0), **options) == {}
    answers = [500, 500]
    assert codes(server, lambda _: answers.pop(0), **options) == {"SM902": ""}


@pytest.mark.parametrize(
    ("answer", "agents"),
    [
        (page('<meta name="robots" content="noindex, follow">'), "Googlebot, Bingbot, YandexBot"),
        (page('<META CONTENT=none NAME="Robots">'), "Googlebot, Bingbot, YandexBot"),
        (page('<meta name="googlebot" content="noindex">'), "Googlebot"),
        (page('<meta name="yandex" content="noindex">'), "YandexBot"),
        (page(X_Robots_Tag="noindex"), "Googlebot, Bingbot, YandexBot"),
        (page(X_Robots_Tag="nofollow, bingbot: noindex, nofollow"), "Bingbot"),
        (page('<meta name="robots" content="noimageindex, index">'), None),
        (page('<meta name="otherbot" content="noindex">'), None),
        (page('<!-- <meta name="robots" content="noindex"> -->'), None),
        (page(X_Robots_Tag="unavailable_after: 25 Jun 2030 15:00:00 GMT, otherbot: noindex"), None),
    ],
)
def test_noindex_is_found_for_the_agents_that_it_is_meant_for(
    server: LoopbackServer, answer: Answer, agents: str | None
) -> None:
    server.site["/page"] = answer
    found = [
        one.detail.partition("for ")[2] for one in live(server, "/page") if one.code == "SM904"
    ]
    assert found == ([agents] if agents else [])


def test_a_compressed_page_is_read(server: LoopbackServer) -> None:
    html = gzip.compress(b'<meta name="robots" content="noindex"><p>A text.</p>')
    packed = Answer(body=html, headers={**HTML, "Content-Encoding": "gzip"})
    assert codes(server, packed) == {"SM904": ""}


def test_only_the_beginning_of_a_long_page_is_read(server: LoopbackServer) -> None:
    hollow = "<main></main>" + " " * MAX_PAGE_BYTES
    assert codes(server, page(body=hollow)) == {}  # the rest may have a text
    late = "<!-- " + "x" * MAX_PAGE_BYTES + ' --><meta name="robots" content="noindex">'
    assert codes(server, page(late)) == {}


def test_several_headers_count_each_for_itself(server: LoopbackServer) -> None:
    def two_headers(handler: Handler) -> None:
        handler.wfile.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Robots-Tag: otherbot: nofollow\r\n"
            b"X-Robots-Tag: noindex\r\nContent-Length: 6\r\n\r\n<p>A</"
        )

    assert codes(server, two_headers)["SM904"] == ""


def test_the_canonical_url_is_compared(server: LoopbackServer) -> None:
    other, slash, own = server.at("/b"), server.at("/page/"), server.at("/page")
    assert codes(server, page(f'<link rel="canonical" href="{other}">')) == {"SM905": ""}
    assert codes(server, page(Link=f'<{other}>; rel="canonical"')) == {"SM905": ""}
    assert codes(server, page('<link rel="canonical" href="/page">')) == {}
    assert codes(server, page(f'<link rel="canonical" href="{own}#top">')) == {}
    both = page(f'<link rel="canonical" href="{own}"><link rel="canonical" href="{other}">')
    assert codes(server, both) == {"SM905": ""}
    body = f'<link rel="canonical" href="{other}"><p>Written by a user.</p>'
    assert codes(server, page(body=body)) == {}
    server.site["/page"] = page(f'<link rel="canonical" href="{slash}">')
    (occurrence,) = live(server, "/page")
    assert occurrence.detail.endswith("; only the spelling differs")


def test_a_page_that_looks_like_one_that_is_not_there_is_a_soft_404(server: LoopbackServer) -> None:
    server.otherwise = page(body="<h1>Nothing here</h1>")
    server.site["/page"] = page("<title>Shop</title>", "<h1 class=x>Nothing  here</h1>")
    server.site["/good"] = page()
    (occurrence,) = live(server, "/good", "/page")
    assert (occurrence.code, occurrence.url) == ("SM907", server.at("/page"))


def test_a_page_that_redirects_like_one_that_is_not_there_is_a_soft_404(
    server: LoopbackServer,
) -> None:
    server.otherwise = redirect("/sorry")
    server.site["/sorry"] = page()
    assert [one.code for one in live(server, "/page")] == ["SM903", "SM907"]


def test_the_date_of_a_page_is_compared_with_that_of_its_entry(server: LoopbackServer) -> None:
    listed(server, "<lastmod>2026-01-01</lastmod>")
    modified = '<meta property="article:modified_time" content="{}">'
    assert codes(server, page(modified.format("2026-02-01T00:00:01Z"))) == {"SM908": ""}
    assert codes(server, page(modified.format("2026-01-31T00:00:00Z"))) == {}
    assert codes(server, page(modified.format("2025-11-01"))) == {"SM908": "info"}
    data = '<script type="application/ld+json">{"dateModified": "2026-06-01"}</script>'
    assert codes(server, page(data)) == {"SM908": ""}


def test_alternates_of_a_page_are_compared_with_those_of_its_entry(server: LoopbackServer) -> None:
    link = '<{0}link rel="alternate" hreflang="{1}" href="{2}"/>'
    versions = {"en": server.at("/page"), "de": server.at("/de")}
    listed(server, "".join(link.format("xhtml:", *version) for version in versions.items()))
    both = link.format("", "en", "/page") + link.format("", "DE", "/de")
    assert codes(server, page(both)) == {}
    assert codes(server, page()) == {}  # one of the two is enough
    assert codes(server, page(link.format("", "en", "/page"))) == {"SM909": ""}
    assert codes(server, page(both + link.format("", "fr", "/fr"))) == {"SM909": ""}


@pytest.mark.parametrize(
    ("body", "is_hollow"),
    [
        ('<div id="app"></div><script>render("text")</script><noscript>Enable it</noscript>', True),
        ("<nav>Menu</nav><main></main>", True),
        ("<nav>Menu</nav>", False),
        ("<main><img src=a.png></main>", False),
        ("<main>Text</main>", False),
    ],
)
def test_a_page_without_text_is_hollow(server: LoopbackServer, body: str, is_hollow: bool) -> None:
    assert codes(server, page(body=body)) == ({"SM910": ""} if is_hollow else {})


def test_media_that_fail_are_found_with_head_requests(server: LoopbackServer) -> None:
    def image(path: str) -> str:
        return f"<image:image><image:loc>{server.at(path)}</image:loc></image:image>"

    listed(server, image("/a.jpg") + image("/gone.jpg") + image("/private/b.jpg"))
    server.site |= {"/page": page(), "/a.jpg": b"jpeg", "/private/b.jpg": b"jpeg"}
    server.site["/robots.txt"] = (
        f"User-agent: *\nDisallow: /private/\nSitemap: {server.at('/sitemap.xml')}\n"
    )
    found: list[usp.Occurrence] = []
    with usp.check(server.url, live="all", select=["SM911"], on_occurrence=found.append) as stream:
        list(stream)
    assert [one.detail.partition(": ")[0] for one in found] == [
        server.at("/gone.jpg"),
        server.at("/private/b.jpg"),
    ]
    methods = {request.path: request.method for request in server.requests}
    assert (methods["/a.jpg"], methods["/page"]) == ("HEAD", "GET")
    assert "/private/b.jpg" not in methods


def test_a_server_that_refuses_head_is_asked_with_get(server: LoopbackServer) -> None:
    def no_head(handler: Handler) -> Plain:
        return 405 if handler.command == "HEAD" else b"jpeg"

    listed(server, f"<image:image><image:loc>{server.at('/a.jpg')}</image:loc></image:image>")
    server.site |= {"/page": page(), "/a.jpg": no_head}
    assert live(server) == []


def test_pages_that_robots_txt_disallows_are_not_requested_if_it_is_obeyed(
    server: LoopbackServer,
) -> None:
    server.site["/sitemap.xml"] = urlset(server.at("/private/page"))
    found: list[usp.Occurrence] = []
    server.site["/robots.txt"] = (
        f"User-agent: *\nDisallow: /private/\nSitemap: {server.at('/sitemap.xml')}\n"
    )
    options: dict[str, Any] = {"live": "all", "select": LIVE, "on_occurrence": found.append}
    with usp.check(server.url, robots="obey", **options) as stream:
        list(stream)
    assert [one.code for one in found] == ["SM906"]
    assert "/private/page" not in server.requested


def test_one_host_gets_no_more_requests_at_once_than_the_policy_allows(
    server: LoopbackServer,
) -> None:
    running, most = [0], [0]

    def counted(handler: Handler) -> Answer:
        running[0] += 1
        most[0] = max(most[0], running[0])
        handler.owner.closing.wait(0.02)
        running[0] -= 1
        return page()

    paths = [f"/{number}" for number in range(12)]
    server.site |= dict.fromkeys(paths, counted)
    assert live(server, *paths, per_host=3) == []
    assert most[0] == 3


def test_findings_come_in_the_same_order_whatever_the_order_of_responses(
    server: LoopbackServer,
) -> None:
    paths = [f"/{number}" for number in range(30)]
    found = [one.url for one in live(server, *paths, live=20, seed=7)]
    assert len(found) == 20
    assert found == [one.url for one in live(server, *paths, live=20, seed=7, per_host=1)]
    assert set(found) != {one.url for one in live(server, *paths, live=20, seed=8)}


def test_a_summary_says_what_a_sample_means_for_all_pages(server: LoopbackServer) -> None:
    paths = [f"/{number}" for number in range(40)]
    server.site |= dict.fromkeys(paths[:30], page())
    server.robots("/sitemap.xml")
    server.site["/sitemap.xml"] = urlset(*map(server.at, paths))
    with usp.check(server.url, live=20, select=["SM9"]) as stream:
        findings = {finding.code: finding for finding in stream}
    summary = stream.live
    assert summary is not None
    assert (summary.listed, summary.requested, summary.verified, summary.seed) == (40, 20, 20, 0)
    gone = next(one for one in summary.estimates if one.code == "SM901")
    assert gone.found == findings["SM901"].count
    assert (gone.low, gone.high) == wilson_interval(gone.found, 20)
    assert gone.low < gone.found / 20 < gone.high


def test_the_time_of_a_check_ends_live_pages_as_well(server: LoopbackServer) -> None:
    server.site["/page"] = stall
    (occurrence,) = live(server, "/page", max_seconds=0.8)
    assert (occurrence.code, occurrence.detail[:10]) == ("SM750", "live pages")


def test_secrets_go_to_the_site_alone(server: LoopbackServer) -> None:
    with LoopbackServer() as other:
        other.site["/page"] = server.site["/page"] = page()
        server.site["/sitemap.xml"] = urlset(
            server.at("/page"), other.at("/page").replace("127.0.0.1", "localhost")
        )

        def with_key() -> AioWebClient:
            return AioWebClient(headers={"X-Api-Key": "secret"}, private_addresses="allow")

        live(server, live_client=with_key)
        sent = {r.headers.get("x-api-key") for r in server.requests if r.path == "/page"}
        leaked = {r.headers.get("x-api-key") for r in other.requests if r.path == "/page"}
    assert (sent, leaked) == ({"secret"}, {None})


def test_the_pages_of_a_file_are_requested_without_private_addresses(
    server: LoopbackServer, tmp_path: Path
) -> None:
    server.site["/page"] = page()
    file = tmp_path / "sitemap.xml"
    file.write_bytes(urlset(server.at("/page")))
    with usp.check(file, live="all", select=["SM9"]) as stream:
        assert [finding.code for finding in stream] == ["SM906"]
    assert server.requests == []


@pytest.mark.parametrize("given", ["0", "0%", "101%", "many", "-5", 0, 1.5])
def test_a_wrong_size_is_refused(given: Any) -> None:
    with pytest.raises(UsageError, match="live must be a number of pages"):
        usp.check("https://example.org/", live=given)


def test_a_sample_is_the_same_in_any_order() -> None:
    pages = [PageEntry("s", f"https://example.org/{number}", None, None) for number in range(500)]
    for size in (SampleSize(count=20), SampleSize(share=0.1)):
        chosen = []
        for order in (pages, pages[::-1], pages + pages[:50]):
            sample = FixedSample(20, 3) if size.count else ShareSample(size.share, 3)
            for one in order:
                if sample.wants(one.url):
                    sample.add(one)
            chosen.append({one.url for one in sample})
            sample.close()
        assert chosen[0] == chosen[1] == chosen[2]
        assert 10 < len(chosen[0]) < 100


@pytest.mark.parametrize(
    ("found", "checked", "low", "high"),
    [(0, 200, 0.0, 0.0188), (10, 200, 0.0274, 0.0896), (200, 200, 0.9812, 1.0), (0, 0, 0.0, 1.0)],
)
def test_intervals_are_those_of_wilson(found: int, checked: int, low: float, high: float) -> None:
    assert wilson_interval(found, checked) == pytest.approx((low, high), abs=1e-4)
