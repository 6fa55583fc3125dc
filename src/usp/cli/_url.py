"""The URL of a website, as people type it on the command line."""

from usp._crawl.urls import check_homepage
from usp._validate import shown_argument
from usp.exceptions import UsageError


def site_url(typed: str) -> str:
    """Return the URL of a website; a bare domain means https, as in the library.

    :raises UsageError: if it is not the URL of a website.
    """
    try:
        return check_homepage("url", typed.strip())
    except UsageError:
        raise UsageError(
            f"{shown_argument(typed)} is not the URL of a website: "
            "write it like https://example.org/ or example.org"
        ) from None
