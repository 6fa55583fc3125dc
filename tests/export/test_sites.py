"""Sites exported by the command in every format, each value compared with the page objects."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import usp
from tests.cli.command import usp as command
from tests.export.readers import READERS, pandas_rows, read_csv, read_sqlite
from tests.export.rows import python_rows
from tests.export.test_formats import expected_cells
from tests.server import SITEMAP_NS, LoopbackServer, urlset
from tests.tables.page_rows import page_row
from usp._tables.batch import Batch
from usp._tables.schema import PAGE_PARTS, TABLES
from usp.cli._demo_site import DemoSite
from usp.exceptions import UsageError

PAGES = TABLES["pages"]
GENERATED = f"""<urlset xmlns="{SITEMAP_NS}"
  xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
  <url><loc>http://h.example/?a=1&amp;b="2",3</loc><lastmod>2026-02-30</lastmod></url>
  <url><loc>http://h.example/ü|x\\y</loc><lastmod>2026-01-01T00:00:00.25+05:30</lastmod>
    <priority>7</priority><changefreq>Sometimes</changefreq></url>
  <url><loc>http://h.example/pictures</loc><image:image>
    <image:loc>http://h.example/i.png</image:loc><image:title>=HYPERLINK("x")</image:title>
  </image:image></url>
</urlset>"""


SITEMAPS = 8


@pytest.fixture(scope="module", params=[5000, pytest.param(400_000, marks=pytest.mark.thorough)])
def generated(request: pytest.FixtureRequest) -> int:
    """The number of generated pages."""
    number: int = request.param
    return number


@pytest.fixture(scope="module")
def sites(generated: int) -> Iterator[list[str]]:
    """The demo site, and a site of generated documents with many pages."""
    with DemoSite() as demo, LoopbackServer() as server:
        paths = [f"/many-{number}.xml" for number in range(SITEMAPS)]
        server.robots("/odd.xml", *paths)
        server.site["/odd.xml"] = GENERATED
        for number, path in enumerate(paths):
            pages = range(number, generated, SITEMAPS)
            server.site[path] = urlset(*(f"http://h.example/{at}" for at in pages))
        yield [demo.url, server.url]


def rows_of_pages(site: str) -> Batch:
    """What the page objects of a site say."""
    positions: Counter[str | None] = Counter()
    rows: list[dict[str, Any]] = []
    for page in usp.iter_pages(site, use_known_paths=True):
        positions[page.sitemap_url] += 1
        own = {
            "site": site,
            "sitemap_url": page.sitemap_url,
            "position": positions[page.sitemap_url],
        }
        rows.append(page_row(page) | own)
    return Batch.of_rows(PAGES, rows)


@pytest.fixture(scope="module")
def expected(sites: list[str]) -> Batch:
    batches = [rows_of_pages(site) for site in sites]
    columns = {
        column.name: [value for batch in batches for value in batch.columns[column.name]]
        for column in PAGES
    }
    return Batch(PAGES, columns, sum(batch.length for batch in batches))


def export(sites: list[str], path: Path | str, *options: str) -> None:
    """Export with the command, which must succeed."""
    done = command("export", *sites, "-o", str(path), *options)
    assert (done.code, done.out) == (0, ""), done.err


@pytest.mark.sampled(2)
@pytest.mark.parametrize("reader", READERS)
def test_every_value_is_what_the_page_objects_say(
    reader: str, sites: list[str], expected: Batch, tmp_path: Path
) -> None:
    name, read = READERS[reader]
    export(sites, tmp_path / name)
    rows = python_rows(expected)
    assert len(rows) > 5000  # those of the demo site too
    if name.endswith(".db"):
        rows = [{key: value for key, value in row.items() if key not in PAGE_PARTS} for row in rows]
    assert read(tmp_path / name, PAGES) == rows


@pytest.mark.parametrize(("name", "delimiter"), [("x.csv", ","), ("x.tsv.gz", "\t")])
def test_every_cell_is_what_the_page_objects_say(
    name: str, delimiter: str, sites: list[str], expected: Batch, tmp_path: Path
) -> None:
    export(sites, tmp_path / name)
    assert read_csv(tmp_path / name, delimiter)[1:] == expected_cells([expected])


@pytest.mark.slow
def test_the_child_tables_of_a_database_have_what_the_pages_have(
    sites: list[str], expected: Batch, tmp_path: Path
) -> None:
    export(sites, tmp_path / "x.db")
    pages = python_rows(expected)
    for name in ("images", "videos", "alternates", "links"):
        rows = [
            {
                "sitemap_url": page["sitemap_url"],
                "page_url": page["url"],
                "position": position,
                **part,
            }
            for page in pages
            for position, part in enumerate(page[name] or (), 1)
        ]
        assert rows
        assert read_sqlite(tmp_path / "x.db", TABLES[name]) == rows


@pytest.mark.slow
def test_data_frames_have_the_same_values_and_the_right_types(
    sites: list[str], expected: Batch
) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    frame = usp.to_pandas(sites, use_known_paths=True)
    assert pandas_rows(frame, PAGES) == python_rows(expected)
    assert str(frame["lastmod"].dtype) == "datetime64[us, UTC]"
    assert frame["position"].dtype == pandas.Int64Dtype()
    assert usp.to_polars(sites, use_known_paths=True).rows(named=True) == python_rows(expected)
    assert usp.to_polars(sites[0], "sites")["complete"].dtype == polars.Boolean
    assert usp.to_arrow(sites, columns=["url"]).column_names == ["url"]


def test_record_batches_come_while_the_site_is_read(
    sites: list[str], generated: int, expected: Batch
) -> None:
    pytest.importorskip("pyarrow")
    batches = list(usp.record_batches(sites[1], columns=["url", "lastmod"], limit=4500))
    assert len(batches) > 1
    urls = [url for batch in batches for url in batch.column("url").to_pylist()]
    assert urls == expected.columns["url"][-generated - 3 :][:4500]


def test_asyncio_gives_the_same_record_batches(sites: list[str]) -> None:
    pytest.importorskip("pyarrow")
    aio = pytest.importorskip("usp.aio")

    async def read(**keywords: bool) -> list[object]:
        batches = aio.record_batches(sites[1], columns=["url", "lastmod"], limit=4500, **keywords)
        return [batch.to_pydict() async for batch in batches]

    expected = [
        batch.to_pydict()
        for batch in usp.record_batches(sites[1], columns=["url", "lastmod"], limit=4500)
    ]
    assert asyncio.run(read()) == expected
    assert asyncio.run(read(unique=True)) == expected
    with pytest.raises(UsageError, match="'missing' is no table"):
        aio.record_batches(sites[1], "missing")


@pytest.mark.slow
def test_a_tree_that_is_there_gives_the_same_rows(sites: list[str], tmp_path: Path) -> None:
    tree = usp.sitemap_tree(sites[0], use_known_paths=True)
    result = usp.export(tree, tmp_path / "tree.jsonl")
    export(sites[:1], tmp_path / "site.jsonl")
    assert (tmp_path / "tree.jsonl").read_bytes() == (tmp_path / "site.jsonl").read_bytes()
    assert result.rows == {"pages": 24}
    assert result.outcome is tree.outcome
    assert result.files == (tmp_path / "tree.jsonl",)


def test_unique_pages_come_once(server: LoopbackServer, tmp_path: Path) -> None:
    server.robots("/a.xml", "/b.xml")
    server.site["/a.xml"] = urlset("http://h.example/1", "http://h.example/2")
    server.site["/b.xml"] = urlset("http://h.example/2", "http://h.example/3")
    assert usp.export(server.url, tmp_path / "all.csv").rows == {"pages": 4}
    assert usp.export(server.url, tmp_path / "unique.csv", unique=True).rows == {"pages": 3}


def test_unique_pages_come_once_over_all_sources(server: LoopbackServer, tmp_path: Path) -> None:
    server.site["/a.xml"] = urlset("http://h.example/1", "http://h.example/2")
    server.site["/b.xml"] = urlset("http://h.example/2", "http://h.example/3")
    sources = [server.at("/a.xml"), server.at("/b.xml")]
    assert usp.export(sources, tmp_path / "x.csv", unique=True).rows == {"pages": 3}
    trees = [usp.sitemap_tree(source) for source in sources]
    assert usp.export(trees, tmp_path / "trees.csv", unique=True).rows == {"pages": 3}
    export(sources, tmp_path / "command.csv", "--unique")
    assert (tmp_path / "command.csv").read_bytes() == (tmp_path / "x.csv").read_bytes()
    with pytest.raises(UsageError, match="unique"):
        usp.export(sources, tmp_path / "wrong.csv", unique="yes")  # type: ignore[arg-type]


@pytest.mark.slow
def test_appended_sites_are_as_those_of_one_export(sites: list[str], tmp_path: Path) -> None:
    export(sites, tmp_path / "at-once.csv", "--columns", "url,lastmod")
    for site in sites:
        export([site], tmp_path / "one-by-one.csv", "--columns", "url,lastmod", "--append")
    assert (tmp_path / "at-once.csv").read_bytes() == (tmp_path / "one-by-one.csv").read_bytes()
