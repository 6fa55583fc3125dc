"""How an export is written: what the caller may choose beyond the format."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """The choices of one export."""

    bom: bool = False
    """Whether a file of delimited text begins with a byte order mark, for Excel."""
    escape_formulas: bool = False
    """Whether a cell that a spreadsheet would run as a formula begins with an apostrophe."""
    append: bool = False
    """Whether the rows follow others in the same file: then there is no second header."""
