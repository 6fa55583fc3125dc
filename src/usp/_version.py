"""The version, read by packaging, the command and the User-Agent."""

__version__ = "2.0.0"
