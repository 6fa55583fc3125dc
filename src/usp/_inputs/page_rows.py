"""Which rows of pages are pages: those with a URL. The others are left out and counted."""

from itertools import compress
from typing import Final

from usp._inputs.columns import is_url_or_path
from usp._tables.batch import Batch
from usp.exceptions import UsageError

_EXAMPLE_SHOWN: Final = 60


class PageRows:
    """Leaves out the rows of an input that have no URL, such as totals."""

    def __init__(self) -> None:
        self.pages = 0
        """The rows that were kept so far."""
        self.not_urls = 0
        """The rows that were left out so far."""
        self._example: str | None = None

    def kept(self, batch: Batch, *, is_ours: bool) -> Batch:
        """Return the rows of pages that have a URL; of another tool also those with its path.

        :param is_ours: whether the table is ours, which has URLs as sitemaps have them, whatever
            they are.
        """
        urls = batch.columns["url"]
        are_urls = [url is not None if is_ours else is_url_or_path(url) for url in urls]
        length = sum(are_urls)
        self.pages += length
        if length == batch.length:
            return batch
        self.not_urls += batch.length - length
        if self._example is None:
            others = compress(urls, (not is_url for is_url in are_urls))
            self._example = next(filter(None, others), None)
        columns = {name: list(compress(values, are_urls)) for name, values in batch.columns.items()}
        return Batch(batch.table, columns, length)

    def check_end(self, name: str) -> None:
        """Check that there was a page, once all of an input was read.

        :param name: the input, for the error.
        :raises UsageError: if all rows were left out.
        """
        if self.pages or not self.not_urls:
            return
        if self._example is None:
            raise UsageError(f"{name} has no URLs: none of its rows has text where the URL is.")
        end = "…" if len(self._example) > _EXAMPLE_SHOWN else ""
        example = f"{self._example[:_EXAMPLE_SHOWN]}{end}"
        raise UsageError(f"{name} has no URLs: {example!r} is none; https://… is one.")
