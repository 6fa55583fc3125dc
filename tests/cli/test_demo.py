"""``usp demo``, and the demo site, which other tests use too."""

import re
import signal
import socket
import sys
from datetime import UTC, datetime
from decimal import Decimal

import pytest
import requests

from tests.cli.command import script, start, usp
from usp.cli._demo_site import SITE, TREE, DemoSite
from usp.objects.outcome import Outcome
from usp.objects.page import PageLink, SitemapPage, SitemapVideo
from usp.objects.sitemap import IndexWebsiteSitemap, InvalidSitemap
from usp.objects.video import VideoPrice, VideoRestriction
from usp.tree import sitemap_tree_for_homepage


@pytest.fixture
def tree(demo_site: DemoSite) -> IndexWebsiteSitemap:
    root = sitemap_tree_for_homepage(demo_site.url, use_homepage=True, use_newer_paths=True)
    assert isinstance(root, IndexWebsiteSitemap)
    return root


def page_at(tree: IndexWebsiteSitemap, path: str) -> SitemapPage:
    (page,) = [page for page in tree.all_pages() if page.url == tree.url.rstrip("/") + path]
    return page


def test_the_tree_is_printed_with_kinds_and_counts() -> None:
    ended = usp("demo")
    assert (ended.code, ended.err) == (0, "")
    lines = [line for line in ended.out.splitlines() if line.lstrip().startswith("/")]
    assert [line.split()[0] for line in lines] == [entry.path for entry in TREE]
    assert [len(line) - len(line.lstrip()) for line in lines] == [2 * entry.depth for entry in TREE]
    printed = {line.split()[0]: line for line in lines}
    assert printed["/sitemaps/archive/2023.xml.gz"].endswith("  XML sitemap, 4 pages")
    assert printed["/feeds/atom.xml"].endswith("  Atom feed, 1 page")
    assert printed["/robots.txt"].endswith("  robots.txt, 8 sitemaps")
    assert printed["/sitemap_news.xml"].endswith("2 pages, found at a known path")
    assert printed["/wp-sitemap.xml"].endswith("1 page, found at a newer path")
    assert printed["/sitemaps/partners.xml"].endswith("1 page, found on the homepage")
    assert printed["/feeds/comments.xml"].endswith("1 page, found on the homepage, as a feed")
    assert "  invalid: " in printed["/sitemaps/archive/lost.xml"]
    assert "404" in printed["/sitemaps/archive/lost.xml"]
    assert "\nOutcome: partial\n" in ended.out
    assert f"{len(TREE) - 1} sitemaps, 2 of them invalid; 27 pages" in ended.out


def test_the_server_is_stopped_at_the_end() -> None:
    found = re.search(r"127\.0\.0\.1:(\d+)", usp("demo").out)
    assert found is not None
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", int(found[1]))) != 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_the_site_can_be_served_until_ctrl_c() -> None:
    with start("demo", "--serve", "0") as process:
        assert process.stdout
        told = process.stdout.readline().decode()
        found = re.search(r"http://127\.0\.0\.1:\d+/", told)
        assert found
        listed = usp("ls", found[0], "-f", "pages").out.splitlines()
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=10)
    assert len(listed) == 24
    assert (process.returncode, *rest) == (130, b"", b"")


def test_a_port_that_is_taken_or_none_is_told_in_one_line(demo_site: DemoSite) -> None:
    taken = demo_site.url.rstrip("/").rpartition(":")[2]
    for port in (taken, "70000"):
        ended = usp("demo", "--serve", port)
        assert ended.code == 2
        [line] = ended.messages
        assert line.startswith(f"usp: error: --serve can't listen at port {port} of 127.0.0.1: ")


def test_proxies_of_the_environment_are_not_used() -> None:
    dead = "http://127.0.0.1:9"
    assert usp("demo", env={"HTTP_PROXY": dead, "http_proxy": dead}).code == 0


def test_the_exit_code_is_1_if_the_tree_is_not_the_expected_one() -> None:
    ended = script(
        "from usp.cli import _demo_site, cli\n"
        "del _demo_site.SITE['/sitemap_news.xml']\n"
        "cli.main(['demo'])\n"
    )
    assert ended.code == 1
    assert ended.messages == ["usp: error: this is not the expected tree of the demo site"]


def test_every_document_of_the_site_is_requested(
    demo_site: DemoSite, tree: IndexWebsiteSitemap
) -> None:
    assert tree.outcome is Outcome.PARTIAL
    assert set(SITE) <= set(demo_site.requested)
    # The index may be requested twice: a known path redirects to it.
    twice = {path for path in demo_site.requested if demo_site.requested.count(path) > 1}
    assert twice <= {"/sitemaps/index.xml"}


