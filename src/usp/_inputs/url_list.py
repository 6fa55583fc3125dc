"""Lists of URLs: a text with one on each line; empty lines and comments (``#``) don't count."""

from collections.abc import Iterator
from itertools import islice

from usp._inputs.kinds import NamedInput
from usp._inputs.reader import InputOptions, shared_columns
from usp._inputs.text_file import opened_text
from usp._parse import ROWS_AT_ONCE
from usp._tables.batch import Batch
from usp._tables.choice import TableChoice
from usp.objects.outcome import Outcome


class UrlListReader:
    """Reads a list of URLs."""

    is_ours = False
    tables = ("pages",)
    outcome = Outcome.FOUND

    def __init__(self, named: NamedInput, options: InputOptions) -> None:
        del options
        self._named = named

    def batches(self, choice: TableChoice) -> Iterator[Batch]:
        """Yield the URLs."""
        table = shared_columns(choice.tables.get("pages"), {"url"})
        with opened_text(self._named.path, self._named.compression) as text:
            lines = (line.strip() for line in text)
            urls = (line for line in lines if line and not line.startswith("#"))
            while table and (some := list(islice(urls, ROWS_AT_ONCE))):
                yield Batch(table, {"url": some}, len(some))
