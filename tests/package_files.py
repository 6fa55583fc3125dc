"""The source files and the public names of the package, for tests that check rules on them.

The package is found through the import system, so that the same rules are checked in the clone and
in an installed wheel.
"""

import ast
import importlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType

import usp

PACKAGE = Path(usp.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
PUBLIC_MODULES = (
    "usp",
    "usp.aio",
    "usp.bulk",
    "usp.exceptions",
    "usp.fetch_parse",
    "usp.helpers",
    "usp.stream",
    "usp.tables",
    "usp.tree",
    *(f"usp.objects.{file.stem}" for file in (PACKAGE / "objects").glob("[!_]*.py")),
    *(f"usp.web_client.{file.stem}" for file in (PACKAGE / "web_client").glob("[!_]*.py")),
)


@cache
def tree_of_file(file: Path) -> ast.Module:
    """Return the syntax tree of a file; whoever needs many clears the cache in the end."""
    return ast.parse(file.read_text(encoding="utf-8"), str(file))


def part_of(file: Path) -> str:
    """The package or module directly below ``usp`` that a file belongs to."""
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports_in(file: Path) -> Iterator[tuple[int, str]]:
    """The line and dotted name of each import, inside functions too, made absolute."""
    folders = ("usp", *file.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(tree_of_file(file)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            near = folders[: len(folders) - node.level + 1] if node.level else ()
            module = ".".join((*near, *filter(None, [node.module])))
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)


def names_in(node: ast.expr) -> set[str]:
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return names | {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}


def public_objects() -> Iterator[tuple[str, object]]:
    """Each public class and function by the name under which users find it."""
    for name in PUBLIC_MODULES:
        module = importlib.import_module(name)
        listed: list[str] | None = getattr(module, "__all__", None)
        for attribute in own_names(module) if listed is None else listed:
            value = getattr(module, attribute)
            if isinstance(value, type | FunctionType):
                yield f"{name}.{attribute}", value


def own_names(module: ModuleType) -> list[str]:
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]
