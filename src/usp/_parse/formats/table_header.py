"""The header of a table (CSV, TSV): a text that begins with one is no list of URLs.

The start of a row is another URL, and so is a row as a whole: ``https://example.org/,2024-05-06``.
"""

import re
from typing import Final

URL_COLUMNS: Final = (
    "url",  # most tools, and this one
    "loc",  # advertools
    "address",  # Screaming Frog
    "top pages",  # Google Search Console, "Pages" of a performance report
    "page",  # its API
    "page url",  # Semrush, Bing Webmaster Tools
    "full url",  # Sitebulb
    "current url",  # Ahrefs
    "landing page",  # Google Analytics
    "permalink",
    "link",
    "uri",
)
"""The names under which tools have the URL of a page, in order of preference."""
DELIMITERS: Final = (",", "\t", ";")
_BETWEEN_CELLS: Final = re.compile(f"[{''.join(DELIMITERS)}]")
_EXCEL: Final = re.compile(rf"\s*+sep={_BETWEEN_CELLS.pattern}\s*+", re.IGNORECASE)
"""The line before a header that tells Excel what is between cells."""
_BLANKS: Final = re.compile(r"[\s_]++")
_LONGEST: Final = 4096
"""Characters of a header."""


def plain_name(name: str) -> str:
    """Return the name of a column without what doesn't matter: case, blanks and underscores."""
    return _BLANKS.sub(" ", name.strip()).casefold()


def is_table_header(line: str) -> bool:
    """Tell whether a line names several columns, one of which has URLs; Excel may write another."""
    if _EXCEL.fullmatch(line):
        return True
    is_short = len(line) <= _LONGEST
    cells = _BETWEEN_CELLS.split(line) if is_short and "://" not in line else []
    return len(cells) > 1 and any(plain_name(cell.strip(' "')) in URL_COLUMNS for cell in cells)
