"""Changes as text: for people, as URLs, as JSON lines, as an Atom feed.

Each writer is a pure function of changes, and yields lines without their ends.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final
from urllib.parse import quote, unquote, urlsplit
from uuid import UUID, uuid5
from xml.sax.saxutils import escape, quoteattr

from usp._display import one_line, shown_url
from usp._json import json_text
from usp._sync.changes import Change, ChangeKind, iso
from usp._version import __version__

_MARKS: Final = {
    ChangeKind.ADDED: "+",
    ChangeKind.RETURNED: "+",
    ChangeKind.REMOVED: "-",
    ChangeKind.EXPIRED: "-",
    ChangeKind.MISSING: "?",
    ChangeKind.CHANGED: "~",
    ChangeKind.MOVED: ">",
    ChangeKind.CHURN: "~",
}
_NOT_IN_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML document can have, whatever the escape (XML 1.0, 2.2)."""
_NOT_IN_IRI: Final = re.compile(r'[\x00-\x20\x7f<>"{}|\\^`]')
_WEB_URL: Final = re.compile(r"https?://", re.IGNORECASE)
_WORD_BREAKS: Final = re.compile(r"[-_+\s]++")
_SITES_NAMED: Final = 3
"""How many sites the title of a feed names."""
_SUFFIX: Final = re.compile(r"\.[a-zA-Z]{2,5}$")


def text_lines(changes: Iterable[Change]) -> Iterator[str]:
    """Yield a line for people of each change: ``+ added    URL  2026-11-01T08:30:00Z``."""
    for change in changes:
        kind = change.change
        known = dict.fromkeys((change.old_lastmod, change.lastmod))  # the same one is shown once
        dates = " -> ".join(text for date in known if (text := iso(date)) is not None)
        line = f"{_MARKS[kind]} {kind:8} {shown_url(change.url)}"
        yield f"{line}  {dates}" if dates else line


def url_lines(changes: Iterable[Change]) -> Iterator[str]:
    """Yield the URL of each change."""
    return (shown_url(change.url) for change in changes)


def json_lines(changes: Iterable[Change]) -> Iterator[str]:
    """Yield each change as a JSON object."""
    return (json_text(change.to_dict()) for change in changes)


def feed_title(sites: Sequence[str]) -> str:
    """Return the title of a feed of the changes of some sites."""
    names = [_WEB_URL.sub("", site).rstrip("/") for site in sites[:_SITES_NAMED]]
    others = len(sites) - len(names)
    return f"Changes in {', '.join(names)}{f' and {others} more' if others else ''}"


def atom_lines(
    changes: Iterable[Change], feed: UUID, title: str, checked: datetime
) -> Iterator[str]:
    """Yield an Atom feed (RFC 4287) of changes, the newest first.

    The id of an entry is made from the feed and the number of the change, so a reader knows it
    again in the next feed.

    :param feed: what no other feed has: the identity of the state.
    :param title: the title of the feed.
    :param checked: when changes were last looked for: the date of a feed without any.
    """
    linked = (change for change in changes if _is_web_url(change.url))
    listed = sorted(linked, key=lambda change: change.seq, reverse=True)
    updated = max((change.at for change in listed), default=checked)
    yield '<?xml version="1.0" encoding="utf-8"?>'
    yield '<feed xmlns="http://www.w3.org/2005/Atom">'
    yield f"  <title>{_xml(title)}</title>"
    yield f"  <id>{feed.urn}</id>"
    yield f"  <updated>{iso(updated)}</updated>"
    yield f'  <generator version="{__version__}">usp</generator>'
    yield "  <author><name>usp</name></author>"
    for change in listed:
        yield from _entry(change, feed)
    yield "</feed>"


def _entry(change: Change, feed: UUID) -> Iterator[str]:
    yield "  <entry>"
    yield f"    <title>{_xml(page_title(change.url))}</title>"
    yield f"    <link href={quoteattr(_iri(change.url))}/>"
    yield f"    <id>{uuid5(feed, str(change.seq)).urn}</id>"
    yield f"    <updated>{iso(change.at)}</updated>"
    if change.lastmod and change.change is ChangeKind.ADDED:
        yield f"    <published>{iso(change.lastmod)}</published>"
    yield f'    <category term="{change.change}"/>'
    yield f"    <summary>{_xml(f'{change.change}: {change.url}')}</summary>"
    yield "  </entry>"


def _is_web_url(url: str) -> bool:
    """Tell whether a reader may follow a link: no ``javascript:`` or ``data:``."""
    return _WEB_URL.match(url) is not None


def page_title(url: str) -> str:
    """Return a title for a page of which only the URL is known: the words of its last folder."""
    try:
        parts = urlsplit(url)
    except ValueError:  # for example an incomplete IPv6 address
        return url
    folders = [unquote(folder) for folder in parts.path.split("/") if folder]
    words = _WORD_BREAKS.sub(" ", _SUFFIX.sub("", folders[-1])).strip() if folders else ""
    return f"{words[0].upper()}{words[1:]}" if words else parts.netloc or url


def _iri(url: str) -> str:
    """Return a URL as a feed may have it: without characters that no IRI has (RFC 3987 2.2)."""
    return _NOT_IN_IRI.sub(lambda found: quote(found[0]), _allowed(url))


def _allowed(text: str) -> str:
    """Return a text that XML can have, and that changes nothing around it (RFC 3987 4.1)."""
    return _NOT_IN_XML.sub("\ufffd", one_line(text))


def _xml(text: str) -> str:
    return escape(_allowed(text))


LINE_FORMATS: Final[dict[str, Callable[[Iterable[Change]], Iterator[str]]]] = {
    "text": text_lines,
    "urls": url_lines,
    "jsonl": json_lines,
}
"""The writers of formats that have a line for each change, by name."""
