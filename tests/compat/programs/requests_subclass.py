"""A program that subclasses RequestsWebClient and keeps count; the site is requests_mock's."""

import json

import requests
import requests_mock

from usp.tree import sitemap_tree_for_homepage
from usp.web_client.abstract_client import AbstractWebClientResponse
from usp.web_client.requests_client import (
    RequestsWebClient,
    RequestsWebClientErrorResponse,
    RequestsWebClientSuccessResponse,
)

SITE = "https://mocked.example"
SM = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


class CountingClient(RequestsWebClient):
    """Signs each request and counts the answers by their class and status."""

    def __init__(self, session: requests.Session) -> None:
        super().__init__(session=session)
        self.answers: dict[str, list[object]] = {}

    def get(self, url: str) -> AbstractWebClientResponse:
        answer = super().get(url)
        match answer:
            case RequestsWebClientSuccessResponse():
                seen = [answer.status_code(), answer.status_message(), answer.header("x-demo")]
            case RequestsWebClientErrorResponse():
                seen = [answer.message(), answer.retryable()]
            case _:
                seen = []
        self.answers[url] = seen
        return answer


session = requests.Session()
session.headers["User-Agent"] = "my-crawler/1.0"
session.headers["X-Signed"] = "yes"
client = CountingClient(session)
client.set_timeout((1.5, 2.5))
client.set_max_response_data_length(100_000)

with requests_mock.Mocker() as mock:
    mock.get(f"{SITE}/robots.txt", text=f"Sitemap: {SITE}/old.xml\nSitemap: {SITE}/teapot.xml")
    mock.get(f"{SITE}/old.xml", status_code=301, headers={"Location": f"{SITE}/new.xml"})
    mock.get(f"{SITE}/teapot.xml", status_code=418, reason="Teapot")
    mock.get(
        f"{SITE}/new.xml",
        headers={"X-Demo": "7"},
        text=f"<urlset {SM}><url><loc>{SITE}/page</loc></url></urlset>",
    )
    tree = sitemap_tree_for_homepage(SITE, web_client=client, use_known_paths=False)
    asked = [request for request in mock.request_history if "new.xml" in request.url]

robots = client.answers.pop(f"{SITE}/robots.txt")
print(
    json.dumps(
        {
            "tree": tree.to_dict(),
            "answers": client.answers,
            "robots status": robots[0],
            "user agent": asked[0].headers["User-Agent"],
            "signed": asked[0].headers["X-Signed"],
            "timeout": asked[0].timeout,
            "session user agent afterwards": session.headers["User-Agent"],
        },
        default=str,
    )
)
