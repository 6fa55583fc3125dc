"""One page with the licence of every dependency of the wheel, in the version that is installed."""

from collections.abc import Iterable, Iterator
from typing import Final

from tools.dependencies import FILE_BASED, Dependency, dependencies

PLACE: Final = "project/licences.md"

_INTRO: Final = """\
# Licences of all dependencies

`usp` is under the MIT licence. The wheel contains none of these packages: pip installs them. All
are under permissive licences, or under MPL-2.0, which holds for changes of their own files only. A
test fails if one of another kind, or without a licence, comes in. The versions are those of this
build.
"""


def pages() -> dict[str, str]:
    """Return the page by its path in the site."""
    return {PLACE: "\n".join(_lines()) + "\n"}


def _lines() -> Iterator[str]:
    depended = dependencies()
    yield _INTRO
    yield "## Of every installation"
    yield from _table(one for one in depended if not one.extras)
    yield from ("", "## Of extras")
    yield from _table(one for one in depended if one.extras)


def _table(depended: Iterable[Dependency]) -> Iterator[str]:
    yield from ("", "| package | version | licence | kind | extra |", "|---|---|---|---|---|")
    for one in depended:
        kind = "for its own files" if one.licences & FILE_BASED else "permissive"
        extras = ", ".join(f"`{extra}`" for extra in one.extras)
        yield f"| {one.name} | {one.version} | {one.licence} | {kind} | {extras} |"
