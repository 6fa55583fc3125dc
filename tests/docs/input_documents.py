"""The documents of those rows of ``docs/explanation/what-counts.md`` that can't quote theirs.

One table for each section of the page, or for a few of them. The key is the "input" column of the
row.
"""

from __future__ import annotations

import gzip
import zlib
from typing import Final

from tests.docs.input_documents_wrapped import WRAPPED
from tests.docs.inputs import (
    DECLARATION,
    A,
    AtUrl,
    B,
    C,
    Input,
    Limited,
    Served,
    alternates,
    dated,
    entry,
    feed,
    first,
    images,
    iso,
    item,
    kind,
    robots,
    story,
    title,
    with_image,
)
from tests.parse.reading import IMAGE, SM, atom, index, u, urlset

TWO: Final = urlset(u(A), u(B))
T, LINK = "<title>T</title>", f"<link>{A}</link>"
RDF: Final = (
    'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"'
)
IMAGE_I: Final = "<image:image><image:loc>http://h/i</image:loc></image:image>"
DATE: Final = "<news:publication_date>2020-05-06</news:publication_date>"


def news(inside: str) -> str:
    return urlset(u(A, f"<news:news>{inside}</news:news>"))


def link(attributes: str) -> str:
    return urlset(u(A, f'<xhtml:link rel="alternate" {attributes} href="http://h/de"/>'))


def rooted(namespace: str, entries: str = u(A)) -> str:
    return f'<urlset xmlns="{namespace}">{entries}</urlset>'


def json_feed(*items: str) -> str:
    return f'{{"version": "https://jsonfeed.org/version/1.1", "items": [{", ".join(items)}]}}'


def json_item(url: str, title: str = '"T"') -> str:
    return f'{{"id": "{url}", "title": {title}}}'


