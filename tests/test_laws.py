"""The laws of the house (docs/architecture.md), read off the package's own syntax trees.

The package is found through the import system, so that the same laws are held against the
clone and against an installed wheel.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

import usp

PACKAGE = Path(usp.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

FLOORS = (
    {"_version", "_installation"},
    {"exceptions"},
    {"_validate"},
    {"objects"},
    {"_parse"},
    {"_crawl"},
    {"_store"},
    {"web_client"},
    {"_drive"},
    {"tree", "stream", "aio", "fetch_parse", "helpers", "_source", "log", "__about__"},
    {"cli"},
    {"__main__"},
    {"__init__"},
)
"""The rooms from the bottom to the top. A room may import its own floor and those below it."""

FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
FACADE = PACKAGE / "__init__.py"
PURE_ROOMS = {"_parse", "_crawl"}
IMPURE_MODULES = {"logging", "time", "os", "socket", "threading", "asyncio", "requests"}
HEAVY_MODULES = {"dateutil", "aiohttp", "pyarrow", "rich", "requests"}
BROAD = {"Exception", "BaseException"}
MAY_CATCH_ALL = {"_drive"}
"""Only a worker's edge, where whatever a foreign client raises becomes data."""

MOST_LINES_IN_A_FILE = 420
MOST_LINES_IN_A_FUNCTION = 60

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"), str(file))


def room_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports_in(file: Path) -> Iterator[tuple[int, str]]:
    """The line and dotted name of each import, wherever it stands, made absolute."""
    folders = ("usp", *file.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            near = folders[: len(folders) - node.level + 1] if node.level else ()
            module = ".".join((*near, *filter(None, [node.module])))
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)


def room_imported(name: str) -> str | None:
    """The room that a dotted name lies in; None when it isn't ours."""
    package, _, rest = name.partition(".")
    if package != "usp":
        return None
    room = rest.partition(".")[0]
    return room if room in FLOOR_OF else "__init__"


def broad_handlers(file: Path) -> Iterator[ast.ExceptHandler | ast.Call]:
    """Bare excepts, those that name ``Exception`` or its base, and ``suppress`` of the same."""
    for node in ast.walk(tree_of(file)):
        match node:
            case ast.ExceptHandler(type=None):
                yield node
            case ast.ExceptHandler(type=ast.expr() as caught) if names_in(caught) & BROAD:
                yield node
            case ast.Call(func=called) if "suppress" in names_in(called):
                if any(names_in(argument) & BROAD for argument in node.args):
                    yield node


def names_in(node: ast.expr) -> set[str]:
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return names | {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}


def test_every_file_has_its_room() -> None:
    assert {room_of(file) for file in FILES} <= FLOOR_OF.keys()


def test_imports_point_down_only() -> None:
    upward = [
        f"{file.relative_to(PACKAGE)}:{line}: {name}"
        for file in FILES
        if file != FACADE  # the facade imports lazily, from every floor
        for line, name in imports_in(file)
        if (room := room_imported(name)) and FLOOR_OF[room] > FLOOR_OF[room_of(file)]
    ]
    assert upward == []


def test_what_bytes_mean_and_what_comes_next_is_decided_without_the_world() -> None:
    impure = [
        f"{file.relative_to(PACKAGE)}:{line}: {name}"
        for file in FILES
        if room_of(file) in PURE_ROOMS
        for line, name in imports_in(file)
        if name.partition(".")[0] in IMPURE_MODULES
    ]
    assert impure == []


def test_everything_is_caught_only_at_a_workers_edge() -> None:
    elsewhere = [
        f"{file.relative_to(PACKAGE)}:{node.lineno}"
        for file in FILES
        if room_of(file) not in MAY_CATCH_ALL
        for node in broad_handlers(file)
    ]
    assert elsewhere == []


def test_what_is_caught_at_a_workers_edge_is_kept() -> None:
    dropped = [
        f"{file.relative_to(PACKAGE)}:{node.lineno}"
        for file in FILES
        for node in broad_handlers(file)
        if not isinstance(node, ast.ExceptHandler)
        or (node.name is None and not any(isinstance(part, ast.Raise) for part in ast.walk(node)))
    ]
    assert dropped == []


def test_importing_the_package_loads_nothing_heavy() -> None:
    program = "import sys, usp; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "usp" in loaded
    assert loaded & HEAVY_MODULES == set()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_files_and_functions_stay_small(file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) <= MOST_LINES_IN_A_FILE
    long = [
        f"{node.name}:{node.lineno}"
        for node in ast.walk(tree_of(file))
        if isinstance(node, Function)
        and (node.end_lineno or node.lineno) - node.lineno + 1 > MOST_LINES_IN_A_FUNCTION
    ]
    assert long == []


@pytest.mark.skipif("USP_TEST_INSTALLED" not in os.environ, reason="not run against a wheel")
def test_the_installed_package_is_the_one_under_test() -> None:
    assert PACKAGE.parent.name == "site-packages"
