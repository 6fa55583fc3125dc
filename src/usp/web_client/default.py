"""The client of those who bring none, made when it is needed.

requests takes longer to import than all the rest, so it is loaded here, and not with the functions
that may come to need it: who reads a file, or brings a client, goes without.
"""

from usp.web_client.abstract_client import AbstractWebClient


def default_client() -> AbstractWebClient:
    """Return a new ``RequestsWebClient``."""
    from usp.web_client.requests_client import RequestsWebClient

    return RequestsWebClient()