def test_a_site_that_is_served_for_long_keeps_the_last_requests_only() -> None:
    with DemoSite() as site, requests.Session() as session:
        session.trust_env = False
        for number in range(210):
            session.get(f"{site.url}{number}")
        assert list(site.requested) == [f"/{number}" for number in range(10, 210)]


def test_two_sitemaps_are_invalid_one_missing_and_one_a_loop(tree: IndexWebsiteSitemap) -> None:
    lost, loop = (s for s in tree.all_sitemaps() if isinstance(s, InvalidSitemap))
    assert "404" in lost.reason
    assert "Recursion detected in URL" in loop.reason


def test_fields_of_a_page(tree: IndexWebsiteSitemap) -> None:
    about = page_at(tree, "/about")
    assert about.priority == Decimal("0.3")
    assert about.change_frequency is not None
    assert about.change_frequency.value == "yearly"
    assert about.last_modified is not None
    assert about.last_modified.date().isoformat() == "2024-03-15"


def test_fields_of_a_news_story(tree: IndexWebsiteSitemap) -> None:
    story = page_at(tree, "/news/merger").news_story
    assert story is not None
    assert story.to_dict() == {
        "title": "Two makers of demo sites merge",
        "publish_date": datetime(2024, 5, 1, 6, tzinfo=UTC),
        "publication_name": "The Demo Post",
        "publication_language": "en",
        "access": "Subscription",
        "genres": ["PressRelease", "Blog"],
        "keywords": ["business", "merger", "demo"],
        "stock_tickers": ["NASDAQ:DEMO", "LON:SITE"],
    }


def test_fields_of_an_image(tree: IndexWebsiteSitemap) -> None:
    dawn, dusk = page_at(tree, "/gallery/harbour").images or []
    assert dawn.to_dict() == {
        "loc": f"{tree.url}img/harbour-dawn.jpg",
        "caption": "The harbour at dawn",
        "geo_location": "Hamburg, Germany",
        "title": "Dawn",
        "license": f"{tree.url}licence",
    }
    assert dusk.caption is None


def test_alternates_of_a_page(tree: IndexWebsiteSitemap) -> None:
    assert page_at(tree, "/en/welcome").alternates == [
        ("de", f"{tree.url}de/willkommen"),
        ("x-default", f"{tree.url}en/welcome"),
    ]


def test_fields_of_a_video_and_mobile_and_links(tree: IndexWebsiteSitemap) -> None:
    kites = page_at(tree, "/videos/kites")
    assert kites.videos == [
        SitemapVideo(
            thumbnail_loc=f"{tree.url}img/kites.jpg",
            title="How to repair a kite",
            description="Paper, glue and patience",
            content_loc=f"{tree.url}media/kites.mp4",
            player_loc=f"{tree.url}player?video=kites",
            player_allow_embed=True,
            duration=600,
            rating=Decimal("4.2"),
            publication_date=datetime(2024, 5, 1, 8, tzinfo=UTC),
            restriction=VideoRestriction("allow", ("IE", "GB")),
            prices=(VideoPrice(Decimal("1.99"), "EUR"),),
            tags=("kite", "paper"),
        )
    ]
    assert kites.links == [PageLink("amphtml", f"{tree.url}amp/videos/kites")]
    assert kites.mobile


def test_media_of_feeds(tree: IndexWebsiteSitemap) -> None:
    harbour = page_at(tree, "/films/harbour")
    assert [image.loc for image in harbour.images or []] == [f"{tree.url}img/harbour-map.png"]
    (film,) = harbour.videos or []
    assert film.title == "Ships come in"
    assert (film.content_loc, film.renditions) == (
        f"{tree.url}media/harbour.mp4",
        (f"{tree.url}media/harbour.webm",),
    )
    first = page_at(tree, "/json/first")
    assert [video.content_loc for video in first.videos or []] == [f"{tree.url}media/first.mp4"]
    assert page_at(tree, "/json/second").title is None


def test_titles_and_dates_of_feeds(tree: IndexWebsiteSitemap) -> None:
    for path, title, year in [
        ("/feed/first", "The first item", 2024),
        ("/atom/only", "The only entry", 2024),
        ("/atom/old", "An old entry", 2004),
        ("/json/first", "The first of two", 2024),
    ]:
        story = page_at(tree, path).news_story
        assert story is not None
        assert story.publish_date is not None
        assert (story.title, story.publish_date.year) == (title, year)
