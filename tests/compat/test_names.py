"""Every name and signature of ultimate-sitemap-parser 1.8.1 is there and takes those arguments.

The facts are in ``names_1_8_1.toml``. A program written for 1.8.1 must run unchanged, so the
parameters listed there keep their order and defaults. A required one may become optional, and a
new one is keyword-only.
"""

from __future__ import annotations

import ast
import builtins
import enum
import inspect
import logging
import tomllib
from collections.abc import Callable, Iterator
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import usp

TABLE: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("names_1_8_1.toml").read_text(encoding="utf-8")
)
CLASSES = {
    f"{module}.{name}": facts
    for module, rows in TABLE.items()
    for name, facts in rows.get("classes", {}).items()
}
KNOWN_PATHS = {
    ".sitemap.xml",
    "admin/config/search/xmlsitemap",
    "sitemap",
    "sitemap-index.xml",
    "sitemap-index.xml.gz",
    "sitemap-news.xml",
    "sitemap-news.xml.gz",
    "sitemap.xml",
    "sitemap.xml.gz",
    "sitemap/sitemap-index.xml",
    "sitemap_index.xml",
    "sitemap_index.xml.gz",
    "sitemap_news.xml",
    "sitemap_news.xml.gz",
}
RETRYABLE = {400, 408, 429, 499, 500, 502, 503, 504, 509, *range(520, 528), 530, 598}


def look_up(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def class_named(name: str, module: str) -> type:
    """A base class as the table names it: from its module, the builtins or ``enum``."""
    for namespace in (import_module(module), builtins, enum):
        if isinstance(found := getattr(namespace, name, None), type):
            return found
    pytest.fail(f"{module} has no {name}")


def parameters_of(text: str) -> Iterator[tuple[str, object]]:
    """The names and defaults in ``a, b=None``; ``Parameter.empty`` where there is no default."""
    function = ast.parse(f"def f({text}): ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    names = [argument.arg for argument in function.args.args]
    defaults = [value_of(node) for node in function.args.defaults]
    required = [inspect.Parameter.empty] * (len(names) - len(defaults))
    yield from zip(names, [*required, *defaults], strict=True)


def value_of(node: ast.expr) -> object:
    """A default: a literal, or the one call in the table, ``Decimal('...')``."""
    if isinstance(node, ast.Call):
        return Decimal(ast.literal_eval(node.args[0]))
    return ast.literal_eval(node)


def assert_takes(function: Callable[..., object], text: str) -> None:
    """Assert that the parameters of ``text`` come first; all others are keywords with a default."""
    given = list(inspect.signature(function).parameters.values())
    if given and given[0].name == "self":
        given.pop(0)
    expected = list(parameters_of(text))
    ours, added = given[: len(expected)], given[len(expected) :]
    assert [p.name for p in ours] == [name for name, _ in expected]
    for parameter, (_, default) in zip(ours, expected, strict=True):
        assert default in {parameter.default, inspect.Parameter.empty}, parameter
    assert {p.kind for p in ours} <= {inspect.Parameter.POSITIONAL_OR_KEYWORD}
    for parameter in added:
        assert parameter.kind in {inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD}
        required = parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty
        assert not required, f"{parameter.name} has no default"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (f"{module}.{name}", text)
        for module, rows in TABLE.items()
        for name, text in rows.get("functions", {}).items()
    ],
)
def test_function(path: str, text: str) -> None:
    assert_takes(look_up(path), text)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("usp.helpers.HAS_DATETIME_NEW_ISOPARSER", True),
        ("usp.web_client.abstract_client.RETRYABLE_HTTP_STATUS_CODES", RETRYABLE),
        ("usp.web_client.requests_client.RETRYABLE_HTTP_STATUS_CODES", RETRYABLE),
        ("usp.web_client.requests_client.__version__", usp.__version__),
        ("usp.cli.cli.__version__", usp.__version__),
    ],
)
def test_constant(path: str, value: object) -> None:
    assert look_up(path) == value


def test_known_paths() -> None:
    paths = list(look_up("usp.tree._UNPUBLISHED_SITEMAP_PATHS"))
    assert len(paths) == len(KNOWN_PATHS)
    assert set(paths) == KNOWN_PATHS


@pytest.mark.parametrize("path", CLASSES)
def test_class_and_its_base(path: str) -> None:
    cls = look_up(path)
    base = CLASSES[path].get("base", "object")
    assert issubclass(cls, class_named(base, path.rpartition(".")[0]))
    for nested in CLASSES[path].get("nested", ()):
        assert isinstance(getattr(cls, nested), type)


@pytest.mark.parametrize("path", [path for path, facts in CLASSES.items() if "init" in facts])
def test_constructor(path: str) -> None:
    assert_takes(look_up(path), CLASSES[path]["init"])


@pytest.mark.parametrize(
    ("path", "method", "text"),
    [
        (path, method, text)
        for path, facts in CLASSES.items()
        for method, text in facts.get("methods", {}).items()
    ],
)
def test_method(path: str, method: str, text: str) -> None:
    assert_takes(getattr(look_up(path), method), text)


@pytest.mark.parametrize("path", [path for path, facts in CLASSES.items() if "properties" in facts])
def test_properties(path: str) -> None:
    cls = look_up(path)
    for name in CLASSES[path]["properties"]:
        assert inspect.isdatadescriptor(inspect.getattr_static(cls, name)), name


@pytest.mark.parametrize("path", [path for path, facts in CLASSES.items() if "members" in facts])
def test_enum_values(path: str) -> None:
    assert {member.name: member.value for member in look_up(path)} == CLASSES[path]["members"]


@pytest.mark.parametrize("path", CLASSES)
def test_a_subclass_written_for_1_8_1_can_still_be_made(path: str) -> None:
    facts = CLASSES[path]
    asked_for: frozenset[str] = getattr(look_up(path), "__abstractmethods__", frozenset())
    assert asked_for <= {*facts.get("methods", ()), *facts.get("properties", ())}


def test_modules_of_0_5_that_1_8_1_has_not() -> None:
    logger = look_up("usp.log.create_logger")("some.name")
    assert logger is logging.getLogger("some.name")
    assert look_up("usp.__about__.__version__") == usp.__version__


@pytest.mark.parametrize(
    "name", ["IndexRobotsTxtSitemapParser", "PlainTextSitemapParser", "XMLSitemapParser"]
)
def test_parsers_need_no_parent_urls_as_in_0_5(name: str) -> None:
    parser = look_up(f"usp.fetch_parse.{name}")("https://a.example/robots.txt", "", 0, None)
    assert parser.sitemap().url == "https://a.example/robots.txt"


def test_an_index_parser_needs_no_parent_urls_as_in_0_5() -> None:
    parser = look_up("usp.fetch_parse.IndexXMLSitemapParser")("https://a.example/i.xml", None, 0)
    assert parser.sitemap().sub_sitemaps == []
