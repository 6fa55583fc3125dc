"""Whether the built site would load anything from elsewhere: it must not, to work offline.

Links that a reader may follow are allowed; what a browser fetches by itself is not.
"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

LOADING: Final = {
    "script": ("src",),
    "img": ("src", "srcset"),
    "link": ("href",),
    "iframe": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "object": ("data",),
    "embed": ("src",),
    "use": ("href", "xlink:href"),
    "image": ("href", "xlink:href"),
    "form": ("action",),
}
"""The attributes whose URL a browser loads, by tag."""
_ELSEWHERE: Final = re.compile(r"\s*(?:https?:)?//", re.IGNORECASE)
_IN_STYLES: Final = re.compile(
    r"(?:@import\s+|url\()\s*[\"']?((?:https?:)?//[^\"')\s]+)", re.IGNORECASE
)


class _Loaded(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.urls: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = LOADING.get(tag, ())
        self.urls += [value for name, value in attrs if name in names and value]


def loaded_from_elsewhere(site: Path) -> Iterator[str]:
    """Yield the file and the URL of everything that the pages of a site load from elsewhere."""
    for file in sorted(site.rglob("*")):
        if file.suffix in {".html", ".svg"}:
            found = _in_markup(file.read_text(encoding="utf-8"))
        elif file.suffix == ".css":
            found = _IN_STYLES.findall(file.read_text(encoding="utf-8"))
        else:
            continue
        yield from (f"{file.relative_to(site)}: {url}" for url in found)


def _in_markup(text: str) -> list[str]:
    parser = _Loaded()
    parser.feed(text)
    loaded = [url for url in parser.urls if _ELSEWHERE.match(url)]
    return loaded + _IN_STYLES.findall(text)
