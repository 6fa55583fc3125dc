"""The defaults and limits of our clients: user agent, timeouts, redirects, unwanted bodies."""

from typing import Final

from usp._version import __version__

__all__ = [
    "DOCUMENT_DEADLINE",
    "DRAIN_SECONDS",
    "FIRST_RESPONSE_TIMEOUT",
    "MAX_DRAINED_BYTES",
    "MAX_HEADER_LINE",
    "MAX_REDIRECTS",
    "MAX_WAIT_SECONDS",
    "SUCCESS_STATUSES",
    "TIMEOUT",
    "USER_AGENT",
]

USER_AGENT: Final = f"ultimate_sitemap_parser/{__version__}"
TIMEOUT: Final = (9.05, 60.0)
"""Seconds to connect (just over three TCP retransmissions) and to wait for bytes."""
FIRST_RESPONSE_TIMEOUT: Final = 36.0
"""Seconds that a host has for its first response in a crawl, over all attempts; half as long again
for both schemes together. So a host that never responds costs less than a minute."""
DOCUMENT_DEADLINE: Final = 300.0
"""Seconds from the request to the end of the document."""
SUCCESS_STATUSES: Final = range(200, 300)
MAX_REDIRECTS: Final = 30
"""As many as requests follows."""
MAX_HEADER_LINE: Final = 64 * 1024
"""The longest header line, in bytes; http.client has the same limit."""
MAX_DRAINED_BYTES: Final = 64 * 1024
"""Bytes of an unwanted body that are read so that the connection can be kept."""
DRAIN_SECONDS: Final = 1.0
"""Seconds that this may take."""
MAX_WAIT_SECONDS: Final = 0.25
"""The longest single wait of a thread. ``_thread.interrupt_main()`` sets a flag that Python looks
at between two waits; it ends none."""
