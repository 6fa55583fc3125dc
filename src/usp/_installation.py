"""Importing this module warns if ultimate-sitemap-parser is installed in the same directory.

Both distributions have the package ``usp``, and pip overwrites the files of one with those of the
other without an error. The distribution in ``shim/`` has that name too, but no files, and a version
with ``+usp``. One directory is listed, in about 0.1 ms; importlib.metadata takes over 10 ms. Only
modules that Python loads at startup are imported.
"""

import os

_PREFIX = "ultimate_sitemap_parser-"
_SHIM = "+usp"


def other_distribution(directory: str) -> str | None:
    """Return the name of the metadata of ultimate-sitemap-parser in a directory, if it is there."""
    try:
        names = os.listdir(directory)  # noqa: PTH208 -- pathlib is not loaded
    except OSError:
        return None  # a package in a zip file
    return next((name for name in names if name.startswith(_PREFIX) and _SHIM not in name), None)


def _warn_if_mixed() -> None:
    directory = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120 -- pathlib is not loaded
    name = other_distribution(directory)
    if name is None:
        return
    import warnings

    version = name.removeprefix(_PREFIX).removesuffix(".dist-info")
    # It names the other distribution, not the import, so that it is one line on a terminal.
    warnings.warn_explicit(
        f"ultimate-sitemap-parser {version} is installed beside usp. Both have the package usp, so "
        "pip overwrites files of one with those of the other. Run: pip uninstall "
        "ultimate-sitemap-parser; then reinstall usp from its clone or wheel: "
        "pip install --force-reinstall --no-deps PATH "
        "(see docs/coming-from/ultimate-sitemap-parser.md)",
        RuntimeWarning,
        filename=os.path.join(directory, name),  # noqa: PTH118 -- pathlib is not loaded
        lineno=1,
        module="usp",
    )


_warn_if_mixed()