KINDS: Final[dict[str, Input]] = {
    "a `<urlset>`": (rooted("http://www.sitemaps.org/schemas/sitemap/0.9", u(A) + u(B)), kind),
    "a `<sitemapindex>`": (index(A, B), kind),
    "an `<rss>` feed": (f"<rss><channel>{item(T + LINK)}</channel></rss>", kind),
    "an `<rdf:RDF>` feed": (
        f"<rdf:RDF {RDF}>{item(T + LINK)}</rdf:RDF>",
        kind,
    ),
    "a `<feed>`": (atom(entry(f'{T}<link href="{A}"/>')), kind),
    "a `<feed` of Atom 0.3": (
        f'<feed xmlns="http://purl.org/atom/ns#">{entry(f"""{T}<link href="{A}"/>""")}</feed>',
        kind,
    ),
    'a feed with a `"version"` of jsonfeed.org': (json_feed(json_item(A), json_item(B)), kind),
    'a JSON Feed with a URL as an item: `"http://h/b"`': (json_feed(json_item(A), f'"{B}"'), kind),
    "a JSON Feed none of whose items is an object": (json_feed("1", '"words"'), kind),
    "a comment of more than 1 MiB before the root": (f"<!--{'x' * 1_100_000}-->{TWO}", kind),
    "a truncated JSON Feed": (json_feed(json_item(A), json_item(B))[:-5], kind),
    'a JSON Feed with a malformed item: `"title": "5" kites"`': (
        json_feed(json_item(A), json_item(B, '"5" kites"'), json_item(C)),
        kind,
    ),
    'a JSON Feed with the keys of two items in one: `"title": "T", "title": "U"`': (
        json_feed(json_item(A, '"T", "title": "U"')),
        kind,
    ),
    "a JSON Feed with brackets too many: `]}`": (
        json_feed(json_item(A), json_item(B)) + "]}",
        kind,
    ),
    "lines of URLs": (f"{A}\n{B}\n", kind),
    "a robots.txt": (robots(f"Sitemap: {A}\nSitemap: {B}\n"), kind),
    "a `<urlset>` without entries": (urlset(), kind),
    "a feed without items": ("<rss><channel><title>T</title></channel></rss>", kind),
    "a feed with an unknown element instead of items: `<itm>`": (
        f"<rss><channel>{T}<itm>{T}{LINK}</itm></channel></rss>",
        kind,
    ),
    "RDF without a channel: `<foaf:Person`": (
        f'<rdf:RDF {RDF} xmlns:foaf="http://xmlns.com/foaf/0.1/"><foaf:Person/></rdf:RDF>',
        kind,
    ),
    "an empty body": ("", kind),
    'JSON: `["http://h/a"]`': ('["http://h/a"]', kind),
    "text without a URL": ("Come back soon.", kind),
    "an HTML page": ("<!DOCTYPE html><html><body>No</body></html>", kind),
    "an HTML page around a `<urlset`": (f"<html><body>{TWO}</body></html>", kind),
    "another XML document: `<Error>`": ("<Error><Code>AccessDenied</Code></Error>", kind),
}
AROUND: Final[dict[str, Input]] = {
    "one byte order mark": f"\ufeff{DECLARATION}{TWO}",
    "several byte order marks": f"\ufeff\ufeff{DECLARATION}{TWO}",
    "a newline before `<?xml`": f"\n{DECLARATION}{TWO}",
    "a newline before `<urlset` without a declaration": f"\n{TWO}",
    "6,000 spaces before `<?xml`": " \n\t" * 2000 + DECLARATION + TWO,
    "a null character before `<urlset`": f"\0{TWO}",
    "a comment before `<?xml`": f"<!-- hello -->{DECLARATION}{TWO}",
    'a declaration that ends without its question mark: `encoding="UTF-8">`': (
        DECLARATION.replace("?>", ">") + TWO
    ),
    "a script before the document: `<script>`": f"<script>x()</script>{DECLARATION}{TWO}",
    "a PHP warning as HTML: `<b>Warning</b>`": f"<br />\n<b>Warning</b>: x\n{DECLARATION}{TWO}",
    "a PHP notice as text: `Notice: x`": f"Notice: x in y.php on line 3\n{TWO}",
    "`<pre>` around the document": f"<pre>{TWO}</pre>",
    "HTTP headers in the body: `Content-Type: text/xml`": f"Content-Type: text/xml\r\n\r\n{TWO}",
    "a browser's message: `This XML file does not appear`": (
        f"This XML file does not appear to have any style information.\n{TWO}"
    ),
    "the hyphens of a browser's XML view: `-<urlset`": (
        f"{DECLARATION}-<urlset {SM}>\n-{u(A)}\n-{u(B)}\n</urlset>"
    ),
    "a comment before `<urlset`": f"<!-- hello -->{TWO}",
    "a stylesheet: `<?xml-stylesheet`": f'<?xml-stylesheet type="text/xsl" href="/x.xsl"?>{TWO}',
    "`<!DOCTYPE urlset>`": f"<!DOCTYPE urlset>{TWO}",
    'an external DTD: `SYSTEM "http://h/x.dtd"`': f'<!DOCTYPE urlset SYSTEM "http://h/x.dtd">{TWO}',
    "an element declaration: `<!ELEMENT urlset ANY>`": (
        f"<!DOCTYPE urlset [<!ELEMENT urlset ANY>]>{TWO}"
    ),
    "text after the root: `bye`": f"{TWO}bye",
    "tags after the root: `<br/>`": f"{TWO}<br/>",
    "a comment after the root: `<!-- made in 3 s -->`": f"{TWO}<!-- made in 3 s -->",
    "another `<url>` after the root": f"{TWO}{u(C)}",
    "another `<urlset` after the root": TWO + urlset(u(C)),
    "an `<rss>` after the root": f"{TWO}<rss><channel>{item(T + LINK)}</channel></rss>",
    "lines of URLs before `<?xml`": f"{C}\n{C}/2\n{DECLARATION}{TWO}",
    "lines of URLs after the root": f"{TWO}\n{C}\n",
}
MALFORMED: Final[dict[str, Input]] = {
    "a raw control character": urlset(u(A), u("http://h/x\x01y"), u(C)),
    "a `<url>` that is never closed, then another": urlset(u(A), f"<url><loc>{B}</loc>", u(C)),
    "a `<url>` that ends in its `<loc>`, then another": urlset(u(A), "<url><loc>http://h/x", u(C)),
    "a `<url` without anything else": urlset(u(A), "<url", u(C)),
    "a malformed root: `xmlns=http://h/mine`": (
        f"<urlset xmlns=http://h/mine>{u(A)}{u(B)}</urlset>"
    ),
    'a root that is cut off: `xmlns="http://www.sitemaps.orl>`': (
        f'<urlset xmlns="http://www.sitemaps.orl>{u(A)}{u(B)}</urlset>'
    ),
    "an index with a bare `&`": index(A, "http://h/?q=1&p=2"),
    "a feed with a bare `&`": feed(item(LINK + T), item(f"<link>{B}</link><title>a & b</title>")),
    "a feed with a title that is cut to nothing: `<title><link>http://h/b`": feed(
        item(LINK + T), item(f"<title><link>{B}</link><description>D</description>")
    ),
    "a feed whose header is joined to a later item: `</title><link>http://h/b</link></item>`": feed(
        f"{T}<link>{B}</link></item>", item(LINK + T)
    ),
    "a feed with a fault in its header: `<title>A & B</title>`": feed(
        "<title>A & B</title>", item(LINK + T)
    ),
    "a feed whose header is cut off: `<description>Al`": feed(
        f"{T}<description>Al", item(LINK + T)
    ),
    "a feed with an unclosed `<link>http://h/b<category>`": feed(
        item(LINK + T), item(f"{T}<link>{B}<category>c</category>")
    ),
    "an Atom feed with an unclosed `<link>` without a URL, then `<author>`": (
        f'<feed xmlns="http://www.w3.org/2005/Atom"><entry>{T}<link href="{A}"/></entry>'
        f"<entry>{T}<link rel='alternate'><author><name>Bob</name></author></entry></feed>"
    ),
    "a urlset truncated after an entry": f"<urlset {SM}>{u(A)}{u(B)}",
    "a urlset truncated within a URL": f"<urlset {SM}>{u(A)}{u(B)}<url><loc>http://h/",
    "a urlset truncated after a `<loc>`": f"<urlset {SM}>{u(A)}{u(B)}<url><loc>{C}</loc>",
    "a urlset truncated within its end tag: `</urls`": TWO.removesuffix("et>"),
    "another `<urlset` after the root, truncated after an entry": f"{TWO}<urlset {SM}>{u(C)}",
    "an index truncated after a `<loc>`": index(A, B).removesuffix("</sitemap></sitemapindex>"),
    "an index truncated within a URL": index(A, B).removesuffix("b</loc></sitemap></sitemapindex>"),
    "a feed truncated within an item": f"<rss><channel>{item(T + LINK)}<item>{T}<link>http:",
    "a urlset that begins within its root tag": f'/sitemap/0.9">{u(A)}{u(B)}</urlset>',
    "a urlset that begins within the end tag of an entry: `/url>`": f"/url>{u(B)}{u(C)}</urlset>",
    "a urlset with prefixes that begins within an entry: `<sm:loc>`": (
        f"//h/a</loc></url>{u(B)}{u(C)}</urlset>".replace("</", "</sm:").replace("<u", "<sm:u")
    ).replace("<loc", "<sm:loc"),
    "a urlset that begins within an entry": f"//h/a</loc></url>{u(B)}{u(C)}</urlset>",
    "an index that begins within an entry": index(A, B).partition("<loc>")[2],
    "a feed that begins within its logo: `<image><url>`": (
        f">C</title><image><url>{B}</url></image>{item(T + LINK)}</channel></rss>"
    ),
    "a feed that begins within an item": f"T</title></item>{item(T + LINK)}</channel></rss>",
}
NAMES: Final[dict[str, Input]] = {
    "tags in upper case: `<URL><LOC>`": f"<urlset {SM}><URL><LOC>{A}</LOC></URL></urlset>",
    "no namespace: `<urlset>`": f"<urlset>{u(A)}</urlset>",
    "an unknown namespace: `http://h/mine`": rooted("http://h/mine"),
    "the namespace with https: `https://www.sitemaps.org/`": rooted(
        "https://www.sitemaps.org/schemas/sitemap/0.9"
    ),
    "the oldest namespace: `http://www.google.com/schemas/sitemap/0.84`": rooted(
        "http://www.google.com/schemas/sitemap/0.84"
    ),
    "a prefix: `<sm:loc>`": (
        '<sm:urlset xmlns:sm="http://www.sitemaps.org/schemas/sitemap/0.9">'
        f"<sm:url><sm:loc>{A}</sm:loc></sm:url></sm:urlset>"
    ),
    "an undeclared prefix: `<sm:loc>`": (
        f"<sm:urlset><sm:url><sm:loc>{A}</sm:loc></sm:url></sm:urlset>"
    ),
    'an element with another namespace around the entries: `<x xmlns="http://h/mine">`': (
        urlset(f'<x xmlns="http://h/mine">{u(A)}</x>')
    ),
    'an entry without the root\'s namespace: `<url xmlns="">`': (
        urlset(f'<url xmlns=""><loc>{A}</loc></url>')
    ),
    "an undeclared `image:`": (urlset(u(A, IMAGE_I), namespaces=SM), with_image),
    "`image:` bound to another namespace": (
        urlset(u(A, IMAGE_I), namespaces=f'{SM} xmlns:image="http://h/mine"'),
        with_image,
    ),
    "a quote in the namespace of `image:`: `\"'http`": (
        urlset(u(A, IMAGE_I), namespaces=f"{SM} {IMAGE.replace('http', chr(39) + 'http')}"),
        with_image,
    ),
    "the image namespace under another prefix: `<pic:loc>`": (
        urlset(u(A, IMAGE_I)).replace("image:", "pic:").replace(":image=", ":pic="),
        with_image,
    ),
    "the namespace of RDF under another prefix: `<item r:about=`": (
        f'<r:RDF {RDF.replace(":rdf=", ":r=")}><item r:about="{A}">{T}</item></r:RDF>'
    ),
    "an unknown element between entries: `<x>y</x>`": urlset(u(A), "<x>y</x>", u(B)),
    "an unknown element with a `<loc>` in an entry": urlset(u(A, f"<x><loc>{C}</loc></x>"), u(B)),
    "an unknown element with a `<url>` in an entry": urlset(u(A, f"<x><url>{C}</url></x>"), u(B)),
}
STRUCTURE: Final[dict[str, Input]] = {
    "a `<sitemap>` in a urlset": (urlset(u(A), f"<sitemap><loc>{B}</loc></sitemap>"), kind),
    "a sitemap in a urlset, in capitals: `<SITEMAP>`": (
        urlset(u(A), f"<SITEMAP><LOC>{B}</LOC></SITEMAP>"),
        kind,
    ),
    "a `<siteMap>` after 10 kB of a urlset": (
        urlset(u(A), f"<!--{'x' * 10_000}-->", f"<siteMap><loc>{B}</loc></siteMap>"),
        kind,
    ),
    "a `<url>` in an index": (index(B).replace("<sitemap>", f"{u(A)}<sitemap>"), kind),
    "a `<urlset` in a urlset": (urlset(urlset(u(A)), u(B)), kind),
    "a `<urlset` in an index": (f"<sitemapindex {SM}>{urlset(u(A))}</sitemapindex>", kind),
    "`<url>` entries without a root": (u(A) + u(B), kind),
    "an `<item>` without a root": (item(T + LINK), kind),
    "one `<sitemap` as the root": (f"<sitemap {SM}><loc>{A}</loc></sitemap>", kind),
    "one `<url` as the root": (f"<url {SM}><loc>{A}</loc></url>", kind),
    "a URL as text in a `<sitemap>`": (index(A).replace("<loc>", "").replace("</loc>", ""), kind),
    "a URL as text in a `<url>`": (urlset(f"<url>{A}</url>"), kind),
    "a `<loc>` outside of any entry": (urlset(f"<loc>{A}</loc><loc>{B}</loc>"), kind),
    "a `<loc>` outside of any entry of an index": (
        f"<sitemapindex {SM}><loc>{A}</loc><loc>{B}</loc></sitemapindex>",
        kind,
    ),
    "an `<item>` in a urlset": (urlset(u(A), item(T + LINK)), kind),
    "text between entries": (urlset(u(A), "words", u(B)), kind),
    "two `<loc>` in a `<url>`": (urlset(f"<url><loc>{A}</loc><loc>{B}</loc></url>"), kind),
    "two `<loc>` in a `<sitemap>`": (index(f"{A}</loc><loc>{B}"), kind),
    "a `<url>` without `<loc>`": (
        urlset(u(A), "<url><priority>1</priority></url>", u(B)),
        kind,
    ),
    "a `<url>` with another element instead: `<note>hi</note>`": (
        urlset(u(A), "<url><note>hi</note></url>", u(B)),
        kind,
    ),
    "an empty `<loc/>`": (urlset(u(A), "<url><loc/></url>", u(B)), kind),
    "an empty `<loc/>` in every entry": (urlset(*["<url><loc/></url>"] * 2), kind),
    "a page listed twice in one file": (urlset(u(A), u(B), u(f" {A} ")), kind),
    "a sub-sitemap listed twice in one index": (index(A, B, A), kind),
}
VALUES: Final[dict[str, Input]] = {
    "whitespace and newlines around the URL": urlset(u(f"\n\t {B} \r\n")),
    "no-break and zero-width spaces around the URL": urlset(u(f"\xa0\u200b{B}\ufeff")),
    "a line break within the URL": urlset(u("http://h/x\n/y")),
    "a relative URL in a string that has no URL": urlset(u("/x")),
    "a relative sub-sitemap: `../x`": AtUrl("http://h/maps/s.xml", index("../x")),
    "an empty `<lastmod/>`": (
        urlset(u(A, "<lastmod/>")),
        first(lambda page: [iso(page.last_modified)]),
    ),
    "two `<lastmod>`, the first of which is not a date": (
        urlset(u(A, "<lastmod>soon</lastmod><lastmod>2020</lastmod>")),
        first(lambda page: [iso(page.last_modified)]),
    ),
    "a story with `<news:genres>Blog, Opinion</news:genres>`": (
        news(f"<news:title>T</news:title>{DATE}<news:genres>Blog, Opinion</news:genres>"),
        first(lambda page: story(page).genres),
    ),
    "a title escaped twice: `Fish &amp;amp; chips`": (
        news(f"<news:title> Fish &amp;amp; chips </news:title>{DATE}"),
        title,
    ),
    "a story with an empty `<news:title/>`": news(f"<news:title/>{DATE}"),
    "two stories in an entry": (
        news("<news:title>T</news:title></news:news><news:news><news:title>U</news:title>"),
        title,
    ),
    "a story without a date": (
        news("<news:title>T</news:title>"),
        first(lambda page: [page.title or "None", str(page.news_story)]),
    ),
    "an image with an empty `<image:loc/>`, then a valid one": (
        urlset(u(A, f"<image:image><image:loc/></image:image>{IMAGE_I}")),
        images,
    ),
    "an image whose URL is relative: `/i`": (urlset(u(A, IMAGE_I.replace("http://h", ""))), images),
    "a `<loc>` without prefix inside `<image:image>`": (
        urlset(u(A, IMAGE_I.replace("image:loc", "loc"))),
        images,
    ),
    "an `<image:loc>` without its group around it": (
        urlset(u(A, "<image:loc>http://h/i</image:loc>")),
        images,
    ),
    'an alternate with `hreflang="de"`': (link('hreflang="de"'), alternates),
    "an alternate as `<link` without its namespace": (
        link('hreflang="de"').replace("xhtml:link", "link"),
        alternates,
    ),
    "an alternate without a language": (link(""), alternates),
    "an alternate without its `href`": (
        urlset(u(A, '<xhtml:link rel="alternate" hreflang="de"/>')),
        alternates,
    ),
    "an Atom title of type html: `&lt;b&gt;T&lt;/b&gt;`": (
        atom(entry(f'<title type="html">&lt;b&gt;T&lt;/b&gt;</title><link href="{A}"/>')),
        title,
    ),
    "a `<media:title>` beside the item's own title": (
        feed(item(f"<media:title>M</media:title>{T}{LINK}")),
        title,
    ),
    "a `<pubDate>` that is not a date, and a `<dc:date>`": (
        feed(item(f"{T}{LINK}<pubDate>soon</pubDate><dc:date>2020-05-06</dc:date>")),
        dated,
    ),
    "`<updated>` and `<published>`": (
        atom(
            entry(
                f'{T}<link href="{A}"/><updated>2021-01-01</updated>'
                "<published>2020-01-01</published>"
            )
        ),
        dated,
    ),
}


