"""A program that imports ``usp.tree`` alone, and reaches the other modules through ``usp``."""

import json
from typing import Any

import usp.tree

package: Any = usp

print(
    json.dumps(
        [
            package.tree.sitemap_tree_for_homepage.__name__,
            package.fetch_parse.SitemapFetcher.__name__,
            package.helpers.gunzip.__name__,
            package.objects.page.SitemapPage.__name__,
            package.objects.sitemap.InvalidSitemap.__name__,
            package.exceptions.SitemapException.__name__,
            package.web_client.abstract_client.AbstractWebClient.__name__,
            package.web_client.requests_client.RequestsWebClient.__name__,
        ]
    )
)
