"""Rules about a whole site, in checks of real sites."""

from collections.abc import Iterable

import pytest

import usp
from tests.server import Answer, LoopbackServer, index, redirect, urlset
from tests.servers import ServerEverywhere
from usp import CheckSeverity, Occurrence
from usp._check.site_robots import MAX_ASKED

XHTML = 'xmlns:xhtml="http://www.w3.org/1999/xhtml"'
SITEMAP = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


WHOLE_SITE = (
    *("SM254", "SM352", "SM354", "SM365", "SM366", "SM367", "SM583", "SM585", "SM586", "SM587"),
    *("SM650", "SM651", "SM652", "SM653", "SM655", "SM657", "SM658", "SM660", "SM661", "SM750"),
)
"""The rules that are tested here."""


def found(server: LoopbackServer, *codes: str) -> list[Occurrence]:
    """What rules find, in order."""
    occurrences: list[Occurrence] = []
    with usp.check(
        server.url, select=codes, on_occurrence=occurrences.append, max_attempts=1
    ) as stream:
        findings = list(stream)
    assert sum(finding.count for finding in findings) == len(occurrences)
    return occurrences


def places(
    server: LoopbackServer, occurrences: Iterable[Occurrence]
) -> list[tuple[str | None, ...]]:
    """The paths of sitemap and URL of each."""
    return [
        tuple(text and text.replace(server.url, "/") for text in (one.sitemap_url, one.url))
        for one in occurrences
    ]


def hreflang(*entries: tuple[str, dict[str, str]]) -> str:
    """A sitemap of pages with alternates, one entry in a line."""
    lines = [
        f"<url><loc>{url}</loc>"
        + "".join(
            f'<xhtml:link rel="alternate" hreflang="{code}" href="{href}"/>'
            for code, href in alternates.items()
        )
        + "</url>"
        for url, alternates in entries
    ]
    return f"<urlset {SITEMAP} {XHTML}>\n" + "\n".join(lines) + "</urlset>"


def dated_index(*entries: tuple[str, str]) -> str:
    lines = [
        f"<sitemap><loc>{url}</loc><lastmod>{date}</lastmod></sitemap>" for url, date in entries
    ]
    return f"<sitemapindex {SITEMAP}>" + "\n".join(lines) + "</sitemapindex>"


def dated_urlset(url: str, date: str) -> str:
    return f"<urlset {SITEMAP}><url><loc>{url}</loc><lastmod>{date}</lastmod></url></urlset>"


@pytest.mark.parametrize(("pages", "left_out"), [(10, 0), (11, 1)])
def test_ten_urls_of_an_entry_have_its_alternates_and_no_other_one_is_accused(
    server: LoopbackServer, pages: int, left_out: int
) -> None:
    urls = [server.at(str(number)) for number in range(pages)]
    other, alone = server.at("other"), server.at("alone")
    server.robots("a.xml")
    entry = ("</loc><loc>".join(urls), {"de": other, "fr": alone})
    back = {f"c{number}": url for number, url in enumerate(urls)}
    server.site["/a.xml"] = hreflang(entry, (other, back), (alone, {}))
    occurrences = found(server, "SM583", "SM585", "SM586", "SM587", "SM750")
    assert [(one.code, one.url) for one in occurrences if one.url] == [
        ("SM583", url) for url in urls[:10]
    ]
    assert [one.detail for one in occurrences if not one.url] == [
        "SM583: entries with more than 10 URLs and alternates; undecided URLs: 1"
    ] * left_out


def test_a_clean_site_trips_none_of_the_rules(server: LoopbackServer) -> None:
    en, de = server.at("en"), server.at("de")
    server.site["/robots.txt"] = (
        f"User-agent: *\nDisallow: /private\nSitemap: {server.at('index.xml')}\n"
    )
    server.site["/index.xml"] = dated_index(
        (server.at("a.xml"), "2024-05-02"), (server.at("b.xml"), "2024-05-02")
    )
    server.site["/a.xml"] = dated_urlset(server.at("page"), "2024-05-02T18:00:00Z")
    server.site["/b.xml"] = hreflang((en, {"en": en, "de": de}), (de, {"en": en, "de": de}))
    assert found(server, *WHOLE_SITE) == []