# Bytes


def declared(name: str, codec: str, url: str = "http://h/é") -> bytes:
    return f'<?xml version="1.0" encoding="{name}"?>{urlset(u(url))}'.encode(codec)


WARNING: Final = "<br />\n<b>Warning</b>:  x in <b>y.php</b> on line <b>3</b><br />\n"
GZIPPED: Final = gzip.compress(TWO.encode())
ENCODINGS: Final[dict[str, Input]] = {
    "UTF-8 without a declaration": urlset(u("http://h/é")).encode(),
    'a byte order mark against `encoding="ISO-8859-1"`': declared("ISO-8859-1", "utf-8-sig"),
    "UTF-16 with a byte order mark": declared("UTF-16", "utf-16"),
    "UTF-16 without a byte order mark": declared("UTF-16", "utf-16-le"),
    "UTF-32 with a byte order mark": declared("UTF-32", "utf-32"),
    'UTF-8 that declares `encoding="UTF-16"`': declared("UTF-16", "utf-8"),
    'ASCII that declares `encoding="cp037"`': declared("cp037", "ascii", A),
    'the HTTP charset against `encoding="UTF-8"`': Served(
        "/s.xml",
        declared("UTF-8", "cp1251", "http://h/ж"),
        {"Content-Type": "text/xml; charset=windows-1251"},
    ),
    '`encoding="ISO-8859-1"`': declared("ISO-8859-1", "latin-1"),
    '`encoding="ISO-8859-1"` with characters of windows-1252': declared(
        "ISO-8859-1", "cp1252", "http://h/€"
    ),
    '`encoding="us-ascii"` with UTF-8': declared("us-ascii", "utf-8"),
    '`encoding="x-sjis"`': declared("x-sjis", "cp932", "http://h/日"),
    '`encoding="windows-1251"`': declared("windows-1251", "cp1251", "http://h/ж"),
    '`encoding="Shift_JIS"` with characters of windows-31j': declared(
        "Shift_JIS", "cp932", "http://h/①"
    ),
    '`encoding="gb2312"` with characters of GBK': declared("gb2312", "gbk", "http://h/镕"),
    '`encoding="big5"`': declared("big5", "big5", "http://h/中"),
    '`encoding="euc-jp"`': declared("euc-jp", "euc-jp", "http://h/日"),
    'an unknown name: `encoding="no-such"`': declared("no-such", "utf-8"),
    "invalid bytes": urlset(u(A), u("http://h/é")).encode("latin-1"),
    'a string that declares `encoding="UTF-16"`': declared("UTF-16", "utf-8").decode(),
    "text in UTF-32 that has lost a byte": f"{A}\n".encode("utf-32-be")
    + f"{B}\n".encode("utf-32-be")[1:],
    "text in UTF-16": f"{A}\nhttp://h/é\n".encode("utf-16"),
    "a sitemap, and another one in UTF-16 after it": urlset(u(A)).encode()
    + urlset(u(B)).encode("utf-16"),
}
COMPRESSION: Final[dict[str, Input]] = {
    "gzip under the name of XML: `/s.xml`": Served("/s.xml", GZIPPED, {"Content-Type": "text/xml"}),
    "plain XML under a name with `.gz`": Served(
        "/s.xml.gz", TWO.encode(), {"Content-Type": "application/gzip"}
    ),
    "gzip in gzip": gzip.compress(GZIPPED),
    "gzip, four times": gzip.compress(gzip.compress(gzip.compress(GZIPPED))),
    "gzip after a line break": b"\r\n" + GZIPPED,
    "`Content-Encoding: gzip` around a `.gz`": Served(
        "/s.xml.gz", gzip.compress(GZIPPED), {"Content-Encoding": "gzip"}
    ),
    "several gzip members": gzip.compress(TWO[:50].encode()) + gzip.compress(TWO[50:].encode()),
    "zeros after the last member": GZIPPED + bytes(100),
    "junk after the last member": GZIPPED + b"junk",
    "gzip without its end": GZIPPED[:-8],
    "gzip with a wrong checksum": GZIPPED[:-8] + bytes(8),
    "zlib": zlib.compress(TWO.encode()),
    "gzipped text": gzip.compress(f"{A}\n{B}".encode()),
    "gzip of an empty file": gzip.compress(b""),
    "empty gzip members, 100,000, in gzip": gzip.compress(gzip.compress(b"") * 100_000),
}
LINES: Final[dict[str, Input]] = {
    "a line break after the colon": robots(f"Sitemap:\n{A}"),
    "a script's warning inside of the URL: `<b>Warning</b>`": robots(
        f"Sitemap: {A}\nSitemap: http://h/{WARNING}b\n"
    ),
    "a script's error inside of the URL: `<b>Fatal error</b>`": robots(
        f"Sitemap: {A}\nSitemap: {B}{WARNING.replace('Warning', 'Fatal error')}"
    ),
    "lines that end in CR": robots(f"Sitemap: {A}\rSitemap: {B}\r"),
    "a byte order mark at the start": robots(f"\ufeffSitemap: {A}"),
    "a `Sitemap:` in the group of a `User-agent:`": robots(
        f"User-agent: *\nDisallow: /\nSitemap: {A}\nAllow: /x"
    ),
    "a sitemap listed twice": robots(f"Sitemap: {A}\nsitemap: {A}"),
    "an HTML page with `Sitemap: http://h/a`": robots(f"<html>\nSitemap: {A}\n</html>"),
    "lines that end in CR LF, with spaces around": f"  {A}\t\r\n\r\n{B}\r\n",
    "a byte order mark at the start of the text": f"\ufeff{A}\n{B}",
    r"line breaks as escape sequences: `http://h/a\nhttp://h/b`": rf"{A}\n{B}\n",
    "text between the URLs": f"Our pages:\n{A}\nand\n{B}\n",
    "a script's warning inside of a URL: `<b>Warning</b>`": f"{A}\nhttp://h/{WARNING}b\n",
    "a script's warning after half of a URL: `Warning: x in y.php on line 3`": (
        f"{A}\nhttp://h/\nWarning: x in y.php on line 3\nb\n{C}\n"
    ),
    "a script's error after the URLs: `Fatal error: x in y.php on line 3`": (
        f"{A}\n{B}\n\nFatal error: x in y.php on line 3\n"
    ),
    "two URLs without a line break between them: `http://h/bhttp://h/c`": f"{A}\n{B}{C}\n",
    "an error page inside of a URL: `http://h/x<html>`": (
        f"{A}\nhttp://h/x<html>\n<body>502</body></html>y\n{B}\n"
    ),
    "a part of an error page inside of a URL: `http://h/x<h1>502</h1>http://h/c`": (
        f"{A}\nhttp://h/x<h1>502</h1>{C}\n{B}\n"
    ),
    "an error of a storage service before a URL: `<Error><Code>x</Code></Error>http://h/x`": (
        f"{A}\n<Error><Code>x</Code></Error>http://h/x\n{B}\n"
    ),
    "`ftp://h/x` and `/x` between the URLs": f"{A}\nftp://h/x\n/x\n{B}\n",
    "`http://h/x y` and `http://h/<x>` between the URLs": f"{A}\nhttp://h/x y\nhttp://h/<x>\n{B}",
    "a comma-separated table: `http://h/x,2020`": "http://h/x,2020\n",
    "a URL listed twice": f"{A}\n{B}\n{A}\n",
    "text that is truncated within a URL": gzip.compress(f"{A}\n{B}\n{C}".encode(), 0)[:-9],
    "text that ends inside of `http`": f"{A}\n{B}\nhtt",
    "text that ends inside of a character": f"{A}\n{B}\nhttp://h/é".encode()[:-1],
    "text without a line break at its end": f"{A}\n{B}",
    "text larger than the limit": Limited(27, f"{A}\n{B}\n{C}\n"),
    "`http://h/?q=1&amp;p=2` on a line": "http://h/?q=1&amp;p=2",
}
SECURITY: Final[dict[str, Input]] = {
    "a DOCTYPE with an `<!ENTITY`": (f'<!DOCTYPE urlset [<!ENTITY x "y">]>{TWO}', kind),
    "a DOCTYPE with an external `<!ENTITY`": (
        f'<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/hostname">]>{TWO}',
        kind,
    ),
    "an `<!ENTITY` in a DOCTYPE between entries": urlset(
        u(A), '<!DOCTYPE x [<!ENTITY x "y">]>', u("http://h/&x;"), u(C)
    ),
    "an entry of 3 MB": urlset(u(A), u(B, f"<x>{'y' * 3_000_000}</x>"), u(C)),
    "100,000 nested tags": urlset(u(A), "<x>" * 100_000, u(C)),
    "10,000 attributes in a `<url`": urlset(
        u(A), u(B).replace("<url", "<url " + " ".join(f'x{n}="y"' for n in range(10_000))), u(C)
    ),
    "an attribute of 3 MB in a `<url`": urlset(
        u(A), u(B).replace("<url", f'<url x="{"y" * 3_000_000}"'), u(C)
    ),
    "a document larger than the limit": Limited(150, urlset(u(A), u(B), u(C), namespaces=SM)),
}

DOCUMENTS: Final[dict[str, Input]] = {
    **KINDS,
    **AROUND,
    **MALFORMED,
    **NAMES,
    **STRUCTURE,
    **VALUES,
    **ENCODINGS,
    **COMPRESSION,
    **LINES,
    **SECURITY,
    **WRAPPED,
}
