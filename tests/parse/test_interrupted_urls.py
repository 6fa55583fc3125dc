"""An error page inside of a URL: the URL is skipped, whatever the format, and the loss is told.

A server that fails while it writes a document sends its error page in the middle of it. What stands
before the page is no URL, and neither is that with the rest behind it.
"""

from __future__ import annotations

import json
from html import escape
from typing import Final

import pytest

from tests.parse.pattern.readers import assert_readers_agree
from tests.parse.reading import Reading, atom, index, read, rss, u, urlset

PAGE: Final = (
    "<html><head><title>502 Bad Gateway</title></head><body><h1>502</h1><hr></body></html>"
)
XHTML_PAGE: Final = PAGE.replace("<hr>", "<hr/>")
URL: Final = "http://h/s.xml"
PAGES: Final = (
    PAGE,
    XHTML_PAGE,
    f"<!DOCTYPE html>\n{PAGE}",
    PAGE.upper(),
    '<html lang="en"><body>gone</body>',
    escape(PAGE),
    f"<![CDATA[{PAGE}]]>",
)
PARTS: Final = ("<title>502</title>", "<h1>502</h1>", "<script>x()</script>", "<style>a{}</style>")


def item(link: str) -> str:
    return f"<item><title>T</title>{link}</item>"


def entry(href: str) -> str:
    return f"<entry><title>T</title>{href}</entry>"


def feed(*urls: str) -> str:
    items = [{"id": str(number), "url": url, "title": "T"} for number, url in enumerate(urls)]
    return json.dumps({"version": "https://jsonfeed.org/version/1.1", "items": items})


def assert_skipped(found: Reading) -> None:
    assert found.urls == ["http://h/a", "http://h/c"]
    assert not found.complete
    assert "SM209" in [problem.code for problem in found.problems]


@pytest.mark.parametrize("page", [*PAGES, *PARTS])
@pytest.mark.parametrize("url", ["http://h/b@x/", "http://h/b@", "@http://h/b", "/b@x"])
def test_a_url_with_a_page_in_it_is_skipped(url: str, page: str) -> None:
    document = urlset(u("http://h/a"), u(url.replace("@", page)), u("http://h/c")).encode()
    assert_skipped(read(document, url=URL))
    assert_readers_agree([document])


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(
    "document",
    [
        index("http://h/a", "http://h/b@x/", "http://h/c"),
        urlset(u("http://h/a"), "<url>http://h/b@x/</url>", u("http://h/c")),
        urlset(u("http://h/a"), "<loc>http://h/b@x/</loc>", u("http://h/c")),
        urlset("<url><loc>http://h/a</loc><loc>http://h/b@x/</loc></url>", u("http://h/c")),
        rss(*(item(f"<link>http://h/{name}</link>") for name in ("a", "b@x/", "c"))),
        rss(*(item(f"<guid>http://h/{name}</guid>") for name in ("a", "b@x/", "c"))),
        rss(*(item(f"<link/>http://h/{name}") for name in ("a", "b@x/", "c"))),
    ],
)
def test_so_it_is_in_other_places(document: str, page: str) -> None:
    data = document.replace("@", page).encode()
    assert_skipped(read(data, url=URL))
    assert_readers_agree([data])


@pytest.mark.parametrize("page", [PAGE, escape(PAGE), f"<!DOCTYPE html>{PAGE}"])
def test_so_it_is_in_a_json_feed(page: str) -> None:
    document = feed("http://h/a", f"http://h/b{page}x/", "http://h/c")
    assert_skipped(read(document.encode(), url=URL))


def test_another_url_of_an_item_is_not_its_page() -> None:
    item = {
        "id": "http://h/1",
        "url": f"http://h/b{PAGE}",
        "external_url": "http://x/",
        "title": "T",
    }
    found = read(
        json.dumps({"version": "https://jsonfeed.org/version/1", "items": [item]}).encode()
    )
    assert not found.urls
    assert not found.complete


def test_a_permalink_is_the_page_of_an_item_whose_link_is_skipped() -> None:
    links = f"<link>http://h/b{XHTML_PAGE}</link><guid>http://h/g</guid>"
    found = read(rss(item(links)).encode())
    assert found.urls == ["http://h/g"]
    assert [problem.code for problem in found.problems] == ["SM211"]


def test_an_attribute_with_a_page_in_it_is_skipped() -> None:
    hrefs = ("http://h/a", f"http://h/b{escape(PAGE)}x/", "http://h/c")
    document = atom(*(entry(f'<link href="{href}"/>') for href in hrefs)).encode()
    assert_skipped(read(document, url=URL))


@pytest.mark.parametrize(
    "lines",
    [
        f"http://h/b{PAGE}x/",
        "http://h/b<html>\n<head><title>502</title></head>\n</html>x/",
        f"<!DOCTYPE html>\n{PAGE}",
    ],
)
def test_so_it_is_in_text_sitemaps(lines: str) -> None:
    assert_skipped(read(f"http://h/a\n{lines}\nhttp://h/c\n".encode(), url="http://h/s.txt"))


