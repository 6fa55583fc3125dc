"""How an error of a client is described in problems, and in recordings."""

from usp._display import redact
from usp.exceptions import ReplayedError

__all__ = ["described"]


def described(error: BaseException) -> str:
    """Return the name and the message of an error; one that is replayed, as it was recorded."""
    if isinstance(error, ReplayedError):
        return error.description
    name = type(error).__name__
    return redact(f"{name}: {error}" if str(error) else name)
