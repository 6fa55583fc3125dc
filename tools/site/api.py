"""A page for each public module; Sphinx documents what it has from the docstrings.

Everything is documented once: in the module that defines it, if that is public, or else in the
first public module that has it. Other modules that have the name, too, link to it.
"""

import importlib
from collections.abc import Iterator
from types import FunctionType
from typing import Final

from sphinx.pycode import ModuleAnalyzer

from tests.package_files import PUBLIC_MODULES, own_names

FOLDER: Final = "reference/api"

TITLES: Final = {
    "usp": "The names that most programs need",
    "usp.tree": "Trees of sitemaps",
    "usp.stream": "Streams of pages",
    "usp.aio": "The same for asyncio",
    "usp.tables": "Files, DataFrames and record batches",
    "usp.bulk": "Lists of sites",
    "usp.exceptions": "What is raised, and when",
    "usp.objects.sitemap": "Sitemaps",
    "usp.objects.abstract_sitemap": "What all sitemaps have",
    "usp.objects.page": "Pages",
    "usp.objects.news_story": "News stories and images",
    "usp.objects.video": "Videos",
    "usp.objects.markup": "Links and unknown elements",
    "usp.objects.problem": "Problems and their codes",
    "usp.objects.outcome": "How a crawl ended",
    "usp.objects.events": "Events of a crawl",
    "usp.objects.fetch_info": "What a response said",
    "usp.objects.discovery": "What `usp.find` returns",
    "usp.objects.robots": "What robots.txt allows",
    "usp.web_client.abstract_client": "The interface of web clients",
    "usp.web_client.requests_client": "The client on requests",
    "usp.web_client.abstract_aio_client": "The interface of web clients for asyncio",
    "usp.web_client.aio_client": "The client on aiohttp",
    "usp.web_client.recording": "Clients that record",
    "usp.web_client.replay": "Clients that replay",
    "usp.helpers": "Helpers of 1.8.1",
    "usp.fetch_parse": "Parsers of 1.8.1",
}
"""The public modules with names of their own, in the order of the index, and what each is."""

_WITHOUT: Final = "object, str, int, Enum, BaseException, dict, tuple, ABC, Generic, Protocol"
"""Classes whose methods Python documents."""

_INDEX: Final = """\
# API

Every public class and function, from its docstring. [Crawling](../crawling.md),
[Export](../export.md) and the other pages of the reference explain them by topic, with examples.
Names that begin with an underscore are private, and so are modules that are not listed here.

| module | what it has |
|---|---|
"""

Named = dict[str, list[str]]
"""Names, by the module that documents them."""


def pages() -> dict[str, str]:
    """Return a page for each public module, and their index, by their paths in the site."""
    rows = "".join(f"| [`{name}`]({name}.md) | {title} |\n" for name, title in TITLES.items())
    named = names_by_home()
    made = {f"{FOLDER}/{module}.md": "\n".join(_page(module, named)) for module in TITLES}
    return {f"{FOLDER}/index.md": _INDEX + rows, **made}


def names_by_home() -> Named:
    """Return every public class and function once, under the module that documents it."""
    homes: dict[int, str] = {}
    named: Named = {module: [] for module in TITLES}
    public = [(module, name, value) for module in PUBLIC_MODULES for name, value in _values(module)]
    public.sort(key=lambda found: found[2].__module__ != found[0])  # where it is defined, first
    for module, name, value in public:
        if homes.setdefault(id(value), module) == module:
            named.setdefault(module, []).append(name)
    return {module: names for module, names in named.items() if names or module in TITLES}


def _values(module_name: str) -> Iterator[tuple[str, type | FunctionType]]:
    module = importlib.import_module(module_name)
    for name in getattr(module, "__all__", own_names(module)):
        value = getattr(module, name)
        if isinstance(value, type | FunctionType) and value.__module__.startswith("usp"):
            yield name, value


def _data(module_name: str) -> Iterator[str]:
    """Yield the constants and aliases that a module exports, defines and has a docstring for."""
    module = importlib.import_module(module_name)
    documented = ModuleAnalyzer.for_module(module_name).find_attr_docs()
    values = dict(_values(module_name))
    for name in getattr(module, "__all__", ()):
        if ("", name) in documented and name not in values:
            yield name


def _page(module: str, named: Named) -> Iterator[str]:
    yield from (f"# `{module}`", "", f"{TITLES[module]}.", "")
    if len(named[module]) > 1:
        yield from (" · ".join(_reference(f"{module}.{name}", name) for name in named[module]), "")
    yield from ("```{eval-rst}", f".. py:module:: {module}", "")
    values = dict(_values(module))
    for name in _data(module):
        yield from (f".. autodata:: {module}.{name}", "   :no-value:", "")
    for name in named[module]:
        kind = "class" if isinstance(values[name], type) else "function"
        yield f".. auto{kind}:: {module}.{name}"
        if kind == "class":
            yield from ("   :members:", "   :undoc-members:", f"   :inherited-members: {_WITHOUT}")
            if public_bases(values[name]):
                yield "   :show-inheritance:"
        yield ""
    yield from ("```", "")
    homes = {name: home for home, names in named.items() for name in names}
    others = sorted(values.keys() - set(named[module]))
    if others:
        yield from ("## Documented elsewhere", "")
        for name in others:
            yield f"- {_reference(f'{homes[name]}.{name}', f'{homes[name]}.{name}')}"
        yield ""


def _reference(target: str, text: str) -> str:
    return f"{{py:obj}}`{text} <{target}>`"


def public_bases(documented: object) -> list[type]:
    """Return the bases of a class that are documented; the members of others are its own."""
    public = {f"{module}.{name}" for module, names in names_by_home().items() for name in names}
    bases = getattr(documented, "__bases__", ())
    return [base for base in bases if f"{base.__module__}.{base.__qualname__}" in public]
