"""Texts that a site may say to run script in a report, or in the shell of who copies a command."""

from typing import Final
from xml.sax.saxutils import escape

HOME: Final = "https://evil.example/"
MARK: Final = "pwned"
"""The global variable that a script would set."""
TEXTS: Final = (
    f"<script>window.{MARK}=1</script>",
    f"</script><script>window.{MARK}=1</script>",
    f"\"><img src=x onerror='window.{MARK}=1'>",
    f"'><svg onload=window.{MARK}=1>",
    f"</style><style>@import url({HOME}x.css);</style>",
    f"</title><iframe srcdoc='<script>parent.{MARK}=1</script>'></iframe>",
    f"javascript:window.{MARK}=1",
    "<!--",
    "]]>",
    "&lt;b&gt; &amp;quot;",
    "\u202egnp.exe",
    f"`touch {MARK}`",
    f"$(touch {MARK})",
    f"'; touch {MARK}; '",
    f'a" && touch {MARK} && "',
    "x|y *z* [a](javascript:alert(1)) @everyone ![i](https://evil.example/p.png)",
    "\u2028\u2029",
)

QUOTES: Final = {"'": "&apos;"}


def hostile_site() -> dict[str, bytes | int]:
    """Return a site whose every text is one of these."""
    entries = "".join(
        f"<url><loc>{HOME}{escape(text)}/{escape(text)}/page</loc><lastmod>{escape(text)}</lastmod>"
        f"<changefreq>{escape(text)}</changefreq><news:news><news:publication>"
        f"<news:name>{escape(text)}</news:name><news:language>{escape(text)}</news:language>"
        f"</news:publication><news:title>{escape(text)}</news:title></news:news>"
        f"<xhtml:link rel='alternate' hreflang='{escape(text, QUOTES)}' href='{HOME}'/>"
        "</url>"
        for text in TEXTS
    )
    children = "".join(f"<sitemap><loc>{HOME}{escape(text)}.xml</loc></sitemap>" for text in TEXTS)
    return {
        "robots.txt": "".join(
            f"Sitemap: {HOME}{name}\n" for name in ("pages.xml", "index.xml", *TEXTS[:3])
        ).encode(),
        "pages.xml": (
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
            'xmlns:xhtml="http://www.w3.org/1999/xhtml" '
            f'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">{entries}</urlset>'
        ).encode(),
        "index.xml": f"<sitemapindex>{children}</sitemapindex>".encode(),
    }
