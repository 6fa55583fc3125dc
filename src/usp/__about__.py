"""The version under the name it had in ultimate-sitemap-parser 0.5."""

from usp._version import __version__

__all__ = ["__version__"]
