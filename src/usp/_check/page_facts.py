"""What rules about pages look at: a page as it is listed, and as it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from usp._check.facts import CheckOptions
from usp._check.findings import Occurrence
from usp._check.rules import CheckSeverity
from usp._check.samples import PageEntry
from usp._lazy import lazy_property
from usp._parse import Source, http_charset
from usp._parse.checking import PageMarkup, document_text, links_of_header, read_page_markup

_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_CANONICAL: Final = "canonical"
_ALTERNATE: Final = "alternate"


def occurrence_at(
    page: PageEntry, code: str, detail: str = "", severity: CheckSeverity | None = None
) -> Occurrence:
    """Return an occurrence at the entry of a page."""
    return Occurrence(code, page.sitemap_url, page.url, page.line, page.offset, detail, severity)


@dataclass(frozen=True)
class PageFacts:
    """A page that is there: the response, or the file, that a visitor would get."""

    listed: PageEntry
    options: CheckOptions
    url: str
    """Its URL after redirects."""
    content: bytes
    """Its first bytes; they may be compressed."""
    is_whole: bool
    """Whether that is all of it."""
    max_bytes: int
    """How much of it is read, decompressed."""
    headers: Mapping[str, tuple[str, ...]]

    def occurrence(
        self, code: str, detail: str = "", severity: CheckSeverity | None = None
    ) -> Occurrence:
        """Return an occurrence at the entry of the page."""
        return occurrence_at(self.listed, code, detail, severity)

    @lazy_property
    def markup(self) -> PageMarkup | None:
        """What its HTML says; None if it is something else."""
        content_type = next(iter(self.headers.get("Content-Type", ())), "")
        served = content_type.partition(";")[0].strip().lower()
        if served and served not in _HTML:
            return None
        charset = http_charset(content_type)
        source = Source([self.content], self.url, self.url, charset, self.max_bytes)
        text = document_text(source, self.max_bytes)
        return read_page_markup(text, self.url)

    @lazy_property
    def header_links(self) -> list[tuple[str, dict[str, str]]]:
        """The targets of its ``Link`` headers, with their parameters."""
        return list(links_of_header(self.headers.get("Link", ()), self.url))

    @property
    def canonicals(self) -> tuple[str, ...]:
        """The canonical URLs that it gives, in headers and in its HTML."""
        found = [
            url
            for url, parameters in self.header_links
            if _CANONICAL in parameters.get("rel", "").lower().split()
        ]
        found += self.markup.canonicals if self.markup else ()
        return tuple(dict.fromkeys(found))

    @property
    def alternates(self) -> set[tuple[str, str]]:
        """The codes of languages that it gives, in lower case, and URLs."""
        found = [
            (parameters["hreflang"], url)
            for url, parameters in self.header_links
            if parameters.get("hreflang")
            and _ALTERNATE in parameters.get("rel", "").lower().split()
        ]
        found += self.markup.alternates if self.markup else ()
        return {(code.strip().lower(), url) for code, url in found}

    @property
    def refusals(self) -> dict[str, str]:
        """The agents that may not index it, and what says so."""
        given = [("X-Robots-Tag", agent, words) for agent, words in self._robots_tags()]
        if self.markup:
            metas = self.markup.robots
            given += [("meta", name, frozenset(_words(content))) for name, content in metas]
        found: dict[str, str] = {}
        for agent in self.options.agents:
            names = _names_of(agent)
            for where, name, words in given:
                if name in names and words & _NOINDEX:
                    found.setdefault(agent, f"{where} {min(words & _NOINDEX)}")
        return found

    def _robots_tags(self) -> list[tuple[str, frozenset[str]]]:
        """Return the agents and words of the X-Robots-Tag headers.

        ``googlebot: noindex, nofollow, otherbot: noarchive``: a name counts for what follows it.
        """
        found: list[tuple[str, frozenset[str]]] = []
        for value in self.headers.get("X-Robots-Tag", ()):
            agent = _EVERYONE
            for part in value.split(","):
                name, colon, rest = part.partition(":")
                if colon and name.strip().lower() not in _WITH_VALUE:
                    agent, part = name.strip().lower(), rest  # noqa: PLW2901 -- what follows it
                found.append((agent, frozenset(_words(part))))
        return found


_NOINDEX: Final = frozenset({"noindex", "none"})
_EVERYONE: Final = "robots"
_WITH_VALUE: Final = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
)
"""Directives that have a value after a colon, and are no names of agents."""
_OTHER_NAMES: Final = {"yandexbot": ("yandex",), "bingbot": ("msnbot",)}
"""Other names by which pages address an agent."""


def _words(content: str) -> list[str]:
    return content.lower().replace(",", " ").split()


def _names_of(agent: str) -> frozenset[str]:
    """Return the names under which a page may address an agent."""
    name = agent.lower()
    return frozenset({_EVERYONE, name, *_OTHER_NAMES.get(name, ())})
