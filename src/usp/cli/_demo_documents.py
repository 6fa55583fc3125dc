"""The documents of the demo site, as text; ``{base}`` is replaced by the site's URL.

Data only: one small document of each kind, which also serves as an example of the format.
"""

from typing import Final

_DECLARATION: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'
_SITEMAP_NS: Final = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'

ROBOTS: Final = """\
# Every accepted spelling of the field
User-agent: *
Disallow: /private/
Sitemap: {base}/sitemaps/index.xml
sitemap: {base}/feeds/rss.xml
Site-map: {base}/feeds/atom.xml
sItE-mAp: {base}/feeds/atom-0.3.xml
Sitemap: {base}/feeds/rss-1.0.xml
Sitemap: {base}/feeds/media.xml
Sitemap: {base}/feeds/feed.json
SITEMAP : {base}/sitemaps/pages.txt  # spaces and comments are allowed
"""

INDEX: Final = f"""{_DECLARATION}<sitemapindex {_SITEMAP_NS}>
  <sitemap><loc>{{base}}/sitemaps/pages.xml</loc><lastmod>2024-05-01</lastmod></sitemap>
  <sitemap><loc>{{base}}/sitemaps/languages.xml</loc></sitemap>
  <sitemap><loc>{{base}}/sitemaps/pictures.xml</loc></sitemap>
  <sitemap><loc>{{base}}/sitemaps/videos.xml</loc></sitemap>
  <sitemap><loc>{{base}}/sitemaps/archive/index.xml</loc></sitemap>
</sitemapindex>
"""

ARCHIVE_INDEX: Final = f"""{_DECLARATION}<sitemapindex {_SITEMAP_NS}>
  <sitemap><loc>{{base}}/sitemaps/archive/2023.xml.gz</loc></sitemap>
  <sitemap><loc>{{base}}/sitemaps/archive/lost.xml</loc></sitemap>
  <sitemap><loc>{{base}}/sitemaps/index.xml</loc></sitemap>
</sitemapindex>
"""

PAGES: Final = f"""{_DECLARATION}<urlset {_SITEMAP_NS}>
  <url>
    <loc>{{base}}/</loc>
    <lastmod>2024-05-01T08:30:00+02:00</lastmod>
    <changefreq>daily</changefreq>
    <priority>1.0</priority>
  </url>
  <url>
    <loc>{{base}}/about</loc>
    <lastmod>2024-03-15</lastmod>
    <changefreq>yearly</changefreq>
    <priority>0.3</priority>
  </url>
  <url><loc>{{base}}/search?kind=all&amp;page=1</loc></url>
</urlset>
"""

ARCHIVE_2023: Final = f"""{_DECLARATION}<urlset {_SITEMAP_NS}>
  <url><loc>{{base}}/2023/spring</loc><lastmod>2023-04-01</lastmod></url>
  <url><loc>{{base}}/2023/summer</loc><lastmod>2023-07-01</lastmod></url>
  <url><loc>{{base}}/2023/autumn</loc><lastmod>2023-10-01</lastmod></url>
  <url><loc>{{base}}/2023/winter</loc><lastmod>2023-12-31</lastmod></url>
</urlset>
"""

LANGUAGES: Final = f"""{_DECLARATION}<urlset {_SITEMAP_NS}
        xmlns:xhtml="http://www.w3.org/1999/xhtml">
  <url>
    <loc>{{base}}/en/welcome</loc>
    <xhtml:link rel="alternate" hreflang="de" href="{{base}}/de/willkommen"/>
    <xhtml:link rel="alternate" hreflang="x-default" href="{{base}}/en/welcome"/>
  </url>
  <url>
    <loc>{{base}}/de/willkommen</loc>
    <xhtml:link rel="alternate" hreflang="en-GB" href="{{base}}/en/welcome"/>
  </url>
</urlset>
"""

