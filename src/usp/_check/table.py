"""``RULES``: the rows of all blocks."""

from typing import Final

from usp._check.rows_documents import DOCUMENT_ROWS
from usp._check.rows_extensions import EXTENSION_ROWS
from usp._check.rows_parsing import rows_of_parsing
from usp._check.rows_site import SITE_ROWS
from usp._check.rules import Rule

RULES: Final[dict[str, Rule]] = {
    rule.code: rule
    for rule in sorted(
        (*rows_of_parsing(), *DOCUMENT_ROWS, *EXTENSION_ROWS, *SITE_ROWS),
        key=lambda rule: rule.code,
    )
}
"""Every rule, by its code, in order."""
