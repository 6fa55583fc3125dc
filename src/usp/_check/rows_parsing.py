"""Rules that parsing checks: the codes of problems, with the severity that they have for an engine."""

from collections.abc import Iterator
from typing import Final

from usp._check.rules import D, E, H, I, Rule, S, U, W
from usp.objects.problem import CODES, Severity

_FROM_PARSING: Final = {Severity.ERROR: E, Severity.WARNING: W, Severity.INFO: I}
_STRICTER: Final = {
    E: (
        *("SM205", "SM206", "SM208", "SM210", "SM211", "SM212", "SM213", "SM216", "SM218"),
        *("SM219", "SM220", "SM221", "SM222", "SM301", "SM302", "SM303", "SM304", "SM401"),
        *("SM402", "SM403", "SM404", "SM405", "SM406", "SM501", "SM502", "SM506", "SM607"),
    ),
    W: ("SM305", "SM307"),
}
"""Codes that are more serious for an engine than for the parser, which repairs them."""
_LIMITS: Final = frozenset({"SM217", "SM310", "SM603", "SM605", "SM606", "SM608"})
"""Limits and choices of this program outside of SM7: they say nothing about the site."""
_NAMES: Final = {
    "SM101": ("Couldn't fetch", "HTTP error", "DNS error"),
    "SM102": ("Connection lost",),
    "SM201": ("Unsupported file format",),
    "SM202": ("Sitemap is HTML",),
    "SM204": ("Response contains no data",),
    "SM205": ("Leading whitespace",),
    "SM207": ("Parsing error",),
    "SM208": ("Parsing error",),
    "SM209": ("Parsing error",),
    "SM210": ("Parsing error",),
    "SM211": ("Parsing error",),
    "SM214": ("Compression error", "Extraction error"),
    "SM216": ("Invalid XML: too many tags",),
    "SM219": ("Incorrect namespace",),
    "SM301": ("Missing XML tag", "Tag not found"),
    "SM302": ("Invalid URL", "Incomplete URL"),
    "SM303": ("Invalid URL",),
    "SM304": ("Invalid XML: too many tags",),
    "SM306": ("Invalid URL",),
    "SM308": ("Invalid URL",),
    "SM401": ("Invalid date",),
    "SM402": ("Invalid tag value",),
    "SM403": ("Invalid tag value",),
    "SM404": ("Invalid XML: too many tags", "Tag found more than once"),
    "SM405": ("Invalid tag value",),
    "SM406": ("Invalid attribute value",),
    "SM501": ("Missing XML tag",),
    "SM506": ("Missing video title", "Missing thumbnail URL"),
    "SM604": ("Invalid sitemap URL",),
}
"""What Search Console and Yandex call codes of parsing."""
_NEEDS: Final = {"SM1": H, "SM6": S, "SM7": S}
_EXAMPLES: Final = {
    "SM101": "404 for https://example.org/sitemap.xml",
    "SM102": "Content-Length: 5000, and 3,000 bytes arrive",
    "SM103": "http://example.org/sitemap.xml, where only https responds",
    "SM201": "<catalog><product/></catalog>",
    "SM202": "<!DOCTYPE html> where a sitemap should be",
    "SM203": "<!DOCTYPE urlset [<!ENTITY a 'b'>]>",
    "SM204": "a text file without a URL",
    "SM205": "a blank line before <?xml",
    "SM206": "</urlset> and then the footer of a page",
    "SM207": "the file ends after <url><loc>https://exa",
    "SM208": "<loc>https://example.org/?a=1&b=2</loc>",
    "SM209": "<url><loc>https://example.org/</url><<",
    "SM210": "<url><loc>https://example.org/a</loc><url>",
    "SM211": "</div> between two entries",
    "SM212": "a byte E9 in a document that is UTF-8",
    "SM213": 'encoding="utf8-general"',
    "SM214": "a .gz file that ends early",
    "SM215": "a .gz file with a line of text at its end",
    "SM216": "<sitemap> in a <urlset>",
    "SM217": "an entry of 2 MiB",
    "SM218": "<image:image> without xmlns:image",
    "SM219": 'xmlns="http://www.google.com/schemas/sitemap/0.84"',
    "SM220": "<URL><LOC>https://example.org/</LOC></URL>",
    "SM221": "<url>…</url> without <urlset> around it",
    "SM222": "&lt;urlset&gt;&lt;url&gt;…",
    "SM223": "</urlset> and then an RSS feed",
    "SM231": '{"items": [{"url": "https://example.org/"',
    "SM232": '{"items": []} without "version"',
    "SM233": '{"url": "https://example.org/",}',
    "SM301": "<url><lastmod>2026-01-01</lastmod></url>",
    "SM302": "<loc>/a</loc>",
    "SM303": "<loc>ftp://example.org/a</loc>",
    "SM304": "two <loc> in a <url>",
    "SM305": "https://example.org/a in two entries",
    "SM306": "<loc>https://example.org/?a=1&amp;amp;b=2</loc>",
    "SM307": "a line break inside of <loc>",
    "SM308": "<loc>https://example.org/a b</loc>",
    "SM309": "a line with the word URLs in a text sitemap",
    "SM310": "a text sitemap with all URLs on one line",
    "SM311": '<loc>"https://example.org/"</loc>',
    "SM401": "<lastmod>yesterday</lastmod>",
    "SM402": "<priority>high</priority>",
    "SM403": "<changefreq>biweekly</changefreq>",
    "SM404": "two <lastmod> in a <url>",
    "SM405": "<video:rating>ten</video:rating>",
    "SM406": "<video:live>maybe</video:live>",
    "SM407": '{"url": 5}',
    "SM501": "<news:news> without <news:title>",
    "SM502": "<image:image> without <image:loc>",
    "SM503": "<item> without <link>",
    "SM504": '<xhtml:link rel="alternate" hreflang="de"/>',
    "SM505": "<video:video/>",
    "SM506": "<video:video> without <video:thumbnail_loc>",
    "SM507": "<media:content/>",
    "SM601": "an index that lists itself",
    "SM602": "an index that lists a URL which redirects to it",
    "SM603": "an index below eleven others",
    "SM604": "<sitemap><loc>sitemap-1.xml</loc></sitemap> in a file",
    "SM605": "an index that was parsed from a string",
    "SM606": "two indexes that list one another",
    "SM607": "Sitemap = https://example.org/sitemap.xml",
    "SM608": "Disallow: /sitemap.xml, with --robots obey",
    "SM701": "a document larger than the limit",
    "SM702": "more problems than are listed",
    "SM703": "more sitemaps than --max-sitemaps",
    "SM704": "more pages than --limit",
    "SM705": "a crawl longer than --max-seconds",
    "SM706": "a stream that was closed early",
    "SM707": "more bytes than --max-bytes-per-site",
    "SM708": "an error in usp, in a crawl of many sites",
    "SM709": "a line of a list of domains that is neither a domain nor a URL",
}
"""What codes of parsing look like."""


def rows_of_parsing() -> Iterator[Rule]:
    stricter = {code: severity for severity, codes in _STRICTER.items() for code in codes}
    for code, row in CODES.items():
        undecided = code in _LIMITS or code.startswith("SM7")
        severity = U if undecided else stricter.get(code, _FROM_PARSING[row.severity])
        needs, names = _NEEDS.get(code[:3], D), _NAMES.get(code, ())
        yield Rule(
            code, row.name, severity, row.meaning, row.rule, names, needs, row.fix, _EXAMPLES[code]
        )
