"""What is wrong with a document: ``Problem``, and the table of codes that names every kind of it.

The table is the single source of codes, names, severities and texts; ``reference/problems.md`` of
the docs is generated from it. A code never changes its meaning. Blocks: SM1 transport, SM2
document, SM3 URLs, SM4 values, SM5 extensions, SM6 discovery and tree, SM7 limits and policy. How a
problem is detected belongs in ``usp._parse`` and ``usp._crawl``.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Final

from usp.exceptions import SitemapException
from usp.objects.named_fields import pickled_by_name

__all__ = ["CODES", "Code", "Problem", "Severity"]


class Severity(StrEnum):
    """How serious a problem is for a reader of the sitemap."""

    ERROR = "error"
    """Part of the document was lost."""
    WARNING = "warning"
    """Nothing was lost here, but other parsers may fail."""
    INFO = "info"
    """Nothing was lost, and other parsers are not affected."""


@dataclass(frozen=True, slots=True)
class Code:
    """One row of the table of codes."""

    name: str
    """The name in kebab-case, for people and logs."""
    severity: Severity
    meaning: str
    """What the problem is, in one sentence."""
    rule: str
    """The specification that is violated; ``usp`` for our own limits."""
    fix: str
    """What the owner of the site should change."""


@pickled_by_name
@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a document, with its position."""

    code: str
    """The code, such as ``SM208``: a key of ``CODES``."""
    message: str
    """What was found, in words. The words may change between versions."""
    line: int | None = None
    """The line number, from 1; None if the position is not known."""
    offset: int | None = None
    """The byte offset in the decompressed document, from 0; None if it is not known."""
    sitemap_url: str | None = None
    """The sitemap, in the problems of a whole crawl; None in those of one sitemap."""
    page_url: str | None = None
    """The page, or the listed sitemap, whose entry has the problem; None if none does."""
    count: int | None = None
    """How many problems it stands for, in SM702; None for one that stands for itself."""

    @property
    def name(self) -> str:
        """The name of the code, such as ``entry-repaired``."""
        return self._row.name

    @property
    def severity(self) -> Severity:
        """The severity of the code."""
        return self._row.severity

    @property
    def _row(self) -> Code:
        try:
            return CODES[self.code]
        except KeyError:  # pickled by a later version
            raise SitemapException(f"{self.code} is no problem code of this version.") from None


_E, _W, _I = Severity.ERROR, Severity.WARNING, Severity.INFO
_HTTP, _XML, _NAMES, _GZIP = "RFC 9110", "XML 1.0", "Namespaces in XML", "RFC 1952"
_SM, _RSS, _IMAGE = "sitemaps.org", "RSS 2.0", "Google Image sitemaps"
_NEWS, _VIDEO, _MEDIA = "Google News sitemaps", "Google Video sitemaps", "Media RSS"
_JSON, _RFC9309, _OURS = "JSON Feed", "RFC 9309", "usp"

