"""Checking one document: its problems, its entries, and what they are together."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from usp._check import rule_modules
from usp._check.facts import DocumentEnd, EntryFacts, SitemapFacts
from usp._check.findings import Occurrence
from usp._check.registry import DOCUMENT_RULES, DocumentRule, SiteRule, entry_rules_for
from usp._parse import Ended, Pages
from usp._parse.checking import Audit, AuditEntry
from usp.objects.problem import Problem

rule_modules.load()
_STEP: Final = 64
"""After so many entries the time is asked for."""


def check_document(
    sitemap: SitemapFacts, pages: Pages, site_rules: Sequence[SiteRule], ended: Ended | None = None
) -> Iterator[Occurrence]:
    """Yield what is found in a document, while it is read; show its entries to the site's rules.

    :raises TimeoutError: if ``ended`` says so.
    """
    audit = Audit(pages, ended)
    end = DocumentEnd(other_charset=audit.other_charset, names_news=audit.names_news)
    rules = [rule(sitemap) for rule in DOCUMENT_RULES]
    check_entry = _EntryCheck(sitemap, rules, site_rules)
    for item in audit:
        # An audit asks for the time at each part of a document, of which a rule may need long.
        if ended and not end.entries % _STEP and ended():
            raise TimeoutError
        if isinstance(item, Problem):
            end.codes.add(item.code)
            yield of_problem(item, sitemap.url)
        else:
            end.entries += 1
            yield from check_entry(item)
    end.document_bytes, end.complete = audit.document_bytes, audit.complete
    yield from _check_end(sitemap, end, rules, site_rules)


def check_rows(
    sitemap: SitemapFacts,
    entries: Iterable[AuditEntry],
    end: DocumentEnd,
    site_rules: Sequence[SiteRule],
) -> Iterator[Occurrence]:
    """Yield what is found in entries that come from somewhere else than a document."""
    rules = [rule(sitemap) for rule in DOCUMENT_RULES]
    check_entry = _EntryCheck(sitemap, rules, site_rules)
    for entry in entries:
        end.entries += 1
        yield from check_entry(entry)
    yield from _check_end(sitemap, end, rules, site_rules)


def _check_end(
    sitemap: SitemapFacts,
    end: DocumentEnd,
    rules: Sequence[DocumentRule],
    site_rules: Sequence[SiteRule],
) -> Iterator[Occurrence]:
    """Yield what is known at the end of a document."""
    for rule in rules:
        yield from rule.finish(end)
    for site_rule in site_rules:
        yield from site_rule.end_document(sitemap, end)


class _EntryCheck:
    """Shows the entries of a document to all rules that look at entries."""

    def __init__(
        self, sitemap: SitemapFacts, rules: Sequence[DocumentRule], site_rules: Sequence[SiteRule]
    ) -> None:
        self._sitemap = sitemap
        self._of_document = [rule.add for rule in rules if rule.add]
        self._of_pages = [rule.add for rule in site_rules if rule.add]
        self._of_children = [rule.add_child for rule in site_rules if rule.add_child]

    def __call__(self, entry: AuditEntry) -> list[Occurrence]:
        """Return what is found in an entry."""
        facts = EntryFacts(self._sitemap, entry)
        found: list[Occurrence] = []
        for find in entry_rules_for(self._sitemap.kind, entry.shape):
            found += find(facts)
        for add in self._of_document:
            add(facts)
        for look_at in self._of_pages if facts.is_page else self._of_children:
            found += look_at(facts)
        return found


def of_problem(problem: Problem, sitemap_url: str | None) -> Occurrence:
    """Return a problem of parsing or crawling as an occurrence."""
    place = problem.page_url, problem.line, problem.offset
    return Occurrence(problem.code, sitemap_url, *place, problem.message)
