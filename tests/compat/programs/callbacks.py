"""A program that filters with both callbacks and keeps a record of each call, index by index."""

import json

import requests_mock

from usp.tree import sitemap_tree_for_homepage

SITE = "https://filtered.example"
SM = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def index(*names: str) -> str:
    children = "".join(f"<sitemap><loc>{SITE}/{name}</loc></sitemap>" for name in names)
    return f"<sitemapindex {SM}>{children}</sitemapindex>"


def pages(name: str) -> str:
    return f"<urlset {SM}><url><loc>{SITE}/page/{name}</loc></url></urlset>"


class Notes:
    """Callbacks that write down what they were called with."""

    def __init__(self) -> None:
        self.calls: dict[str, list[list[object]]] = {}

    def note(self, parent_urls: set[str], *call: object) -> None:
        index = " > ".join(sorted(parent_urls))
        self.calls.setdefault(index, []).append([*call, sorted(parent_urls)])

    def one(self, url: str, recursion_level: int, parent_urls: set[str]) -> bool:
        self.note(parent_urls, "one", url, recursion_level)
        return "skip" not in url

    def many(self, urls: list[str], recursion_level: int, parent_urls: set[str]) -> list[str]:
        self.note(parent_urls, "many", list(urls), recursion_level)
        return [url for url in urls if "cut" not in url]


def crawl(*, one: bool, many: bool) -> dict[str, object]:
    notes = Notes()
    with requests_mock.Mocker() as mock:
        mock.get(requests_mock.ANY, status_code=404, text="no")
        mock.get(f"{SITE}/robots.txt", text=f"Sitemap: {SITE}/top.xml\nSitemap: {SITE}/skip.xml")
        mock.get(f"{SITE}/top.xml", text=index("en.xml", "cut.xml", "skip-de.xml", "deep.xml"))
        mock.get(f"{SITE}/deep.xml", text=index("fr.xml", "cut-skip.xml"))
        for name in ("skip.xml", "en.xml", "cut.xml", "skip-de.xml", "fr.xml", "cut-skip.xml"):
            mock.get(f"{SITE}/{name}", text=pages(name))
        tree = sitemap_tree_for_homepage(
            SITE,
            use_known_paths=False,
            recurse_callback=notes.one if one else None,
            recurse_list_callback=notes.many if many else None,
        )
        asked = sorted(request.path for request in mock.request_history)
    return {
        "calls": notes.calls,
        "order of indexes": list(notes.calls),
        "sitemaps": [sitemap.url for sitemap in tree.all_sitemaps()],
        "pages": [page.url for page in tree.all_pages()],
        "asked": asked,
    }


def broken(url: str, recursion_level: int, parent_urls: set[str]) -> bool:
    raise LookupError("a bug of the caller's")


def crawl_with_a_bug() -> str:
    with requests_mock.Mocker() as mock:
        mock.get(f"{SITE}/robots.txt", text=f"Sitemap: {SITE}/top.xml")
        mock.get(f"{SITE}/top.xml", text=pages("top"))
        try:
            sitemap_tree_for_homepage(SITE, use_known_paths=False, recurse_callback=broken)
        except LookupError as error:
            return f"raised: {error}"
    return "swallowed"


print(
    json.dumps(
        {
            "neither": crawl(one=False, many=False),
            "one": crawl(one=True, many=False),
            "many": crawl(one=False, many=True),
            "both": crawl(one=True, many=True),
            "a bug in the callback": crawl_with_a_bug(),
        }
    )
)
