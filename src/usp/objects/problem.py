"""What was found wrong while reading, and the one table of codes it is named by.

A code never changes its meaning. Blocks: SM1 transport, SM2 document, SM3 URLs, SM4 values,
SM5 extensions, SM6 discovery and tree, SM7 limits and policy. ``docs/problems.md`` is made from it.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Severity(StrEnum):
    """How bad it is for whoever reads the sitemap."""

    ERROR = "error"
    """Something of the document was lost."""
    WARNING = "warning"
    """Nothing was lost here, but other readers may stumble."""
    INFO = "info"
    """Worth knowing, and nothing more."""


@dataclass(frozen=True, slots=True)
class Code:
    """One row of the table of codes."""

    name: str
    severity: Severity
    meaning: str
    rule: str
    """Whose rule it is."""
    mend: str
    """What the site should do about it."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is wrong with a document, and where."""

    code: str
    message: str
    line: int | None = None
    """The line it is on, counted from 1, where that is known."""
    offset: int | None = None
    """The byte in the unpacked document where it begins, where that is known."""

    @property
    def name(self) -> str:
        """The code's name in words-with-hyphens."""
        return CODES[self.code].name

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return CODES[self.code].severity


_E, _W, _I = Severity.ERROR, Severity.WARNING, Severity.INFO
_HTTP, _XML, _NAMES, _GZIP = "RFC 9110", "XML 1.0", "Namespaces in XML", "RFC 1952"
_SM, _RSS, _IMAGE = "sitemaps.org", "RSS 2.0", "Google Image sitemaps"
_NEWS, _VIDEO, _MEDIA = "Google News sitemaps", "Google Video sitemaps", "Media RSS"
_JSON, _OURS = "JSON Feed", "usp"

