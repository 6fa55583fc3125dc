"""The CA bundle that the certificates of websites are checked against.

One that can't be loaded is a wrong setting and not the fault of a website: with it every TLS
connection fails, and the website would be read by http instead.
"""

import ssl
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3.util.ssl_ import create_urllib3_context

from usp.exceptions import UsageError
from usp.web_client._http.environment import Environment

__all__ = ["CERTIFI", "CABundle", "named_bundle", "new_context", "trusting_context"]


class CABundle(NamedTuple):
    """A CA bundle, a file or a folder, and the setting that names it."""

    setting: str
    path: str


CERTIFI: Final = CABundle("verify", DEFAULT_CA_BUNDLE_PATH)
"""The bundle that is used if none is named."""


def named_bundle(verify: object, environment: Environment | None) -> CABundle | None:
    """Return the CA bundle that is named.

    :param verify: its path; True leaves it to the environment.
    :param environment: the environment, if it is trusted.
    """
    if isinstance(verify, str | Path):
        return CABundle("verify", str(verify))
    if verify is True and environment is not None and environment.ca_bundle:
        return CABundle(environment.ca_bundle_variable, environment.ca_bundle)
    return None


def trusting_context(bundle: CABundle) -> ssl.SSLContext:
    """Return a TLS context that trusts a CA bundle; it is loaded once.

    :raises UsageError: if it can't be loaded; the message names the setting.
    """
    setting, path = bundle
    try:
        return _context_with(path)
    except (OSError, ValueError) as error:  # OSError: also a file in which there is no certificate
        raise UsageError(f"{setting}: the CA bundle {path} can't be loaded: {error}") from error


@lru_cache(maxsize=4)  # so that a new client for each crawl doesn't load them again
def _context_with(path: str) -> ssl.SSLContext:
    context = new_context(ssl.CERT_REQUIRED)
    is_folder = Path(path).is_dir()
    context.load_verify_locations(None if is_folder else path, path if is_folder else None)
    return context


def new_context(check: ssl.VerifyMode) -> ssl.SSLContext:
    """Return a TLS context that trusts nobody yet."""
    context = create_urllib3_context(cert_reqs=check)
    context.set_alpn_protocols(["http/1.1"])
    return context