PICTURES: Final = f"""{_DECLARATION}<urlset {_SITEMAP_NS}
        xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
  <url>
    <loc>{{base}}/gallery/harbour</loc>
    <image:image>
      <image:loc>{{base}}/img/harbour-dawn.jpg</image:loc>
      <image:caption>The harbour at dawn</image:caption>
      <image:geo_location>Hamburg, Germany</image:geo_location>
      <image:title>Dawn</image:title>
      <image:license>{{base}}/licence</image:license>
    </image:image>
    <image:image><image:loc>{{base}}/img/harbour-dusk.jpg</image:loc></image:image>
  </url>
  <url>
    <loc>{{base}}/gallery/bridge</loc>
    <image:image><image:loc>{{base}}/img/bridge.jpg</image:loc></image:image>
  </url>
</urlset>
"""

VIDEOS: Final = f"""{_DECLARATION}<urlset {_SITEMAP_NS}
        xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"
        xmlns:xhtml="http://www.w3.org/1999/xhtml"
        xmlns:mobile="http://www.google.com/schemas/sitemap-mobile/1.0">
  <url>
    <loc>{{base}}/videos/kites</loc>
    <xhtml:link rel="amphtml" href="{{base}}/amp/videos/kites"/>
    <mobile:mobile/>
    <video:video>
      <video:thumbnail_loc>{{base}}/img/kites.jpg</video:thumbnail_loc>
      <video:title>How to repair a kite</video:title>
      <video:description>Paper, glue and patience</video:description>
      <video:content_loc>{{base}}/media/kites.mp4</video:content_loc>
      <video:player_loc allow_embed="yes">{{base}}/player?video=kites</video:player_loc>
      <video:duration>600</video:duration>
      <video:rating>4.2</video:rating>
      <video:publication_date>2024-05-01T08:00:00Z</video:publication_date>
      <video:restriction relationship="allow">IE GB</video:restriction>
      <video:price currency="EUR">1.99</video:price>
      <video:tag>kite</video:tag>
      <video:tag>paper</video:tag>
    </video:video>
  </url>
</urlset>
"""

NEWS: Final = f"""{_DECLARATION}<urlset {_SITEMAP_NS}
        xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">
  <url>
    <loc>{{base}}/news/merger</loc>
    <news:news>
      <news:publication>
        <news:name>The Demo Post</news:name>
        <news:language>en</news:language>
      </news:publication>
      <news:access>Subscription</news:access>
      <news:genres>PressRelease, Blog</news:genres>
      <news:publication_date>2024-05-01T06:00:00Z</news:publication_date>
      <news:title>Two makers of demo sites merge</news:title>
      <news:keywords>business, merger, demo</news:keywords>
      <news:stock_tickers>NASDAQ:DEMO, LON:SITE</news:stock_tickers>
    </news:news>
  </url>
  <url>
    <loc>{{base}}/news/weather</loc>
    <news:news>
      <news:publication>
        <news:name>The Demo Post</news:name>
        <news:language>en</news:language>
      </news:publication>
      <news:publication_date>2024-05-02</news:publication_date>
      <news:title>Rain &amp; sun expected</news:title>
    </news:news>
  </url>
</urlset>
"""

TEXT: Final = """\
A line that is not a URL is ignored.
{base}/text/one
{base}/text/two
{base}/text/two
"""

RSS: Final = f"""{_DECLARATION}<rss version="2.0">
  <channel>
    <title>Demo, the feed</title>
    <link>{{base}}/</link>
    <description>What is new on the demo site</description>
    <item>
      <title>The first item</title>
      <link>{{base}}/feed/first</link>
      <pubDate>Wed, 01 May 2024 10:00:00 GMT</pubDate>
    </item>
    <item>
      <description>An item with a description and no title</description>
      <link>{{base}}/feed/second</link>
    </item>
    <item><title>Skipped, because it has no link</title></item>
  </channel>
</rss>
"""

