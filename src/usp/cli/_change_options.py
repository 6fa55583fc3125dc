"""The own options of ``usp sync``, ``usp changes`` and ``usp diff``."""

from typing import Final

from usp.cli._options import FROM, Option, always, format_option, shared
from usp.cli._value_types import FILE, INTEGER, NAMES, NUMBER, TEXT, TEXTS

CHANGE_FORMATS: Final = {
    "text": "a line for people per change",
    "urls": "the URLs alone",
    "jsonl": "an object per change, one per line",
    "atom": "a feed that readers can subscribe to, the newest first",
}
"""The output formats of ``usp sync`` and ``usp changes``."""
_STATE: Final = Option(
    ("--state",), "state", "the file that keeps what is known of the sites", FILE, "FILE"
)
_CHANGES: Final = (
    *("added", "changed", "moved", "missing", "removed", "expired", "returned", "churn"),
)
_EMIT: Final = Option(
    ("--emit",), "state",
    f"only these changes, commas between: {', '.join(_CHANGES)}",
    NAMES, "KINDS", keyword="emit", words=_CHANGES,
)  # fmt: skip
SYNC_OPTIONS: Final = (
    _STATE._replace(is_written=always),
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
        ("--jitter",), "network",
        "wait up to so many seconds before each site; not if nothing of it is --due",
        NUMBER, "SECONDS", keyword="jitter",
    ),
    Option(
        ("--sites-at-once",), "network", "sites that are read at once (default: 8)", INTEGER, "N",
        keyword="sites_at_once",
    ),
    FROM,
    format_option(CHANGE_FORMATS, "atom"),
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
    format_option(CHANGE_FORMATS, "atom"),
    *shared("output", "replace", "append", "config", "no-config"),
)  # fmt: skip
"""The options of ``usp changes``."""

DIFF_FORMATS: Final = {
    "text": "a line for people per difference",
    "urls": "the URLs alone",
    "jsonl": "an object per difference, one per line",
}
"""The output formats of ``usp diff``."""
_CRAWL_OPTIONS: Final = shared(
    *("include", "exclude", "max-sitemaps", "max-level", "sitemap", "no-robots", "no-known"),
    *("homepage", "newer", "header", "user-agent", "netrc"),
    *("proxy", "timeout", "max-seconds", "concurrency", "per-host", "delay", "max-attempts"),
    *("insecure", "allow-private", "robots", "record", "replay"),
    *("output", "replace", "append", "quiet"),
    *("no-progress", "verbose", "log-file", "config", "no-config"),
)
"""Those shared options that leave both sides whole."""
_DIFFERENCES: Final = ("added", "removed", "changed", "moved", "maybe-added", "maybe-removed")
DIFF_OPTIONS: Final = (
    Option(
        ("--ignore",), "state",
        "what doesn't matter in URLs, commas between: scheme, www, slash (at the end of the path), "
        "case, query-order",
        NAMES, "NAMES", keyword="ignore", words=("scheme", "www", "slash", "case", "query-order"),
    ),
    Option(
        ("--map",), "state",
        "URLs of A that begin with OLD are compared as if they began with NEW; may be repeated, "
        "the longest counts",
        TEXTS, "OLD=NEW", keyword="map",
    ),
    Option(
        ("--column",), "state",
        "the column with URLs, in a table of another tool (default: by its name or its content); "
        "if A and B have other ones, give it twice",
        TEXTS, "NAME", keyword="column",
    ),
    Option(
        ("--emit",), "state",
        f"only these differences, commas between: {', '.join(_DIFFERENCES)}",
        NAMES, "KINDS", keyword="emit", words=_DIFFERENCES,
    ),
    Option(("--exit-code",), "output", "exit with 1 if there are differences"),
    format_option(DIFF_FORMATS),
    *_CRAWL_OPTIONS,
)  # fmt: skip
"""The options of ``usp diff``."""
