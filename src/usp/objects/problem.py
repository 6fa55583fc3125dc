"""What was found wrong while reading, and the one table of codes it is named by.

A code never changes its meaning. Blocks: SM1 transport, SM2 document, SM3 URLs, SM4 values,
SM5 extensions, SM6 discovery and tree, SM7 limits and policy.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Severity(StrEnum):
    """How bad it is for whoever publishes the sitemap."""

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


_E, _W, _I = Severity.ERROR, Severity.WARNING, Severity.INFO

CODES: Final[dict[str, Code]] = {
    "SM101": Code("fetch-failed", _E, "The document could not be fetched."),
    "SM102": Code("body-cut-off", _E, "The connection ended in the middle of the body."),
    "SM201": Code("not-a-sitemap", _E, "The XML document is of no kind that lists pages."),
    "SM202": Code("html-page", _E, "An HTML page stands where a sitemap should be."),
    "SM203": Code("entities-declared", _E, "The DOCTYPE declares entities; none is expanded."),
    "SM204": Code("no-content", _E, "Nothing in the document is a URL."),
    "SM205": Code("junk-before", _W, "Something stands before the XML document."),
    "SM206": Code("junk-after", _W, "Something stands after the root element."),
    "SM207": Code("cut-off", _E, "The document ends before its root element does."),
    "SM208": Code("entry-mended", _W, "An entry is not well-formed XML; it was read all the same."),
    "SM209": Code("entry-lost", _E, "A damaged entry could not be read and was left out."),
    "SM210": Code("entry-unclosed", _W, "An entry is never closed; the next one begins inside it."),
    "SM211": Code("structure-broken", _W, "The XML around the entries is not well-formed."),
    "SM212": Code("bytes-replaced", _W, "Some bytes do not fit the document's encoding."),
    "SM213": Code("unknown-encoding", _W, "The encoding that is named does not exist."),
    "SM214": Code("gzip-cut-off", _E, "The gzip data ends early; what came out was read."),
    "SM215": Code("gzip-junk", _W, "Something that is not gzip follows the gzip data."),
    "SM216": Code("foreign-entry", _W, "An entry belongs in another kind of sitemap."),
    "SM217": Code("entry-too-large", _E, "An entry of more than 1 MiB was left out."),
    "SM218": Code("undeclared-prefix", _W, "A prefix is never declared; its usual meaning holds."),
    "SM301": Code("no-loc", _W, "An entry has no URL and was left out."),
    "SM302": Code("relative-url", _W, "A URL is relative."),
    "SM303": Code("not-http", _W, "A URL is not HTTP or HTTPS."),
    "SM304": Code("two-locs", _W, "An entry has more than one URL; each counts as a page."),
    "SM305": Code("unresolvable-url", _E, "A URL could not be made sense of; kept as written."),
    "SM401": Code("bad-date", _W, "A date could not be understood."),
    "SM402": Code("bad-priority", _W, "A priority is not a number from 0 to 1."),
    "SM403": Code("bad-changefreq", _W, "A change frequency is none of the seven words."),
    "SM501": Code("story-without-title", _W, "A news story has no title and was left out."),
    "SM502": Code("image-without-loc", _W, "An image has no URL and was left out."),
    "SM503": Code("item-incomplete", _I, "A feed's item has no link, or neither title nor text."),
    "SM601": Code("loop", _E, "The URL is that of a sitemap above it."),
    "SM602": Code("redirect-loop", _E, "The URL redirects to a sitemap above it."),
    "SM603": Code("too-deep", _E, "The sitemap lies more than 11 levels down."),
    "SM604": Code("unfetchable-url", _E, "The URL of a sitemap is not HTTP or HTTPS."),
    "SM605": Code("not-fetched", _I, "A child that nobody fetched."),
    "SM606": Code("repeated-index", _W, "An index that stands open elsewhere is closed here."),
    "SM701": Code(
        "document-too-large", _E, "The document is larger than allowed; the rest is cut."
    ),
    "SM702": Code("more-problems", _I, "More problems were found than are listed."),
}
"""Every problem there is: code, name, severity, meaning."""


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
