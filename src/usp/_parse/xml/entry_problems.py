"""Reports what the builder of entries found wrong with them, in the order of reading."""

from usp._parse.diagnostics import Diagnostics, Position
from usp._parse.xml.entry_builder import EntryBuilder


def report_open_entries(builder: EntryBuilder, diagnostics: Diagnostics) -> None:
    """Report the entries that are not closed, or that end too early."""
    for offset in builder.unclosed_entries:
        diagnostics.report("SM210", "an entry is not closed", at=offset)
    builder.unclosed_entries.clear()
    for offset in builder.unfinished:
        message = "an entry ends inside of a field, or before its URL: the rest is missing"
        diagnostics.report("SM209", message, at=offset)
    builder.unfinished.clear()


def report_structure(builder: EntryBuilder, diagnostics: Diagnostics, root: Position) -> None:
    """Report what is wrong with names and namespaces, those of the root element there."""
    for code, message, first in builder.structure_problems.take():
        position = root if first is None else None
        diagnostics.report(code, message, at=first, position=position)
