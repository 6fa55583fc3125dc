"""The rules of the architecture (architecture.md of the docs), checked on the package itself."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import importlib
import inspect
import operator
import os
import re
import ssl
import subprocess
import sys
import typing
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FunctionType, SimpleNamespace, UnionType
from typing import Any, TypeAlias, get_args, get_type_hints

import pytest
import urllib3

import usp
from tests.package_files import (
    FILES,
    PACKAGE,
    imports_in,
    names_in,
    part_of,
    public_objects,
    tree_of_file,
)
from usp import exceptions
from usp.web_client.abstract_aio_client import AbstractAioWebClient


@pytest.fixture(autouse=True, scope="module")
def _forget_trees() -> Iterator[None]:
    """Forget the trees of all files, which would slow down each garbage collection from then on."""
    yield
    tree_of_file.cache_clear()


LAYERS = (
    {"_version", "_installation", "_display", "_quantities", "_json", "_signatures", "_cause"},
    {"_forks", "_lazy"},
    {"exceptions"},
    {"_validate", "_extras", "_domains", "_closing", "_own_process", "_docstrings"},
    {"objects"},
    {"_parse"},
    {"_crawl"},
    {"_store", "_whole_file"},
    {"_sorting"},
    {"web_client"},
    {"_drive"},
    {
        "tree",
        "stream",
        "fetch_parse",
        "helpers",
        "_keywords",
        "_source",
        "_aio_stream",
        "_find",
        "log",
        "__about__",
    },
    {"_tables"},
    {"_export", "_sync"},
    {"_inputs"},
    {"tables", "aio", "_check", "_diff"},
    {"bulk", "_report"},
    {"cli"},
    {"__main__"},
    {"__init__"},
)
"""The packages and modules from the bottom to the top. Each may import its own layer and lower."""

LAYER_OF = {name: number for number, names in enumerate(LAYERS) for name in names}
FACADE = PACKAGE / "__init__.py"
PURE = {"_parse", "_crawl"}
IMPURE_MODULES = {"logging", "time", "os", "socket", "threading", "asyncio", "requests"}
CLOCKS = {"now", "today", "utcnow"}
"""Methods of ``datetime`` and ``date`` that ask for the time."""
HEAVY_MODULES = {"dateutil", "aiohttp", "pyarrow", "rich", "requests", "publicsuffixlist"}
BROAD = {"Exception", "BaseException"}
MAY_CATCH_ALL = {"_drive", "bulk"}
"""Where drivers call the caller's client: what it raises becomes data. And around one of many
sites: what goes wrong with it must not end the crawl of the others."""

FRAMES = SimpleNamespace(RecordBatch=object, Table=object, DataFrame=object)
"""What stands for the libraries of tables, which may not be installed."""
LAZILY_IMPORTED = {
    "ssl": ssl,
    "urllib3": urllib3,
    "Path": Path,
    "AbstractAioWebClient": AbstractAioWebClient,
    **dict.fromkeys(("pa", "pd", "pl"), FRAMES),
}
"""Names in annotations whose modules are not loaded for them."""
MAX_LINES_IN_A_FILE = 420
MAX_LINES_IN_A_FUNCTION = 60

RETIRED_CLASSES = {
    *("Lines", "LineSocket", "Whereabouts", "Findings", "Looks", "Manner", "Beginning", "Standing"),
    *("Arrival", "Letter", "Trip", "Visit", "Visits", "Gate", "Rung", "Ladder", "Packed", "Seen"),
    *("Told", "Said", "Asked", "Answered", "Ended", "EntryMeaning", "Heard", "Pace", "Need"),
    *("Callbacks", "Place"),
}
RETIRED = re.compile(
    r"""\b(?:
      Whereabouts | LineSocket | EntryMeaning | host_strikes | first_pause | pause_growth
    | longest_pause | documents_ahead | repeated_places | in_its_stead | tree_of | of_sitemap
    | start_crawl | PagesCounted | (?:learned|careful|rescue)[ _]lane | unwell | rungs? | unheard
    | salvaged | climbed | two_ways | mended | learned[ ]reader | side[ ]by[ ]side
    )\b""",
    re.VERBOSE,
)
"""Names and terms that were replaced (docs/glossary.md) and must not come back."""
WITHOUT_RETIRED_TERMS = (
    *("src", "tests", "bench", "fuzz", "docs", "tools", "shim", "Makefile", "pyproject.toml"),
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"),
)
NAMED_TWICE = {"Item", "Value", "ToUrl"}
"""Type aliases and variables of ``_parse`` that still share a name; no new ones may."""

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def part_imported(name: str) -> str | None:
    """The package or module that a dotted name belongs to; None when it isn't ours."""
    package, _, rest = name.partition(".")
    if package != "usp":
        return None
    part = rest.partition(".")[0]
    return part if part in LAYER_OF else "__init__"


