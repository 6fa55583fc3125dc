"""A program that imports names from the modules that use them, not from those that define them."""

import json

from usp import fetch_parse, helpers, tree
from usp.cli import main
from usp.fetch_parse import (
    MAX_VALID_PRIORITY,
    MIN_VALID_PRIORITY,
    SITEMAP_PAGE_DEFAULT_PRIORITY,
    RequestsWebClient,
)
from usp.helpers import RecurseCallbackType, RecurseListCallbackType
from usp.objects import page, sitemap
from usp.tree import (
    IndexRobotsTxtSitemap,
    InvalidSitemap,
    SitemapFetcher,
    SitemapStrParser,
    is_http_url,
    strip_url_to_homepage,
)
from usp.web_client import abstract_client, requests_client

NAMES = {
    tree: (
        "AbstractSitemap AbstractWebClient IndexRobotsTxtSitemap IndexWebsiteSitemap "
        "InvalidSitemap RecurseCallbackType RecurseListCallbackType SitemapException "
        "SitemapFetcher SitemapStrParser is_http_url log strip_url_to_homepage"
    ),
    fetch_parse: (
        "AbstractSitemap AbstractWebClient AbstractWebClientResponse "
        "AbstractWebClientSuccessResponse IndexRobotsTxtSitemap IndexXMLSitemap InvalidSitemap "
        "LocalWebClient LocalWebClientSuccessResponse NoWebClientException PagesAtomSitemap "
        "PagesRSSSitemap PagesTextSitemap PagesXMLSitemap RecurseCallbackType "
        "RecurseListCallbackType RequestsWebClient SitemapException SitemapImage "
        "SitemapNewsStory SitemapPage SitemapPageChangeFrequency SitemapXMLParsingException "
        "WebClientErrorResponse get_url_retry_on_client_errors html_unescape_strip is_http_url "
        "log parse_iso8601_date parse_rfc2822_date ungzipped_response_content"
    ),
    helpers: (
        "AbstractWebClient AbstractWebClientResponse AbstractWebClientSuccessResponse "
        "GunzipException RecurseCallbackType RecurseListCallbackType SitemapException "
        "StripURLToHomepageException WebClientErrorResponse log"
    ),
    page: "SITEMAP_PAGE_DEFAULT_PRIORITY",
    sitemap: "SitemapPage",
    abstract_client: "RETRYABLE_HTTP_STATUS_CODES",
    requests_client: (
        "AbstractWebClient AbstractWebClientResponse AbstractWebClientSuccessResponse "
        "RETRYABLE_HTTP_STATUS_CODES RequestWaiter WebClientErrorResponse requests"
    ),
}

print(
    json.dumps(
        {
            "missing": {
                module.__name__: [name for name in names.split() if not hasattr(module, name)]
                for module, names in NAMES.items()
            },
            "the same": [
                SitemapFetcher is fetch_parse.SitemapFetcher,
                SitemapStrParser is fetch_parse.SitemapStrParser,
                IndexRobotsTxtSitemap is sitemap.IndexRobotsTxtSitemap,
                InvalidSitemap is sitemap.InvalidSitemap,
                RequestsWebClient is requests_client.RequestsWebClient,
                is_http_url is helpers.is_http_url,
                strip_url_to_homepage is helpers.strip_url_to_homepage,
            ],
            "types": [str(RecurseCallbackType), str(RecurseListCallbackType)],
            "priorities": [
                str(MIN_VALID_PRIORITY),
                str(MAX_VALID_PRIORITY),
                str(SITEMAP_PAGE_DEFAULT_PRIORITY),
            ],
            "the command": callable(main),
            "loggers": [tree.log.name, fetch_parse.log.name, helpers.log.name],
        }
    )
)
