"""The tokens of the growth target: parts of documents of every format, and faults in them."""

from __future__ import annotations

from itertools import accumulate
from typing import Final

_COMMON: Final = (
    b"<a>", b"</a>", b"<b>", b"</b>", b"<a/>", b"<a@>", b"</a@>", b"<a@/>", b"<p@:a>", b"</p@:a>",
    b"<p@:a/>", b"<a ", b" a=''", b" a@=''", b' a="', b" a=", b' a=\\"', b" a=&quot;", b"'", b'"',
    b"<", b">", b"/>", b"</", b"&", b"&amp;", b"&a;", b"&#38;", b"&#1;", b"&#x", b"&lt;", b";",
    b"]]>", b"]]", b"]", b"<![CDATA[", b"<!--", b"-->", b"--", b"-", b"<?a", b"?>", b"<!a ",
    b"<!DOCTYPE a [", b"<!ENTITY a 'b'>", b"]>", b"\n", b" ", b"\t", b"\r", b"\r\n", b"\x0b", b"\0",
    b"\x01", b"\xc3\xa9", b"\xff", b"\xe2\x80\xa8", b"\xc2\xa0", b"\xef\xbf\xbe", b"x", b"@", b"/",
    b"\\", b"\\n", b'\\"', b"=", b":", b",", b" xmlns:p@='u@'", b" xmlns='u@'", b" xml:base='/@/'",
    b" xmlns:image='http://www.google.com/schemas/sitemap-image/1.1'", b"http://h.example/@",
    b"https://h.example/a?b=1&c=@", b"/x@", b"//h@.example/", b"ftp://h/", b"2024-05-01", b"soon",
    b"Wed, 01 May 2024 10:00:00 GMT", b"2024-05-01T25:00:00Z", b"0.5", b"9", b"daily", b"yes",
    b"<loc>", b"</loc>", b"<link>", b"</link>", b"<title>", b"</title>", b"{", b"}", b"[",
)  # fmt: skip
_SITEMAP: Final = (
    (
        b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'"
        b" xmlns:image='http://www.google.com/schemas/sitemap-image/1.1'"
        b" xmlns:video='http://www.google.com/schemas/sitemap-video/1.1'"
        b" xmlns:xhtml='http://www.w3.org/1999/xhtml'>"
    ),
    b"<urlset>", b"</urlset>", b"<sm:urlset>", b"<sitemapindex>", b"</sitemapindex>", b"<url>",
    b"</url>", b"<URL>", b"<url ", b"<sm:url>", b"</sm:url>", b"< url >", b"<sitemap>",
    b"</sitemap>", b"<loc/>", b"<loc ", b"<lastmod>", b"</lastmod>", b"<changefreq>",
    b"<url><loc>http://h.example/@</loc></url>", b"<url><loc>http://h.example/@</loc>",
    b"<url><loc>http://h.example/@</loc><lastmod>2024-05-01</lastmod></url>",
    b"<url><loc>/@?a&b</loc></url>", b"<url><loc>http://h.example/@</loc><lastmod>x@</lastmod></url>",
    b"<url><loc>http://h.example/@</loc><a@>x</a@></url>",
    b"<url><loc>http://h.example/@</loc><p@:a>x</p@:a></url>",
    b"<sitemap><loc>http://h.example/@.xml</loc></sitemap>", b"<priority>0.@</priority>",
    b"<image:image><image:loc>/@.png</image:loc></image:image>", b"<image:image>",
    b"</image:image>", b"<image:loc>", b"<news:news>", b"</news:news>",
    b"<news:title>x</news:title>",
    b"<news:publication><news:name>x@</news:name></news:publication>", b"<news:genres>",
    b"<video:video><video:content_loc>/@.mp4</video:content_loc></video:video>", b"<video:video>",
    b"</video:video>", b"<video:tag>x</video:tag>", b"<video:price currency='EUR'>1</video:price>",
    b"<xhtml:link rel='alternate' hreflang='de' href='/de/@'/>", b"<xhtml:link a@='' href='@'/>",
    b"<PageMap>", b"</PageMap>", b"<DataObject type='a'>", b"<Attribute name='a' value='@'/>",
)  # fmt: skip
_FEED: Final = (
    (
        b"<rss version='2.0' xmlns:media='http://search.yahoo.com/mrss/'"
        b" xmlns:atom='http://www.w3.org/2005/Atom'><channel>"
    ),
    b"<feed xmlns='http://www.w3.org/2005/Atom' xmlns:media='http://search.yahoo.com/mrss/'>",
    b"<rdf:RDF xmlns='http://purl.org/rss/1.0/'>", b"</rss>", b"<channel>", b"</channel>",
    b"</feed>", b"<item>", b"</item>", b"<entry>", b"</entry>", b"<item rdf:about='/@'>",
    b"<link>http://h.example/@</link>", b"<link href='/@'/>", b"<link rel='enclosure' href='/@'/>",
    b"<atom:link href='/@'/>", b"<guid>http://h.example/@</guid>", b"<guid isPermaLink='false'>",
    b"</guid>", b"<item><title>T</title><link>http://h.example/@</link></item>",
    b"<entry><title>T</title><link href='http://h.example/@'/></entry>",
    b"<pubDate>Wed, 01 May 2024 10:00:00 GMT</pubDate>", b"<updated>2024-05-01</updated>",
    b"<enclosure url='/@.mp4' type='video/mp4'/>", b"<dc:date>2024</dc:date>", b"<description>",
    b"</description>", b"<content type='xhtml'>", b"</content>", b"<summary>",
    b"<media:content url='/@.mp4' medium='video'>", b"<media:content url='/@.mp4'/>",
    b"</media:content>", b"<media:group>", b"</media:group>", b"<media:thumbnail url='/@.png'/>",
    b"<media:title>x</media:title>", b"<media:category>x@</media:category>",
    b"<media:player url='/@'/>", b"<media:restriction relationship='allow'>de</media:restriction>",
)  # fmt: skip
_JSON: Final = (
    b'{"version":"https://jsonfeed.org/version/1.1","title":"T","items":[', b'"items":[',
    b'{"id":"@","url":"http://h.example/@"},', b'{"url":"http://h.example/@",', b'"url":"',
    b'"id":"',
    b'{"id":"@"', b'"title":"x",', b'"a@":', b'"attachments":[',
    b'{"url":"/@.mp4","mime_type":"video/mp4"},', b'"date_published":"2024-05-01",', b'"_a":{',
    b"\\u0041", b"\\x", b"\\ud800", b"null,", b"true", b"1e9", b"-1,", b'"a",', b'"', b'","', b"[[",
    b"]]", b"{}", b"//", b"/*",
)  # fmt: skip
_LINES: Final = (
    b"User-agent: *\n", b"Sitemap: http://h.example/@.xml\n", b"Sitemap:", b"sitemap: /@.xml\r",
    b"Disallow: /\n", b"# x\n", b"http://h.example/@\n", b"http://h.example/@ ", b"/x@\n",
    b"Site-map : ", b"<br>", b"https://", b"words and words\n", b"@,http://h.example/@\n", b"*",
    b"http://h.example/" + b"x" * 80, b"Sitemap: \\n", b"#",
)  # fmt: skip
_HTML: Final = (
    b"<!DOCTYPE html><html><head>", b"<html>", b"<head>", b"</head>", b"<body>",
    b"<link rel='sitemap' href='/@.xml'>", b"<link rel='alternate' type='application/rss+xml'",
    b" href='/@.xml'", b"<link ", b"rel=", b"<base href='/@/'>", b"<a href='/sitemap@.xml'>",
    b"<script>", b"</script>", b"<style>", b"<meta charset='x'>", b"<title>T</title>", b"<pre>",
    b"&lt;urlset&gt;", b"&lt;url&gt;&lt;loc&gt;http://h.example/@&lt;/loc&gt;&lt;/url&gt;",
    b"<span>&lt;url&gt;</span>", b"\\u003curlset\\u003e", b"<textarea>", b"<svg>", b"<p>",
)  # fmt: skip
_GROUPS: Final = (_COMMON, _SITEMAP, _FEED, _JSON, _LINES, _HTML)

TOKENS: Final = tuple(token for group in _GROUPS for token in group)
_ENDS: Final = tuple(accumulate(map(len, _GROUPS)))
COMMON: Final = (0, _ENDS[0])
"""The range of the tokens that are drawn for every format."""
FORMATS: Final = (
    *((_ENDS[0], len(_SITEMAP)),) * 3,
    *((_ENDS[1], len(_FEED)),) * 2,
    *((_ENDS[1] + 1, len(_FEED) - 1),),
    *((_ENDS[1] + 2, len(_FEED) - 2),),
    *((_ENDS[2], len(_JSON)),),
    *((_ENDS[3], len(_LINES)),),
    *((_ENDS[4], len(_HTML)),),
)
"""The first token and the number of tokens of each format, those that differ most most often."""
LIKE_TEXT: Final = frozenset({_ENDS[3], _ENDS[4]})
"""The first tokens of the formats that are also read as a robots.txt, or as a homepage."""
