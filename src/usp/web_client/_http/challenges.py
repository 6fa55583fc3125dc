"""Bot challenges: responses that ask for a proof that a human sent the request.

They have any status: AWS WAF sends 202 and 405, Cloudflare 403 and 503, and caches 200. A body, if
there is one, is a page with a script, and not what was asked for.
"""

from collections.abc import Callable
from typing import Final

__all__ = ["CHALLENGE_HEADERS", "challenge_in"]

_CHALLENGES: Final = {
    "Cf-Mitigated": frozenset({"challenge"}),  # Cloudflare
    "X-Amzn-Waf-Action": frozenset({"challenge", "captcha"}),  # AWS WAF
}
"""The headers that say so, and their values."""
CHALLENGE_HEADERS: Final = tuple(_CHALLENGES)


def challenge_in(header: Callable[[str], object]) -> str:
    """Return the header by which a response says that it is a challenge; empty if none does.

    :param header: returns the value of a header, if it is there.
    """
    for name, values in _CHALLENGES.items():
        value = header(name)
        if isinstance(value, str) and value.strip().lower() in values:
            return f"{name}: {value.strip()}"
    return ""
