"""A user's own test suite, run as a program: requests_mock in place of the web, unittest around."""

import datetime
import json
import unittest
from decimal import Decimal

import requests_mock

from usp.objects.page import SitemapPage, SitemapPageChangeFrequency
from usp.objects.sitemap import (
    IndexRobotsTxtSitemap,
    IndexWebsiteSitemap,
    InvalidSitemap,
    PagesXMLSitemap,
)
from usp.tree import sitemap_tree_for_homepage

SITE = "http://shop.example"
SM = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
PAGES = f"""<urlset {SM}>
<url><loc>{SITE}/about</loc><lastmod>2021-07-08T09:10:11+00:00</lastmod>
<changefreq>monthly</changefreq><priority>0.7</priority></url></urlset>"""


class TreeTest(unittest.TestCase):
    def test_the_whole_tree_compares_equal(self) -> None:
        with requests_mock.Mocker() as mock:
            mock.get(requests_mock.ANY, status_code=404, text="no")
            mock.get(f"{SITE}/robots.txt", text=f"Sitemap: {SITE}/pages.xml\n")
            mock.get(f"{SITE}/pages.xml", text=PAGES)
            actual = sitemap_tree_for_homepage(SITE)
        expected = IndexWebsiteSitemap(
            url=f"{SITE}/",
            sub_sitemaps=[
                IndexRobotsTxtSitemap(
                    url=f"{SITE}/robots.txt",
                    sub_sitemaps=[
                        PagesXMLSitemap(
                            url=f"{SITE}/pages.xml",
                            pages=[
                                SitemapPage(
                                    url=f"{SITE}/about",
                                    last_modified=datetime.datetime(
                                        2021, 7, 8, 9, 10, 11, tzinfo=datetime.timezone.utc
                                    ),
                                    change_frequency=SitemapPageChangeFrequency.MONTHLY,
                                    priority=Decimal("0.7"),
                                )
                            ],
                        )
                    ],
                )
            ],
        )
        self.assertEqual(expected, actual)

    def test_a_missing_child_is_invalid(self) -> None:
        with requests_mock.Mocker() as mock:
            mock.get(requests_mock.ANY, status_code=404, text="no")
            mock.get(f"{SITE}/robots.txt", text=f"Sitemap: {SITE}/pages.xml\n")
            tree = sitemap_tree_for_homepage(SITE)
        child = tree.sub_sitemaps[0].sub_sitemaps[0]
        self.assertIsInstance(child, InvalidSitemap)
        self.assertEqual([], child.pages)

    def test_no_site_map_at_all(self) -> None:
        with requests_mock.Mocker() as mock:
            mock.get(requests_mock.ANY, status_code=404, text="no")
            tree = sitemap_tree_for_homepage(SITE)
            asked = {request.url for request in mock.request_history}
        self.assertEqual([], tree.sub_sitemaps)
        self.assertEqual([], list(tree.all_pages()))
        self.assertIn(f"{SITE}/robots.txt", asked)
        self.assertIn(f"{SITE}/sitemap_index.xml.gz", asked)
        self.assertLessEqual(15, len(asked))

    def test_a_permanent_redirect_of_the_site(self) -> None:
        with requests_mock.Mocker() as mock:
            mock.get(requests_mock.ANY, status_code=404, text="no")
            mock.get(
                f"{SITE}/robots.txt",
                status_code=301,
                headers={"Location": "https://www.shop.example/robots.txt"},
            )
            mock.get("https://www.shop.example/robots.txt", text=f"Sitemap: {SITE}/pages.xml")
            mock.get(f"{SITE}/pages.xml", text=PAGES)
            tree = sitemap_tree_for_homepage(SITE)
        self.assertEqual("https://www.shop.example/robots.txt", tree.sub_sitemaps[0].url)
        self.assertEqual([f"{SITE}/about"], [page.url for page in tree.all_pages()])


suite = unittest.defaultTestLoader.loadTestsFromTestCase(TreeTest)
result = suite.run(unittest.TestResult())
failures = {case.id(): trace for case, trace in (result or unittest.TestResult()).failures}
errors = {case.id(): trace for case, trace in (result or unittest.TestResult()).errors}
print(
    json.dumps(
        {
            "run": result.testsRun if result else 0,
            "failures": failures,
            "errors": errors,
        }
    )
)