def test_a_url_in_two_sitemaps_is_found_with_the_first_one(server: LoopbackServer) -> None:
    server.robots("a.xml", "b.xml", "c.xml")
    page, other = server.at("page"), server.at("other")
    server.site["/a.xml"] = urlset(other, page)
    server.site["/b.xml"] = urlset(page, page)  # twice in one sitemap is another fault
    server.site["/c.xml"] = urlset(server.at("own"), page)
    occurrences = found(server, "SM365")
    assert places(server, occurrences) == [("/b.xml", "/page"), ("/c.xml", "/page")]
    assert [one.line for one in occurrences] == [3, 4]
    assert occurrences[1].detail == f"it was listed before ({server.at('a.xml')}, line 4)"


def test_a_url_in_a_news_sitemap_too_is_only_information(server: LoopbackServer) -> None:
    server.robots("a.xml", "news.xml")
    server.site["/a.xml"] = urlset(server.at("page"))
    server.site["/news.xml"] = (
        f'<urlset {SITEMAP} xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">'
        f"<url><loc>{server.at('page')}</loc><news:news><news:title>T</news:title></news:news>"
        "</url></urlset>"
    )
    assert [one.severity for one in found(server, "SM365")] == [CheckSeverity.INFO]


def test_twins_are_found_and_each_names_the_other(server: LoopbackServer) -> None:
    server.robots("a.xml")
    server.site["/a.xml"] = urlset(server.at("page"), server.at("Page/"), server.at("page2"))
    (occurrence,) = found(server, "SM366")
    assert occurrence.url == server.at("Page/")
    assert occurrence.detail == f"{server.at('page')} is listed, too (line 3)"


def test_links_of_clusters_are_compared_over_all_sitemaps(server: LoopbackServer) -> None:
    en, de, fr, gone = (server.at(name) for name in ("en", "de", "fr", "gone"))
    b = server.at("b.xml")
    server.robots("a.xml", "b.xml")
    server.site["/a.xml"] = hreflang((en, {"en": en, "de": de, "fr": fr, "es": gone}))
    server.site["/b.xml"] = hreflang((de, {"en": en, "de-at": de}), (fr, {"fr": fr}))
    assert [(one.code, one.url, one.line, one.detail) for one in found(server, "SM58")] == [
        ("SM583", en, 2, f"fr is {fr}, whose entry does not link back ({b}, line 3)"),
        ("SM586", en, 2, f"es is {gone}, which no sitemap lists"),
        ("SM587", en, 2, f"de is {de}, whose entry gives another code for itself ({b}, line 2)"),
    ]


def test_whole_clusters_and_a_page_to_choose_a_language_are_right(server: LoopbackServer) -> None:
    en, de, choose = (server.at(name) for name in ("en", "de", ""))
    alternates = {"en": en, "de": de, "x-default": choose}
    server.robots("a.xml", "b.xml")
    server.site["/a.xml"] = hreflang((en, alternates), (choose, alternates))
    server.site["/b.xml"] = hreflang((de, alternates))
    assert found(server, "SM583", "SM585", "SM586", "SM587", "SM750") == []


def test_links_to_a_host_that_was_not_read_are_undecided(server: LoopbackServer) -> None:
    en = server.at("en")
    server.robots("a.xml")
    server.site["/a.xml"] = hreflang((en, {"en": en, "de": "https://example.de/"}))
    (occurrence,) = found(server, "SM58", "SM75")
    assert (occurrence.code, occurrence.sitemap_url) == ("SM750", None)
    assert "SM583: no sitemap of example.de was read" in occurrence.detail


def test_an_alternate_may_be_in_a_sitemap_that_could_not_be_read(server: LoopbackServer) -> None:
    en, de = server.at("en"), server.at("de")
    server.robots("a.xml", "b.xml")
    server.site["/a.xml"] = hreflang((en, {"en": en, "de": de}))
    server.site["/b.xml"] = 404
    (occurrence,) = found(server, "SM58", "SM75")
    assert occurrence.code == "SM750"
    assert occurrence.detail == "SM586: sitemaps not read whole: 1; undecided links: 1"


