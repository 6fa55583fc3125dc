"""Pickles: those written by 1.8.1 open in ours, and ours name no private class.

``data/*.pickle`` were written by 1.8.1 (``record.py``, ``make_pickles.py``); ``data/pickled.json``
has the values that 1.8.1 itself reads from the objects. A pickle is compared by its dictionary and
its pages as well as by ``==``, so that a mistake in ``==`` can't hide one in the pickle.
"""

from __future__ import annotations

import copy
import json
import pickle
import pickletools
import sys
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import script, search_path
from tests.compat.make_pickles import objects, value_of
from tests.compat.record import DATA
from tests.server import LoopbackServer, index, urlset
from usp import Policy
from usp.exceptions import SitemapException
from usp.fetch_parse import PlainTextSitemapParser
from usp.objects import discovery, events, fetch_info, markup, outcome, problem, robots, video
from usp.objects.fetch_info import FetchInfo
from usp.objects.page import SitemapPage
from usp.objects.problem import Problem
from usp.objects.sitemap import AbstractSitemap
from usp.tree import sitemap_from_str, sitemap_tree_for_homepage

MADE = objects()


def opened(data: bytes) -> Any:
    return pickle.loads(data)  # our own fixtures


def value_in_1_8_1(name: str) -> Any:
    return json.loads((DATA / "pickled.json").read_text(encoding="utf-8"))[name]


@pytest.mark.parametrize("name", MADE)
def test_a_pickle_of_1_8_1_opens_with_the_same_values(name: str) -> None:
    thing = opened((DATA / f"{name}.pickle").read_bytes())
    assert type(thing) is type(MADE[name])
    assert json.loads(json.dumps(value_of(thing), default=str)) == value_in_1_8_1(name)
    assert thing == MADE[name]


@pytest.mark.parametrize("name", MADE)
def test_a_pickle_of_1_8_1_can_be_pickled_again(name: str) -> None:
    thing = opened((DATA / f"{name}.pickle").read_bytes())
    again = opened(pickle.dumps(thing))
    assert again == thing
    assert value_of(again) == value_of(thing)


def test_alternates_in_a_pickle_of_1_8_1_are_kept() -> None:
    page = opened((DATA / "SitemapPage.pickle").read_bytes())
    assert isinstance(page, SitemapPage)
    assert page.alternates == [("da", "https://pickled.example/da")]


def test_a_whole_tree_of_1_8_1_can_be_iterated() -> None:
    tree = opened((DATA / "IndexWebsiteSitemap.pickle").read_bytes())
    assert isinstance(tree, AbstractSitemap)
    kinds = [type(sitemap).__name__ for sitemap in tree.all_sitemaps()]
    assert kinds == [
        "IndexRobotsTxtSitemap",
        "IndexXMLSitemap",
        "PagesXMLSitemap",
        "InvalidSitemap",
        "PagesTextSitemap",
        "PagesRSSSitemap",
        "PagesAtomSitemap",
    ]
    site = "https://pickled.example"
    assert [page.url for page in tree.all_pages()] == [f"{site}/full", *[f"{site}/bare"] * 3]


@pytest.fixture
def crawled(server: LoopbackServer) -> AbstractSitemap:
    """A tree as a crawl gives it: robots.txt, an index, pages, text, a feed, a failure."""
    server.robots("/index.xml", "/list.txt", "/rss", "/gone.xml")
    server.site |= {
        "/index.xml": index(server.at("/a.xml"), server.at("/index.xml")),
        "/a.xml": urlset(*(server.at(f"/page/{number}") for number in range(500))),
        "/list.txt": f"{server.at('/one')}\n{server.at('/two')}\n",
        "/rss": "<rss version='2.0'><channel><item><title>Item</title>"
        f"<link>{server.at('/item')}</link>"
        "<pubDate>Tue, 03 Apr 2018 02:01:00 +0500</pubDate></item></channel></rss>",
    }
    return sitemap_tree_for_homepage(server.url)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_crawled_tree_round_trips(crawled: AbstractSitemap, protocol: int) -> None:
    again = opened(pickle.dumps(crawled, protocol))
    assert again == crawled
    assert again.to_dict() == crawled.to_dict()
    assert list(again.all_pages()) == list(crawled.all_pages())
    assert len(list(again.all_pages())) == 503
    assert again.outcome == crawled.outcome  # type: ignore[attr-defined]  # a root has one
    assert again.tried == crawled.tried  # type: ignore[attr-defined]  # and this


def test_a_pickle_is_the_same_after_a_round_trip(crawled: AbstractSitemap) -> None:
    once = opened(pickle.dumps(crawled))
    twice = opened(pickle.dumps(once))
    assert twice.to_dict() == crawled.to_dict()


def test_a_deep_copy_is_equal_and_apart(crawled: AbstractSitemap) -> None:
    other = copy.deepcopy(crawled)
    assert other == crawled
    assert other is not crawled
    assert other.sub_sitemaps[0] is not crawled.sub_sitemaps[0]


def test_one_page_of_a_crawl_round_trips_alone(crawled: AbstractSitemap) -> None:
    for page in crawled.all_pages():
        again = opened(pickle.dumps(page))
        assert again == page
        assert again.to_dict() == page.to_dict()


def test_a_sitemap_from_a_string_round_trips() -> None:
    sitemap = sitemap_from_str(urlset("https://a.example/1", "https://a.example/2"))
    again = opened(pickle.dumps(sitemap))
    assert again == sitemap
    assert [page.url for page in again.pages] == ["https://a.example/1", "https://a.example/2"]


