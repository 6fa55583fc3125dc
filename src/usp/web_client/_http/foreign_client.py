"""Clients that are not subclasses of ours: any object with a ``get()`` can be one.

1.8.1 never looks at the class of a client, so programs pass objects of their own, and tests pass
mocks. ``unittest.mock.MagicMock(spec=AbstractWebClient)`` claims to be an instance and has every
attribute, so the type decides, not ``isinstance()``, and only what 1.8.1 calls is called.
"""

from typing import Any, cast

from usp._validate import check_instance
from usp.web_client.abstract_aio_client import AbstractAioWebClient
from usp.web_client.abstract_client import AbstractWebClient, AbstractWebClientResponse

__all__ = ["as_web_client"]


def as_web_client(given: object) -> AbstractWebClient:
    """Return a client as it is, or an object with a ``get()`` in the form of a client.

    :raises UsageError: if it is neither.
    """
    kind = type(given)
    if issubclass(kind, AbstractWebClient):
        return cast("AbstractWebClient", given)
    is_other = isinstance(given, type) or issubclass(kind, AbstractAioWebClient)
    if is_other or not callable(getattr(given, "get", None)):
        return check_instance("web_client", cast("AbstractWebClient", given), AbstractWebClient)
    return _ForeignClient(given)


class _ForeignClient(AbstractWebClient):
    """The caller's object, used from one thread, with ``get()`` alone."""

    def __init__(self, given: Any) -> None:  # noqa: ANN401 -- any object with a get()
        self._given = given

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        """Set the limit of the object, if it has the method."""
        tell = getattr(self._given, "set_max_response_data_length", None)
        if callable(tell):
            tell(max_response_data_length)

    def get(self, url: str) -> AbstractWebClientResponse:
        """Return what the object returns."""
        return cast("AbstractWebClientResponse", self._given.get(url))
