"""The pages of the site: those of ``docs`` and of the project, and those that are made from tables.

What is written by hand is plain Markdown that any viewer of the repository shows as it is. Here it
becomes what Sphinx reads:

- ``<!-- site: TEXT -->`` is uncovered: what only the site has, such as a link to a generated page;
- an ``index.md`` gets a table of contents: the pages of its folder that it links to, in order;
- files of the project outside of ``docs`` have a page, and links to them lead there.

Which pages are generated is in ``generated``; files that are no pages are copied by ``__main__``.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

PROJECT_PAGES: Final = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "bench/README.md": "project/bench.md",
    "fuzz/README.md": "project/fuzz.md",
    "shim/README.md": "project/shim.md",
}
"""Files of the project that are pages of the site, and the path of each there."""

FRONT_PAGES: Final = {"README.md": "index.md"}
"""The front page of the project, and that of the site, which takes its place."""

FENCE: Final = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_ONLY_HERE: Final = re.compile(r"<!-- site:\s(.*?)\s*-->", re.DOTALL)
_LINK: Final = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)\s#]*)(#[^)\s]*)?(\))")


class DeadLinkError(Exception):
    """A page links to a file that is neither a page of the site nor a file beside the pages."""


def written_pages(project: Path) -> dict[str, str]:
    """Return the pages that are written by hand, by their path in the site."""
    docs = project / "docs"
    paths = [page.relative_to(project).as_posix() for page in sorted(docs.rglob("*.md"))]
    places = {path: path.removeprefix("docs/") for path in paths} | PROJECT_PAGES
    pages = {}
    for path, place in places.items():
        text = (project / path).read_text(encoding="utf-8")
        pages[place] = relinked(uncovered(text), path, place, places | FRONT_PAGES)
    return pages


def uncovered(text: str) -> str:
    """Return a text with what only the site has."""
    return _ONLY_HERE.sub(r"\1", text)


def relinked(text: str, path: str, place: str, places: Mapping[str, str]) -> str:
    """Return the text of a file with links that hold at its place in the site."""

    def target_of(link: re.Match[str]) -> str:
        opening, target, anchor, closing = link.groups(default="")
        if not target or "://" in target:
            return link[0]
        named = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        reached = places.get(named, named.removeprefix("docs/"))
        if named not in places and not named.startswith("docs/"):
            raise DeadLinkError(f"{path}: {target} is no page of the site")
        nearest = posixpath.relpath(reached, posixpath.dirname(place) or ".")
        return f"{opening}{nearest}{anchor}{closing}"

    return outside_fences(text, lambda prose: _LINK.sub(target_of, prose))


def outside_fences(text: str, change: Callable[[str], str]) -> str:
    """Return a text of which all but the blocks of code is changed."""
    parts = []
    end = 0
    for fence in FENCE.finditer(text):
        parts += [change(text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, change(text[end:])])


def with_contents(place: str, text: str) -> str:
    """Return an index page with the table of contents that its links make; others as they are."""
    if posixpath.basename(place) != "index.md":
        return text
    entries = "\n".join(posixpath.splitext(entry)[0] for entry in _entries(text))
    return f"{text}\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n" if entries else text


def _entries(text: str) -> Iterator[str]:
    """Yield the pages of an index's own folder, and the indexes of the folders in it."""
    links = (link for link in _LINK.finditer(FENCE.sub("", text)) if not link[3])
    for target in dict.fromkeys(link[2] for link in links):
        folder, name = posixpath.split(target)
        is_below = bool(folder) and ".." not in folder and "/" not in folder and name == "index.md"
        if name.endswith(".md") and (not folder or is_below):
            yield target