def test_a_conflict_names_the_entry_that_says_otherwise(server: LoopbackServer) -> None:
    en, fr, de, de2 = (server.at(name) for name in ("en", "fr", "de", "de2"))
    server.robots("a.xml")
    server.site["/a.xml"] = hreflang(
        (en, {"en": en, "fr": fr, "de": de}),
        (fr, {"en": en, "fr": fr, "de": de2}),
        (de, {"de": de, "en": en}),
        (de2, {"de": de2, "fr": fr}),
    )
    (occurrence,) = found(server, "SM585")
    assert (occurrence.url, occurrence.line) == (fr, 3)
    assert occurrence.detail == f"de is {de2} here, but not for {en} (line 2)"


def test_pages_of_other_hosts_need_a_proof(server: LoopbackServer) -> None:
    server.robots("a.xml")
    with LoopbackServer() as other:
        pages = [other.at(f"{number}") for number in range(3)]
        server.site["/a.xml"] = urlset(server.at("page"), *pages)
        occurrences = found(server, "SM352", "SM75")
        assert [(one.url, one.severity) for one in occurrences] == [(url, None) for url in pages]
        other.robots(server.at("a.xml"))
        occurrences = found(server, "SM352", "SM75")
        assert [one.severity for one in occurrences] == [CheckSeverity.INFO] * 3
        assert other.requested == ["/robots.txt"] * 2


def test_the_proof_may_be_that_of_an_index_above(server: LoopbackServer) -> None:
    server.robots("index.xml")
    server.site["/index.xml"] = index(server.at("a.xml"))
    with LoopbackServer() as other:
        server.site["/a.xml"] = urlset(other.at("page"))
        other.robots(server.at("index.xml"))
        assert [one.severity for one in found(server, "SM352")] == [CheckSeverity.INFO]


def test_pages_of_a_host_whose_robots_txt_fails_are_undecided(server: LoopbackServer) -> None:
    server.robots("a.xml")
    with LoopbackServer() as other:
        server.site["/a.xml"] = urlset(server.at("page"), other.at("1"), other.at("2"))
        other.site["/robots.txt"] = 503
        details = [one.detail for one in found(server, "SM352", "SM66", "SM75")]
    where = f"the robots.txt of {other.url.rstrip('/')} failed; undecided pages: 2"
    assert details == [f"SM352: {where}", f"SM660: {where}"]


def test_pages_of_many_hosts_are_undecided_beyond_a_limit() -> None:
    with ServerEverywhere() as server:
        home = server.homepage(0)
        pages = [f"{server.homepage(number)}page" for number in range(1, MAX_ASKED + 5)]
        server.site["/robots.txt"] = f"Sitemap: {home}a.xml\n"
        server.site["/a.xml"] = urlset(*pages)
        with usp.check(home, select=["SM352", "SM75"]) as stream:
            counts = {finding.code: finding.count for finding in stream}
        assert server.requested.count("/robots.txt") == MAX_ASKED + 1
    assert counts["SM750"] == 2 * (len(pages) - MAX_ASKED)  # SM352 and SM660 of each


def test_pages_of_another_host_are_judged_by_its_own_robots_txt(server: LoopbackServer) -> None:
    server.robots("a.xml")
    with LoopbackServer() as other:
        server.site["/a.xml"] = urlset(other.at("private/page"), other.at("page"))
        other.site["/robots.txt"] = "User-agent: *\nDisallow: /private/\n"
        assert [one.url for one in found(server, "SM660")] == [other.at("private/page")]


def test_the_robots_txt_of_one_sitemap_is_read_too(server: LoopbackServer) -> None:
    server.site["/maps/a.xml"] = urlset(server.at("maps/private"), server.at("above"))
    server.site["/robots.txt"] = "User-agent: *\nDisallow: /maps/private\n"
    with usp.check(server.at("maps/a.xml"), select=["SM354", "SM66", "SM75"]) as stream:
        assert {finding.code for finding in stream} == {"SM354", "SM660"}
    server.robots("maps/a.xml")
    with usp.check(server.at("maps/a.xml"), select=["SM354", "SM66", "SM75"]) as stream:
        assert list(stream) == []


