"""What the inspection of a document found, to be compared with what a walk over its pages finds.

Both read the same bytes, but the inspection looks for sitemaps before it reads entries: most
documents list none. Where the two don't agree, something was lost: the sitemaps that were not
fetched, or what the inspection did not read. So an outcome has its reason, whoever found it.
"""

from dataclasses import dataclass
from typing import Final

from usp._parse.diagnostics import Diagnostics
from usp.objects.problem import Problem

_NOT_FETCHED: Final = (
    "a sitemap that is listed among pages was not fetched: its tag is written in an unusual way"
)


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was found, as far as a walk may find something else."""

    errors: tuple[Problem, ...] = ()
    """Why something was lost."""
    childless: bool = False
    """Whether no sitemap was found in a document that may list some: its entries were not read."""

    def compare(self, diagnostics: Diagnostics) -> None:
        """Report what one of the two found and the other did not, after a walk."""
        if self.childless and diagnostics.first_child is not None:
            diagnostics.report("SM223", _NOT_FETCHED, position=diagnostics.first_child)
        for error in self.errors:
            if not diagnostics.has(error.code):
                position = error.line, error.offset
                diagnostics.report(error.code, error.message, position=position)


NOTHING_FOUND: Final = Inspection()
CHILDLESS: Final = Inspection(childless=True)
