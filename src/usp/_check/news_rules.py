"""Rules about news: SM550 to SM555."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from usp._check.facts import DocumentEnd, EntryFacts, SitemapFacts
from usp._check.findings import Occurrence
from usp._check.registry import DocumentRule, document_rule, entry_rule
from usp._check.value_rules import utc
from usp._display import excerpt
from usp._parse import clean_text, parse_date

_STORY: Final = "news:news"
_PREFIX: Final = "news:"
MAX_STORIES: Final = 1000
MAX_AGE: Final = timedelta(hours=49)
"""48 hours, and one of grace between the publication and the build of the sitemap."""
_LANGUAGE: Final = re.compile(r"[a-z]{2,3}|zh-cn|zh-tw")
_REQUIRED: Final = {
    "news:name": "publication name",
    "news:language": "language",
    "news:publication_date": "publication date",
}
_DROPPED: Final = frozenset(
    f"news:{name}" for name in ("access", "genres", "keywords", "stock_tickers", "geo_locations")
)


@entry_rule("SM551", "SM552", "SM553", "SM554", "SM555", prefix="news:")
def stories(facts: EntryFacts) -> Iterator[Occurrence]:
    """Look at the stories of an entry."""
    found = facts.entry.groups(_STORY, _PREFIX)
    if len(found) > 1:
        yield facts.occurrence("SM554", f"{len(found)} <news:news>")
    for story in found:
        yield from _story(facts, {key: clean_text(text) for key, text in reversed(story)})
    names = {key for key, _ in facts.entry.record} | set(facts.entry.unexpected)
    if dropped := sorted(names & _DROPPED):
        yield facts.occurrence("SM555", ", ".join(f"<{name}>" for name in dropped))


def _story(facts: EntryFacts, story: dict[str, str]) -> Iterator[Occurrence]:
    missing = [name for key, name in _REQUIRED.items() if not story.get(key)]
    if missing:
        yield facts.occurrence("SM552", f"it has no {', no '.join(missing)}")
    language = story.get("news:language", "")
    if language and not _LANGUAGE.fullmatch(language.lower()):
        yield facts.occurrence("SM553", f"the language {excerpt(language, 40)!r}")
    published = parse_date(story.get("news:publication_date", ""))
    if published and facts.sitemap.options.now - utc(published) > MAX_AGE:
        yield facts.occurrence("SM551", f"published {excerpt(story['news:publication_date'], 40)}")


@document_rule("SM550")
class StoryCount(DocumentRule):
    """Counts the stories of a document."""

    def __init__(self, sitemap: SitemapFacts) -> None:
        super().__init__(sitemap)
        self._stories = 0

    def add(self, facts: EntryFacts) -> None:
        """Count the stories of an entry."""
        self._stories += len(facts.entry.shape.at.get(_STORY, ()))

    def finish(self, end: DocumentEnd) -> Iterator[Occurrence]:
        """Compare with the limit."""
        del end
        if self._stories > MAX_STORIES:
            yield self._sitemap.occurrence("SM550", f"{self._stories:,} stories")
