"""The options of ``usp crawl``, as rows of a table."""

from typing import Final

from usp.cli._options import Destination, Option, always, shared
from usp.cli._value_types import FOLDER, INTEGER, NAMES, NUMBER, TEXT

_OWN_HELP: Final = {
    "timeout": "seconds to connect, and to wait for bytes (default: 5 and 30)",
    "max-attempts": "attempts to fetch one URL, while it is worth it (default: 2)",
}
"""The help of shared options that have another default here."""
_RECORDINGS: Final = {
    "record": "write every request and response to this folder (WARC, a file for each shard), "
    "without credentials",
    "replay": "read from this folder of recordings instead of the network",
}
"""The help of those that name a folder here."""
_OUTCOMES: Final = ("blocked", "unreachable", "partial", "none", "found")
CRAWL_OPTIONS: Final = (
    Option(
        ("-o", "--output"), "output", "the folder, or an fsspec URL such as s3://bucket/crawl",
        FOLDER, "DIR", is_written=always,
    ),
    Option(("--status",), "output", "say how far the crawl in a folder is, which is the argument"),
    Option(
        ("--column",), "sites",
        "the column of a CSV file that has the sites (default: found by its name)", TEXT, "NAME",
    ),
    Option(
        ("--shards",), "sites",
        "divide the list into N parts (default: one for a thousand sites, more for a short list)",
        INTEGER, "N", keyword="shards",
    ),
    Option(
        ("--shard",), "sites",
        "run only a share of them: 2/8 for the second of eight, on one of eight machines", TEXT,
        "K/N", keyword="shard",
    ),
    Option(
        ("--retry",), "sites",
        f"also crawl sites again that have one of these outcomes, commas between: "
        f"{', '.join(_OUTCOMES)}",
        NAMES, "OUTCOMES", keyword="retry", words=_OUTCOMES,
    ),
    Option(
        ("--previous",), "sites",
        "the folder of an earlier crawl: requests are conditional, and what has not changed is "
        "copied",
        FOLDER, "DIR", keyword="previous",
    ),
    Option(
        ("--max-pages-per-site",), "sites",
        "end a site after N pages, and mark it (default: 1000000)", INTEGER, "N",
        keyword="max_pages_per_site",
    ),
    Option(
        ("--max-seconds-per-site",), "sites",
        "end a site after so many seconds, and mark it (default: 600)", NUMBER, "SECONDS",
        keyword="max_seconds_per_site",
    ),
    Option(
        ("--max-bytes-per-site",), "sites",
        "end a site after N received bytes, and mark it (default: 2147483648)", INTEGER, "N",
        keyword="max_bytes_per_site",
    ),
    Option(
        ("--engine",), "engine",
        "local: processes of this machine (the default); dask: Dask, for many machines", TEXT,
        choices=("local", "dask"), keyword="engine",
    ),
    Option(
        ("--workers",), "engine", "worker processes (default: one for each CPU)", INTEGER, "N",
        keyword="workers",
    ),
    Option(
        ("--scheduler",), "engine",
        "the address of a Dask scheduler (default: start one on this machine)", TEXT, "ADDRESS",
        keyword="scheduler",
    ),
    Option(
        ("--sites-at-once",), "network", "sites that a worker crawls at once (default: 100)",
        INTEGER, "N", keyword="sites_at_once",
    ),
    Option(
        ("--per-domain",), "network",
        "requests at once to the hosts of one registered domain (default: 2)", INTEGER, "N",
        keyword="per_domain",
    ),
    Option(
        ("--per-address",), "network",
        "requests at once from a worker to one IP address (default: 8)", INTEGER, "N",
        keyword="per_address",
    ),
    *(
        option._replace(help=text) for name, text in _OWN_HELP.items() for option in shared(name)
    ),
    *(
        option._replace(
            help=_RECORDINGS[option.name], type=FOLDER, metavar="DIR", target=Destination.COMMAND
        )
        for option in shared("record", "replay")
    ),
    *shared(
        "since", "until", "undated", "include", "exclude", "kind",
        "include-sitemaps", "exclude-sitemaps", "trust-index-lastmod", "max-sitemaps", "max-level",
        "no-robots", "no-known", "homepage", "newer",
        "header", "user-agent", "netrc", "proxy", "delay", "insecure",
        "allow-private", "robots",
        "quiet", "no-progress", "verbose", "log-file", "config", "no-config",
    ),
)  # fmt: skip
"""The options of ``usp crawl``: a limit of one crawl is one of each site here."""
