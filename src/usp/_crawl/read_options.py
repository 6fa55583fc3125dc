"""What a driver is told about a document that the crawl wants: how it is read, and what for."""

from usp._crawl.cursor import Cursor
from usp._crawl.messages import ReadOptions, ResponseProgress
from usp._crawl.policy import Policy
from usp._crawl.resource import Resource
from usp._crawl.robots import robots_url


def read_options(resource: Resource, policy: Policy, cursor: Cursor) -> ReadOptions:
    """Return how the document of a resource is read."""
    needs_rules = _needs_rules(resource, policy, cursor)
    # Rules are in no stored document: a sync keeps which sitemaps a robots.txt names.
    find_stored = None if needs_rules else cursor.options.find_stored
    return ReadOptions(
        resource.kind,
        policy.extensions,
        cursor.selection if cursor.counts_pages else None,
        policy.hash_bodies,
        find_stored(resource.url) if find_stored else None,
        policy.max_document_bytes,
        resource.progress or ResponseProgress(),
        cursor.child_selection,
        resource.url,
        policy.robots_agent if needs_rules else None,
    )


def _needs_rules(resource: Resource, policy: Policy, cursor: Cursor) -> bool:
    """Tell whether the crawl will ask what a robots.txt says: to obey it, or for a table."""
    is_robots = resource.url == robots_url(resource.origin)
    return is_robots and (policy.robots == "obey" or cursor.options.robots_rules)
