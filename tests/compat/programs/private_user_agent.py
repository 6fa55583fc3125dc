"""A program that replaces the private User-Agent of RequestsWebClient, in each way that works."""

import json

import requests_mock

from usp.tree import sitemap_tree_for_homepage
from usp.web_client.requests_client import RequestsWebClient

SITE = "https://agent.example"
AGENT = "_RequestsWebClient__USER_AGENT"


class _RequestsWebClient(RequestsWebClient):
    __USER_AGENT = "Mozilla/5.0"  # mangled as in a class that is named RequestsWebClient


class OtherName(RequestsWebClient):
    __USER_AGENT = "never sent"  # mangled to another name


def sent(client: RequestsWebClient) -> str:
    with requests_mock.Mocker() as mock:
        mock.get(requests_mock.ANY, status_code=404)
        sitemap_tree_for_homepage(SITE, web_client=client, use_known_paths=False)
    return str(mock.request_history[0].headers["User-Agent"])


subclass = sent(_RequestsWebClient())
other = sent(OtherName()).startswith("ultimate_sitemap_parser/")
instance = RequestsWebClient()
setattr(instance, AGENT, "on the instance")
on_instance = sent(instance)
setattr(RequestsWebClient, AGENT, "on the class")
on_class = sent(RequestsWebClient())

print(
    json.dumps(
        {
            "a subclass of that name": subclass,
            "a subclass of another name sends the usual one": other,
            "an instance": on_instance,
            "the class": on_class,
        }
    )
)
