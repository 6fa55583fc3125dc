"""What the wheel of usp depends on, as it is installed here: names, versions, licences, and through
which extra; for the SBOM (``make sbom``) and for the table of licences in the documentation.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PERMISSIVE: Final = frozenset(
    {"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "PSF-2.0", "Zlib"}
)
"""Licences that ask for their own text to be kept, and for nothing else."""
FILE_BASED: Final = frozenset({"MPL-2.0"})
"""Licences that hold for changes of their own files only; programs that use them are free."""
NAMES: Final = {
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""Names of licences in the metadata of older packages, and their SPDX identifiers."""
FAMILIES: Final = frozenset({"BSD", "BSD License"})
"""Names that stand for several licences."""
BY_TEXT: Final = {"jinja2": "BSD-3-Clause", "partd": "BSD-3-Clause", "zict": "BSD-3-Clause"}
"""Distributions that name a family only, and the licence whose text they contain."""
_CLASSIFIER: Final = "License :: OSI Approved :: "
_OPERATOR: Final = re.compile(r"\s+(?:AND|OR)\s+|[()]")


@dataclass(frozen=True, slots=True)
class Dependency:
    """A distribution that usp requires, or that one of them requires."""

    name: str
    version: str
    licence: str
    """An SPDX expression; empty if the metadata has none."""
    extras: tuple[str, ...]
    """The extras of usp that lead to it; empty if every installation has it."""
    requires: tuple[str, ...]
    """The names of those that it requires itself."""

    @property
    def licences(self) -> frozenset[str]:
        """The identifiers in the expression."""
        return frozenset(name for name in _OPERATOR.split(self.licence) if name)

    @property
    def is_accepted(self) -> bool:
        """Whether it may be used by a program under any licence."""
        return bool(self.licences) and self.licences <= PERMISSIVE | FILE_BASED


def required_directly() -> set[str]:
    """Return the names of those that usp itself requires, for every extra."""
    root = distribution("usp")
    extras = {"", *(root.metadata.get_all("Provides-Extra") or [])}
    return {name for name, _ in _required(root, extras)}


def dependencies() -> list[Dependency]:
    """Return all of them by name, also those of the extras."""
    found: dict[str, set[str]] = {}
    root = distribution("usp")
    extras = sorted(root.metadata.get_all("Provides-Extra") or [])
    for extra in ("", *extras):
        for name in _closure(_required(root, {extra})):
            found.setdefault(name, set()).add(extra)
    return [_dependency(name, through) for name, through in sorted(found.items())]


def _dependency(name: str, extras: set[str]) -> Dependency:
    installed = distribution(name)
    return Dependency(
        name=name,
        version=installed.version,
        licence=licence_of(installed),
        extras=() if "" in extras else tuple(sorted(extras)),
        requires=tuple(sorted({one for one, _ in _required(installed, {""})})),
    )


def _closure(required: Iterable[tuple[str, frozenset[str]]]) -> set[str]:
    """Return what is required, and what that requires in turn, where it is installed."""
    reached: set[tuple[str, frozenset[str]]] = set()
    waiting = list(required)
    while waiting:
        one = waiting.pop()
        if one not in reached:
            reached.add(one)
            waiting += _required(distribution(one[0]), {"", *one[1]})
    return {name for name, _ in reached}


def _required(owner: Distribution, extras: set[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the requirements that hold on this machine, each with the extras that it asks for."""
    for text in owner.requires or []:
        requirement = Requirement(text)
        holds = requirement.marker is None or any(
            requirement.marker.evaluate({"extra": extra}) for extra in extras
        )
        name = canonicalize_name(requirement.name)
        if holds and _is_installed(name):
            yield name, frozenset(requirement.extras)


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def licence_of(installed: Distribution) -> str:
    """Return the licence that the metadata of a distribution states, as an SPDX expression."""
    metadata = installed.metadata
    classifiers = [
        text.removeprefix(_CLASSIFIER)
        for text in metadata.get_all("Classifier") or []
        if text.startswith(_CLASSIFIER)
    ]
    # Where the package importlib-metadata is installed, an absent field is a KeyError.
    fields = [
        text for name in ("License-Expression", "License") for text in metadata.get_all(name) or []
    ]
    stated = [*fields, *classifiers]
    known = (NAMES.get(text, text) for text in stated if text and "\n" not in text)
    licence = next(known, "")
    return BY_TEXT.get((metadata["Name"] or "").lower(), "") if licence in FAMILIES else licence
