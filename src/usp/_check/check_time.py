"""The time of a check: whoever judges a site by what was read asks whether to go on."""

from collections.abc import Callable
from typing import Final

from usp._parse import Ended

GoOn = Callable[[], None]
"""Does nothing, or raises ``TimeoutError``: the time of the check is up."""
JUDGING_SECONDS: Final = 1.0
"""For so long after its time is up, a check judges the site by what was read until then."""


def always() -> None:
    """Go on: there is no limit."""


def unless(ended: Ended) -> GoOn:
    """Return what raises once the time is up."""

    def go_on() -> None:
        if ended():
            raise TimeoutError

    return go_on