@pytest.mark.parametrize("value", [f"http://h/b{PAGE}x/", "http://h/b<html>\n<head></head>\nx/"])
def test_so_it_is_in_robots_txt(value: str) -> None:
    robots = f"Sitemap: http://h/a\nSitemap: {value}\nSitemap: http://h/c\n"
    assert_skipped(read(robots.encode(), url="http://h/robots.txt"))


@pytest.mark.parametrize("field", ["image:loc", "video:thumbnail_loc"])
def test_the_page_of_an_image_or_video_that_is_skipped_is_kept(field: str) -> None:
    group = field.partition("_")[0].partition(":")[0]
    inside = f"<{group}:{group}><{field}>http://h/i{XHTML_PAGE}.png</{field}></{group}:{group}>"
    found = read(urlset(u("http://h/a", inside)).encode(), url=URL)
    assert found.urls == ["http://h/a"]
    assert not found.pages[0]["images"]
    assert not found.complete


@pytest.mark.parametrize(
    ("document", "urls"),
    [
        (urlset(u("http://h/<b>a</b>/x")), ["http://h/a/x"]),
        (urlset(u('<a href="/x">http://h/a</a>')), ["http://h/a"]),
        (urlset(u("http://h/a<br/>")), ["http://h/a"]),
        (urlset(u("http://h/?q=&lt;script&gt;1")), ["http://h/?q=<script>1"]),
        (urlset(u("http://h/a", "<lastmod>2020</lastmod>" + XHTML_PAGE)), ["http://h/a"]),
        (
            rss(item(f"<link>http://h/a</link><description>{XHTML_PAGE}</description>")),
            ["http://h/a"],
        ),
    ],
)
def test_other_markup_costs_no_page(document: str, urls: list[str]) -> None:
    found = read(document.encode())
    assert found.urls == urls
    assert found.complete


WARNING: Final = "<br />\n<b>Warning</b>:  x in <b>/w/s.php</b> on line <b>2</b><br />\n"
NOTICE: Final = "\nNotice: Undefined index: x in /w/s.php on line 12\n"


def with_url(place: str, url: str) -> str:
    """A document that lists a URL, or has it as that of an image."""
    image = f"<image:image><image:loc><![CDATA[{url}]]></image:loc></image:image>"
    version = "https://jsonfeed.org/version/1.1"
    return {
        "loc": lambda: urlset(u(f"<![CDATA[{url}]]>")),
        "escaped": lambda: urlset(u(escape(url))),
        "index": lambda: index(f"<![CDATA[{url}]]>"),
        "image": lambda: urlset(u("http://h/b", image)),
        "link": lambda: rss(item(f"<link><![CDATA[{url}]]></link>")),
        "guid": lambda: rss(item(f"<guid><![CDATA[{url}]]></guid>")),
        "href": lambda: atom(entry(f'<link href="{escape(url)}"/>')),
        "json": lambda: feed(url),
        "raw json": lambda: feed(url).replace("\\n", "\n"),
        "id": lambda: json.dumps({"version": version, "items": [{"id": url, "title": "T"}]}),
    }[place]()


PLACES: Final = (
    "loc",
    "escaped",
    "index",
    "image",
    "link",
    "guid",
    "href",
    "json",
    "raw json",
    "id",
)


@pytest.mark.parametrize("message", [WARNING, NOTICE, WARNING + WARNING, NOTICE + NOTICE])
@pytest.mark.parametrize("url", ["http://h/@b", "http://h/b@", "@http://h/b"])
@pytest.mark.parametrize("place", PLACES)
def test_the_message_of_a_script_is_no_part_of_a_url(place: str, url: str, message: str) -> None:
    document = with_url(place, url.replace("@", message)).encode()
    found = read(document)
    assert found.urls == ["http://h/b"]
    for page in found.pages:
        assert [image["loc"] for image in page["images"] or ()] in ([], ["http://h/b"])
    assert "SM311" in [problem.code for problem in found.problems]
    assert found.complete
    if not document.startswith(b"{"):
        assert_readers_agree([document])


@pytest.mark.parametrize("place", [place for place in PLACES if place != "image"])
def test_a_url_is_skipped_where_the_end_of_the_message_is_missing(place: str) -> None:
    found = read(with_url(place, f"http://h/{WARNING[:30]}b").encode())
    assert not found.urls
    assert not found.complete
    assert "SM209" in [problem.code for problem in found.problems]


@pytest.mark.parametrize(
    "url", ["http://h/?q=<b>x</b>&p", "http://h/<b>Warning</b>/b", "http://h/on line 3"]
)
def test_what_only_looks_like_a_message_is_a_part_of_the_url(url: str) -> None:
    found = read(with_url("loc", url).encode())
    assert found.urls == [url]
    assert found.complete


def test_the_end_of_a_page_after_a_url_costs_nothing() -> None:
    robots = b"User-agent: *\nSitemap: http://h/a</pre></body></html>"
    found = read(robots, url="http://h/robots.txt")
    assert found.urls == ["http://h/a"]
    assert found.complete


