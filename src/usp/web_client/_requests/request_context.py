"""What one request carries along, redirects included, to the connections that it uses.

It travels in a context variable of the thread that makes the request, since requests and urllib3
have no parameter for it: one session serves any number of crawls.
"""

from collections.abc import Mapping, MutableMapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from usp.web_client._http.address_guard import Guard
from usp.web_client._http.credentials import Homepage, is_same_server
from usp.web_client._http.environment import Environment
from usp.web_client._http.first_response import ResponseWait
from usp.web_client._http.urls import Login
from usp.web_client._requests.tracked_sockets import TrackedSockets

if TYPE_CHECKING:
    from usp.web_client._requests.session import GuardedAdapters

__all__ = ["REQUEST_CONTEXT", "RequestContext"]


@dataclass(slots=True)
class RequestContext:
    """What one request carries along."""

    guard: Guard
    sockets: TrackedSockets
    homepage: Homepage
    adapters: "GuardedAdapters"
    deadline: float | None
    """When the document has to be complete, by the monotonic clock; waiting puts it off."""
    environment: Environment
    wait: ResponseWait
    """How long to wait for a host that has not responded yet."""
    proxies: Mapping[str, str | None] = field(default_factory=dict)
    """The caller's proxies by scheme, which go before those of the environment."""
    credentials: Mapping[str, str] = field(default_factory=dict)
    """The caller's credentials, while the request stays on the server that they were sent to."""

    netrc: bool = True
    """Whether the logins of ``.netrc`` are used."""
    trust_env: bool = True
    """Whether the session uses the environment, to which ``.netrc`` belongs."""
    redirects_are_ours: bool = False
    """Whether our session follows redirects: it keeps credentials on their server."""

    def netrc_login(self, url: str, *, is_redirect: bool = False) -> Login | None:
        """Return the login of ``.netrc`` that a URL gets."""
        if not (self.netrc and self.trust_env):
            return None
        return self.environment.login_for(url, self.homepage, is_redirect=is_redirect)

    def redirect_headers(self, headers: MutableMapping[str, str], url: str, target: str) -> None:
        """Change the headers of a redirect from a URL to another: credentials stay on their server.

        requests drops ``Cookie`` on every redirect and lets ``.netrc`` replace ``Authorization``.
        """
        if not is_same_server(url, target):
            self.credentials = {}
        headers.update(self.credentials)


REQUEST_CONTEXT: Final[ContextVar[RequestContext | None]] = ContextVar(
    "REQUEST_CONTEXT", default=None
)
