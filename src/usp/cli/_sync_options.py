"""The options of ``usp sync`` and ``usp changes``."""

from typing import Final

from usp.cli._options import FROM, INTEGER, NAMES, NUMBER, TEXT, Option, format_option, shared

CHANGE_FORMATS: Final = {
    "text": "a line for people per change",
    "urls": "the URLs alone",
    "jsonl": "an object per change, one per line",
    "atom": "a feed that readers can subscribe to, the newest first",
}
"""The output formats of ``usp sync`` and ``usp changes``."""
_STATE: Final = Option(
    ("--state",), "state", "the file that keeps what is known of the sites", TEXT, "FILE"
)
_EMIT: Final = Option(
    ("--emit",), "state",
    "only these changes, commas between: added, changed, moved, missing, removed, expired, "
    "returned, churn",
    NAMES, "KINDS", keyword="emit",
)  # fmt: skip
SYNC_OPTIONS: Final = (
    _STATE,
    _EMIT,
    Option(("--emit-initial",), "state", "the pages of the first run are added"),
    Option(
        ("--confirm",), "state",
        "a URL is removed when it was absent in N runs; missing until then (default: 2)",
        INTEGER, "N", keyword="confirm",
    ),
    Option(
        ("--max-removed",), "state",
        "if more than this share of a site's URLs would be removed at once, none is, and the exit "
        "code is 3; such as 0.5, the default",
        TEXT, "SHARE", keyword="max_removed",
    ),
    Option(
        ("--keep",), "state", "how long changes are kept: 90d, or all (default: 90d)", TEXT, "TIME",
        keyword="keep",
    ),
    Option(
        ("--due",), "sitemaps", "request only sitemaps that are due, by how often each changed"
    ),
    Option(
        ("--jitter",), "network", "wait up to so many seconds before each site", NUMBER, "SECONDS",
        keyword="jitter",
    ),
    Option(
        ("--sites-at-once",), "network", "sites that are read at once (default: 8)", INTEGER, "N",
        keyword="sites_at_once",
    ),
    FROM,
    format_option(CHANGE_FORMATS),
)  # fmt: skip
"""The own options of ``usp sync``."""
CHANGES_OPTIONS: Final = (
    _STATE,
    _EMIT,
    Option(
        ("--after",), "state", "only changes with a larger number (seq)", INTEGER, "SEQ",
        keyword="after",
    ),
    Option(("--site",), "state", "only changes of this source", TEXT, "SOURCE"),
    Option(
        ("--last",), "state", "only so many, the last ones", INTEGER, "N", keyword="limit"
    ),
    format_option(CHANGE_FORMATS),
    *shared("output", "replace", "append", "config", "no-config"),
)  # fmt: skip
"""The options of ``usp changes``."""
