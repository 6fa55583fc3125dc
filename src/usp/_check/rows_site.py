"""Rules about robots.txt, indexes, the check itself, earlier runs, live pages and build folders:
SM6 to SM9.
"""

from typing import Final

from usp._check.rules import D, E, F, I, L, P, Rule, S, U, W

_P, _G, _BING, _YANDEX = "sitemaps.org", "Google", "Bing", "Yandex"
_ROBOTS, _OURS = "RFC 9309", "usp"
_LF = (*L, *F)

SITE_ROWS: Final = (
    Rule("SM650", "sitemap-disallowed", E,
         "The robots.txt disallows the sitemap for one of the agents.", f"{_G}, {_YANDEX}",
         ("Sitemap blocked by robots.txt",), S, "Allow the sitemap.", "Disallow: /sitemap.xml"),
    Rule("SM651", "not-in-robots", I, "A sitemap was found, but robots.txt declares none.", _P, (),
         S, "Add a Sitemap line to robots.txt.", "Sitemap: https://example.org/sitemap.xml"),
    Rule("SM652", "robots-fails", E,
         "The robots.txt answers with a server error or 429, or not at all; engines stop crawling "
         "then.", f"{_ROBOTS}, {_G}", ("robots.txt unreachable",), S,
         "Serve robots.txt with 200, or with 404 if there is none.", "503 for /robots.txt"),
    Rule("SM653", "robots-too-long", W,
         "The robots.txt has more than 512,000 bytes; engines do not read the rest.",
         f"{_ROBOTS}, {_G}", (), S, "Shorten it with wildcards.", "a robots.txt of 600 KB"),
    Rule("SM655", "child-on-other-host", E,
         "An index lists a sitemap on another host, whose robots.txt does not name it.",
         f"{_P}, {_G}", ("URL not allowed",), S,
         "Serve it on the same host, or name it in the robots.txt of that host.",
         "https://cdn.example.net/a.xml in an index of example.org"),
    Rule("SM656", "child-above-index", W,
         "An index lists a sitemap that is not in its folder or below it.", _G,
         ("Incorrect sitemap index format: path",), D, "Move the index to the folder above both.",
         "/sitemap.xml in /maps/index.xml"),
    Rule("SM657", "child-twice", W, "A sitemap is listed twice, in one index or in two.", _OURS, (),
         S, "List every sitemap once.", "a.xml in index1.xml and in index2.xml"),
    Rule("SM658", "index-date-old", W,
         "The date that an index gives for a sitemap is more than 24 hours older than the newest "
         "date in it.", _P, (), S, "Update the index together with the sitemap.",
         "the index says 2026-01-01, the newest page 2026-02-01"),
    Rule("SM660", "page-disallowed", E, "The robots.txt disallows a listed page for an agent.", _G,
         ("Submitted URL blocked by robots.txt",), S, "Allow the page, or do not list it.",
         "Disallow: /private/ and https://example.org/private/a"),
    Rule("SM661", "undeclared-sitemap", W,
         "A sitemap is in the folder or at a known path, but nothing names it.", _OURS, (), S,
         "Declare it in robots.txt or in the index, or remove it.", "/sitemap-old.xml"),
    Rule("SM662", "named-not-there", E,
         "The robots.txt or an index names a file that is not in the folder.", _OURS, (), F,
         "Build the file, or remove its name.", "Sitemap: https://example.org/gone.xml"),
    Rule("SM663", "group-trap", W,
         "A User-agent group of robots.txt has no rule, only a Sitemap line. Such a line ends no "
         "group, so the rules of the next group count for this agent, too.", _ROBOTS, (), D,
         "Give the group a rule (an empty Disallow), and put Sitemap lines first or last.",
         "User-agent: *, then Sitemap: …, then User-agent: BadBot, Disallow: /"),
    Rule("SM750", "rule-undecided", U,
         "A rule could not be applied, since some of its inputs could not be read.", _OURS, (), S,
         "Make the inputs readable, then check again.", "3 of 40 sitemaps could not be fetched"),
    Rule("SM751", "stale-ignore", W,
         "An ignore or a row of the baseline matched nothing, or its date has passed.", _OURS, (),
         S, "Remove it.", "SM457 …/old.xml until 2025-12-31"),
    Rule("SM801", "page-drop", E,
         "The sitemaps that were read whole both times list fewer pages than before, by more than "
         "--max-drop. News sitemaps and feeds are exempt.", _OURS, (), P, "Find out why the generator left pages out.",
         "10,000 pages in the earlier run, 4,000 now"),
    Rule("SM802", "sitemap-gone", E,
         "A sitemap of the earlier run cannot be read now; or nothing names it any more, and no other "
         "sitemap has all of its pages.", _OURS, (), P, "Restore it, or remove what names it.", "news.xml answers with 404"),
    Rule("SM803", "became-empty", E, "A sitemap that had pages in the earlier run has none.", _OURS,
         (), P, "Find out why the generator left them out.", "products.xml has no <url> any more"),
    Rule("SM804", "spelling-flip", W,
         "At least five URLs were removed, and 90 % or more of those were added again in another "
         "spelling.", _OURS, (), P,
         "Redirect the old spelling, or go back to it.", "all URLs lost their final slash"),
    Rule("SM805", "removed-and-dead", W, "A removed URL answers with 404 and has no redirect.",
         _OURS, (), (*P, *L), "Redirect it to what replaces it.", "/old is neither listed nor there"),
    Rule("SM901", "page-gone", E, "A listed page answers with 404, 410 or another 4xx.",
         f"{_G}, {_BING}", ("Not found (404)",), L, "Remove it from the sitemap, or restore it.",
         "404 for https://example.org/a"),
    Rule("SM902", "page-server-error", E,
         "A listed page answers with 5xx other than 503, also after retries.", _G,
         ("Server error (5xx)",), L, "Mend the page.", "500 for https://example.org/a"),
    Rule("SM903", "page-redirects", W,
         "A listed page redirects. A chain, a loop or a dead end is an error.", _G,
         ("URLs not followed", "Page with redirect"), L, "List the final URL.",
         "https://example.org/a redirects to /b"),
    Rule("SM904", "page-noindex", E,
         "A listed page forbids its indexing, by meta robots or X-Robots-Tag.", _G,
         ("Excluded by 'noindex' tag",), _LF, "Remove it from the sitemap, or allow indexing.",
         '<meta name="robots" content="noindex">'),
    Rule("SM905", "canonical-elsewhere", W, "The canonical URL of a listed page is another one.",
         _G, ("Alternate page with proper canonical tag",), _LF, "List the canonical URL.",
         '<link rel="canonical" href="https://example.org/b">'),
    Rule("SM906", "not-verified", U,
         "A page could not be checked: 401, 403, 429, 503, a challenge or no answer in time.", _OURS,
         (), L, "Allow the check, or raise its limits.", "403 for https://example.org/a"),
    Rule("SM907", "soft-404", W,
         "A listed page has the text of a page that its host can't have, redirects to where that "
         "redirects, or to the homepage.", _G,
         ("Soft 404",), L, "Answer with 404, or remove it from the sitemap.",
         "200 with the text of the 404 page"),
    Rule("SM908", "date-drift", W,
         "The date on the page is more than 30 days newer than its <lastmod>. One that is as much "
         "older is info.", _G, (), _LF, "Take the date of the sitemap from the page.",
         "dateModified 2026-03-01, lastmod 2025-01-01"),
    Rule("SM909", "alternates-differ", W,
         "The page and its entry both have hreflang links, but not the same ones.", _G, (), _LF,
         "Make both from the same data.", "the page lists fr, the sitemap does not"),
    Rule("SM910", "hollow-page", W, "A listed page has neither text nor media in its <main>, or else in its body.", _OURS, (), _LF,
         "Render the text on the server, or remove the page.", "<body><div id=app></div></body>"),
    Rule("SM911", "media-fails", W,
         "An image, video or thumbnail answers with 4xx, or robots.txt disallows it.", _G, (), L,
         "Correct its URL, or allow it.", "404 for https://example.org/a.jpg"),
    Rule("SM920", "not-built", E, "The folder has no file for a listed page.", _OURS, (), F,
         "Build the page, or remove it from the sitemap.", "/a is listed, a.html is not there"),
    Rule("SM921", "not-listed", W,
         "The folder has a page that may be indexed, but no sitemap lists it.", _OURS, (), F,
         "List it.", "b.html is there, no sitemap has /b"),
)  # fmt: skip
"""The rows, by code."""
