"""The own options of ``usp report``."""

from typing import Final

from usp.cli._options import FILE, SWITCH, TEXT, Option

REPORT_FORMATS: Final = ("html", "markdown")
"""The output formats of ``usp report``."""
REPORT_OPTIONS: Final = (
    Option(
        ("-f", "--format"), "output",
        "the format, if the name of the file doesn't say it: html, or markdown for the summary of "
        "a CI job (default without a file: markdown)",
        TEXT, "FORMAT", choices=REPORT_FORMATS,
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
