"""The Google Video extension: every element and attribute, present, missing and misspelt.

``FULL`` is a video with every element that Google documents, or once did, and ``EXPECTED`` its
fields.
"""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from tests.parse.reading import SM, VIDEO, page, problems, u, urlset
from usp._parse.formats import video as tables
from usp.objects.page import SitemapVideo
from usp.objects.video import (
    VideoId,
    VideoPrice,
    VideoRestriction,
    VideoSegment,
    VideoShow,
)
from usp.tree import parse, sitemap_from_str

A = "http://h.example/a"
FULL = """<video:video>
  <video:thumbnail_loc>http://h.example/thumbs/1.jpg</video:thumbnail_loc>
  <video:title>How to repair a kite</video:title>
  <video:description>Paper, glue &amp; patience.</video:description>
  <video:content_loc>http://cdn.example/1.mp4</video:content_loc>
  <video:player_loc allow_embed="yes" autoplay="ap=1">http://h.example/player?v=1&amp;x=2
  </video:player_loc>
  <video:duration>600</video:duration>
  <video:expiration_date>2031-11-05T19:20:30+08:00</video:expiration_date>
  <video:rating>4.2</video:rating>
  <video:view_count>12345</video:view_count>
  <video:publication_date>2024-11-05T19:20:30+08:00</video:publication_date>
  <video:family_friendly>yes</video:family_friendly>
  <video:restriction relationship="allow">IE GB US CA</video:restriction>
  <video:platform relationship="deny">web tv</video:platform>
  <video:price currency="EUR">1.99</video:price>
  <video:price currency="USD" type="rent" resolution="hd">0.99</video:price>
  <video:requires_subscription>no</video:requires_subscription>
  <video:uploader info="http://h.example/users/kim">Kim</video:uploader>
  <video:live>no</video:live>
  <video:tag>kite</video:tag>
  <video:tag>paper</video:tag>
  <video:category>Hobbies</video:category>
  <video:gallery_loc title="All kites">http://h.example/gallery</video:gallery_loc>
  <video:id type="tms:series">00000006</video:id>
  <video:id>plain</video:id>
  <video:content_segment_loc duration="300">http://cdn.example/1a.mp4</video:content_segment_loc>
  <video:content_segment_loc>http://cdn.example/1b.mp4</video:content_segment_loc>
  <video:tvshow>
    <video:show_title>Mending</video:show_title>
    <video:video_type>full</video:video_type>
    <video:episode_title>Kites</video:episode_title>
    <video:season_number>2</video:season_number>
    <video:episode_number>7</video:episode_number>
    <video:premier_date>2024-01-02</video:premier_date>
  </video:tvshow>
</video:video>"""

EAST = timezone(timedelta(hours=8))
EXPECTED = SitemapVideo(
    thumbnail_loc="http://h.example/thumbs/1.jpg",
    title="How to repair a kite",
    description="Paper, glue & patience.",
    content_loc="http://cdn.example/1.mp4",
    player_loc="http://h.example/player?v=1&x=2",
    player_allow_embed=True,
    player_autoplay="ap=1",
    duration=600,
    expiration_date=datetime(2031, 11, 5, 19, 20, 30, tzinfo=EAST),
    rating=Decimal("4.2"),
    view_count=12345,
    publication_date=datetime(2024, 11, 5, 19, 20, 30, tzinfo=EAST),
    family_friendly=True,
    restriction=VideoRestriction("allow", ("IE", "GB", "US", "CA")),
    platform=VideoRestriction("deny", ("web", "tv")),
    prices=(
        VideoPrice(Decimal("1.99"), "EUR"),
        VideoPrice(Decimal("0.99"), "USD", "rent", "hd"),
    ),
    requires_subscription=False,
    uploader="Kim",
    uploader_info="http://h.example/users/kim",
    live=False,
    tags=("kite", "paper"),
    category="Hobbies",
    gallery_loc="http://h.example/gallery",
    gallery_title="All kites",
    ids=(VideoId("00000006", "tms:series"), VideoId("plain")),
    tv_show=VideoShow("Mending", "full", "Kites", 2, 7, datetime(2024, 1, 2, tzinfo=UTC)),
    content_segments=(
        VideoSegment("http://cdn.example/1a.mp4", 300),
        VideoSegment("http://cdn.example/1b.mp4"),
    ),
)
FEEDS_ONLY = {"renditions"}


def videos(document: str) -> list[SitemapVideo]:
    return page(document).videos or []


def only_video(inside: str) -> SitemapVideo:
    (only,) = videos(urlset(u(A, f"<video:video>{inside}</video:video>")))
    return only


def codes(inside: str) -> set[str]:
    return {problem.code for problem in problems(urlset(u(A, inside)))}