CODES: Final[dict[str, Code]] = {
    "SM101": Code(
        "fetch-failed", _E, "The document could not be fetched.", _HTTP,
        "Serve it with status 200, or remove what declares it.",
    ),
    "SM102": Code(
        "body-cut-off", _E, "The connection ended in the middle of the body.", _HTTP,
        "Let the server finish, and send the true Content-Length.",
    ),
    "SM103": Code(
        "dead-scheme", _W, "Only https answers where http is declared, or the other way.", _HTTP,
        "Declare the URL that answers, or redirect to it.",
    ),
    "SM201": Code(
        "not-a-sitemap", _E, "The XML document is of no kind that lists pages.", _SM,
        "Make <urlset>, <sitemapindex>, <rss> or <feed> the root element.",
    ),
    "SM202": Code(
        "html-page", _E, "An HTML page stands where a sitemap should be.", _SM,
        "Serve the sitemap itself; answer 404 where there is none.",
    ),
    "SM203": Code(
        "entities-declared", _E, "The DOCTYPE declares entities; none is ever expanded.", _OURS,
        "Leave the DOCTYPE out; write characters as they are.",
    ),
    "SM204": Code(
        "no-content", _E, "Nothing in the document is a URL.", _SM,
        "List at least one URL, or remove the sitemap.",
    ),
    "SM205": Code(
        "junk-before", _W, "Something stands before the XML document.", _XML,
        "Print nothing (blanks, warnings, marks) before the XML declaration.",
    ),
    "SM206": Code(
        "junk-after", _W, "Something stands after the root element.", _XML,
        "End the document with the root's end tag.",
    ),
    "SM207": Code(
        "cut-off", _E, "The document ends before its root element does.", _XML,
        "Look for time-outs and limits where it is made.",
    ),
    "SM208": Code(
        "entry-mended", _W, "An entry is not well-formed XML; it was read all the same.", _XML,
        "Escape &, < and >, and close every tag.",
    ),
    "SM209": Code(
        "entry-lost", _E, "A damaged entry could not be read and was left out.", _XML,
        "Escape &, < and >, and close every tag.",
    ),
    "SM210": Code(
        "entry-unclosed", _W, "An entry is never closed; the next one begins inside it.", _XML,
        "Close every <url>, <sitemap>, <item> and <entry>.",
    ),
    "SM211": Code(
        "structure-broken", _W, "The XML around the entries is not well-formed.", _XML,
        "Close what is opened, in order, and nothing else.",
    ),
    "SM212": Code(
        "bytes-replaced", _W, "Some bytes don't fit the document's encoding.", _XML,
        "Write UTF-8, and say so.",
    ),
    "SM213": Code(
        "unknown-encoding", _W, "The encoding that is named doesn't exist, or isn't the one.", _XML,
        "Write UTF-8, and say so.",
    ),
    "SM214": Code(
        "gzip-damaged", _E, "The packed data ends early or is damaged.", _GZIP,
        "Pack the file again; look for time-outs where it is made.",
    ),
    "SM215": Code(
        "gzip-junk", _W, "Something that isn't gzip follows the gzip data.", _GZIP,
        "End the file where its last member ends.",
    ),
    "SM216": Code(
        "foreign-entry", _W, "An entry belongs in another kind of sitemap.", _SM,
        "Put <sitemap> into a <sitemapindex> and <url> into a <urlset>.",
    ),
    "SM217": Code(
        "entry-too-large", _E, "More than 1 MiB without an end was left out.", _OURS,
        "Keep an entry below 1 MiB.",
    ),
    "SM218": Code(
        "undeclared-prefix", _W, "A prefix is never declared; its usual meaning holds.", _NAMES,
        "Declare the prefix on the root element.",
    ),
    "SM219": Code(
        "wrong-namespace", _W, "A namespace is missing, misspelt or outdated.", _SM,
        "Use the namespace that the format's specification gives.",
    ),
    "SM220": Code(
        "upper-case-tag", _W, "A tag is written in capitals; XML tells case apart.", _SM,
        "Write tags in lower case.",
    ),
    "SM221": Code(
        "no-root", _W, "The entries have no root element around them.", _SM,
        "Put the entries into <urlset> or <sitemapindex>.",
    ),
    "SM222": Code(
        "escaped-whole", _W, "The whole document is escaped, as for showing it.", _XML,
        "Send the XML itself, not a text that shows it.",
    ),
    "SM231": Code(
        "json-broken", _E, "The JSON is broken: what can't be read of it was left out.", _JSON,
        "Write the feed with a JSON library, and let it finish.",
    ),
    "SM232": Code(
        "no-version", _W, "A JSON Feed doesn't say that it is one.", _JSON,
        'Give it "version": "https://jsonfeed.org/version/1.1".',
    ),
    "SM233": Code(
        "json-mended", _W, "An item is not well-formed JSON; it was read all the same.", _JSON,
        "Write the feed with a JSON library.",
    ),
    "SM301": Code(
        "no-loc", _W, "An entry has no URL and was left out.", _SM,
        "Give every entry one <loc>.",
    ),
    "SM302": Code(
        "relative-url", _W, "A URL is relative.", _SM,
        "Write URLs in full, from http:// or https:// on.",
    ),
    "SM303": Code(
        "not-http", _W, "A URL is not HTTP or HTTPS.", _SM,
        "List only what can be fetched by HTTP.",
    ),
    "SM304": Code(
        "two-locs", _W, "An entry has more than one URL; each counts.", _SM,
        "Give every URL an entry of its own.",
    ),
    "SM305": Code(
        "duplicate-url", _I, "The document lists a URL again; the first counts.", _SM,
        "List a URL once.",
    ),
    "SM306": Code(
        "escaped-twice", _W, "Entities are left in a text after XML was decoded.", _XML,
        "Escape once.",
    ),
    "SM307": Code(
        "odd-blanks", _I, "A URL has odd blanks around it, or line breaks in it.", _SM,
        "Remove them.",
    ),
    "SM308": Code(
        "blank-in-url", _W, "A URL has a blank in it.", "RFC 3986",
        "Write %20.",
    ),
    "SM309": Code(
        "line-ignored", _I, "A line of a text is no URL.", _SM,
        "Write one URL a line, and nothing else.",
    ),
    "SM310": Code(
        "line-too-long", _E, "A line of more than 64 KiB was left out.", _OURS,
        "Write one URL a line.",
    ),
    "SM311": Code(
        "wrapped-url", _W, "Something stands around a URL that is no part of it.", _SM,
        "Write the URL alone: no quotes, brackets or messages of scripts.",
    ),
    "SM401": Code(
        "bad-date", _W, "A date can't be understood, or leaves out the year.", "W3C Datetime",
        "Write 2024-05-01 or 2024-05-01T10:00:00+00:00.",
    ),
    "SM402": Code(
        "bad-priority", _W, "A priority is not a number from 0 to 1.", _SM,
        "Write 0.0 to 1.0, with a point.",
    ),
    "SM403": Code(
        "bad-changefreq", _W, "A change frequency is none of the seven words.", _SM,
        "Write always, hourly, daily, weekly, monthly, yearly or never.",
    ),
    "SM404": Code(
        "repeated-field", _W, "An entry says something twice; the first good one counts.", _SM,
        "Say it once.",
    ),
    "SM405": Code(
        "bad-number", _W, "A number can't be understood, or is out of its range.", _VIDEO,
        "Write digits, with a point where there is a fraction.",
    ),
    "SM406": Code(
        "bad-word", _W, "A word is none of those that the format knows here.", _VIDEO,
        "Write yes or no, allow or deny, own or rent, hd or sd.",
    ),
    "SM407": Code(
        "wrong-type", _W, "A value of a JSON Feed is of another type than it should be.", _JSON,
        "Write texts as strings, and lists as arrays.",
    ),
    "SM501": Code(
        "story-without-title", _W, "A news story has no title and was left out.", _NEWS,
        "Give every <news:news> a <news:title>.",
    ),
    "SM502": Code(
        "image-without-loc", _W, "An image has no URL and was left out.", _IMAGE,
        "Give every <image:image> an <image:loc>.",
    ),
    "SM503": Code(
        "item-incomplete", _I, "A feed's item has no link, or neither title nor text.", _RSS,
        "Give every item a link and a title.",
    ),
    "SM504": Code(
        "link-incomplete", _W, "An alternate has no rel or no href and was left out.", "XHTML",
        "Give every <xhtml:link> rel, hreflang and href.",
    ),
    "SM505": Code(
        "empty-video", _W, "A video says nothing and was left out.", _VIDEO,
        "Describe the video, or leave the element out.",
    ),
    "SM506": Code(
        "video-incomplete", _W, "A video lacks what Google asks of every video.", _VIDEO,
        "Give it a thumbnail, a title, a description and a URL of the video or of a player.",
    ),
    "SM507": Code(
        "media-without-url", _W, "A medium of a feed's item has no URL and was left out.", _MEDIA,
        "Give every <media:content>, <media:thumbnail> and <enclosure> a url.",
    ),
    "SM601": Code(
        "loop", _E, "The URL is that of a sitemap above it.", _SM,
        "Don't list an index below itself.",
    ),
    "SM602": Code(
        "redirect-loop", _E, "The URL redirects to a sitemap above it.", _SM,
        "Don't list an index below itself.",
    ),
    "SM603": Code(
        "too-deep", _E, "The sitemap lies more than 11 levels down.", _OURS,
        "Keep indexes flat: an index of sitemaps is all that the protocol knows.",
    ),
    "SM604": Code(
        "unfetchable-url", _E, "The URL of a sitemap is not HTTP or HTTPS.", _SM,
        "Write URLs in full, from http:// or https:// on.",
    ),
    "SM605": Code(
        "not-fetched", _I, "A child that nobody fetched.", _OURS,
        "Nothing: it was read without the web.",
    ),
    "SM606": Code(
        "repeated-index", _W, "An index that stands open elsewhere is closed here.", _OURS,
        "Don't let indexes list one another.",
    ),
    "SM607": Code(
        "robots-line", _W, "A Sitemap line of robots.txt isn't written as it should be.", _SM,
        "Write Sitemap: and one full URL on a line of its own.",
    ),
    "SM701": Code(
        "document-too-large", _E, "The document is larger than allowed; the rest is cut.", _OURS,
        "Split it: the protocol allows 50 MiB and 50,000 URLs a sitemap.",
    ),
    "SM702": Code(
        "more-problems", _I, "More problems were found than are listed.", _OURS,
        "Mend the ones that are.",
    ),
    "SM703": Code(
        "sitemaps-limit", _I, "The crawl ended at its limit of sitemaps.", _OURS,
        "Raise max_sitemaps to see the rest.",
    ),
    "SM704": Code(
        "pages-limit", _I, "The crawl ended at its limit of pages.", _OURS,
        "Raise limit to see the rest.",
    ),
    "SM705": Code(
        "time-limit", _I, "The crawl ended at its limit of time.", _OURS,
        "Raise max_seconds to see the rest.",
    ),
    "SM706": Code(
        "stopped", _I, "The crawl ended where the caller's stop_callback said so.", _OURS,
        "Nothing: it was asked for.",
    ),
}  # fmt: skip
"""Every problem there is."""
