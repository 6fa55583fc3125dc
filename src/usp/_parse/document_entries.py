"""The entries of an opened document, by the reader that suits it: tree, patterns, expat or JSON."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from usp._parse.diagnostics import Diagnostics
from usp._parse.formats.field_readers import LINKS
from usp._parse.formats.json_items import JsonItemReader
from usp._parse.formats.jsonfeed import entries as json_entries
from usp._parse.input.other_documents import report_other_document
from usp._parse.input.sniff import Kind
from usp._parse.opening import Opened
from usp._parse.pattern.layout import EntryRun
from usp._parse.tree.tree_reader import LARGEST_TREE, SmallDocument, is_worth_a_tree, read_tree
from usp._parse.xml.entry_builder import Entry
from usp._parse.xml.grammar import GRAMMARS
from usp._parse.xml_reader import XmlReader


def document_entries(
    opened: Opened,
    diagnostics: Diagnostics,
    *,
    extensions: bool = False,
    expat_only: bool = False,
    audit: bool = False,
) -> Iterator[Entry | EntryRun]:
    """Yield the entries of an XML document, or of a JSON Feed, those that look alike together.

    :param audit: whether records have the names of unexpected elements and attributes.
    """
    sniffed = opened.sniffed
    if sniffed.is_usual_xml and not (expat_only or extensions or audit):
        grammar = GRAMMARS[sniffed.kind]
        if opened.take_whole(LARGEST_TREE) and is_worth_a_tree(opened.head, grammar):
            document = SmallDocument(opened.head, sniffed.start, opened.start)
            entries = read_tree(document, grammar, diagnostics)
            if entries is not None:
                return iter(entries)
    head = opened.head
    root = opened.start.past(head[: sniffed.start])
    data = chain([head[sniffed.start :]], opened.rest)
    if sniffed.kind is Kind.JSON_FEED:
        items = JsonItemReader(diagnostics, root)
        return json_entries(items, data, diagnostics, extensions=extensions)
    grammar = GRAMMARS[sniffed.kind]
    reader = XmlReader(
        replace(grammar, extensions=extensions, audit=audit) if extensions or audit else grammar,
        diagnostics,
        root,
        rootless=sniffed.rootless,
        expat_only=expat_only,
        has_link=LINKS.get(sniffed.kind, bool),
    )
    if sniffed.junk:
        diagnostics.report("SM205", "something stands before the document", position=(1, 0))
    if sniffed.junk and not sniffed.starts_mid_entry:
        report_other_document(head[: sniffed.start], diagnostics, position=(1, 0))
    if sniffed.starts_mid_entry:
        diagnostics.report("SM209", "the beginning is cut off, and an entry with it", at=0)
    if sniffed.rootless:
        diagnostics.report("SM221", "the entries have no root element", at=0)
    return reader.read(data)