def test_every_field_of_a_full_video() -> None:
    (read,) = videos(urlset(u(A, FULL)))
    assert read == EXPECTED
    assert hash(read) == hash(EXPECTED)
    untested = {f.name for f in fields(read) if getattr(read, f.name) in (None, ())}
    assert untested == FEEDS_ONLY
    assert problems(urlset(u(A, FULL))) == ()


def test_every_field_has_a_row_in_the_tables() -> None:
    rows = {field.name for field in tables.VALUES.values()}
    rows |= {*tables.URLS.values(), *tables.RESTRICTIONS.values(), "tv_show"}
    rows |= {name for name, _ in tables.LISTS.values()}
    assert rows == {f.name for f in fields(SitemapVideo)} - FEEDS_ONLY
    assert {field.name for field in tables.SHOW.values()} == {f.name for f in fields(VideoShow)}
    assert {"amount", *tables.PRICE_ATTRIBUTES} == {f.name for f in fields(VideoPrice)}


def test_a_video_as_a_dictionary() -> None:
    dictionary = page(urlset(u(A, FULL))).to_dict(extended=True)
    assert dictionary.keys() == page(urlset(u(A))).to_dict(extended=True).keys()
    (video,) = dictionary["videos"]
    assert video.keys() == {f.name for f in fields(SitemapVideo)}
    assert video["restriction"] == {"relationship": "allow", "values": ("IE", "GB", "US", "CA")}


NAMESPACES = [
    ("https", VIDEO.replace("http:", "https:")),
    ("a trailing slash", VIDEO.replace("1.1", "1.1/")),
    ("an older version", VIDEO.replace("1.1", "1.0")),
    ("one of sitemaps.org", VIDEO.replace("www.google.com", "www.sitemaps.org")),
    ("without www", VIDEO.replace("www.", "")),
    ("an unknown namespace", VIDEO.replace("google", "goggle")),
    ("no declaration", ""),
]


@pytest.mark.parametrize(("what", "namespace"), NAMESPACES, ids=[row[0] for row in NAMESPACES])
def test_namespaces(what: str, namespace: str) -> None:
    assert videos(urlset(u(A, FULL), namespaces=f"{SM} {namespace}")) == [EXPECTED], what


FORMS = [
    ("another prefix", FULL.replace("video:", "v:"), VIDEO.replace(":video=", ":v=")),
    ("upper case", FULL.replace("<video:", "<VIDEO:").replace("</video:", "</VIDEO:"), VIDEO),
    ("no prefix inside", FULL.replace("video:", "").replace("video>", "video:video>"), VIDEO),
    (
        "no <video:video>",
        FULL.removeprefix("<video:video>")[: -len("</video:video>")],
        VIDEO,
    ),
]


@pytest.mark.parametrize(("what", "written", "namespace"), FORMS, ids=[row[0] for row in FORMS])
def test_other_forms_of_the_elements(what: str, written: str, namespace: str) -> None:
    assert videos(urlset(u(A, written), namespaces=f"{SM} {namespace}")) == [EXPECTED], what


PARTS = [line for line in FULL.splitlines() if line.startswith("  <video:") and "</" in line]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.split(">")[0].split(":")[1])
def test_a_video_without_one_part_has_the_others(part: str) -> None:
    (read,) = videos(urlset(u(A, FULL.replace(part, "", 1))))
    different = [f.name for f in fields(read) if getattr(read, f.name) != getattr(EXPECTED, f.name)]
    assert 1 <= len(different) <= 2  # an attribute is a separate field


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.split(">")[0].split(":")[1])
def test_an_empty_part_is_like_a_missing_one(part: str) -> None:
    name = part.split(":")[1].split(">", maxsplit=1)[0].split(" ", maxsplit=1)[0]
    without = videos(urlset(u(A, FULL.replace(part, "", 1))))
    assert videos(urlset(u(A, FULL.replace(part, f"<video:{name}/>", 1)))) == without


VALUES = [
    ("duration", "90.0", 90, set()),
    ("duration", "1:30", 90, set()),
    ("duration", "01:00:05", 3605, set()),
    ("duration", "PT1H2M3S", 3723, set()),
    ("duration", "long", None, {"SM405"}),
    ("duration", "-5", None, {"SM405"}),
    ("duration", "9e999", None, {"SM405"}),
    ("rating", "0", Decimal(0), set()),
    ("rating", "5.1", None, {"SM405"}),
    ("rating", "4,2", None, {"SM405"}),
    ("rating", "NaN", None, {"SM405"}),
    ("view_count", "0", 0, set()),
    ("view_count", "1.5", None, {"SM405"}),
    ("view_count", "9" * 400, None, {"SM405"}),
    ("view_count", "\u0663", None, {"SM405"}),
    ("family_friendly", "No", False, set()),
    ("family_friendly", "TRUE", True, set()),
    ("family_friendly", "perhaps", None, {"SM406"}),
    ("live", "1", True, set()),
    ("requires_subscription", "", None, set()),
    ("publication_date", "2024-05-01T00:00:00Z", datetime(2024, 5, 1, tzinfo=UTC), set()),
    ("publication_date", "yesterday", None, {"SM401"}),
    ("expiration_date", "0000-00-00", None, {"SM401"}),
    ("title", "&amp;lt;b&amp;gt;", "<b>", {"SM306"}),
    ("description", "<![CDATA[<p>x</p>]]>", "<p>x</p>", set()),
    ("thumbnail_loc", "not a url\n", "not a url", {"SM302", "SM308"}),
]


