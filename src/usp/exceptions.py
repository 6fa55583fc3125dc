"""The errors a caller can meet, as one tree.

::

    UspError                         never raised itself: catch it to catch everything of ours
     ├ SitemapException              a call that can't be meant: a URL that isn't one, a bad option
     │  ├ StripURLToHomepageException   strip_url_to_homepage() was given no usable URL
     │  └ StoreException             large documents find no room: a disk that is full or missing
     ├ SitemapXMLParsingException    kept for programs that catch it; nothing raises it any more
     ├ GunzipException               helpers.gunzip() was given something that isn't gzip
     └ NoWebClientException          something asked the web of a client that has none

What the *web* does wrong is never raised: it comes back as data (an ``InvalidSitemap`` in the
tree, a ``Problem`` on a sitemap, an ``Outcome`` on the root).
"""


class UspError(Exception):
    """Base of every error that this library raises."""


class SitemapException(UspError):
    """The call can't be meant: a URL that isn't one, a loop asked for by name, a bad option."""


class StripURLToHomepageException(SitemapException):
    """A URL from which no homepage can be had."""


class StoreException(SitemapException):
    """A document is too large for memory, and the temporary directory is full or missing."""


class SitemapXMLParsingException(UspError):
    """Kept for programs that catch it: what is wrong with a document is data now."""


class GunzipException(UspError):
    """The data given to ``helpers.gunzip()`` is not a whole gzip file, or unpacks to too much."""


class NoWebClientException(UspError):
    """Something asked the web of a client that has none."""
