"""Rules about the responses of live pages: SM901, SM902, SM903, SM906, SM907, SM911, SM805.

What a server refuses to a check (401, 403, 429, a challenge), and what does not answer in time, is
not verified: nothing is known of such a page.
"""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from usp._check.findings import Occurrence
from usp._check.page_facts import PageFacts, occurrence_at
from usp._check.registry import CHECKED
from usp._check.rules import CheckSeverity
from usp._check.samples import PageEntry
from usp._display import excerpt
from usp._drive.live_pages import PageResponse
from usp.web_client import challenge_in

CHECKED.update(("SM901", "SM902", "SM903", "SM906", "SM907", "SM911", "SM805"))
_OK: Final = range(200, 300)
_REDIRECTS: Final = range(300, 400)
_CLIENT_ERRORS: Final = range(400, 500)
_SERVER_ERRORS: Final = range(500, 600)
_REFUSALS: Final = frozenset({401, 403, 407, 408, 425, 429, 451})
"""Statuses by which a server says something about the visitor, not about the page."""
_CHALLENGE_TITLE: Final = re.compile(
    r"just a moment|attention required! \| cloudflare|ddos-guard|pardon our interruption"
    r"|human verification|robot challenge screen|verifying you are human|are you a robot",
    re.IGNORECASE,
).match
"""The titles of pages that ask a visitor for a proof, and come with status 200, too."""


def unverified_reason(response: PageResponse, facts: PageFacts | None) -> str:
    """Return why nothing is known of a page; empty if something is."""
    status = response.status
    if challenge_in(lambda name: next(iter(response.headers.get(name, ())), None)):
        return "a challenge for visitors"
    if status is None:
        return response.failure or "no response"
    if status in _REFUSALS or status not in range(200, 600):
        return f"HTTP {status}"
    title = facts.markup.title if facts and facts.markup else ""
    return f"a challenge for visitors: {excerpt(title, 80)}" if _CHALLENGE_TITLE(title) else ""


def status_findings(page: PageEntry, response: PageResponse) -> Iterator[Occurrence]:
    """Yield what the status and the redirects of a page mean."""
    status, chain = response.status or 0, response.redirects
    if status in _SERVER_ERRORS:
        yield occurrence_at(page, "SM902", f"HTTP {status}")
    elif status in _REDIRECTS:
        detail = f"it leads nowhere: {response.failure}"
        yield occurrence_at(page, "SM903", detail, CheckSeverity.ERROR)
    elif status in _CLIENT_ERRORS and chain:
        detail = f"it redirects, and then has HTTP {status}"
        yield occurrence_at(page, "SM903", detail, CheckSeverity.ERROR)
    elif status in _CLIENT_ERRORS:
        yield occurrence_at(page, "SM901", f"HTTP {status}")
    elif chain and not leads_home(page.url, response):
        severity = CheckSeverity.ERROR if len(chain) > 1 else None
        yield occurrence_at(page, "SM903", f"it redirects: {_route(response)}", severity)


def _route(response: PageResponse) -> str:
    return " → ".join((*response.redirects[1:], response.final_url))


def leads_home(url: str, response: PageResponse) -> bool:
    """Tell whether a page that is not the homepage redirects there."""
    return bool(response.redirects) and _is_home(response.final_url) and not _is_home(url)


def _is_home(url: str) -> bool:
    parts = urlsplit(url)
    return parts.path in {"", "/"} and not parts.query


def is_dead(response: PageResponse) -> bool:
    """Tell whether a URL answers with an error that says the document is not there."""
    status = response.status or 0
    return status in _CLIENT_ERRORS and status not in _REFUSALS


def is_page(response: PageResponse) -> bool:
    """Tell whether a response brought a page from the listed URL itself."""
    return response.status in _OK
