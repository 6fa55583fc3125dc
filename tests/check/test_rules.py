"""Every rule that is checked: a document that trips it, and one just inside that doesn't."""

import time
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

import usp
from tests.check.documents import (
    NOW,
    PAGE,
    alternates,
    dated,
    findings_of,
    image,
    story,
    url,
    urlset,
    video,
)
from tests.check.documents import index as index_of
from tests.check.pairs import PAIRS, Pair, built_on, page, restricted
from tests.check.source_pairs import EARLIER_PAIRS, FOLDER_PAIRS, PAGE_PAIRS
from tests.check.test_site_rules import WHOLE_SITE
from tests.server import Answer, Handler, LoopbackServer, index, redirect
from tests.server import urlset as served
from usp._check import rule_modules
from usp._check.registry import CHECKED
from usp._check.table import RULES
from usp.exceptions import UsageError
from usp.objects.outcome import Outcome
from usp.objects.problem import CODES

rule_modules.load()
SERVED = {"SM150", "SM151", "SM153", "SM353", "SM459", "SM656"}
"""The rules whose pairs need a server; they are below."""
OTHERS = {"SM751", *WHOLE_SITE}
"""Tested with what they are about: tests/check/test_suppression.py, test_site_rules.py."""
ALL_PAIRS = (PAIRS, PAGE_PAIRS, FOLDER_PAIRS, EARLIER_PAIRS)
"""The last three are tested in tests/check/test_source_pairs.py."""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("code", PAIRS)
def test_one_document_trips_the_rule_and_one_just_inside_does_not(
    code: str, tmp_path: Path
) -> None:
    pair: Pair = PAIRS[code]
    found = {f.code: f for f in findings_of(pair.wrong, tmp_path, pair.name, **pair.options)}
    assert code in found
    assert found[code].severity == pair.severity
    assert found[code].count == 1
    inside = findings_of(pair.right, tmp_path, pair.name, **pair.options)
    assert code not in {finding.code for finding in inside}


def test_every_rule_that_is_checked_has_its_pair() -> None:
    assert {*chain.from_iterable(ALL_PAIRS), *SERVED, *OTHERS} == CHECKED
    assert RULES.keys() - CODES.keys() == CHECKED


@pytest.mark.parametrize(
    ("document", "code", "severity"),
    [
        (page("é"), "SM355", "info"),
        (urlset(), "SM255", "info"),
        (built_on("2026-08-01", 2), "SM457", "info"),
        (url('<xhtml:link rel="alternate" hreflang="es-419" href="https://example.org/a"/>'),
         "SM580", "warning"),
    ],
    ids=["iri", "no-news", "old-migration", "area"],
)  # fmt: skip
def test_a_milder_case_has_a_milder_severity(
    document: str, code: str, severity: str, tmp_path: Path
) -> None:
    found = {f.code: f.severity for f in findings_of(document, tmp_path)}
    assert found[code] == severity


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (url(image("<title>A</title>")), "SM256"),
        (urlset(f'<loc type="a">{PAGE}</loc>'), "SM256"),
        (url('<link rel="alternate" hreflang="en" href="https://example.org/a"/>'), "SM256"),
        (page("caf%E9"), "SM356"),
        (page("a;jsessionid=1A2B"), "SM359"),
        (url(loc="https://shop.test/"), "SM361"),
        (url(loc="https://intranet/"), "SM362"),
        (url(loc="https://a..org/"), "SM362"),
        (dated("2016-01-25 15:35:12"), "SM451"),
        (dated("15/11/2026"), "SM451"),
        (url(video("<video:duration>0</video:duration>")), "SM570"),
        (url(video("<video:duration>1:30</video:duration>")), "SM570"),
        (url(video(), video(f"<video:description>{'x' * 2049}</video:description>")), "SM571"),
        (url(video("<video:content_loc>rtmp://example.org/v</video:content_loc>")), "SM573"),
        (restricted("DE", ""), "SM575"),
        (url(video('<video:platform relationship="allow">phone</video:platform>')), "SM575"),
        (url(story("<news:keywords>a</news:keywords>")), "SM555"),
        (url('<xhtml:link rel="alternate" hreflang="zh_CN" href="https://example.org/a"/>'),
         "SM580"),
    ],
)  # fmt: skip
def test_other_forms_of_a_fault_are_found_too(document: str, code: str, tmp_path: Path) -> None:
    assert code in {finding.code for finding in findings_of(document, tmp_path)}


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (urlset(*(f"<loc>{PAGE}{at}</loc><lastmod>2026-11-16T10:00:00Z</lastmod>{story()}"
                  for at in range(20))), "SM457"),
        (urlset(f"<loc>{PAGE}</loc>{story()}"), "SM460"),
        (index_of(*(f"<loc>{PAGE}{at}</loc><lastmod>2026-11-16</lastmod>" for at in range(20))),
         "SM457"),
        (dated("2026-11-16"), "SM452"),
        (url(loc="https://bücher.example.org/"), "SM362"),
        (url('<xhtml:link rel="canonical" href="https://example.org/b"/>'), "SM582"),
        (url(story(publication="<news:name>A</news:name><news:language/>")), "SM450"),
        (url(alternates(en=PAGE, de=f"{PAGE}2")), "SM586"),
    ],
)  # fmt: skip
def test_what_is_usual_is_no_finding(document: str, code: str, tmp_path: Path) -> None:
    assert code not in {finding.code for finding in findings_of(document, tmp_path)}