def violations(rule: Callable[[Path, str], object], files: list[Path] = FILES) -> list[str]:
    """The imports that violate a rule."""
    return [
        f"{file.relative_to(PACKAGE)}:{line}: {name}"
        for file in files
        for line, name in imports_in(file)
        if rule(file, name)
    ]


def broad_handlers(file: Path) -> Iterator[ast.ExceptHandler | ast.Call]:
    """Bare excepts, those that name ``Exception`` or its base, and ``suppress`` of the same."""
    for node in ast.walk(tree_of_file(file)):
        match node:
            case ast.ExceptHandler(type=None):
                yield node
            case ast.ExceptHandler(type=ast.expr() as caught) if names_in(caught) & BROAD:
                yield node
            case ast.Call(func=called) if "suppress" in names_in(called):
                if any(names_in(argument) & BROAD for argument in node.args):
                    yield node


def test_every_file_has_its_layer() -> None:
    assert {part_of(file) for file in FILES} <= LAYER_OF.keys()


@pytest.mark.slow
def test_imports_point_down_only() -> None:
    def points_up(file: Path, name: str) -> bool:
        part = part_imported(name)
        return part is not None and LAYER_OF[part] > LAYER_OF[part_of(file)]

    # The facade imports lazily, from every layer.
    assert violations(points_up, [file for file in FILES if file != FACADE]) == []


def test_parsing_and_deciding_do_no_io() -> None:
    pure = [file for file in FILES if part_of(file) in PURE]
    assert violations(lambda _, name: name.partition(".")[0] in IMPURE_MODULES, pure) == []


def test_parsing_and_deciding_ask_for_no_time() -> None:
    calls = [
        f"{file.relative_to(PACKAGE)}:{node.lineno}: {ast.unparse(node)}"
        for file in FILES
        if part_of(file) in PURE
        for node in ast.walk(tree_of_file(file))
        if isinstance(node, ast.Attribute) and node.attr in CLOCKS
        if names_in(node.value) & {"datetime", "date"}
    ]
    assert calls == []


def test_no_property_has_a_lock_for_all_instances() -> None:
    """``cached_property`` has one in Python 3.11, which a fork copies while it is held."""
    users = [file.name for file in FILES if "import cached_property" in file.read_text()]
    assert users == []


def exported_by(module: str) -> set[str]:
    return {module, *(f"{module}.{name}" for name in importlib.import_module(module).__all__)}


def is_inside_of_parse(exported: set[str], _: object, name: str) -> bool:
    return name.startswith("usp._parse") and name not in exported


def test_parse_is_imported_through_its_init_and_by_checks_through_one_more_module() -> None:
    allowed = exported_by("usp._parse")
    for_checks = allowed | exported_by("usp._parse.checking")
    outside = [file for file in FILES if part_of(file) != "_parse"]
    checks = [file for file in outside if part_of(file) == "_check"]
    others = [file for file in outside if file not in checks]
    assert violations(partial(is_inside_of_parse, allowed), others) == []
    assert violations(partial(is_inside_of_parse, for_checks), checks) == []


def test_private_adapters_are_used_by_the_clients_alone() -> None:
    outside = [file for file in FILES if part_of(file) != "web_client"]
    assert violations(lambda _, name: name.startswith("usp.web_client._"), outside) == []