CODES: Final[dict[str, Code]] = {
    "SM101": Code(
        "fetch-failed", _E, "The document could not be fetched.", _HTTP,
        "Serve it with status 200, or remove the reference to it.",
    ),
    "SM102": Code(
        "body-truncated", _E, "The body ended before it was complete.", _HTTP,
        "Send the whole body, with the right Content-Length.",
    ),
    "SM103": Code(
        "dead-scheme", _W,
        "The declared scheme does not respond; the other one (http, https) does.", _HTTP,
        "Declare the URL that responds, or redirect to it.",
    ),
    "SM201": Code(
        "not-a-sitemap", _E,
        "The root element of the XML document is not one of a sitemap or feed.", _SM,
        "Make <urlset>, <sitemapindex>, <rss> or <feed> the root element.",
    ),
    "SM202": Code(
        "html-page", _E, "The document is an HTML page.", _SM,
        "Serve the sitemap itself; respond with 404 if there is none.",
    ),
    "SM203": Code(
        "entities-declared", _E, "The DOCTYPE declares entities, which are never expanded.", _OURS,
        "Remove the DOCTYPE; write characters directly.",
    ),
    "SM204": Code(
        "no-urls", _E, "No URL could be read from the document.", _SM,
        "List at least one URL, or remove the sitemap.",
    ),
    "SM205": Code(
        "junk-before", _W, "Other content precedes the XML document.", _XML,
        "Output nothing (whitespace, warnings, tags) before the XML declaration.",
    ),
    "SM206": Code(
        "junk-after", _W, "Other content follows the root element, or the object of a JSON Feed.",
        _XML, "Output nothing after the end of the document.",
    ),
    "SM207": Code(
        "truncated", _E, "The document ends before its root element is closed.", _XML,
        "Look for timeouts and size limits in the generator.",
    ),
    "SM208": Code(
        "entry-repaired", _W, "An entry is not well-formed XML; it was repaired and read.", _XML,
        "Escape &, < and >, and close every tag.",
    ),
    "SM209": Code(
        "entry-skipped", _E,
        "An entry was skipped as too damaged, or a part of it or of another is missing.", _XML,
        "Escape &, < and >, and close every tag.",
    ),
    "SM210": Code(
        "entry-unclosed", _W, "An entry is not closed before the next one begins.", _XML,
        "Close every <url>, <sitemap>, <item> and <entry>.",
    ),
    "SM211": Code(
        "malformed-structure", _W,
        "The XML around the entries is not well-formed, or there is markup in a text.", _XML,
        "Close every element, in the order in which they were opened.",
    ),
    "SM212": Code(
        "bytes-replaced", _W,
        "Some bytes are invalid in the document's encoding; they were replaced.", _XML,
        "Write UTF-8, and declare it.",
    ),
    "SM213": Code(
        "unknown-encoding", _W,
        "The declared encoding does not exist, or the document is in another one.", _XML,
        "Write UTF-8, and declare it.",
    ),
    "SM214": Code(
        "gzip-corrupt", _E, "The compressed data is truncated or corrupt.", _GZIP,
        "Compress the file again; look for timeouts in the generator.",
    ),
    "SM215": Code(
        "gzip-trailing-data", _W, "Data that is not gzip follows the gzip data.", _GZIP,
        "Write nothing after the last gzip member.",
    ),
    "SM216": Code(
        "misplaced-entry", _W, "An entry belongs in another kind of sitemap.", _SM,
        "Put <sitemap> into a <sitemapindex> and <url> into a <urlset>.",
    ),
    "SM217": Code(
        "entry-too-large", _E, "An entry or tag of more than 1 MiB was skipped.", _OURS,
        "Keep entries and tags below 1 MiB.",
    ),
    "SM218": Code(
        "undeclared-prefix", _W,
        "A namespace prefix is not declared; its usual namespace was assumed.", _NAMES,
        "Declare the prefix on the root element.",
    ),
    "SM219": Code(
        "wrong-namespace", _W, "A namespace is missing, misspelled or outdated.", _SM,
        "Use that of the format's specification: http://www.sitemaps.org/schemas/sitemap/0.9 for "
        "a sitemap.",
    ),
    "SM220": Code(
        "upper-case-tag", _W, "A tag is in upper case; XML is case-sensitive.", _SM,
        "Write tags in lower case.",
    ),
    "SM221": Code(
        "no-root", _W, "The entries have no root element around them.", _SM,
        "Put the entries into <urlset> or <sitemapindex>.",
    ),
    "SM222": Code(
        "escaped-document", _W, "The whole document is escaped, as if for display.", _XML,
        "Send the XML itself, without escaping it.",
    ),
    "SM223": Code(
        "second-document", _E, "A second document, list of URLs or other entry was skipped.", _SM,
        "Put each document into a file of its own.",
    ),
    "SM231": Code(
        "malformed-json", _E, "Part of the JSON is malformed and was skipped.", _JSON,
        "Write the feed with a JSON library, and send all of it.",
    ),
    "SM232": Code(
        "no-version", _W, "The JSON Feed has no version.", _JSON,
        'Add "version": "https://jsonfeed.org/version/1.1".',
    ),
    "SM233": Code(
        "json-repaired", _W, "An item is not well-formed JSON; it was repaired and read.", _JSON,
        "Write the feed with a JSON library.",
    ),
    "SM301": Code(
        "no-loc", _W, "An entry has no URL and was skipped.", _SM,
        "Give every entry one <loc>.",
    ),
    "SM302": Code(
        "relative-url", _W, "A URL is relative.", _SM,
        "Write absolute URLs, with http:// or https://.",
    ),
    "SM303": Code(
        "not-http", _W, "A URL is not HTTP or HTTPS.", _SM,
        "List only http:// and https:// URLs.",
    ),
    "SM304": Code(
        "multiple-locs", _W, "An entry has more than one URL; each of them was read.", _SM,
        "Give every URL its own entry.",
    ),
    "SM305": Code(
        "duplicate-url", _I,
        "The document lists a URL more than once; the first entry was read.", _SM,
        "List every URL once.",
    ),
    "SM306": Code(
        "double-escaped", _W,
        "A text is escaped twice: it still contains entities once decoded.", _XML,
        "Escape once.",
    ),
    "SM307": Code(
        "stray-whitespace", _I,
        "A URL has Unicode whitespace around it, or a line break or control character in it.", _SM,
        "Remove these characters.",
    ),
    "SM308": Code(
        "space-in-url", _W, "A URL contains a space.", "RFC 3986",
        "Write %20.",
    ),
    "SM309": Code(
        "line-ignored", _I, "A line of a text sitemap is not a URL and was ignored.", _SM,
        "Write one URL per line, and nothing else.",
    ),
    "SM310": Code(
        "line-too-long", _E, "A line of more than 64 KiB was skipped.", _OURS,
        "Write one URL per line.",
    ),
    "SM311": Code(
        "junk-around-url", _W, "Quotes, brackets or script output around a URL were removed.", _SM,
        "Write the URL alone.",
    ),
    "SM401": Code(
        "bad-date", _W, "A date cannot be parsed, or has no year.", "W3C Datetime",
        "Write 2024-05-01 or 2024-05-01T10:00:00+00:00.",
    ),
    "SM402": Code(
        "bad-priority", _W, "A priority is not a number from 0 to 1.", _SM,
        "Write 0.0 to 1.0, with a decimal point.",
    ),
    "SM403": Code(
        "bad-changefreq", _W, "A change frequency is not one of the seven allowed words.", _SM,
        "Write always, hourly, daily, weekly, monthly, yearly or never.",
    ),
    "SM404": Code(
        "repeated-field", _W,
        "An entry has a field more than once; the first valid one was read.", _SM,
        "Write the field once.",
    ),
    "SM405": Code(
        "bad-number", _W, "A number cannot be parsed, or is out of range.", _VIDEO,
        "Write digits, with a decimal point for a fraction.",
    ),
    "SM406": Code(
        "unknown-value", _W, "A value is not one of those that the format allows.", _VIDEO,
        "Write yes or no, allow or deny, own or rent, hd or sd.",
    ),
    "SM407": Code(
        "wrong-type", _W, "A value of a JSON Feed has the wrong type.", _JSON,
        "Write texts as strings, and lists as arrays.",
    ),
    "SM501": Code(
        "story-without-title", _W, "A news story has no title and was skipped.", _NEWS,
        "Give every <news:news> a <news:title>.",
    ),
    "SM502": Code(
        "image-without-loc", _W, "An image has no URL and was skipped.", _IMAGE,
        "Give every <image:image> an <image:loc>.",
    ),
    "SM503": Code(
        "item-incomplete", _I,
        "A feed item has no link, or neither title nor text; it was skipped.", _RSS,
        "Give every item a link and a title.",
    ),
    "SM504": Code(
        "link-incomplete", _W, "A link has no rel or no href and was skipped.", "XHTML",
        "Give every <xhtml:link> rel, hreflang and href.",
    ),
    "SM505": Code(
        "empty-video", _W, "A video element is empty and was skipped.", _VIDEO,
        "Describe the video, or remove the element.",
    ),
    "SM506": Code(
        "video-incomplete", _W, "A video lacks a field that Google requires.", _VIDEO,
        "Give it a thumbnail, a title, a description, and the URL of the video or of a player.",
    ),
    "SM507": Code(
        "media-without-url", _W,
        "A media element of a feed item has no URL and was skipped.", _MEDIA,
        "Give every <media:content>, <media:thumbnail> and <enclosure> a url.",
    ),
    "SM601": Code(
        "loop", _E, "The URL is the URL of one of the sitemap's ancestors.", _SM,
        "Do not list an index below itself.",
    ),
    "SM602": Code(
        "redirect-loop", _E, "The URL redirects to one of the sitemap's ancestors.", _SM,
        "Do not list an index below itself.",
    ),
    "SM603": Code(
        "too-deep", _E, "The sitemap is nested too deeply, by default below level 11.", _OURS,
        "Nest less: the protocol allows one index of sitemaps.",
    ),
    "SM604": Code(
        "unfetchable-url", _E, "The URL of a sitemap is not HTTP or HTTPS.", _SM,
        "Write absolute URLs, with http:// or https://.",
    ),
    "SM605": Code(
        "not-fetched", _I,
        "The sitemap was not fetched: its index was parsed without network access.", _OURS,
        "Nothing to fix.",
    ),
    "SM606": Code(
        "repeated-index", _W,
        "The index is expanded elsewhere in the tree and was not expanded again.", _OURS,
        "Do not let indexes list one another.",
    ),
    "SM607": Code(
        "malformed-robots-line", _W,
        "A Sitemap line of robots.txt is malformed; it was repaired and read.", _SM,
        "Write Sitemap: and one absolute URL on a line of its own.",
    ),
    "SM608": Code(
        "disallowed", _E,
        "The URL was not requested: robots.txt disallows it, and the crawl obeys that.", _RFC9309,
        "Allow the agent to fetch the sitemap, or crawl with robots='ignore'.",
    ),
    "SM701": Code(
        "document-too-large", _E,
        "The document is larger than the limit; the rest was not read.", _OURS,
        "Split it: the protocol allows 50 MiB and 50,000 URLs per sitemap.",
    ),
    "SM702": Code(
        "more-problems", _I, "More problems were found than are listed.", _OURS,
        "Fix those that are listed.",
    ),
    "SM703": Code(
        "sitemaps-limit", _I, "The crawl stopped at its limit of sitemaps.", _OURS,
        "Raise max_sitemaps to see the rest.",
    ),
    "SM704": Code(
        "pages-limit", _I, "The crawl stopped at its limit of pages.", _OURS,
        "Raise limit to see the rest.",
    ),
    "SM705": Code(
        "time-limit", _I, "The crawl stopped at its time limit.", _OURS,
        "Raise max_seconds to see the rest; that is no help against a host that never answers.",
    ),
    "SM706": Code(
        "stopped", _I, "The caller ended the crawl: stop_callback, or a closed stream.", _OURS,
        "Nothing to fix.",
    ),
    "SM707": Code(
        "bytes-limit", _I, "The crawl stopped at its limit of bytes.", _OURS,
        "Raise max_bytes to see the rest.",
    ),
    "SM708": Code(
        "internal-error", _E, "An error in usp ended the crawl of the site.", _OURS,
        "Report it, with the message.",
    ),
    "SM709": Code(
        "bad-input", _E, "A line of the input names no site: it is neither a domain nor a URL.",
        _OURS, "Write one domain or URL on each line.",
    ),
}  # fmt: skip
"""Every code, in order."""

NOT_EXPANDED: Final = "SM606"
"""The code of an index whose children the tree has elsewhere only."""
_KEPT_PROBLEMS: Final = 1000
"""The problems of a whole crawl that are listed; the rest are counted."""


def listed_problems(found: Iterable[Problem], dropped: int = 0) -> tuple[Problem, ...]:
    """Return the problems of a crawl: one for each sitemap and code, the first of them.

    If there are more than are listed, the last one counts them, with those dropped before.
    """
    first: dict[tuple[str | None, str], Problem] = {}
    for problem in found:
        first.setdefault((problem.sitemap_url, problem.code), problem)
    listed = list(islice(first.values(), _KEPT_PROBLEMS))
    if more := len(first) - len(listed) + dropped:
        listed.append(unlisted_problems(more))
    return tuple(listed)


def unlisted_problems(count: int) -> Problem:
    """Return the problem that counts those which are not listed."""
    return Problem("SM702", f"{count} more problems are not listed", count=count)