@pytest.mark.parametrize(("name", "text", "value", "expected"), VALUES)
def test_values(name: str, text: str, value: object, expected: set[str]) -> None:
    inside = f"<video:{name}>{text}</video:{name}><video:tag>x</video:tag>"
    assert getattr(only_video(inside), name) == value
    assert codes(f"<video:video>{inside}</video:video>") - {"SM506"} == expected


def test_the_first_valid_one_of_a_repeated_element_is_used() -> None:
    read = only_video(
        "<video:duration>long</video:duration><video:duration>5</video:duration>"
        "<video:duration>6</video:duration>"
    )
    assert read == SitemapVideo(duration=5)


ATTRIBUTES = [
    (
        '<video:restriction relationship="maybe">DE, FR</video:restriction>',
        SitemapVideo(restriction=VideoRestriction(None, ("DE", "FR"))),
        {"SM406"},
    ),
    (
        "<video:restriction>DE</video:restriction>",
        SitemapVideo(restriction=VideoRestriction(None, ("DE",))),
        set(),
    ),
    (
        '<video:platform RELATIONSHIP="ALLOW">web</video:platform>',
        SitemapVideo(platform=VideoRestriction("allow", ("web",))),
        set(),
    ),
    (
        '<video:price currency="EUR">free</video:price>',
        SitemapVideo(prices=(VideoPrice(None, "EUR"),)),
        {"SM405"},
    ),
    (
        '<video:price type="steal" resolution="8k">1</video:price>',
        SitemapVideo(prices=(VideoPrice(Decimal(1), None, "steal", "8k"),)),
        {"SM406"},
    ),
    (
        '<video:player_loc allow_embed="?">http://h/p</video:player_loc>',
        SitemapVideo(player_loc="http://h/p"),
        {"SM406"},
    ),
    (
        '<video:gallery_loc title="G"/>',
        SitemapVideo(gallery_title="G"),
        set(),
    ),
]


@pytest.mark.parametrize(("inside", "expected", "reported"), ATTRIBUTES)
def test_attributes(inside: str, expected: SitemapVideo, reported: set[str]) -> None:
    assert only_video(inside) == expected
    assert codes(f"<video:video>{inside}</video:video>") - {"SM506"} == reported


def test_relative_urls_of_a_video_are_resolved() -> None:
    document = urlset(
        u(A, "<video:video><video:content_loc>/v.mp4</video:content_loc></video:video>")
    )
    (read,) = parse(document, url="http://h.example/s.xml").pages
    assert read.videos == [SitemapVideo(content_loc="http://h.example/v.mp4")]


def test_videos_are_separate_and_in_document_order() -> None:
    one, two = (f"<video:video><video:title>{n}</video:title></video:video>" for n in "12")
    image = "<image:image><image:loc>http://h/i</image:loc></image:image>"
    read = page(urlset(u(A, one + image + two)))
    assert read.videos == [SitemapVideo(title="1"), SitemapVideo(title="2")]
    assert [found.loc for found in read.images or []] == ["http://h/i"]


def test_an_empty_video_is_skipped() -> None:
    empty = "<video:video/><video:video><video:title> </video:title></video:video>"
    assert page(urlset(u(A, empty))).videos is None
    assert codes(empty) == {"SM505"}


def test_elements_that_google_requires_are_reported_if_missing() -> None:
    (problem,) = problems(urlset(u(A, "<video:video><video:title>T</video:title></video:video>")))
    assert problem.code == "SM506"
    assert problem.message.count("<video:") == 4  # the video itself, and three elements


def test_a_malformed_video_is_repaired() -> None:
    malformed = FULL.replace("glue &amp; patience", "glue & patience")
    document = urlset(u(A, malformed), u("http://h.example/b", FULL))
    first, second = sitemap_from_str(document).pages
    assert first.videos == second.videos == [EXPECTED]


def test_videos_make_pages_differ() -> None:
    read = page(urlset(u(A, FULL)))
    other = page(urlset(u(A, FULL.replace("600", "601"))))
    assert read != other
    assert other.videos == [replace(EXPECTED, duration=601)]
    assert hash(read) == hash(other)  # pages hash by URL
