"""Helpers that write JSON Feeds and read them."""

from __future__ import annotations

import json
from typing import Any

from usp.objects.sitemap import AbstractSitemap, PagesJSONFeedSitemap
from usp.tree import parse

VERSION = "https://jsonfeed.org/version/1.1"
HOME = "http://h.example/"


def item(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "url": f"{HOME}{name}", "title": name.upper(), **more}


def feed(*items: object, **more: object) -> str:
    return json.dumps({"version": VERSION, "title": "F", **more, "items": items})


def read(document: str | bytes) -> AbstractSitemap:
    sitemap = parse(document, url=f"{HOME}feed.json")
    assert isinstance(sitemap, PagesJSONFeedSitemap)
    return sitemap


def names(document: str | bytes) -> list[str]:
    return [page.url.removeprefix(HOME) for page in read(document).pages]


def codes(document: str | bytes) -> list[str]:
    return [problem.code for problem in read(document).problems]
