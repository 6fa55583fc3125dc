"""The options of a crawl beside its policy: checked when built; callbacks choose children."""

from collections.abc import Iterable
from typing import Any

import pytest

from usp._crawl.options import CrawlOptions
from usp._crawl.work import finish
from usp.exceptions import UsageError

CALLBACKS = (
    "recurse_callback",
    "recurse_list_callback",
    "stop_callback",
    "observer",
    "find_stored",
)


@pytest.mark.parametrize("name", CALLBACKS)
@pytest.mark.parametrize("wrong", [0, False, "x", [], object()])
def test_a_callback_must_be_callable(name: str, wrong: Any) -> None:
    with pytest.raises(UsageError, match=f"^{name} must be") as caught:
        CrawlOptions(**{name: wrong})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["probe_early", "streaming"])
@pytest.mark.parametrize("wrong", ["yes", b"", 2, 1.0, [], None])
def test_a_switch_must_be_true_or_false(name: str, wrong: Any) -> None:
    with pytest.raises(UsageError, match=f"^{name} must be True or False"):
        CrawlOptions(**{name: wrong})


def test_the_list_callback_chooses_first() -> None:
    def first_two(urls: list[str], level: int, parents: set[str]) -> list[str]:
        return urls[:2]

    def not_a(url: str, level: int, parents: set[str]) -> bool:
        return url != "a"

    options = CrawlOptions(recurse_callback=not_a, recurse_list_callback=first_two)
    assert options.chooses_children
    assert list(finish(options.chosen_children(["a", "b", "c"], 1, set()))) == ["b"]
    assert not CrawlOptions().chooses_children
    assert list(finish(CrawlOptions().chosen_children(["a"], 1, set()))) == ["a"]


def test_a_callback_cannot_change_the_parents_of_a_sitemap() -> None:
    parents = {"p"}

    def clear(url: str, level: int, parents: set[str]) -> bool:
        parents.clear()
        return True

    finish(CrawlOptions(recurse_callback=clear).chosen_children(["a"], 1, parents))
    assert parents == {"p"}


@pytest.mark.parametrize("returned", [None, 5, "ab", [None], [b"a"]])
def test_a_list_callback_must_return_urls(returned: Iterable[str]) -> None:
    options = CrawlOptions(recurse_list_callback=lambda *_: returned)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="the result of recurse_list_callback must be"):
        finish(options.chosen_children(["a"], 1, set()))


def test_callbacks_are_not_pickled() -> None:
    options = CrawlOptions(observer=print, stop_callback=bool, streaming=True)
    assert options.without_callbacks() == CrawlOptions(streaming=True)