def test_except_exception_is_only_in_the_drivers() -> None:
    elsewhere = [
        f"{file.relative_to(PACKAGE)}:{node.lineno}"
        for file in FILES
        if part_of(file) not in MAY_CATCH_ALL
        for node in broad_handlers(file)
    ]
    assert elsewhere == []


def test_what_except_exception_catches_is_kept_or_raised() -> None:
    dropped = [
        f"{file.relative_to(PACKAGE)}:{node.lineno}"
        for file in FILES
        for node in broad_handlers(file)
        if not isinstance(node, ast.ExceptHandler)
        or (node.name is None and not any(isinstance(part, ast.Raise) for part in ast.walk(node)))
    ]
    assert dropped == []


# Exceptions


def test_the_exception_tree_is_closed() -> None:
    """Every public exception class is in ``usp.exceptions``, and is drawn in its docstring."""
    elsewhere = [
        f"{file.relative_to(PACKAGE)}:{node.name}"
        for file in FILES
        if file.name != "exceptions.py"
        for node in tree_of_file(file).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
        if any(base.endswith(("Error", "Exception")) for b in node.bases for base in names_in(b))
    ]
    assert elsewhere == []
    ours = {
        name: value
        for name, value in vars(exceptions).items()
        if isinstance(value, type) and issubclass(value, BaseException)
    }
    assert all(issubclass(value, exceptions.UspError) for value in ours.values())
    assert [name for name in ours if name not in (exceptions.__doc__ or "")] == []


def test_what_is_raised_is_ours_or_a_builtin() -> None:
    """The adapters raise errors of the libraries that they extend, and catch them again."""
    allowed = {*vars(exceptions), *dir(builtins)}
    foreign = [
        f"{file.relative_to(PACKAGE)}:{node.lineno}: {raised.id}"
        for file in FILES
        if "_requests" not in file.parts and "_aiohttp" not in file.parts
        for node in ast.walk(tree_of_file(file))
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
        if isinstance(raised := node.exc.func, ast.Name)
        if raised.id[:1].isupper() and raised.id not in allowed
    ]
    assert foreign == []


# Public names


def functions_of(name: str, value: object) -> Iterator[tuple[str, object]]:
    """A function, or the public methods and properties of a class."""
    if not isinstance(value, type):
        yield name, value
        return
    yield f"{name} (fields)", value
    for attribute, member in vars(value).items():
        if attribute != "__init__" and attribute.startswith("_"):
            continue
        function = member.fget if isinstance(member, property) else member
        function = getattr(function, "__func__", function)
        if isinstance(function, FunctionType):
            yield f"{name}.{attribute}", function


def classes_in(hint: Any) -> Iterator[type]:
    """The classes that an annotation names, inside of generics and unions too."""
    if isinstance(hint, type) and not get_args(hint):
        yield hint
    origin = typing.get_origin(hint)
    if isinstance(origin, type) and origin is not UnionType:
        yield origin
    for argument in get_args(hint):
        for part in argument if isinstance(argument, list) else [argument]:
            yield from classes_in(part)


def hints_of(value: object) -> dict[str, Any]:
    hints = get_type_hints(value, localns=LAZILY_IMPORTED)
    if isinstance(value, type):
        fields = (
            {field.name for field in dataclasses.fields(value)}
            if (dataclasses.is_dataclass(value))
            else set(hints)
        )
        return {name: hint for name, hint in hints.items() if name in fields and name[0] != "_"}
    return {name: hint for name, hint in hints.items() if not name.startswith("_")}


def is_public(found: type) -> bool:
    if not found.__module__.startswith("usp"):
        return True
    path = f"{found.__module__}.{found.__qualname__}"
    return not any(part.startswith("_") for part in path.split(".")) or (
        found in {value for _, value in public_objects()}
    )


