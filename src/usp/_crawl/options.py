"""The caller's own functions, looked at before a crawl begins: one frozen value.

What such a function raises reaches the caller; so does what it may not return.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from usp._crawl.cursor import RecurseCallback, RecurseListCallback, StopCallback
from usp._validate import check_callables, check_strings
from usp.objects.events import Observer


@dataclass(frozen=True, slots=True)
class Callbacks:
    """What the caller decides as the crawl goes, and what he is told of it."""

    recurse_callback: RecurseCallback | None = None
    recurse_list_callback: RecurseListCallback | None = None
    stop_callback: StopCallback | None = None
    observer: Observer | None = None

    def __post_init__(self) -> None:
        check_callables(**{name: getattr(self, name) for name in self.__slots__})

    @property
    def looked_through(self) -> RecurseListCallback | None:
        """The callback for lists, held to what it promises: to return URLs."""
        choose = self.recurse_list_callback
        if choose is None:
            return None

        def chosen(urls: list[str], level: int, parents: set[str]) -> list[str]:
            returned: Iterable[str] | None = choose(urls, level, parents)
            return check_strings("the result of recurse_list_callback", returned)

        return chosen
