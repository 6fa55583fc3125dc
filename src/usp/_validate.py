"""What a caller may say: small checks that name the parameter, in one line, before anything begins.

Rules of the room: a check returns what is meant or raises ``SitemapException``; it knows nothing of
who asks. What comes from the web is never judged here.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeVar
from urllib.parse import urljoin, urlsplit

from usp._parse.values.text import is_http_url
from usp.exceptions import SitemapException
from usp.objects.problem import CODES

_T = TypeVar("_T")

_SHOWN: Final = 80
"""So many characters of a wrong value are shown."""
_NO_HOST: Final = re.compile(r'[\s%<>"\\^`{|}\x00-\x1f\x7f\ud800-\udfff]|^\.|\.\.|[^.]{64}')
"""What no name of a host has in it: separators, empty parts, parts too long for DNS."""
_FLOAT: Final = sys.float_info.max
_ANY_SITE: Final = "http://site.example/"


def wrong(name: str, needed: str, given: object) -> SitemapException:
    """Return the error of a parameter."""
    shown = " ".join(repr(given).split())
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
    return SitemapException(f"{name} must be {needed}, not {shown}.")


def whole(name: str, given: object, least: int) -> int:
    """Return a whole number; True and False are none."""
    if isinstance(given, bool) or not isinstance(given, int) or given < least:
        raise wrong(name, f"a whole number, at least {least}", given)
    return given


def number(name: str, given: object, least: float = -_FLOAT, most: float = _FLOAT) -> float:
    """Return a number within bounds: by default, any that is finite."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not least <= given <= most:
        bounds = "finite" if (least, most) == (-_FLOAT, _FLOAT) else f"at least {least}"
        bounds += f" and at most {most}" if most < _FLOAT else ""
        raise wrong(name, f"a number, {bounds}", given)
    return given


def switch(name: str, given: object) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(given, bool):
        raise wrong(name, "True or False", given)


def flags(**given: object) -> None:
    """Refuse what is neither yes nor no; 0 and 1 are, as programs of 1.8.1 may have it."""
    for name, value in given.items():
        if not isinstance(value, int) or value not in (0, 1):
            raise wrong(name, "True or False", value)


def instance(name: str, given: _T, kind: type[Any]) -> _T:
    """Return a value of a class."""
    if not isinstance(given, kind):
        what = f"the class {given.__name__}" if isinstance(given, type) else _with_article(given)
        raise SitemapException(f"{name} must be of class {kind.__name__}, not {what}.")
    return given


def instance_or_none(name: str, given: _T, kind: type[Any]) -> _T:
    """Return a value of a class, or nothing."""
    return given if given is None else instance(name, given, kind)


def problem_code(name: str, given: str) -> str:
    """Return a code of the table of problems."""
    if instance(name, given, str) not in CODES:
        raise wrong(name, "the code of a problem", given)
    return given


def callables(**given: object) -> None:
    """Refuse any that is neither a function nor None."""
    for name, value in given.items():
        if value is not None and not callable(value):
            raise wrong(name, "a function", value)


def several(name: str, given: object, kind: type[Any]) -> Iterator[Any]:
    """Yield values of a class; a text is refused, since it is an iterable of its letters."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise wrong(name, "several, such as a list", given)
    for each in given:
        yield instance(f"each of {name}", each, kind)


def texts(name: str, given: object) -> list[str]:
    """Return several texts."""
    return list(several(name, given, str))


def paths(name: str, given: object) -> list[str]:
    """Return paths of a website."""
    found = texts(name, given)
    for path in found:
        try:
            leads_somewhere = is_start(urljoin(_ANY_SITE, path))
        except ValueError:
            leads_somewhere = False
        if not leads_somewhere:
            raise wrong(name, "paths below a homepage", path)
    return found


def is_start(url: str) -> bool:
    """Tell whether a crawl can begin at a URL: with a host that can be asked, and such a port."""
    if not is_http_url(url):
        return False
    parts = urlsplit(url)
    try:
        _ = parts.port  # reading it is what checks it
    except ValueError:
        return False
    return "[" in parts.netloc or not _NO_HOST.search(parts.hostname or "")


def start(name: str, given: object) -> str:
    """Return a URL at which a crawl can begin."""
    if not isinstance(given, str) or not is_start(given):
        raise wrong(name, "an HTTP(S) URL", given)
    return given


def _with_article(given: object) -> str:
    name = type(given).__name__
    article = "an" if name[0] in "AEIOaeio" else "a"
    return "None" if given is None else f"{article} {name}"
