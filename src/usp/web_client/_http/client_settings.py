"""The settings of a web client that are keywords of the functions that crawl.

They have the names of the command's options, and this is the only list of them: each field says
which setting of our clients it is, and how its value is checked. The command takes them from here.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any, Final, NamedTuple, TypedDict

from usp._validate import argument_error, check_flags
from usp.exceptions import UsageError
from usp.web_client._http import defaults, settings

__all__ = ["OTHER_NAMES", "ClientFields", "ClientSettings"]

_SETTING: Final = "setting"
"""The key under which a field has its ``_Setting``."""
_FILES: Final = ("record", "replay")


class _Setting(NamedTuple):
    """What a field means to our clients."""

    keyword: str
    """The name of the setting; errors have it, too."""
    check: Callable[[Any], object]
    """Raises ``UsageError`` for a value that the clients don't take."""
    convert: Callable[[Any], object] = lambda value: value
    """Returns the value for the clients."""


def _setting(
    default: Any,  # noqa: ANN401 -- of any type
    keyword: str,
    check: Callable[[Any], object],
    convert: Callable[[Any], object] = lambda value: value,
    *,
    is_secret: bool = False,
) -> Any:  # noqa: ANN401 -- a field of any type
    setting = _Setting(keyword, check, convert)
    return field(default=default, repr=not is_secret, metadata={_SETTING: setting})


def _proxies(url: object) -> dict[str, str | None] | None:
    if not isinstance(url, str | None):
        raise argument_error("proxy", "the URL of a proxy", url)
    return None if url is None else dict.fromkeys(("http", "https"), url or None)


def _verify(insecure: object) -> bool:
    check_flags(insecure=insecure)
    return not insecure


def _private_addresses(allow: object) -> str:
    check_flags(allow_private=allow)
    return "allow" if allow else "auto"


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Settings of the client that a crawl makes. Every field is a keyword of functions that crawl.

    :param headers: headers to send in addition to, or instead of, the usual ones. Those for
        credentials, such as ``X-Api-Key``, go to the site of the homepage only.
    :param user_agent: the ``User-Agent`` header. With ``robots="obey"``, the rules are those for
        its first word, unless ``robots_agent`` says otherwise.
    :param netrc: whether to use the logins of ``.netrc``, each for its host.
    :param proxy: the URL of a proxy; empty for none, whatever the environment says.
    :param timeout: seconds to wait, or (to connect, to wait for bytes); None for no limit.
    :param delay: seconds between the starts of two requests.
    :param insecure: whether to accept any TLS certificate.
    :param allow_private: whether to connect to private addresses, too, wherever the site is.
    :param record: a file to which every request and response is written (WARC), without
        credentials; it must not be there yet.
    :param replay: a recording that is read instead of the network.
    """

    headers: Mapping[str, str] | None = _setting(None, "headers", settings.headers, is_secret=True)
    user_agent: str | None = _setting(None, "user_agent", settings.user_agent)
    netrc: bool = _setting(True, "netrc", lambda on: check_flags(netrc=on))
    proxy: str | None = _setting(None, "proxies", settings.proxies, _proxies, is_secret=True)
    timeout: settings.GivenTimeout = _setting(  # noqa: RUF009 -- a field
        defaults.TIMEOUT, "timeout", settings.timeout
    )
    delay: float | None = _setting(None, "wait", lambda seconds: settings.wait(seconds, False))
    insecure: bool = _setting(False, "verify", settings.verify, _verify)
    allow_private: bool = _setting(False, "private_addresses", str, _private_addresses)
    record: str | os.PathLike[str] | None = None
    replay: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        for one, setting in _settings():
            try:
                setting.check(setting.convert(getattr(self, one.name)))
            except UsageError as error:
                words = str(error).removeprefix(setting.keyword)
                raise UsageError(f"{one.name}{words.removeprefix(one.name)}") from None
        for name in _FILES:
            path = getattr(self, name)
            if not isinstance(path, str | os.PathLike | None) or path == "":
                raise argument_error(name, "the name of a file", path)
        if self.record is not None and self.replay is not None:
            raise UsageError("record and replay can't be used together.")

    def keywords(self) -> dict[str, Any]:
        """Return those settings that are not the default, as keywords of either of our clients."""
        return {
            setting.keyword: setting.convert(getattr(self, one.name))
            for one, setting in _settings()
            if getattr(self, one.name) != one.default
        }


def _settings() -> Iterator[tuple[Field[Any], _Setting]]:
    return ((one, one.metadata[_SETTING]) for one in fields(ClientSettings) if one.metadata)


OTHER_NAMES: Final = {
    setting.keyword: one.name for one, setting in _settings() if setting.keyword != one.name
}
"""The settings that our clients have under another name, and their names here."""


class ClientFields(TypedDict, total=False):
    """The settings of the client that a crawl makes, as keywords of the functions that crawl."""

    headers: Mapping[str, str] | None
    user_agent: str | None
    netrc: bool
    proxy: str | None
    timeout: settings.GivenTimeout
    delay: float | None
    insecure: bool
    allow_private: bool
    record: str | os.PathLike[str] | None
    replay: str | os.PathLike[str] | None