def test_a_finding_names_the_line_and_the_page(tmp_path: Path) -> None:
    document = dated("2026-11-01", "2026-11-02", "2026-1-3")
    finding = next(f for f in findings_of(document, tmp_path) if f.code == "SM451")
    (example,) = finding.examples
    assert (example.line, example.url) == (5, f"{PAGE}2")
    offset = example.offset or 0
    assert document.encode()[offset:].startswith(f"<url><loc>{PAGE}2</loc>".encode())
    assert finding.sitemap_url == str(tmp_path / "sitemap.xml")


def test_counts_are_exact_and_five_examples_are_kept(tmp_path: Path) -> None:
    seen: list[usp.Occurrence] = []
    document = dated(*["2026-1-1"] * 1204)
    found = findings_of(document, tmp_path, on_occurrence=seen.append)
    finding = next(f for f in found if f.code == "SM451")
    assert (finding.count, len(finding.examples)) == (1204, 5)
    assert sum(one.code == "SM451" for one in seen) == 1204


def test_problems_of_parsing_are_counted_exactly_too_and_name_their_page(tmp_path: Path) -> None:
    found = findings_of(dated(*["yesterday"] * 500), tmp_path)
    finding = next(f for f in found if f.code == "SM401")
    assert (finding.count, finding.severity) == (500, "error")
    assert [example.url for example in finding.examples] == [f"{PAGE}{at}" for at in range(5)]
    assert [example.line for example in finding.examples] == [3, 4, 5, 6, 7]


def test_no_credentials_are_shown(tmp_path: Path) -> None:
    document = url(loc="https://user:secret@example.org/")
    assert "secret" not in repr(findings_of(document, tmp_path))


def test_what_is_quoted_in_part_has_no_start_of_a_password(tmp_path: Path) -> None:
    login = f"http://user:{'secret' * 10}@h.example/"
    link = f'<xhtml:link rel="alternate" hreflang="{login}" href="https://example.org/a"/>'
    [finding] = findings_of(url(link), tmp_path, select=["SM580"])
    assert finding.examples[0].detail == "'http://h.example/' is no hreflang"


def codes_of(server: LoopbackServer, path: str = "", **options: object) -> dict[str, str]:
    with usp.check(server.at(path) if path else server.url, **options) as found:  # type: ignore[arg-type]  # any option
        return {finding.code: str(finding.severity) for finding in found}


def typed(content_type: str) -> Answer:
    return Answer(body=served(f"{PAGE}"), headers={"Content-Type": content_type})


def test_a_declared_sitemap_that_redirects_is_found(server: LoopbackServer) -> None:
    server.robots("/old.xml")
    server.site["/old.xml"] = redirect("/new.xml")
    server.site["/new.xml"] = served(server.at("/a"))
    assert codes_of(server)["SM150"] == "warning"
    server.robots("/new.xml")
    assert "SM150" not in codes_of(server)


@pytest.mark.parametrize(
    ("content_type", "severity"),
    [
        ("text/html; charset=utf-8", "warning"),
        ("application/octet-stream", "info"),
        ("application/xml", None),
        ("text/plain", None),
        ("application/rss+xml", None),
    ],
)
def test_the_content_type_of_a_sitemap_is_looked_at(
    server: LoopbackServer, content_type: str, severity: str | None
) -> None:
    server.site["/sitemap.xml"] = typed(content_type)
    assert codes_of(server, "/sitemap.xml").get("SM151") == severity


def test_a_sitemap_that_changes_between_two_fetches_is_found(server: LoopbackServer) -> None:
    bodies = [served(server.at("/a"), server.at("/b")), served(server.at("/a"))]

    def changing(handler: Handler) -> bytes:
        return bodies.pop(0)

    server.site["/sitemap.xml"] = changing
    assert codes_of(server, "/sitemap.xml", twice=True)["SM153"] == "warning"
    server.site["/sitemap.xml"] = served(server.at("/a"))
    assert "SM153" not in codes_of(server, "/sitemap.xml", twice=True)


@pytest.mark.slow
def test_the_second_fetch_has_the_time_that_is_left_and_half_of_it_is_not_compared(
    server: LoopbackServer,
) -> None:
    whole = "".join(f"{server.at('/')}{number}\n" for number in range(500)).encode()
    cuts, waits = [0, len(whole) // 2], [0.5, 1.0]

    def slow(handler: Handler) -> None:
        cut = cuts.pop(0)
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(whole)))
        handler.end_headers()
        handler.wfile.write(whole[:cut])
        time.sleep(waits.pop(0))
        with suppress(ConnectionError):  # the check has ended
            handler.wfile.write(whole[cut:])

    server.site["/sitemap.txt"] = slow
    with usp.check(server.at("/sitemap.txt"), twice=True, max_seconds=1.2) as found:
        findings = {finding.code: finding for finding in found}
    assert "SM153" not in findings
    details = [example.detail or "" for example in findings["SM750"].examples]
    assert any("SM153" in detail for detail in details)  # the first, unless the machine is slow
    assert found.outcome is Outcome.PARTIAL


