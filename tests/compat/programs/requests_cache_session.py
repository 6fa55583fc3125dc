"""A program that crawls twice through a requests_cache session: the second time from the cache."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests_cache

from usp.tree import sitemap_tree_for_homepage
from usp.web_client.requests_client import RequestsWebClient

SM = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
asked: list[str] = []
agents: set[str] = set()


def document(path: str, base: str) -> str | None:
    return {
        "/robots.txt": f"Sitemap: {base}/index.xml\n",
        "/index.xml": f"<sitemapindex {SM}><sitemap><loc>{base}/a.xml</loc></sitemap>"
        f"<sitemap><loc>{base}/b.txt</loc></sitemap></sitemapindex>",
        "/a.xml": f"<urlset {SM}><url><loc>{base}/1</loc></url></urlset>",
        "/b.txt": f"{base}/2\n{base}/3\n",
    }.get(path)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        asked.append(self.path)
        agents.add(self.headers["User-Agent"].partition("/")[0])
        text = document(self.path, site)
        body = (text or "").encode()
        self.send_response(200 if text else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
site = f"http://127.0.0.1:{server.server_address[1]}"
thread = threading.Thread(target=server.serve_forever)
thread.start()
try:
    with requests_cache.CachedSession(backend="memory") as session:
        runs = []
        for _ in range(2):
            client = RequestsWebClient(session=session)
            tree = sitemap_tree_for_homepage(site, web_client=client, use_known_paths=False)
            runs.append(json.dumps(tree.to_dict(), default=str).replace(site, "http://site"))
        kept = len(session.cache.responses)
finally:
    server.shutdown()
    thread.join()
    server.server_close()

print(
    json.dumps(
        {
            "tree": json.loads(runs[0]),
            "same from the cache": runs[0] == runs[1],
            "asked": sorted(asked),
            "kept in the cache": kept,
            "user agent": sorted(agents),
        }
    )
)