@pytest.mark.parametrize(
    ("key", "is_lost"),
    [("irl", True), ("ur", True), ("urls", True), ("external_irl", True), ("image_url", False)],
)
def test_an_item_whose_url_has_a_damaged_key_is_an_error(key: str, *, is_lost: bool) -> None:
    items = [{"id": "1", "url": "http://h/a"}, {"id": "2", key: "http://h/b"}]
    version = "https://jsonfeed.org/version/1.1"
    with_titles = [{"title": "T", **item} for item in items]
    found = read(json.dumps({"version": version, "items": with_titles}).encode())
    assert found.urls == ["http://h/a"]
    assert ("SM209" in [problem.code for problem in found.problems]) == is_lost
    assert found.complete != is_lost


WORDPRESS: Final = (
    '<div id="error"><p class="wpdberror"><strong>WordPress database error:</strong> [Lost]'
    "<br /><code>SELECT x</code></p></div>"
)
XDEBUG: Final = (
    "<br />\n<font><table class='xdebug-error'><tr><th>( ! ) Warning: x on line <i>3</i></th></tr>"
    "</table></font>\n"
)
BLOCKS: Final = (
    WORDPRESS,
    XDEBUG,
    "<Error><Code>InternalError</Code></Error>",
    "<p>Service unavailable</p>",
    "<x:div>x</x:div>",
)


@pytest.mark.parametrize("block", BLOCKS)
def test_a_url_with_a_block_in_the_middle_is_skipped(block: str) -> None:
    document = urlset(u("http://h/a"), u(f"http://h/x{block}y"), u("http://h/c")).encode()
    assert_skipped(read(document, url=URL))
    assert_readers_agree([document])
    items = [item(f"<link>http://h/{url}</link>") for url in ("a", f"x{block}y", "c")]
    assert_skipped(read(rss(*items).encode()))


@pytest.mark.parametrize("tag", ["p", "div", "b", "x"])
def test_an_element_around_a_url_is_not_part_of_it(tag: str) -> None:
    found = read(urlset(u(f"\n<{tag}>http://h/b</{tag}>")).encode())
    assert found.urls == ["http://h/b"]
    assert found.complete


TEXT_IN_TAG: Final = "\nWarning: x in /y.php on line 3\n"
HTML_IN_TAG: Final = "<br />\n<b>Warning</b>:  x in <b>/y.php</b> on line <b>3</b><br />\n"


@pytest.mark.parametrize("message", [TEXT_IN_TAG, TEXT_IN_TAG.replace("Warning", "Fatal error")])
@pytest.mark.parametrize("chunk", [7, 10_000])
def test_a_message_in_a_tag_leaves_no_page(message: str, chunk: int) -> None:
    documents = [
        urlset(u("http://h/a"), f"<url><loc>http://h/b<{message}/loc></url>", u("http://h/c")),
        atom(*map(entry, ('<link href="http://h/a"/>', f'<link href={message}"http://h/b"/>'))),
    ]
    for document in documents:
        data = document.encode()
        found = read(*(data[at : at + chunk] for at in range(0, len(data), chunk)))
        assert {"http://h/a", "http://h/b<", "http://h/c"}.issuperset(found.urls)
        assert not found.complete
        assert_readers_agree([data])


def test_a_message_in_html_in_the_end_tag_of_a_guid_is_an_error() -> None:
    found = read(rss(item(f"<guid>http://h/b<{HTML_IN_TAG}/guid>")).encode())
    assert not found.complete


def test_a_message_in_the_relation_of_a_link_is_removed() -> None:
    links = ('<link href="http://h/a"/>', f'<link rel="altern{TEXT_IN_TAG}ate" href="http://h/b"/>')
    document = atom(*map(entry, links)).encode()
    found = read(document)
    assert found.urls == ["http://h/a", "http://h/b"]
    assert [problem.code for problem in found.problems] == ["SM311"]
    assert_readers_agree([document])


@pytest.mark.parametrize("message", [TEXT_IN_TAG, HTML_IN_TAG])
def test_a_message_in_a_key_is_removed(message: str) -> None:
    found = read(feed("http://h/a", "http://h/b").replace('"url"', f'"url{message}"').encode())
    assert found.urls == ["http://h/a", "http://h/b"]
    assert [problem.code for problem in found.problems] == ["SM311", "SM311"]
    attachment = '"attachments": [{"url": "http://h/v.mp4", "mime_type": "video/mp4"}]'
    feed_with = feed("http://h/a").replace('"title"', f'{attachment}, "title"')
    (page,) = read(feed_with.replace('"mime_type"', f'"mime_type{message}"').encode()).pages
    assert page["videos"]


@pytest.mark.parametrize("junk", [PAGE, XDEBUG, "<script>x()</script>", "Lost connection (111)"])
def test_what_interrupts_a_key_otherwise_is_an_error(junk: str) -> None:
    document = feed("http://h/a", "http://h/b")
    found = read(document.replace('"url"', f'"u{junk}rl"', 1).encode())
    assert found.urls == ["http://h/b"]
    assert not found.complete