def test_a_url_with_another_scheme_than_the_sitemap_is_found(server: LoopbackServer) -> None:
    server.site["/sitemap.xml"] = served(server.at("/a").replace("http:", "https:"))
    assert codes_of(server, "/sitemap.xml")["SM353"] == "warning"
    server.site["/sitemap.xml"] = served(server.at("/a"))
    assert "SM353" not in codes_of(server, "/sitemap.xml")


def test_a_child_above_its_index_is_found(server: LoopbackServer) -> None:
    server.site["/maps/index.xml"] = index(server.at("/sitemap.xml"))
    server.site["/sitemap.xml"] = server.site["/maps/a.xml"] = served(server.at("/a"))
    assert codes_of(server, "/maps/index.xml")["SM656"] == "warning"
    server.site["/maps/index.xml"] = index(server.at("/maps/a.xml"))
    assert "SM656" not in codes_of(server, "/maps/index.xml")


def test_dates_of_the_fetch_replace_one_build_date(server: LoopbackServer) -> None:
    from datetime import UTC, datetime, timedelta

    def body(moments: list[datetime]) -> str:
        return dated(*(f"{moment:%Y-%m-%dT%H:%M:%SZ}" for moment in moments))

    now = datetime.now(UTC)
    server.site["/sitemap.xml"] = body([now] * 18 + [now - timedelta(days=9)] * 2)
    found = codes_of(server, "/sitemap.xml")
    assert found["SM459"] == "warning"
    assert "SM457" not in found
    server.site["/sitemap.xml"] = body([now] * 17 + [now - timedelta(days=9)] * 3)
    assert "SM459" not in codes_of(server, "/sitemap.xml")


def test_a_check_that_is_closed_early_ends_the_crawl(server: LoopbackServer) -> None:
    paths = [f"/{at}.xml" for at in range(9)]
    server.robots(*paths)
    server.site |= {path: served(server.at(f"{path}#a")) for path in paths}
    with usp.check(server.url, per_host=1, prefetch=1) as found:
        next(found)
    assert found.outcome is usp.Outcome.PARTIAL
    assert len(found.checked) < len(paths)
    assert list(found) == []


def test_a_sitemap_that_is_declared_twice_is_checked_once(server: LoopbackServer) -> None:
    server.robots("/a.xml", "/index.xml")
    server.site["/index.xml"] = index(server.at("/a.xml"))
    server.site["/a.xml"] = served(server.at("/a#b"))
    with usp.check(server.url, select=["SM357"]) as found:
        assert [finding.count for finding in found] == [1]


def test_a_declared_sitemap_that_is_not_there_is_an_error(server: LoopbackServer) -> None:
    server.robots("/gone.xml")
    with usp.check(server.url) as stream:
        findings = {finding.code: finding for finding in stream}
    assert findings["SM101"].severity == "error"
    assert findings["SM101"].sitemap_url == server.at("/gone.xml")


def test_the_clean_control_site_gives_no_error_and_no_warning(server: LoopbackServer) -> None:
    server.robots("/index.xml")
    server.site["/index.xml"] = index(server.at("/pages.xml"), server.at("/news.xml"))
    pages = dated("2026-11-01", "2026-10-05", "2026-09-09T10:00:00+02:00")
    links = url(
        image(), video(),
        '<xhtml:link rel="alternate" hreflang="en" href="https://example.org/a"/>',
    )  # fmt: skip
    to_site = server.url.rstrip("/")
    xml = {"Content-Type": "application/xml"}
    bodies = {"/pages.xml": pages, "/news.xml": url(story()), "/links.xml": links}
    server.site |= {
        path: Answer(body=body.replace("https://example.org", to_site), headers=xml)
        for path, body in bodies.items()
    }
    server.site["/index.xml"] = index(*map(server.at, bodies))
    # The loopback host itself is one that the internet can't reach.
    with usp.check(server.url, now=NOW, ignore=["SM361"]) as found:
        findings = [(f.code, str(f.severity), f.examples) for f in found]
    assert [f for f in findings if f[1] in {"error", "warning", "undecided"}] == []
    assert set(found.checked) == {server.at("/index.xml"), *map(server.at, bodies)}


@pytest.mark.parametrize("wrong", [None, 5, b"x", []])
@pytest.mark.parametrize("options", [{}, {"base_url": "https://example.org/"}])
def test_what_is_no_source_is_a_wrong_argument(wrong: Any, options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="source must be a URL, a domain or a file"):
        usp.check(wrong, **options)