def test_a_sitemap_that_robots_txt_declares_may_list_pages_above_it(server: LoopbackServer) -> None:
    server.robots("maps/index.xml")
    server.site["/maps/index.xml"] = index(server.at("maps/a.xml"))
    server.site["/maps/a.xml"] = urlset(server.at("page"))
    assert found(server, "SM354") == []


def test_a_sitemap_that_nothing_declares_may_list_what_is_below_it(server: LoopbackServer) -> None:
    server.site["/sitemap.xml"] = index(server.at("maps/a.xml"))
    server.site["/maps/a.xml"] = urlset(server.at("maps/page"), server.at("page"))
    assert places(server, found(server, "SM354")) == [("/maps/a.xml", "/page")]


def test_a_mix_of_schemes_and_of_www_is_counted_for_the_site(server: LoopbackServer) -> None:
    server.robots("a.xml", "b.xml")
    server.site["/a.xml"] = urlset(*(f"https://www.example.org/{n}" for n in range(3)))
    server.site["/b.xml"] = urlset("https://example.org/4", "http://www.example.org/5")
    assert [(one.sitemap_url, one.url, one.detail) for one in found(server, "SM367")] == [
        (
            None,
            "http://www.example.org/5",
            f"4 URLs with https and 1 with http, first in {server.at('b.xml')}",
        ),
        (
            None,
            "https://example.org/4",
            "4 URLs of example.org with www. and 1 without, first in " + server.at("b.xml"),
        ),
    ]


def test_pages_and_sitemaps_that_robots_txt_disallows_are_found_by_agent(
    server: LoopbackServer,
) -> None:
    server.site["/robots.txt"] = (
        "User-agent: *\nDisallow: /private/\n\nUser-agent: Bingbot\nDisallow: /a.xml\n\n"
        f"Sitemap: {server.at('a.xml')}\n"
    )
    server.site["/a.xml"] = urlset(server.at("page"), server.at("private/page"))
    assert [(one.code, one.url, one.detail) for one in found(server, "SM65", "SM66")] == [
        (
            "SM660",
            server.at("private/page"),
            "Googlebot, YandexBot: line 2, Disallow: /private/",
        ),
        ("SM650", None, "Bingbot: line 5, Disallow: /a.xml"),
    ]


def test_a_robots_txt_that_redirects_counts_for_its_own_host_too(server: LoopbackServer) -> None:
    with LoopbackServer() as other:
        server.site["/robots.txt"] = redirect(other.at("robots.txt"))
        other.site["/robots.txt"] = f"User-agent: *\nDisallow: /b\nSitemap: {server.at('a.xml')}\n"
        server.site["/a.xml"] = urlset(server.at("a"), server.at("b"), other.at("c"))
        occurrences = found(server, "SM352", "SM66", "SM75")
        assert [(one.code, one.url) for one in occurrences] == [
            ("SM660", server.at("b")),
            ("SM352", other.at("c")),
        ]
        assert occurrences[1].severity is CheckSeverity.INFO  # its robots.txt has the sitemap


@pytest.mark.parametrize("status", [500, 429])
def test_a_robots_txt_that_fails_is_found_and_leaves_pages_undecided(
    server: LoopbackServer, status: int
) -> None:
    server.site["/robots.txt"] = status
    server.site["/sitemap.xml"] = urlset(server.at("page"))
    occurrences = found(server, "SM65", "SM66", "SM75")
    assert [one.code for one in occurrences] == ["SM652", "SM750"]
    assert occurrences[0].detail == f"HTTP {status}"


def test_a_site_without_robots_txt_gets_information_only(server: LoopbackServer) -> None:
    server.site["/sitemap.xml"] = urlset(server.at("page"))
    assert [one.code for one in found(server, "SM65", "SM66", "SM75")] == ["SM651"]


def test_rules_count_though_robots_txt_declares_no_sitemap(server: LoopbackServer) -> None:
    server.site["/robots.txt"] = "User-agent: *\nDisallow: /page\n"
    server.site["/sitemap.xml"] = urlset(server.at("page"))
    assert [one.code for one in found(server, "SM65", "SM66", "SM75")] == ["SM660", "SM651"]


