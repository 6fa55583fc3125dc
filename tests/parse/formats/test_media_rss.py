"""Media RSS and enclosures: the images and videos of a feed's items."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.parse.reading import page, problems, rss
from usp.objects.page import SitemapImage, SitemapVideo
from usp.objects.video import VideoPrice, VideoRestriction
from usp.tree import parse

MRSS = 'xmlns:media="http://search.yahoo.com/mrss/"'
MP4 = '<media:content url="http://h/v.mp4" type="video/mp4"'
JPG = '<media:content url="http://h/i.jpg" medium="image"/>'

MORE = """<media:restriction type='uri'>http://h/</media:restriction>
<media:keywords>a, b</media:keywords><media:category>C</media:category>
<media:restriction relationship='deny' type='country'>au us</media:restriction>
<media:price type='rent' price='1.50' currency='EUR'/>
<media:community><media:starRating average='3.5'/><media:statistics views='7'/></media:community>"""


def title(text: str, type_: str = "plain") -> str:
    return f"<media:title type='{type_}'>{text}</media:title>"


def thumbnail(url: str) -> str:
    return f"<media:thumbnail url='{url}'/>"


def item(inside: str) -> str:
    return f"<item><title>T</title><link>http://h/a</link>{inside}</item>"


def image(loc: str, title: str | None = None, caption: str | None = None) -> SitemapImage:
    return SitemapImage(loc, caption=caption, title=title)


def video(loc: str | None = "http://h/v.mp4", **more: object) -> SitemapVideo:
    return SitemapVideo(content_loc=loc, **more)  # type: ignore[arg-type]  # a table of fields


INSIDE = (
    f"{MP4} duration='90'>{title('In')}{thumbnail('http://h/in.jpg')}</media:content>"
    f"{title('Out')}<media:description>D</media:description>{thumbnail('http://h/out.jpg')}"
)
DEFAULT = "<media:content url='http://h/v.webm' type='video/webm' isDefault='true'/>"
ITEMS = [
    ("a video by its type", f"{MP4}/>", None, [video()]),
    (
        "a video by its medium",
        '<media:content url="http://h/v" medium="video"/>',
        None,
        [video("http://h/v")],
    ),
    (
        "a video by its file extension",
        '<media:content url="http://h/v.webm?x=1"/>',
        None,
        [video("http://h/v.webm?x=1")],
    ),
    ("an image by its medium", JPG, [image("http://h/i.jpg")], None),
    (
        "an image by its type",
        '<media:content url="http://h/i" type="image/png"/>',
        [image("http://h/i")],
        None,
    ),
    (
        "medium is preferred to type",
        '<media:content url="http://h/x" medium="image" type="video/mp4"/>',
        [image("http://h/x")],
        None,
    ),
    ("an audio file", '<media:content url="http://h/s.mp3" type="audio/mpeg"/>', None, None),
    (
        "an unspecific type",
        "<enclosure url='http://h/v.mp4' type='application/octet-stream'/>",
        None,
        [video()],
    ),
    ("a document", "<enclosure url='http://h/v.mp4' type='text/html'/>", None, None),
    (
        "a playlist",
        "<media:content url='http://h/v' type='application/vnd.apple.mpegurl'/>",
        None,
        [video("http://h/v")],
    ),
    (
        "a file inside a file",
        (
            f"{MP4}>{title('Out')}<media:content url='http://h/w.mp4'>{title('In')}</media:content>"
            "</media:content>"
        ),
        None,
        [video(title="Out"), video("http://h/w.mp4", title="In")],
    ),
    (
        "a group inside a group",
        (
            f"<media:group>{MP4}/><media:group><media:content url='http://h/w.mp4'/></media:group>"
            "</media:group>"
        ),
        None,
        [video(), video("http://h/w.mp4")],
    ),
    (
        "a flash player",
        '<media:content url="http://h/v/1" type="application/x-shockwave-flash"/>',
        None,
        [video("http://h/v/1")],
    ),
    (
        "inner fields are preferred",
        INSIDE,
        None,
        [video(title="In", description="D", duration=90, thumbnail_loc="http://h/in.jpg")],
    ),
    (
        "fields after a content belong to the item",
        f"{MP4}/>{JPG}{title('Both')}",
        [image("http://h/i.jpg", "Both")],
        [video(title="Both")],
    ),
    (
        "a group is one video",
        f"<media:group>{MP4}/>{DEFAULT}{title('G')}</media:group>{title('Item')}",
        None,
        [video("http://h/v.webm", title="G", renditions=("http://h/v.mp4",))],
    ),
    (
        "the fields of one rendition are those of the video",
        (
            f"<media:group>{DEFAULT}{MP4} duration='90'>{thumbnail('http://h/t.jpg')}"
            f"{title('One')}</media:content>{title('All')}</media:group>"
        ),
        None,
        [
            video(
                "http://h/v.webm",
                title="All",
                duration=90,
                thumbnail_loc="http://h/t.jpg",
                renditions=("http://h/v.mp4",),
            )
        ],
    ),
    (
        "a rendition without a file, and a duplicate",
        (
            "<media:group><media:content><media:player url='http://h/p'/></media:content>"
            f"{MP4}/>{MP4}/></media:group>"
        ),
        None,
        [video(player_loc="http://h/p")],
    ),
    (
        "an image inside a group",
        f"<media:group>{MP4}/>{JPG}</media:group>",
        [image("http://h/i.jpg")],
        [video()],
    ),
    (
        "a thumbnail without a video",
        "<media:thumbnail url='http://h/t.jpg'/>",
        [image("http://h/t.jpg")],
        None,
    ),
    (
        "a thumbnail with the URL as text",
        "<media:thumbnail>http://h/t.jpg</media:thumbnail>",
        [image("http://h/t.jpg")],
        None,
    ),
    (
        "a thumbnail of the image itself",
        f"{JPG}<media:thumbnail url='http://h/i.jpg'/>",
        [image("http://h/i.jpg")],
        None,
    ),
    (
        "a player only",
        "<media:player url='http://h/p'/><media:title>T</media:title>",
        None,
        [video(None, player_loc="http://h/p", title="T")],
    ),
    (
        "a player inside a content",
        "<media:content><media:player url='http://h/p'/></media:content>",
        None,
        [video(None, player_loc="http://h/p")],
    ),
    (
        "all other fields of a video",
        f"<media:group>{MP4}/>{MORE}</media:group>",
        None,
        [
            video(
                tags=("a", "b"),
                category="C",
                restriction=VideoRestriction("deny", ("au", "us")),
                prices=(VideoPrice(Decimal("1.50"), "EUR", "rent"),),
                rating=Decimal("3.5"),
                view_count=7,
            )
        ],
    ),
    (
        "an HTML title",
        f"{MP4}>{title('&lt;b&gt;V&lt;/b&gt; &amp;amp; W', 'html')}</media:content>",
        None,
        [video(title="V & W")],
    ),
    (
        "an enclosure",
        "<enclosure url='http://h/v.mp4' type='video/mp4' length='1'/>",
        None,
        [video()],
    ),
    (
        "an enclosure that is an image",
        "<enclosure url='http://h/i.jpg' type='image/jpeg'/>",
        [image("http://h/i.jpg")],
        None,
    ),
    (
        "the fields of the item are those of its enclosures",
        (
            "<enclosure url='http://h/v.mp4' type='video/mp4'/>"
            "<enclosure url='http://h/i.jpg' type='image/jpeg'/>"
            f"{title('Out')}{thumbnail('http://h/out.jpg')}"
        ),
        [image("http://h/i.jpg", "Out")],
        [video(title="Out", thumbnail_loc="http://h/out.jpg")],
    ),
    (
        "an enclosure that is a medium too",
        f"<enclosure url='http://h/v.mp4' type='video/mp4'/>{MP4}/>",
        None,
        [video()],
    ),
    (
        "no URL",
        "<media:content type='video/mp4'/><media:thumbnail/><enclosure type='image/png'/>",
        None,
        None,
    ),
    ("empty elements", "<media:content/><media:group/><media:title/>", None, None),
    ("upper case", "<MEDIA:CONTENT URL='http://h/v.mp4' TYPE='VIDEO/MP4'/>", None, [video()]),
]


@pytest.mark.parametrize(
    ("what", "inside", "images", "videos"), ITEMS, ids=[row[0] for row in ITEMS]
)
def test_images_and_videos_of_an_item(
    what: str,
    inside: str,
    images: list[SitemapImage] | None,
    videos: list[SitemapVideo] | None,
) -> None:
    read = page(rss(item(inside), namespaces=MRSS))
    assert (read.images, read.videos) == (images, videos), what
    assert (read.to_dict(extended=True)["videos"] is not None) == (videos is not None)


@pytest.mark.parametrize(
    "namespace",
    [
        "",
        'xmlns:media="http://search.yahoo.com/mrss"',
        'xmlns:media="https://search.yahoo.com/mrss/"',
        'xmlns:media="http://tools.search.yahoo.com/mrss/"',
    ],
)
def test_namespaces(namespace: str) -> None:
    assert page(rss(item(f"{MP4}/>"), namespaces=namespace)).videos == [video()]


def test_images_and_videos_of_an_atom_entry() -> None:
    entry = (
        "<entry><title>T</title><link href='http://h/a'/>"
        "<link rel='enclosure' type='image/png' href='/i.png'/>"
        "<link rel='http://www.iana.org/assignments/relation/enclosure' href='/j.png'/>"
        f"<media:group><media:title>V</media:title>{MP4}/></media:group></entry>"
    )
    document = f'<feed xmlns="http://www.w3.org/2005/Atom" {MRSS}>{entry}</feed>'
    (read,) = parse(document, url="http://h/feed").pages
    assert read.videos == [video(title="V")]
    assert read.images == [image("http://h/i.png"), image("http://h/j.png")]


VALUES = [
    (f"{MP4} duration='long'/>", {"SM405"}),
    (f"{MP4}/><media:community><media:starRating average='9'/></media:community>", {"SM405"}),
    (f"{MP4}/><media:restriction relationship='?'>au</media:restriction>", {"SM406"}),
    ("<media:content type='video/mp4'/>", {"SM507"}),
    ("<media:thumbnail/>", {"SM507"}),
    ("<enclosure url=''/>", {"SM507"}),
    ("<media:content url='/v.mp4' type='video/mp4'/>", {"SM302"}),
    (f"{MP4}/>", set()),
]


@pytest.mark.parametrize(("inside", "codes"), VALUES)
def test_problems(inside: str, codes: set[str]) -> None:
    found = {problem.code for problem in problems(rss(item(inside), namespaces=MRSS))}
    assert found == codes


def test_a_long_text_is_not_multiplied_by_the_files_that_share_it() -> None:
    def first_two(description: str) -> list[str | None]:
        files = "".join(f'<media:content url="http://h/{n}.mp4"/>' for n in range(1000))
        shared = f"<media:description>{description}</media:description>"
        item = f"<title>t</title><link>http://h/a</link>{shared}{files}"
        namespace = "xmlns:media='http://search.yahoo.com/mrss/'"
        data = f"<rss {namespace}><channel><item>{item}</item></channel></rss>"
        (only,) = parse(data).pages
        assert only.videos is not None
        assert len(only.videos) == 1000
        return [video.description for video in only.videos[:2]]

    assert first_two("short") == ["short", "short"]
    assert first_two("x" * 10_000) == ["x" * 10_000, None]
