"""usp: find, fetch and read every sitemap of a website.

The few names that most programs need are here; each is imported when it is first used, so that
``import usp`` costs next to nothing.
"""

from usp import _installation as _installation
from usp._version import __version__

TYPE_CHECKING = False  # as in typing, which costs a while to import
if TYPE_CHECKING:
    from usp._crawl.core import Crawl
    from usp._crawl.messages import FetchFailed, FetchRequest
    from usp._crawl.policy import Policy
    from usp.objects.outcome import Outcome
    from usp.objects.problem import Problem
    from usp.stream import iter_pages
    from usp.tree import (
        parse,
        sitemap_from_str,
        sitemap_tree,
        sitemap_tree_for_homepage,
        tree_of,
    )

__all__ = [
    "Crawl",
    "FetchFailed",
    "FetchRequest",
    "Outcome",
    "Policy",
    "Problem",
    "__version__",
    "iter_pages",
    "parse",
    "sitemap_from_str",
    "sitemap_tree",
    "sitemap_tree_for_homepage",
    "tree_of",
]

_WHERE = {
    "Crawl": "usp._crawl.core",
    "FetchFailed": "usp._crawl.messages",
    "FetchRequest": "usp._crawl.messages",
    "Outcome": "usp.objects.outcome",
    "Policy": "usp._crawl.policy",
    "Problem": "usp.objects.problem",
    "iter_pages": "usp.stream",
    "parse": "usp.tree",
    "restore_crawl": "usp._crawl.core",  # what pickles name
    "restore_pages": "usp._parse",
    "restore_selected": "usp._crawl.selection",
    "sitemap_from_str": "usp.tree",
    "sitemap_tree": "usp.tree",
    "sitemap_tree_for_homepage": "usp.tree",
    "tree_of": "usp.tree",
}


def __getattr__(name: str) -> object:
    if name not in _WHERE and name != "fetch_parse":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    if name == "fetch_parse":  # in 1.8.1 it is there as soon as usp.tree is imported
        return import_module("usp.fetch_parse")
    value: object = getattr(import_module(_WHERE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
