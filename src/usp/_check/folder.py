"""A build folder as the site would serve it: which file a URL leads to, and a client for a crawl.

A host of static files serves ``a.html`` for ``/a.html`` and mostly for ``/a``, ``a/index.html`` for
``/a/``, and ``a.xml.gz`` where ``a.xml`` exists only compressed. Nothing outside of the folder is
ever read: neither by dots in a URL, nor through a symbolic link. There is no network.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote, urljoin, urlsplit

from usp._crawl.urls import is_start_url
from usp._validate import argument_error
from usp.exceptions import UsageError
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientResponse,
    AbstractWebClientSuccessResponse,
    WebClientErrorResponse,
)

_INDEXES: Final = ("index.html", "index.htm")
_HTML: Final = (".html", ".htm")
_SITEMAP: Final = "sitemap"
_SITEMAP_ENDS: Final = (".xml", ".xml.gz", ".txt", ".txt.gz")
"""How the name of a file ends that is a sitemap, if it has that word, and its content is one."""
_CHUNK: Final = 256 * 1024
_NOT_A_NAME: Final = frozenset({".", ".."})


@dataclass(frozen=True, slots=True)
class BuildFolder:
    """A folder with a built website."""

    path: Path
    base_url: str
    """The URL of the folder itself; it ends with a slash."""
    real_path: Path
    """Its path without symbolic links."""

    @classmethod
    def of(cls, path: str | os.PathLike[str], base_url: object) -> "BuildFolder":
        """Return the folder at a path.

        :raises UsageError: if it is none, or the URL is no URL.
        """
        if not isinstance(base_url, str) or not is_start_url(base_url):
            raise argument_error("base_url", "the HTTP(S) URL of the folder", base_url)
        if not Path(path).is_dir():
            raise UsageError(f"base_url is the URL of a folder, and {path} is no folder.")
        parts = urlsplit(base_url)
        base = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}/"
        return cls(Path(path), base, Path(path).resolve())

    @property
    def robots_url(self) -> str:
        """The URL of robots.txt: it is in the folder only if that is the root of the host."""
        return urljoin(self.base_url, "/robots.txt")

    def covers(self, url: str) -> bool:
        """Tell whether a URL would be served from the folder, whether there is a file or not."""
        return self._path_inside(url) is not None

    def file_for(self, url: str) -> Path | None:
        """Return the file that is served for a URL; None if there is none."""
        path = self._path_inside(url)
        names = () if path is None else tuple(map(unquote, path.split("/")))
        if not names or not all(map(_is_name, names[:-1])) or not _is_last_name(names[-1]):
            return None
        return next(filter(None, map(self._regular_file, _candidates(names))), None)

    def url_of(self, file: Path) -> str:
        """Return the URL of a file; that of an index is the URL of its folder."""
        inside = file.relative_to(self.path).as_posix()
        if file.name in _INDEXES:
            inside = inside.removesuffix(file.name)
        return self.base_url + quote(inside, safe="/~!$&'()*+,;=:@")

    def files(self) -> Iterator[Path]:
        """Yield all files in order; not those of hidden folders, nor behind symbolic links."""
        for folder, folders, names in os.walk(self.path):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                file = Path(folder, name)
                if not name.startswith(".") and not file.is_symlink():
                    yield file

    def sitemap_urls(self) -> Iterator[str]:
        """Yield the URLs of files that are named like sitemaps."""
        for file in self.files():
            name = file.name.lower()
            if _SITEMAP in name and name.endswith(_SITEMAP_ENDS):
                yield self.url_of(file)

    def pages(self) -> Iterator[Path]:
        """Yield the files that are HTML, by their names."""
        return filter(is_html, self.files())

    def _path_inside(self, url: str) -> str | None:
        """Return the path of a URL below the folder; None if it is elsewhere."""
        try:
            parts, base = urlsplit(url), urlsplit(self.base_url)
        except ValueError:  # for example an incomplete IPv6 address
            return None
        path = parts.path or "/"
        is_here = (parts.hostname, parts.port) == (base.hostname, base.port)
        if not is_here or not f"{path.rstrip('/')}/".startswith(base.path):
            return None
        return path[len(base.path) :]

    def _regular_file(self, names: tuple[str, ...]) -> Path | None:
        """Return a file, if it is one, and within the folder wherever links lead."""
        file = self.path.joinpath(*names)
        try:
            real = file.resolve(strict=True)
            is_file = stat.S_ISREG(real.stat().st_mode)
        except (OSError, ValueError, RuntimeError):  # not there, no name, a loop of links
            return None
        return file if is_file and real.is_relative_to(self.real_path) else None


def is_html(file: Path) -> bool:
    """Tell whether a file is HTML, by its name."""
    return file.suffix.lower() in _HTML


def _is_name(name: str) -> bool:
    """Tell whether a name leads one step down, on every system."""
    return bool(name) and _is_last_name(name)


def _is_last_name(name: str) -> bool:
    return name not in _NOT_A_NAME and not any(one in name for one in "/\\\0")


def _candidates(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the files that may be served for a path, the best first."""
    *folders, last = names
    if last:
        yield names
        yield from ((*folders, last + suffix) for suffix in _HTML)
        yield (*folders, f"{last}.gz")
    yield from ((*folders, *([last] if last else []), index) for index in _INDEXES)


class FolderWebClient(AbstractWebClient):
    """Answers requests with the files of a folder, without a network."""

    streams = True
    thread_safe = True

    def __init__(self, folder: BuildFolder) -> None:
        self._folder = folder

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        """Do nothing: a limit holds while a file is read."""

    def get(self, url: str) -> AbstractWebClientResponse:
        """Return the file for a URL: 404 if there is none, an error outside of the folder."""
        file = self._folder.file_for(url)
        if file is not None:
            return _FileResponse(url, file)
        if self._folder.covers(url):
            return WebClientErrorResponse(
                "404 Not Found: there is no file for it in the folder",
                retryable=False,
                status_code=HTTPStatus.NOT_FOUND,
            )
        return WebClientErrorResponse("it is not in the folder", retryable=False)


class _FileResponse(AbstractWebClientSuccessResponse):
    """A file, in the form of a response."""

    def __init__(self, url: str, file: Path) -> None:
        self._url = url
        self._file = file

    def status_code(self) -> int:
        return HTTPStatus.OK.value

    def status_message(self) -> str:
        return HTTPStatus.OK.phrase

    def header(self, case_insensitive_name: str) -> str | None:  # noqa: ARG002 -- a file has none
        return None

    def raw_data(self) -> bytes:
        return self._file.read_bytes()

    def url(self) -> str:
        return self._url

    def chunks(self) -> Iterator[bytes]:
        with self._file.open("rb") as file:
            while chunk := file.read(_CHUNK):
                yield chunk
