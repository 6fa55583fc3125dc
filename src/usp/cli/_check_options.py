"""The own options of ``usp check``: rows of the table of options."""

import re
from typing import Final

from usp.cli._options import Option, format_option
from usp.cli._value_types import FILE, INTEGER, MOMENT, NAMES, OPTIONAL_TEXT, TEXT, TEXTS

CHECK_FORMATS: Final = {
    "text": "grouped by rule, with examples and what to do",
    "concise": "a line for each rule and sitemap",
    "json": "one object",
    "jsonl": "an object for every single occurrence, one per line",
    "github": "annotations of GitHub Actions, and the job summary",
    "markdown": "a table",
    "junit": "XML for CI services",
    "sarif": "for code scanning; of files and folders only",
}
"""The output formats of ``usp check``."""
_SIZE: Final = re.compile(r"[0-9]++(?:\.[0-9]++)?%?|all", re.IGNORECASE)
"""How many pages: a number, a share, or all."""
_ENGINES: Final = ("google", "bing", "yandex", "baidu")
_OPTIONS: Final = (
    Option(
        ("--select",), "rules", "only these rules: codes or prefixes such as SM3, commas between",
        NAMES, "CODES",
    ),
    Option(("--ignore",), "rules", "not these rules; the longer prefix wins", NAMES, "CODES"),
    Option(
        ("--per-sitemap-ignore",), "rules",
        "not these rules for some sitemaps, until a day: 'SM457 https://example.org/old-*.xml "
        "until 2026-12-31'; may be repeated",
        TEXTS, "IGNORE",
    ),
    Option(
        ("--engine",), "rules",
        f"the limits of these engines, too: {', '.join(_ENGINES)}; commas between", NAMES,
        "ENGINES", words=_ENGINES,
    ),
    Option(
        ("--agent",), "rules",
        "an agent for which robots.txt is asked, beside those of the engines; may be repeated",
        TEXTS, "NAME",
    ),
    Option(
        ("--now",), "rules", "the time by which dates are judged (default: the current time)",
        MOMENT, "TIME",
    ),
    Option(
        ("--require",), "rules", "the sitemaps must list the URLs in this file, one a line", FILE,
        "FILE",
    ),
    Option(("--min-pages",), "rules", "the sitemaps must list at least N pages", INTEGER, "N"),
    Option(
        ("--twice",), "rules", "fetch everything a second time, and compare what is listed"
    ),
    Option(
        ("--base-url",), "rules",
        "the source is a folder with a website that will be at this URL; nothing is fetched",
        TEXT, "URL",
    ),
    Option(
        ("--state",), "rules",
        "compare with the last run of usp sync, in this file, which is only read", FILE, "FILE",
    ),
    Option(
        ("--max-drop",), "rules",
        "the share of pages that may be missing since that run (default: 20 percent)", TEXT,
        "SHARE",
    ),
    Option(
        ("--live",), "rules",
        "request listed pages, too: a number of them, a percentage, or all "
        "(the option alone: 200)",
        OPTIONAL_TEXT, "SIZE", meaning="200", form=_SIZE,
    ),
    Option(
        ("--seed",), "rules", "the same number chooses the same pages for --live (default: 0)",
        INTEGER, "N", default=0,
    ),
    Option(
        ("--baseline",), "rules", "what this file has is known, and doesn't count", FILE, "FILE",
        is_written=lambda args: bool(args.write_baseline),
    ),
    Option(("--write-baseline",), "rules", "write all that is found to the file of --baseline"),
    Option(
        ("--fail-on",), "rules", "exit with 1 if there is something so serious (default: error)",
        TEXT, choices=("error", "warning", "never"), default="error",
    ),
    Option(("--exit-zero",), "rules", "exit with 0 whatever is found"),
    format_option(CHECK_FORMATS, "json", "junit", "sarif"),
    Option(("--statistics",), "output", "print how often each rule is violated, without examples"),
)  # fmt: skip
CHECK_OPTIONS: Final = tuple(option._replace(keyword=option.dest) for option in _OPTIONS)
"""The own options of ``usp check``; errors name the parameters of ``usp.check`` by them."""
