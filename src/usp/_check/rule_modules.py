"""The modules whose import registers rules."""

from importlib import import_module
from typing import Final

MODULES: Final = (
    "url_rules",
    "value_rules",
    "structure_rules",
    "date_statistics",
    "news_rules",
    "image_rules",
    "video_rules",
    "hreflang_rules",
    "robots_rules",
    "http_rules",
    "listing_rules",
    "host_rules",
    "robots_pages",
    "index_rules",
    "expectation_rules",
    "page_rules",
    "live_rules",
    "folder_rules",
    "earlier_rules",
)
"""Each registers its rules with ``registry``, in this order."""


def load() -> None:
    """Import all of them."""
    for name in MODULES:
        import_module(f"usp._check.{name}")
