"""The own options of ``usp export``."""

from typing import Final

from usp.cli._options import FROM, Option
from usp.cli._value_types import NAMES, TEXT

EXPORT_FORMATS: Final = ("csv", "tsv", "jsonl", "parquet", "arrow", "db")
"""The output formats of ``usp export``."""


def _is_said_by(path: str) -> bool:
    from usp._export.target import says_format  # slow to import, and few need it

    return says_format(path)


_COMPRESSED: Final = tuple(f"{name}.{how}" for name in EXPORT_FORMATS[:3] for how in ("gz", "zst"))
_TABLES: Final = (
    *("pages", "sitemaps", "problems", "attempts", "sites"),
    *("images", "videos", "alternates", "links", "news"),
)
_OPTIONS: Final = (
    Option(
        ("-f", "--format"), "output",
        "the format, whatever the name of the file says: csv, tsv, jsonl (each also with .gz "
        "or .zst), parquet, arrow, db (SQLite); for a folder by default parquet",
        TEXT, "FORMAT", choices=(*EXPORT_FORMATS, *_COMPRESSED),
        is_said_by=_is_said_by,
    ),
    Option(
        ("--table",), "output",
        f"the table: {', '.join(_TABLES)}, or all; several with commas between (default: pages; "
        "all in a folder or a database)",
        NAMES, "NAME", words=(*_TABLES, "all"),
    ),
    Option(
        ("--columns",), "output", "only these columns, in this order; commas between", NAMES,
        "NAMES",
    ),
    Option(
        ("--unique",), "output",
        "a page that several sitemaps list, of whatever source, comes once, at its first one",
    ),
    Option(
        ("--bom",), "output", "begin CSV with a byte order mark, so that Excel takes it as UTF-8"
    ),
    Option(
        ("--escape-formulas",), "output",
        "put an apostrophe before a cell of CSV that a spreadsheet would run as a formula",
    ),
    FROM,
)  # fmt: skip
EXPORT_OPTIONS: Final = tuple(option._replace(keyword=option.dest) for option in _OPTIONS)
"""The own options of ``usp export``; errors name the parameters of ``usp.export`` by them."""
