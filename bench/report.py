"""Report: a page of very many URLs, from an export in Parquet; its cost and its size.

The export is that of the generated shop (``tests/report/shop.py``), with every third product in a
folder of its own, so that folders don't fit in memory. Whole processes, imports included. At full
size ten million URLs, for which the targets are stated.
"""

import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from bench.processes import cost_of
from bench.results import Table
from tests.report.shop import HOME, pages_of_shop

PAGES: Final = (100_000, 500_000)
FULL_PAGES: Final = (1_000_000, 10_000_000)
ROWS: Final = 50_000
MAX_MIB: Final = 500.0
MAX_BYTES: Final = 3_000_000
HEADINGS: Final = ("URLs", "seconds", "CPU s", "CPU µs per URL", "peak MiB", "page, kB")


def run(*, full: bool) -> Iterator[Table]:
    """Measure a report of each size."""
    if sys.platform == "win32":
        print("report is skipped: it is not measured on Windows")
        return
    target = f"within {MAX_MIB:g} MiB and {MAX_BYTES / 1_000_000:g} MB"
    table = Table("usp report of an export", HEADINGS, target)
    for pages in FULL_PAGES if full else PAGES:
        with tempfile.TemporaryDirectory() as folder:
            source, page = Path(folder) / "pages.parquet", Path(folder) / "report.html"
            _write(source, pages)
            command = [sys.executable, "-m", "usp", "report", str(source), "-o", str(page), "-q"]
            cost = cost_of(command)
            size = page.stat().st_size
        name = f"{pages:,}"
        each = 1_000_000 * cost.cpu / pages
        table.rows.append([name, cost.seconds, cost.cpu, each, cost.peak, size / 1000])
        if cost.peak > MAX_MIB or size > MAX_BYTES:
            table.failed.append(name)
    yield table


def _write(file: Path, pages: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([("url", pa.string()), ("lastmod", pa.timestamp("us", tz="UTC"))])
    with pq.ParquetWriter(file, schema) as writer:
        rows = _listed(pages)
        while some := list(islice(rows, ROWS)):
            urls, dates = zip(*some, strict=True)
            writer.write_table(pa.table({"url": urls, "lastmod": dates}, schema=schema))


def _listed(pages: int) -> Iterator[tuple[str, object]]:
    for number, (path, day) in enumerate(pages_of_shop(pages)):
        yield f"{HOME}{path}{'/variant' if number % 3 == 0 else ''}", day
