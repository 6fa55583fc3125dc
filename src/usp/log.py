"""The names of ``usp.log`` in ultimate-sitemap-parser 0.5, for programs that import them.

Nothing in this package uses them. A crawl logs in ``_drive.events``, to loggers of the standard
library.
"""

import logging
from logging import Logger

__all__ = ["Logger", "create_logger"]


def create_logger(name: str) -> Logger:
    """Return the logger of this name."""
    return logging.getLogger(name)