RSS_1_0: Final = f"""{_DECLARATION}<rdf:RDF xmlns="http://purl.org/rss/1.0/"
         xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
         xmlns:dc="http://purl.org/dc/elements/1.1/">
  <channel rdf:about="{{base}}/feeds/rss-1.0.xml"><title>Demo, the feed in RDF</title></channel>
  <item rdf:about="{{base}}/rdf/first">
    <title>Its link is what it is about</title>
    <dc:date>2004-05-01T10:00:00Z</dc:date>
  </item>
</rdf:RDF>
"""

ATOM: Final = f"""{_DECLARATION}<feed xmlns="http://www.w3.org/2005/Atom">
  <title>Demo, the Atom feed</title>
  <id>{{base}}/feeds/atom.xml</id>
  <updated>2024-05-01T10:00:00Z</updated>
  <link rel="self" href="{{base}}/feeds/atom.xml"/>
  <entry>
    <title>The only entry</title>
    <id>{{base}}/atom/only</id>
    <updated>2024-05-01T10:00:00Z</updated>
    <link rel="self" href="{{base}}/atom/only.json"/>
    <link href="{{base}}/atom/only"/>
  </entry>
</feed>
"""

ATOM_0_3: Final = f"""{_DECLARATION}<feed version="0.3" xmlns="http://purl.org/atom/ns#">
  <title>Demo, the old Atom feed</title>
  <modified>2004-05-01T10:00:00Z</modified>
  <link rel="alternate" type="text/html" href="{{base}}/"/>
  <entry>
    <title>An old entry</title>
    <id>{{base}}/atom/old</id>
    <issued>2004-05-01T10:00:00Z</issued>
    <link rel="alternate" type="text/html" href="{{base}}/atom/old"/>
  </entry>
</feed>
"""

MEDIA: Final = f"""{_DECLARATION}<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/">
  <channel>
    <title>Demo, the feed with media</title>
    <link>{{base}}/</link>
    <description>Films and pictures of the demo site</description>
    <item>
      <title>The harbour, filmed</title>
      <link>{{base}}/films/harbour</link>
      <media:group>
        <media:content url="{{base}}/media/harbour.webm" type="video/webm"/>
        <media:content url="{{base}}/media/harbour.mp4" type="video/mp4" isDefault="true"/>
        <media:thumbnail url="{{base}}/img/harbour-film.jpg"/>
        <media:title>Ships come in</media:title>
      </media:group>
      <media:content url="{{base}}/img/harbour-map.png" medium="image"/>
    </item>
  </channel>
</rss>
"""

JSON_FEED: Final = """\
{
  "version": "https://jsonfeed.org/version/1.1",
  "title": "Demo, the JSON Feed",
  "home_page_url": "{base}/",
  "items": [
    {
      "id": "1",
      "url": "{base}/json/first",
      "title": "The first of two",
      "content_html": "<p>With a film</p>",
      "date_published": "2024-05-01T10:00:00Z",
      "attachments": [{"url": "{base}/media/first.mp4", "mime_type": "video/mp4"}]
    },
    {"id": "{base}/json/second", "content_text": "Its id is where it is"}
  ]
}
"""

HOMEPAGE: Final = """<!DOCTYPE html>
<html>
  <head>
    <title>The demo site</title>
    <link rel="sitemap" href="/sitemaps/partners.xml">
    <link rel="alternate" type="application/rss+xml" href="/feeds/comments.xml">
  </head>
  <body><p>Nothing but sitemaps.</p></body>
</html>
"""

PARTNERS: Final = f"""{_DECLARATION}<urlset {_SITEMAP_NS}>
  <url><loc>{{base}}/partners</loc></url>
</urlset>
"""

WORDPRESS: Final = f"""{_DECLARATION}<urlset {_SITEMAP_NS}>
  <url><loc>{{base}}/blog/first-post</loc></url>
</urlset>
"""

COMMENTS: Final = f"""{_DECLARATION}<rss version="2.0"><channel>
  <item><title>What a site</title><link>{{base}}/about#comment-1</link></item>
</channel></rss>
"""
