"""A program whose client fails: error responses, exceptions, and success after retries."""

import json

from usp.fetch_parse import SitemapFetcher
from usp.helpers import get_url_retry_on_client_errors
from usp.objects.sitemap import InvalidSitemap
from usp.tree import sitemap_tree_for_homepage
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientResponse,
    LocalWebClientSuccessResponse,
    WebClientErrorResponse,
)

SITE = "https://broken.example"
ROBOTS = f"Sitemap: {SITE}/gone.xml\nSitemap: {SITE}/fine.xml\n"
FINE = (
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    f"<url><loc>{SITE}/fine</loc></url></urlset>"
)


class MoodyClient(AbstractWebClient):
    """Answers some paths, fails at others; a retryable failure passes on the third try."""

    def __init__(self) -> None:
        self.tries: dict[str, int] = {}

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        pass

    def get(self, url: str) -> AbstractWebClientResponse:
        self.tries[url] = self.tries.get(url, 0) + 1
        if url.endswith("/robots.txt"):
            return LocalWebClientSuccessResponse(url=url, data=ROBOTS)
        if url.endswith("/fine.xml"):
            return LocalWebClientSuccessResponse(url=url, data=FINE)
        if url.endswith("/busy.xml"):
            if self.tries[url] < 3:
                return WebClientErrorResponse(message="503 Busy", retryable=True)
            return LocalWebClientSuccessResponse(url=url, data=FINE)
        return WebClientErrorResponse(message="410 Gone", retryable=False)


class RaisingClient(MoodyClient):
    """A client with a bug in it."""

    def get(self, url: str) -> AbstractWebClientResponse:
        if url.endswith("/gone.xml"):
            raise ConnectionError("the wire was cut")
        return super().get(url)


def crawl(client: AbstractWebClient) -> list[object]:
    """Each sitemap below robots.txt: its class, URL and whether the reason tells the cause."""
    tree = sitemap_tree_for_homepage(SITE, web_client=client, use_known_paths=False)
    return [
        [
            type(sitemap).__name__,
            sitemap.url,
            isinstance(sitemap, InvalidSitemap)
            and any(cause in sitemap.reason for cause in ("410 Gone", "the wire was cut")),
        ]
        for sitemap in tree.sub_sitemaps[0].sub_sitemaps
    ]


def retried(url: str, *, count: int) -> list[object]:
    client = MoodyClient()
    answer = get_url_retry_on_client_errors(url, client, retry_count=count, sleep_between_retries=0)
    return [type(answer).__name__, client.tries[url]]


gone = SitemapFetcher(f"{SITE}/gone.xml", 0, web_client=MoodyClient()).sitemap()
print(
    json.dumps(
        {
            "told": crawl(MoodyClient()),
            "raised": crawl(RaisingClient()),
            "fetcher": [type(gone).__name__, gone.to_dict()],
            "passes on the third try": retried(f"{SITE}/busy.xml", count=5),
            "out of tries": retried(f"{SITE}/busy.xml", count=2),
            "not retryable": retried(f"{SITE}/gone.xml", count=5),
        },
        default=str,
    )
)
