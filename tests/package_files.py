"""The source files of the package as syntax trees, for tests that check rules on them.

The package is found through the import system, so that the same rules are checked in the clone and
in an installed wheel.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import usp

PACKAGE = Path(usp.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))


def tree_of_file(file: Path) -> ast.Module:
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
