"""Rules about a build folder: SM662, SM920, SM921; and what its pages say of themselves."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from usp._check.facts import EntryFacts
from usp._check.findings import Occurrence
from usp._check.folder import BuildFolder, is_html
from usp._check.live import ListedPages
from usp._check.origins import origin_of
from usp._check.page_facts import PageFacts
from usp._check.registry import CHECKED, PAGE_RULES, SiteRule
from usp._check.samples import PageEntry
from usp._check.site_facts import SiteFacts
from usp._crawl.unique_urls import UniqueUrls

_NO_FILE: Final = "there is no file for it"
_MAX_PAGE_BYTES: Final = 2 * 1024 * 1024
"""How much of a file is read. A disk is quick, so that is more than of a live page."""
_NOT_PAGES: Final = re.compile(
    r"(?:404|50[0-9x])\.html?|google[0-9a-f]{16}\.html|yandex_[0-9a-f]{16}\.html|_.*",
    re.IGNORECASE,
).fullmatch
"""Files that are no pages: errors, proofs of ownership, what generators keep for themselves."""


class FolderFiles(SiteRule):
    """Compares what is listed with what is built."""

    codes = ("SM662", "SM920", "SM921")

    def __init__(self, folder: BuildFolder, site: SiteFacts) -> None:
        self._folder = folder
        self._site = site
        self._listed = UniqueUrls()
        """The files of listed pages."""

    def add(self, facts: EntryFacts) -> Iterable[Occurrence]:
        """Look for the file of each listed page."""
        found: list[Occurrence] = []
        pages = ListedPages(facts)
        for url, file in self._files(facts):
            self._site.go_on()  # a page may take a while
            if file is None:
                found.append(facts.occurrence("SM920", _NO_FILE, url=url))
            elif self._listed.add(str(file)):
                found += self._look_at(file, pages.page(url))
        return found

    def add_child(self, facts: EntryFacts) -> Iterable[Occurrence]:
        """Look for the file of each sitemap that is named."""
        missing = [url for url, file in self._files(facts) if file is None]
        return [facts.occurrence("SM662", _NO_FILE, url=url) for url in missing]

    def _files(self, facts: EntryFacts) -> list[tuple[str, Path | None]]:
        """Return the URLs of an entry that belong to the folder, and their files."""
        folder = self._folder
        return [(url, folder.file_for(url)) for url in facts.entry.urls if folder.covers(url)]

    def finish(self) -> Iterator[Occurrence]:
        """Look for pages that no sitemap lists."""
        for file in self._folder.pages():
            self._site.go_on()
            if str(file) not in self._listed and not _NOT_PAGES(file.name):
                url = self._folder.url_of(file)
                if self._should_be_listed(file, url):
                    inside = file.relative_to(self._folder.path).as_posix()
                    yield Occurrence("SM921", None, url, detail=f"no sitemap lists {inside}")

    def _look_at(self, file: Path, page: PageEntry) -> Iterator[Occurrence]:
        """Yield what is wrong with a page that is listed."""
        facts = self._facts(file, page) if is_html(file) else None
        if facts:
            for rule in PAGE_RULES:
                yield from rule(facts)

    def _facts(self, file: Path, page: PageEntry) -> PageFacts | None:
        try:
            with file.open("rb") as opened:
                content = opened.read(_MAX_PAGE_BYTES + 1)
        except OSError:  # it was there a moment ago
            return None
        is_whole = len(content) <= _MAX_PAGE_BYTES
        return PageFacts(
            page,
            self._site.options,
            page.url,
            content[:_MAX_PAGE_BYTES],
            is_whole,
            _MAX_PAGE_BYTES,
            {},
        )

    def _should_be_listed(self, file: Path, url: str) -> bool:
        """Tell whether a page may be indexed, and is its own canonical one."""
        facts = self._facts(file, PageEntry("", url, None, None))
        if facts is None or facts.markup is None or facts.markup.forwards or facts.refusals:
            return False
        origin = origin_of(url)
        txt = self._site.robots.known(origin) if origin else None
        if txt and txt.rules.refusals(url):
            return False
        given = facts.canonicals
        return not given or self._folder.file_for(given[0]) == file


CHECKED.update(FolderFiles.codes)
