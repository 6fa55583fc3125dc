"""Every exception that this library raises, as one tree.

::

    UspError                            never raised itself; catch it to catch all of ours
     ├ SitemapException                 a call that cannot work
     │  ├ UsageError                    a wrong argument (also a ValueError)
     │  │  ├ StripURLToHomepageException   strip_url_to_homepage() got no usable URL
     │  │  └ MissingExtraError          a library is not installed (also an ImportError)
     │  ├ StorageError                  no room for a document or an export (also an OSError)
     │  │  └ StateError                 the state of a sync is in use, or can't be written
     │  └ ThreadStartError              no thread can be started (also a RuntimeError)
     ├ FetchError                       a body could not be read to its end; raised by chunks()
     │  ├ AddressRefusedError           the address guard (SSRF) refused the address
     │  ├ ConnectionDroppedError        the connection ended before the body did
     │  ├ DeadlineError                 the body took longer than the document deadline
     │  ├ ReplayedError                 what ended a body, or a request, in a recording
     │  └ CancelledFetchError           the crawl that made the request has ended
     ├ SitemapXMLParsingException       kept for programs that catch it; never raised
     ├ GunzipException                  gunzip() got data that is not a whole gzip file
     └ NoWebClientException             a client without network access was asked to fetch

What the *web* does wrong is not raised. It is data: an ``InvalidSitemap`` in the tree, a
``Problem`` on a sitemap, the ``Outcome`` of a crawl.
"""

from usp._display import shown


class UspError(Exception):
    """Base class of every exception that this library raises.

    Its message is one line, without the user and password of any URL.
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*(shown(arg) if isinstance(arg, str) else arg for arg in args))


class SitemapException(UspError):
    """The call cannot work: a wrong argument, or no room for large documents."""


class UsageError(SitemapException, ValueError):
    """An argument is wrong; the message names it and says what is accepted."""


class StripURLToHomepageException(UsageError):
    """``strip_url_to_homepage()`` was given something that is not an HTTP(S) URL."""


class MissingExtraError(UsageError, ImportError):
    """Something needs a library that isn't installed; the message says how to install it."""


class StorageError(SitemapException, OSError):
    """There is no room: in the temporary directory for a large document, or for an export."""


class StateError(StorageError):
    """The state of ``usp.sync`` is in use by another process, or can't be read or written."""


class ThreadStartError(SitemapException, RuntimeError):
    """The system starts no thread for the requests of a crawl: a limit is reached."""


class FetchError(UspError):
    """A response could not be read to its end."""


class AddressRefusedError(FetchError):
    """The address guard refused a connection to a private address (SSRF)."""


class ConnectionDroppedError(FetchError):
    """The connection ended before the document did."""


class DeadlineError(FetchError):
    """A document did not arrive within its deadline."""


class ReplayedError(FetchError):
    """A client or a body failed so when it was recorded; raised again when that is replayed."""

    def __init__(self, description: str, *, transient: bool = False) -> None:
        super().__init__(description)
        self.description = description
        """The name and message of the error that was recorded."""
        self.transient = transient
        """Whether it was transient, so that a retry makes sense."""


class CancelledFetchError(FetchError):
    """The crawl that made the request has ended, or the client was aborted."""


class SitemapXMLParsingException(UspError):
    """Kept for programs that catch it: problems with a document are data now."""


class GunzipException(UspError):
    """The data given to ``helpers.gunzip()`` is not a whole gzip file, or is too large."""


class NoWebClientException(UspError):
    """A client without network access was asked to fetch a URL."""
