"""The own options of ``usp report``."""

from typing import Final

from usp.cli._options import Option
from usp.cli._value_types import FILE, SWITCH, TEXT

REPORT_FORMATS: Final = ("html", "markdown")
"""The output formats of ``usp report``."""


def _is_said_by(path: str) -> bool:
    from usp._report.run import format_of_suffix  # slow to import, and few need it

    return format_of_suffix(path) is not None


REPORT_OPTIONS: Final = (
    Option(
        ("-f", "--format"), "output",
        "the format, if the name of the file doesn't say it: html, or markdown for the summary of "
        "a CI job (default without a file: markdown)",
        TEXT, "FORMAT", choices=REPORT_FORMATS, is_said_by=_is_said_by,
        documents=("html",),
    ),
    Option(
        ("--check",), "rules",
        "apply the rules of usp check, or don't: they take most of the time of a large site "
        "(default: apply them, where there are documents)",
        SWITCH,
    ),
    Option(
        ("--state",), "state", "the file of usp sync that says what changed since the last run",
        FILE, "FILE",
    ),
    Option(
        ("--column",), "pages", "the column with URLs, if SOURCE is a table of another tool", TEXT,
        "NAME",
    ),
)  # fmt: skip
"""The own options of ``usp report``."""
