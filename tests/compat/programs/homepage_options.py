"""A program that sets every option of sitemap_tree_for_homepage, also to invalid values."""

import json

import requests_mock

from usp.exceptions import SitemapException
from usp.tree import sitemap_tree_for_homepage

SITE = "https://options.example"
SM = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def pages(name: str) -> str:
    return f"<urlset {SM}><url><loc>{SITE}/page/{name}</loc></url></urlset>"


def crawl(homepage: str = SITE, **options: object) -> list[object]:
    with requests_mock.Mocker() as mock:
        mock.get(requests_mock.ANY, status_code=404, text="no")
        mock.get(f"{SITE}/robots.txt", text=f"Sitemap: {SITE}/declared.xml")
        mock.get(f"{SITE}/declared.xml", text=pages("declared"))
        mock.get(f"{SITE}/sitemap.xml", text=pages("known"))
        mock.get(f"{SITE}/extra/map.xml", text=pages("extra"))
        mock.get(f"{SITE}/blog/sitemap.xml", text=pages("blog"))
        try:
            tree = sitemap_tree_for_homepage(homepage, **options)  # type: ignore[arg-type]
        except SitemapException:
            return ["raised SitemapException"]
        asked = sorted({request.url for request in mock.request_history})
    return [
        tree.url,
        sorted(sitemap.url for sitemap in tree.all_sitemaps()),
        len(asked),
        f"{SITE}/robots.txt" in asked,
        f"{SITE}/blog/robots.txt" in asked,
    ]


print(
    json.dumps(
        {
            "as it is": crawl(),
            "a page of the site": crawl(f"{SITE}/blog/post.html?x=1"),
            "no robots": crawl(use_robots=False),
            "no known paths": crawl(use_known_paths=False),
            "neither": crawl(use_robots=False, use_known_paths=False),
            "extra known paths": crawl(extra_known_paths={"extra/map.xml"}),
            "extra known paths, robots off": crawl(
                use_robots=False, extra_known_paths={"extra/map.xml"}
            ),
            "extra but no known paths": crawl(
                use_known_paths=False, extra_known_paths={"extra/map.xml"}
            ),
            "not normalised": crawl(f"{SITE}/blog/", normalize_homepage_url=False),
            "not normalised, without a slash": crawl(f"{SITE}/blog", normalize_homepage_url=False),
            "no URL": crawl("foo"),
            "empty": crawl(""),
            "not http": crawl("ftp://options.example/"),
        }
    )
)
