"""The version, in the one place that packaging, the command and the User-Agent read it from."""

__version__ = "2.0.0"