def test_public_annotations_name_public_types_only() -> None:
    private = [
        f"{where}: {found.__module__}.{found.__qualname__}"
        for name, value in public_objects()
        for where, part in functions_of(name, value)
        for hint in hints_of(part).values()
        for found in classes_in(hint)
        if not is_public(found)
    ]
    assert sorted(set(private)) == []


def types_defined_in(file: Path) -> Iterator[str]:
    """Classes, and the public names of types that are assigned: aliases and type variables."""
    for node in tree_of_file(file).body:
        match node:
            case ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                if re.match("[A-Z].*[a-z]", name):
                    yield name


def test_no_type_is_defined_twice() -> None:
    defined: dict[str, list[str]] = defaultdict(list)
    for file in FILES:
        for name in types_defined_in(file):
            defined[name].append(str(file.relative_to(PACKAGE)))
    twice = {name: files for name, files in defined.items() if len(files) > 1}
    assert {name: files for name, files in twice.items() if name not in NAMED_TWICE} == {}


EXPLAINED = (
    *("iter_pages", "sitemap_tree", "sitemap_tree_for_homepage", "sitemap_from_str", "parse"),
    *("Policy", "Crawl", "Crawl.for_site", "Crawl.take", "Crawl.receive", "Crawl.deliver"),
    *("Crawl.give_back", "Crawl.stop"),
    *("export", "record_batches", "to_arrow", "to_pandas", "to_polars"),
    *(f"aio.{name}" for name in ("iter_pages", "sitemap_tree", "sitemap_tree_for_homepage")),
    *("aio.sitemap_trees", "aio.AioWebClient", "web_client.requests_client.RequestsWebClient"),
    *("objects.fetch_info.FetchInfo", "objects.fetch_info.Validators"),
    "objects.fetch_info.StoredDocument",
    *("bulk.crawl", "bulk.crawl_shard", "bulk.shards", "bulk.status"),
)


@pytest.mark.parametrize("name", EXPLAINED)
def test_help_explains_every_parameter(name: str) -> None:
    for module in (
        "usp.aio",
        "usp.bulk",
        "usp.web_client.requests_client",
        "usp.objects.fetch_info",
    ):
        importlib.import_module(module)
    value = operator.attrgetter(name)(usp)
    shown = inspect.getdoc(value) or ""
    if isinstance(value, type):
        shown += inspect.getdoc(vars(value)["__init__"]) or ""
    unexplained = [
        parameter
        for parameter in inspect.signature(value).parameters
        if parameter != "self" and not parameter.startswith("_")
        if f":param {parameter}:" not in shown
    ]
    assert unexplained == []


# Words


def test_retired_classes_stay_retired() -> None:
    defined = {
        node.name
        for file in FILES
        for node in ast.walk(tree_of_file(file))
        if isinstance(node, ast.ClassDef)
    }
    assert defined & RETIRED_CLASSES == set()


def test_retired_names_and_terms_stay_retired() -> None:
    project = Path(__file__).resolve().parent.parent
    # Where a wheel is tested, some of these folders are missing.
    files = [
        file
        for name in WITHOUT_RETIRED_TERMS
        for file in (
            [project / name] if (project / name).is_file() else (project / name).rglob("*")
        )
        if file.suffix in {".py", ".md", ".toml"} or file.name == "Makefile"
        if file != Path(__file__).resolve()
    ]
    assert files
    found = [
        f"{file.relative_to(project)}:{number}: {match[0]}"
        for file in files
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if (match := RETIRED.search(line))
    ]
    assert found == []


# Loading and size


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
    assert len(file.read_text(encoding="utf-8").splitlines()) <= MAX_LINES_IN_A_FILE
    long = [
        f"{node.name}:{node.lineno}"
        for node in ast.walk(tree_of_file(file))
        if isinstance(node, Function)
        and (node.end_lineno or node.lineno) - node.lineno + 1 > MAX_LINES_IN_A_FUNCTION
    ]
    assert long == []


@pytest.mark.skipif("USP_TEST_INSTALLED" not in os.environ, reason="not run against a wheel")
def test_the_installed_package_is_the_one_under_test() -> None:
    assert PACKAGE.parent.name == "site-packages"
