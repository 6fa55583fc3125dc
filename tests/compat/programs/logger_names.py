"""A program that finds the library's loggers by name, and listens to each for what it is for."""

import json
import logging

import requests_mock

from usp.helpers import get_url_retry_on_client_errors
from usp.tree import sitemap_tree_for_homepage
from usp.web_client.abstract_client import (
    AbstractWebClientResponse,
    LocalWebClient,
    WebClientErrorResponse,
)

SITE = "https://loggers.example"
NAMES = ("usp.tree", "usp.helpers", "usp.fetch_parse", "usp.objects.sitemap")
existing = {name: name in logging.root.manager.loggerDict for name in NAMES}


class Records(logging.Handler):
    """Keeps what one logger says."""

    def __init__(self, name: str) -> None:
        super().__init__(logging.DEBUG)
        self.records: list[logging.LogRecord] = []
        logging.getLogger(name).addHandler(self)
        logging.getLogger(name).setLevel(logging.INFO)

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    def name_url(self, url: str, level: int = logging.INFO) -> bool:
        """Whether a record of at least this level names a URL."""
        return any(url in each.getMessage() for each in self.records if each.levelno >= level)


class Missing(LocalWebClient):
    def get(self, url: str) -> AbstractWebClientResponse:
        return WebClientErrorResponse("404 Not Found", retryable=False)


listeners = {name: Records(name) for name in NAMES}
tree, helpers, fetch_parse, objects = (listeners[name] for name in NAMES)
with requests_mock.Mocker() as mock:
    mock.get(f"{SITE}/robots.txt", text=f"Sitemap: {SITE}/page.html\nSitemap: {SITE}/gone.xml")
    mock.get(f"{SITE}/page.html", text="<html><body></body></html>")
    mock.get(f"{SITE}/gone.xml", status_code=404, reason="Not Found")
    sitemap_tree_for_homepage(f"{SITE}/blog", use_known_paths=False)
get_url_retry_on_client_errors(f"{SITE}/loud", Missing(), quiet_404=False)
get_url_retry_on_client_errors(f"{SITE}/quiet", Missing(), quiet_404=True)

facts = {
    "exist from the import on": existing,
    "usp.tree warns of a URL that is no homepage": tree.name_url(f"{SITE}/blog", logging.WARNING),
    "usp.fetch_parse names each sitemap": [
        fetch_parse.name_url(f"{SITE}/{name}") for name in ("robots.txt", "page.html", "gone.xml")
    ],
    "usp.fetch_parse warns of what is no sitemap": fetch_parse.name_url(
        f"{SITE}/page.html", logging.WARNING
    ),
    "usp.helpers warns of a failed fetch": helpers.name_url(f"{SITE}/gone.xml", logging.WARNING),
    "usp.objects.sitemap names what is invalid": [
        objects.name_url(f"{SITE}/{name}") for name in ("page.html", "gone.xml")
    ],
    "and nothing louder": objects.name_url(SITE, logging.WARNING),
    "a 404": helpers.name_url(f"{SITE}/loud", logging.WARNING),
    "a 404 that is expected": helpers.name_url(f"{SITE}/quiet", logging.WARNING),
}
print(json.dumps(facts))
