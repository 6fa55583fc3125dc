"""Diff: two listings of the same size, with planted differences, compared by ``usp diff``.

Of a thousand URLs, A lacks one, B lacks another, and two have another date. The URLs of a list and
of a Parquet file are in the order of numbers, so that sorting them is work. Whole processes, from
their start to their end; memory is the peak of the process. Windows can't tell the time and memory
of a process that has ended, so nothing is measured there.
"""

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from bench.processes import cost_of
from bench.results import Table

URLS: Final = 10_000_000
QUICK_URLS: Final = 200_000
MAX_MIB: Final = 300
HEADINGS: Final = ("files", "URLs of each", "differences", "CPU s", "peak MiB")
_OF_A_SITEMAP: Final = 50_000
_EVERY: Final = 1000
_LACKING: Final = {"a": 9, "b": 7}
"""Of each thousand URLs, the one that a side lacks."""
_REDATED: Final = frozenset({3, 503})
_FIRST_DATE: Final = 1_700_000_000_000_000

Page = tuple[str, str, int]
"""URL, sitemap, date."""


def run(*, full: bool) -> Iterator[Table]:
    """Compare lists, then Parquet files."""
    if sys.platform == "win32":
        print("diff is skipped: it is not measured on Windows")
        return
    urls = URLS if full else QUICK_URLS
    table = Table(
        f"two listings of {urls:,} URLs",
        HEADINGS,
        f"exactly what was planted, within {MAX_MIB} MiB",
    )
    for name, (suffix, write, kinds) in _FILES.items():
        with tempfile.TemporaryDirectory() as folder:
            sides = [Path(folder) / f"{side}{suffix}" for side in _LACKING]
            for side, path in zip(_LACKING, sides, strict=True):
                write(path, _pages(side, urls))
            found = Path(folder) / "found.jsonl"
            command = [sys.executable, "-m", "usp", "diff", *map(str, sides), "-f", "jsonl"]
            cost = cost_of([*command, "-o", str(found), "--quiet"])
            counted = _counted(found)
        total = counted.total()
        table.rows.append([name, urls, total, cost.cpu, cost.peak])
        planted = {kind: urls * share // _EVERY for kind, share in kinds.items()}
        if counted != planted or cost.peak > MAX_MIB:
            table.failed.append(name)
    yield table


def _pages(side: str, count: int) -> Iterator[Page]:
    for number in range(count):
        place = number % _EVERY
        if place == _LACKING[side]:
            continue
        url = (
            f"https://www.example.org/shop/category-{number * 7919 % 1000}/"
            f"product-{number}-{number * 2654435761 % 4294967296:x}.html"
        )
        sitemap = f"https://www.example.org/sitemap-{number // _OF_A_SITEMAP}.xml"
        yield url, sitemap, _FIRST_DATE + number + (side == "b" and place in _REDATED)


def _counted(file: Path) -> Counter[str]:
    with file.open(encoding="utf-8") as lines:
        return Counter(json.loads(line)["change"] for line in lines)


def _write_list(path: Path, pages: Iterable[Page]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{url}\n" for url, *_ in pages)


def _write_parquet(path: Path, pages: Iterable[Page]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    date = pa.timestamp("us", tz="UTC")
    names = {"url": pa.string(), "sitemap_url": pa.string(), "lastmod": date}
    schema = pa.schema(list(names.items()))
    remaining = iter(pages)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        while some := list(islice(remaining, _OF_A_SITEMAP)):
            columns = zip(*some, strict=True)
            arrays = [
                pa.array(values, kind) for values, kind in zip(columns, schema.types, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


_FILES: Final[dict[str, tuple[str, Callable[[Path, Iterable[Page]], None], dict[str, int]]]] = {
    "lists": (".txt", _write_list, {"added": 1, "removed": 1}),
    "Parquet": (".parquet", _write_parquet, {"added": 1, "removed": 1, "changed": 2}),
}
"""The suffix of each kind of file, what writes it, and the differences of a thousand URLs."""
