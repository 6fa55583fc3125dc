"""A program that pickles a crawled tree and loads it."""

import copy
import json
import pickle

import requests_mock

from usp.objects.sitemap import AbstractSitemap
from usp.tree import sitemap_tree_for_homepage

SITE = "https://kept.example"
SM = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'

with requests_mock.Mocker() as mock:
    mock.get(requests_mock.ANY, status_code=404, text="no")
    mock.get(f"{SITE}/robots.txt", text=f"Sitemap: {SITE}/a.xml\nSitemap: {SITE}/gone.xml")
    mock.get(
        f"{SITE}/a.xml",
        text=f"<urlset {SM}><url><loc>{SITE}/1</loc><lastmod>2022-02-02</lastmod></url>"
        f"<url><loc>{SITE}/2</loc></url></urlset>",
    )
    tree = sitemap_tree_for_homepage(SITE)

again: AbstractSitemap = pickle.loads(pickle.dumps(tree))
pages = list(again.all_pages())
print(
    json.dumps(
        {
            "equal": again == tree,
            "same dict": again.to_dict() == tree.to_dict(),
            "kinds": [type(sitemap).__name__ for sitemap in again.all_sitemaps()],
            "pages": [page.to_dict() for page in pages],
            "protocols": [
                pickle.loads(pickle.dumps(tree, protocol)) == tree
                for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)
            ],
            "a page alone": pickle.loads(pickle.dumps(pages[0])) == pages[0],
            "deep copy": copy.deepcopy(tree) == tree,
        },
        default=str,
    )
)