def globals_in(data: bytes) -> Iterator[tuple[str, str]]:
    """Each (module, name) that a pickle will import; its two strings come before STACK_GLOBAL."""
    strings: list[str] = []
    memo: list[object] = []
    top: object = None
    for opcode, argument, _ in pickletools.genops(data):
        match opcode.name:
            case "STACK_GLOBAL":
                yield strings[-2], strings[-1]
            case "GLOBAL":
                module, _, name = str(argument).partition(" ")
                yield module, name
            case "MEMOIZE":
                memo.append(top)
                continue
        # Protocols before 4 number their memo themselves, and name globals in one opcode.
        if memo and isinstance(argument, int) and opcode.name.endswith("BINGET"):
            top = memo[argument]
        else:
            top = argument
        if isinstance(top, str):
            strings.append(top)


RESTORE_FUNCTIONS = {
    ("usp._crawl", "restore_crawl"),
    ("usp._crawl", "restore_robots_file"),
    ("usp._crawl", "restore_selected_pages"),
    ("usp._parse", "restore_pages"),
}
"""Private names that our pickles may have; they stay where they are."""
# What pickle itself writes: for objects with slots, and for bytes before protocol 3.
NAMES_OF_PICKLE = {
    ("copyreg", "__newobj__"),
    ("copyreg", "_reconstructor"),
    ("_codecs", "encode"),
}


def may_be_pickled(module: str, name: str) -> bool:
    """Whether this is a public name of ours or of Python, or one that pickles need."""
    ours = module == "usp" or module.startswith("usp.objects")
    known = ours or module.partition(".")[0] in sys.stdlib_module_names
    private = any(part.startswith("_") for part in (*module.split("."), *name.split(".")))
    return (known and not private) or (module, name) in RESTORE_FUNCTIONS | NAMES_OF_PICKLE


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_names_no_private_class(crawled: AbstractSitemap, protocol: int) -> None:
    named = set(globals_in(pickle.dumps(crawled, protocol)))
    assert ("usp.objects.sitemap", "IndexWebsiteSitemap") in named
    assert {path for path in named if not may_be_pickled(*path)} == set()


@pytest.mark.parametrize("name", MADE)
def test_a_pickle_of_hand_made_objects_names_no_private_class(name: str) -> None:
    named = set(globals_in(pickle.dumps(MADE[name])))
    assert named
    assert {path for path in named if not may_be_pickled(*path)} == set()


# Later versions


LATER = {
    "another form of pickles": (
        "from usp._parse import document; document._PICKLE_FORMAT = 2",
        b"",
    ),
    "another outcome": ("", b"\x8c\x05found"),
    "another way to be found": ("", b"\x8c\x06robots"),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", LATER)
def test_a_tree_of_a_later_version_is_rejected_in_one_line(
    server: LoopbackServer, tmp_path: Path, what: str
) -> None:
    """The later version is a process of its own, in which something is different."""
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset("/page")
    setup, word = LATER[what]
    file = tmp_path / "tree.pickle"
    ended = script(
        f"import pathlib, pickle, sys, usp\n{setup}\n"
        "tree = usp.sitemap_tree_for_homepage(sys.argv[1])\n"
        "pathlib.Path(sys.argv[2]).write_bytes(pickle.dumps(tree))",
        server.url,
        str(file),
        env={"PYTHONPATH": search_path()},
    )
    assert ended.err == ""
    data = file.read_bytes()
    assert word in data
    with pytest.raises(SitemapException) as caught:
        opened(data.replace(word, word[:2] + b"x" * len(word[2:])) if word else data)
    assert "version" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_kind_of_document_of_a_later_version_says_so() -> None:
    data = pickle.dumps(PlainTextSitemapParser("http://h.example/a.txt", "x", 0, None).sitemap())
    word = b"\x8c\x04text"
    assert word in data
    with pytest.raises(SitemapException, match="later version"):
        opened(data.replace(word, b"\x8c\x04newt"))


def test_a_problem_of_a_later_version_says_so() -> None:
    problem = opened(pickle.dumps(Problem("SM999", "something new")))
    assert problem.message == "something new"
    for attribute in ("name", "severity"):
        with pytest.raises(SitemapException, match=r"^SM999 is no problem code of this version\.$"):
            getattr(problem, attribute)


# Frozen dataclasses


def frozen_values() -> list[Any]:
    """A value of each public dataclass that a pickle may contain."""
    modules = (discovery, events, fetch_info, markup, outcome, problem, robots, video)
    kinds = [
        kind
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type) and is_dataclass(kind) and kind is not problem.Code
    ]
    return [
        kind(**{field.name: field.name for field in fields(kind) if field.default is MISSING})
        for kind in dict.fromkeys(kinds)
    ] + [Policy(per_host=3, since="48h", include="a")]


@pytest.mark.parametrize("value", frozen_values(), ids=lambda value: type(value).__name__)
def test_a_pickle_of_a_value_names_its_fields(value: Any) -> None:
    names = {field.name for field in fields(value)}
    strings = {
        argument for _, argument, _ in pickletools.genops(pickle.dumps(value)) if argument in names
    }
    assert strings == names
    assert opened(pickle.dumps(value)) == copy.deepcopy(value) == value


def test_a_value_of_an_earlier_or_later_version_has_the_fields_of_this_one() -> None:
    info: Any = FetchInfo(status=200, attempts=2)
    state = info.__getstate__()
    del state["attempts"]  # as if it had been added since
    other: Any = FetchInfo.__new__(FetchInfo)
    other.__setstate__({**state, "invented_later": 1})
    assert other == FetchInfo(status=200)
    broken: Any = Problem.__new__(Problem)
    with pytest.raises(SitemapException, match=r"^Problem was pickled by another version: .*code"):
        broken.__setstate__({"message": "x"})