def test_a_robots_txt_that_is_too_long_is_found(server: LoopbackServer) -> None:
    server.robots("a.xml")
    server.site["/a.xml"] = urlset(server.at("page"))
    line = str(server.site["/robots.txt"])
    server.site["/robots.txt"] = line + "#" * (512_000 - len(line))
    assert found(server, "SM653") == []
    server.site["/robots.txt"] = line + "#" * (512_001 - len(line))
    assert [one.detail[:13] for one in found(server, "SM653")] == ["512,001 bytes"]


def test_an_index_in_an_index_and_a_child_that_is_listed_twice_are_found(
    server: LoopbackServer,
) -> None:
    server.robots("index.xml")
    server.site["/index.xml"] = index(server.at("more.xml"), server.at("a.xml"))
    server.site["/more.xml"] = index(server.at("a.xml"))
    server.site["/a.xml"] = urlset(server.at("page"))
    occurrences = found(server, "SM254", "SM657")
    assert [one.code for one in occurrences] == ["SM657", "SM254"]
    assert places(server, occurrences) == [("/more.xml", "/a.xml"), ("/index.xml", "/more.xml")]


def test_a_child_on_another_host_needs_a_proof(server: LoopbackServer) -> None:
    server.robots("index.xml")
    with LoopbackServer() as other:
        server.site["/index.xml"] = index(other.at("a.xml"), server.at("b.xml"))
        other.site["/a.xml"] = urlset(other.at("page"))
        server.site["/b.xml"] = urlset(server.at("page"))
        assert [one.url for one in found(server, "SM655")] == [other.at("a.xml")]


def test_the_date_in_an_index_may_be_a_day_older_than_the_newest_page(
    server: LoopbackServer,
) -> None:
    server.robots("index.xml")
    server.site["/index.xml"] = dated_index(
        (server.at("a.xml"), "2024-05-01T12:00:00Z"), (server.at("b.xml"), "2024-05-01T12:00:00Z")
    )
    server.site["/a.xml"] = dated_urlset(server.at("a"), "2024-05-02T12:00:00Z")
    server.site["/b.xml"] = dated_urlset(server.at("b"), "2024-05-02T12:00:01Z")
    assert places(server, found(server, "SM658")) == [("/index.xml", "/b.xml")]


def test_a_rule_gives_one_finding_for_each_sitemap_whenever_it_is_violated(
    server: LoopbackServer,
) -> None:
    server.robots("index.xml")
    old = [(server.at(name), "2024-05-01T12:00:00Z") for name in ("a.xml", "b.xml")]
    server.site["/index.xml"] = dated_index(*old)
    for name in ("a", "b"):
        body = hreflang((server.at(name), {"en": server.at(name), "de": f"https://{name}.de/"}))
        server.site[f"/{name}.xml"] = body.replace("</loc>", "</loc><lastmod>2024-05-03</lastmod>")
    with usp.check(server.url) as stream:
        findings = list(stream)
    assert {f.code: f.count for f in findings if f.code in {"SM658", "SM750"}} == {
        "SM658": 2,
        "SM750": 2,
    }
    keys = [(finding.code, finding.sitemap_url) for finding in findings]
    assert len(keys) == len(set(keys))


def test_a_sitemap_at_a_known_path_that_nothing_names_is_found(server: LoopbackServer) -> None:
    server.robots("a.xml")
    server.site["/a.xml"] = urlset(server.at("page"))
    server.site["/sitemap.xml"] = urlset(server.at("old"))
    occurrences: list[Occurrence] = []
    with usp.check(
        server.url, select=["SM661"], use_known_paths=True, on_occurrence=occurrences.append
    ) as stream:
        list(stream)
    assert [one.sitemap_url for one in occurrences] == [server.at("sitemap.xml")]


def test_a_redirect_to_a_declared_sitemap_is_not_undeclared(server: LoopbackServer) -> None:
    server.robots("a.xml")
    server.site["/a.xml"] = urlset(server.at("page"))
    server.site["/sitemap.xml"] = Answer(301, headers={"Location": server.at("a.xml")})
    with usp.check(server.url, select=["SM661"], use_known_paths=True) as stream:
        assert list(stream) == []
