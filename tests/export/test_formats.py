"""Every format, read again by the readers that users have: every value of every table."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import usp
from tests.export.readers import READERS, read_csv, read_sqlite, text_of
from tests.export.rows import EPOCH, Drawing, python_rows
from tests.export.writing import write
from tests.parse.reading import ALL
from usp._export.target import ExportTarget
from usp._export.times import iso_time
from usp._inputs.values import of_texts
from usp._tables.batch import Batch
from usp._tables.schema import PAGE_PARTS, SCHEMA_VERSION, TABLES, Column, ColumnType

DATABASE = ExportTarget.of("x.db", None)
LENGTHS = (40, 0, 1, 7)
"""The rows of each batch: a file is made of several."""


def drawn(name: str, lengths: tuple[int, ...] = LENGTHS) -> list[Batch]:
    drawing = Drawing(len(name))
    return [drawing.batch(TABLES[name], length) for length in lengths]


def rows_of(batches: list[Batch]) -> list[dict[str, Any]]:
    return [row for batch in batches for row in python_rows(batch)]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("reader", READERS)
def test_every_value_of_every_table_is_read_again(reader: str, table: str, tmp_path: Path) -> None:
    name, read = READERS[reader]
    batches = drawn(table)
    write(tmp_path / name, batches)
    assert read(tmp_path / name, TABLES[table]) == rows_of(batches)


@pytest.mark.parametrize("reader", READERS)
def test_a_table_without_rows_is_a_file_that_can_be_read(reader: str, tmp_path: Path) -> None:
    name, read = READERS[reader]
    write(tmp_path / name, drawn("sites", (0,)))
    assert read(tmp_path / name, TABLES["sites"]) == []


def cell(column: Column, value: Any) -> str:
    """What a cell of CSV should have, written in another way than in the package."""
    if column.name in PAGE_PARTS:
        return str(len(value or []))
    if value is None:
        return ""
    if column.fields:
        names = [field.name for field in column.fields]
        objects = [dict(zip(names, row, strict=True)) for row in value]
        return json.dumps(objects, ensure_ascii=False, separators=(",", ":"))
    return CELLS.get(column.type, str)(value)


CELLS: dict[ColumnType, Callable[[Any], str]] = {
    ColumnType.TIMESTAMP: lambda value: (
        (EPOCH + timedelta(microseconds=value)).isoformat().replace("+00:00", "Z")
    ),
    ColumnType.TEXTS: lambda value: "|".join(
        one.replace("\\", "\\\\").replace("|", "\\|") for one in value
    ),
    ColumnType.BOOLEAN: lambda value: "true" if value else "false",
}


def expected_cells(batches: list[Batch]) -> list[list[str]]:
    return [
        [cell(column, value) for column, value in zip(batch.table, row, strict=True)]
        for batch in batches
        for row in batch
    ]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    ("name", "delimiter"),
    [("x.csv", ","), ("x.tsv", "\t"), ("x.csv.gz", ","), ("x.csv.zst", ","), ("x.tsv.gz", "\t")],
)
def test_every_cell_of_csv_and_tsv_is_read_again(
    name: str, delimiter: str, table: str, tmp_path: Path
) -> None:
    batches = drawn(table)
    write(tmp_path / name, batches)
    header, *rows = read_csv(tmp_path / name, delimiter)
    assert header == [
        f"{column.name}_count" if column.name in PAGE_PARTS else column.name
        for column in TABLES[table]
    ]
    assert rows == expected_cells(batches)


def test_csv_has_the_prices_of_a_video_as_databases_have_them(tmp_path: Path) -> None:
    """No table has them, so a number of them would be all that is known."""
    names = ["page_url", "prices", "ids"]
    row = {"page_url": "a", "prices": [(1.5, "EUR", "rent", None)], "ids": None}
    batch = Batch.of_rows(TABLES["videos"].only(names), [row])
    for name in ("x.csv", "x.tsv", "x.db"):
        write(tmp_path / name, [batch])
    header, cells = read_csv(tmp_path / "x.csv")
    assert (header, [header, cells]) == (names, read_csv(tmp_path / "x.tsv", "\t"))
    assert cells == ["a", '[{"amount":1.5,"currency":"EUR","type":"rent","resolution":null}]', ""]
    with closing(sqlite3.connect(tmp_path / "x.db")) as database:
        (stored,) = database.execute("SELECT * FROM videos")
    assert [text or "" for text in stored] == cells
    assert of_texts(TABLES["videos"].only(["prices"]).columns[0], [cells[1], "5 EUR", ""]) == [
        [(1.5, "EUR", "rent", None)], None, None,
    ]  # fmt: skip


def test_csv_is_that_of_rfc_4180_and_has_counts_for_lists_of_rows(tmp_path: Path) -> None:
    table = TABLES["pages"].only(["url", "title", "lastmod", "news_genres", "images"])
    image = ("https://example.org/i.png", None, None, None, None)
    batch = Batch.of_rows(
        table,
        [
            {"url": "a", "title": 'He said "no", twice', "lastmod": 1_793_491_200_000_000},
            {"url": "b", "news_genres": ["Blog", "Opinion"], "images": [image, image]},
        ],
    )
    write(tmp_path / "x.csv", [batch])
    assert (tmp_path / "x.csv").read_bytes() == (
        b"url,title,lastmod,news_genres,images_count\r\n"
        b'a,"He said ""no"", twice",2026-11-01T00:00:00Z,,0\r\n'
        b"b,,,Blog|Opinion,2\r\n"
    )


@pytest.mark.parametrize("reader", ["pandas", "polars", "duckdb"])
def test_csv_is_read_by_data_frames_and_duckdb(reader: str, tmp_path: Path) -> None:
    module = pytest.importorskip(reader)
    batches = drawn("attempts", (20,))
    texts = ["url", "stage", "result", "detail"]
    path = tmp_path / "x.csv"
    write(path, batches)
    if reader == "duckdb":
        with module.connect() as connection:
            found = connection.execute(
                "SELECT url, stage, result, detail FROM read_csv(?, all_varchar = true)",
                [str(path)],
            ).fetchall()
        rows = [dict(zip(texts, row, strict=True)) for row in found]
    elif reader == "polars":
        rows = module.read_csv(path, infer_schema=False).select(texts).rows(named=True)
    else:
        frame = module.read_csv(path, dtype=str, keep_default_na=False)[texts]
        rows = [
            {name: text or None for name, text in row.items()} for row in frame.to_dict("records")
        ]
    assert rows == [{name: row[name] for name in texts} for row in rows_of(batches)]


def test_one_column_without_values_still_has_a_line_for_each_row(tmp_path: Path) -> None:
    table = TABLES["pages"].only(["title"])
    write(tmp_path / "x.csv", [Batch.of_rows(table, [{}, {"title": ""}, {"title": "a"}])])
    assert read_csv(tmp_path / "x.csv") == [["title"], [""], [""], ["a"]]


def test_a_byte_order_mark_is_written_on_demand(tmp_path: Path) -> None:
    write(tmp_path / "x.csv", drawn("sites", (1,)), bom=True)
    assert (tmp_path / "x.csv").read_bytes().startswith(b"\xef\xbb\xbfsite,")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝"])  # noqa: RUF001 -- spreadsheets take it
def test_a_cell_that_a_spreadsheet_would_run_begins_with_an_apostrophe_on_demand(
    start: str, tmp_path: Path
) -> None:
    table = TABLES["pages"].only(["url", "title", "news_genres", "priority"])
    row = {"url": "a", "title": f"{start}1", "news_genres": [f"{start}1"], "priority": -1.0}
    write(tmp_path / "x.csv", [Batch.of_rows(table, [row])], escape_formulas=True)
    assert read_csv(tmp_path / "x.csv")[1] == ["a", f"'{start}1", f"'{start}1", "-1.0"]
    write(tmp_path / "y.csv", [Batch.of_rows(table, [row])])
    assert read_csv(tmp_path / "y.csv")[1][1] == f"{start}1"


def test_half_a_surrogate_pair_spoils_no_format(tmp_path: Path) -> None:
    table = TABLES["pages"].only(["url"])
    for name in ("x.csv", "x.jsonl"):
        write(tmp_path / name, [Batch.of_rows(table, [{"url": "a\ud800b"}, {"url": "c"}])])
    assert read_csv(tmp_path / "x.csv")[1:] == [["a\\ud800b"], ["c"]]
    first, *_ = text_of(tmp_path / "x.jsonl").splitlines()
    assert json.loads(first) == {"url": "a\ud800b"}


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow", "x.db"])
@pytest.mark.parametrize("urls", [["a\ud800"], ["é", "é", "a\ud800", "b\udfff", "c"]])
def test_half_a_surrogate_pair_is_an_escape_in_binary_formats(
    name: str, urls: list[str], tmp_path: Path
) -> None:
    table = TABLES["pages"].only(["url", "news_keywords"])
    rows = [{"url": url, "news_keywords": [url, "k"]} for url in urls]
    write(tmp_path / name, [Batch.of_rows(table, rows)])
    read = next(read for path, read in READERS.values() if path == name)
    found = read(tmp_path / name, table)
    escaped = [url.encode("utf-8", "backslashreplace").decode() for url in urls]
    assert [row["url"] for row in found] == escaped
    lists = urls if name == "x.db" else escaped  # a list is JSON there, whose escape it is
    assert [row["news_keywords"] for row in found] == [[url, "k"] for url in lists]


def test_json_lines_of_several_tables_begin_with_the_version_of_the_schema(tmp_path: Path) -> None:
    batches = [*drawn("sites", (2,)), *drawn("problems", (3,))]
    write(tmp_path / "x.jsonl", batches)
    first, *rows = map(json.loads, text_of(tmp_path / "x.jsonl").split("\n")[:-1])
    assert first["schema_version"] == SCHEMA_VERSION
    assert [row["table"] for row in rows] == ["sites"] * 2 + ["problems"] * 3
    assert list(rows[0]) == ["table", *TABLES["sites"].names]


def test_parquet_has_zstd_row_groups_dictionaries_and_the_version_of_the_schema(
    tmp_path: Path,
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = TABLES["pages"].only(["url", "sitemap_url", "alternates"])
    rows = 20_000
    columns: dict[str, list[object]] = {
        "url": [f"https://example.org/{at}" for at in range(rows)],
        "sitemap_url": ["https://example.org/sitemap.xml"] * rows,
        "alternates": [[("de", "https://example.org/de")]] * rows,
    }
    write(tmp_path / "x.parquet", [Batch(table, columns, rows)] * 4)
    with parquet.ParquetFile(tmp_path / "x.parquet") as file:
        found, schema = file.metadata, file.schema_arrow
        assert [found.row_group(at).num_rows for at in range(found.num_row_groups)] == [40_000] * 2
        group = found.row_group(0)
        columns_of = {group.column(at).path_in_schema: group.column(at) for at in range(4)}
    assert {column.compression for column in columns_of.values()} == {"ZSTD"}
    has_dictionary = {
        name: "RLE_DICTIONARY" in column.encodings for name, column in columns_of.items()
    }
    assert has_dictionary == {
        "url": False,
        "sitemap_url": True,
        "alternates.list.element.language": True,
        "alternates.list.element.url": False,
    }
    assert schema.metadata[b"schema_version"] == str(SCHEMA_VERSION).encode()
    assert schema.field("url").metadata[b"description"] == b"The URL of the page."


def test_a_database_has_child_tables_with_foreign_keys_indexes_and_comments(tmp_path: Path) -> None:
    batches = [batch for seed in (1, 2) for batch in Drawing(seed).site(5, DATABASE)]
    write(tmp_path / "x.db", batches)
    with closing(sqlite3.connect(tmp_path / "x.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
        version = database.execute("SELECT value FROM meta WHERE key = 'schema_version'")
        assert version.fetchone() == (str(SCHEMA_VERSION),)
        indexes = {
            row[0]
            for row in database.execute("SELECT name FROM sqlite_schema WHERE type = 'index'")
        }
        assert {"pages_url", "pages_sitemap_url", "pages_lastmod", "images_page_id"} <= indexes
        schema = database.execute("SELECT sql FROM sqlite_schema WHERE name = 'pages'").fetchone()
        assert '"url" TEXT, -- The URL of the page.' in schema[0]
        assert "images" not in schema[0]
        for name in PAGE_PARTS:
            wrong = database.execute(
                f"SELECT count(*) FROM {name} JOIN pages ON pages.id = page_id "  # noqa: S608 -- names of the schema
                f"WHERE pages.url <> page_url OR pages.sitemap_url <> {name}.sitemap_url"
            )
            assert wrong.fetchone() == (0,)
    pages = [batch for batch in batches if batch.table.name == "pages"]
    assert read_sqlite(tmp_path / "x.db", TABLES["pages"]) == rows_of(pages)
    videos = [batch for batch in batches if batch.table.name == "videos"]
    assert read_sqlite(tmp_path / "x.db", TABLES["videos"]) == rows_of(videos)


def test_the_date_functions_of_sqlite_understand_the_times(tmp_path: Path) -> None:
    table = TABLES["pages"].only(["url", "lastmod"])
    write(
        tmp_path / "x.db", [Batch.of_rows(table, [{"url": "a", "lastmod": 1_793_491_200_500_000}])]
    )
    with closing(sqlite3.connect(tmp_path / "x.db")) as database:
        found = database.execute("SELECT lastmod, date(lastmod), unixepoch(lastmod) FROM pages")
        assert found.fetchone() == ("2026-11-01T00:00:00.500000Z", "2026-11-01", 1_793_491_200)


def test_no_format_has_an_infinite_number(tmp_path: Path) -> None:
    price = '<video:price currency="EUR">1e999</video:price>'
    page = f"<url><loc>http://h.example/1</loc><video:video>{price}</video:video></url>"
    (tmp_path / "sitemap.xml").write_text(f"<urlset {ALL}>{page}</urlset>")
    for name in ("x.jsonl", "x.db", "x.parquet"):
        usp.export(tmp_path / "sitemap.xml", tmp_path / name, table="videos")
    amount = {"amount": None, "currency": "EUR", "type": None, "resolution": None}
    line = json.loads((tmp_path / "x.jsonl").read_text(), parse_constant=pytest.fail)
    assert line["prices"] == [amount]
    with closing(sqlite3.connect(tmp_path / "x.db")) as database:
        ((cell,),) = database.execute("SELECT prices FROM videos")
        assert json.loads(cell, parse_constant=pytest.fail) == [amount]
        assert database.execute("SELECT json_valid(prices) FROM videos").fetchone() == (1,)
    table = pytest.importorskip("pyarrow.parquet").read_table(tmp_path / "x.parquet")
    assert table["prices"].to_pylist() == [[amount]]


def test_a_folder_has_a_file_for_each_table(tmp_path: Path) -> None:
    batches = Drawing(3).site(4, ExportTarget.of(f"{tmp_path}/out/", "jsonl"))
    write(f"{tmp_path}/out/", batches, format="jsonl.gz")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        f"{name}.jsonl.gz" for name in TABLES
    }
    _, read = READERS["JSON lines, gzip"]
    for batch in batches:
        path = tmp_path / "out" / f"{batch.table.name}.jsonl.gz"
        assert read(path, batch.table) == python_rows(batch)


@pytest.mark.parametrize("microseconds", [0, -1, 1, 999_999, 86_400_000_000, -86_400_000_001])
def test_a_time_is_the_one_that_datetime_says(microseconds: int) -> None:
    when = EPOCH + timedelta(microseconds=microseconds)
    assert datetime.fromisoformat(iso_time(microseconds)) == when
    assert iso_time(microseconds).endswith("Z")
    assert ("." in iso_time(microseconds)) == bool(when.microsecond)
    assert when.tzinfo is UTC


def test_a_flipped_bit_in_zstd_is_told(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    write(tmp_path / "x.jsonl.zst", drawn("sites"))
    data = bytearray((tmp_path / "x.jsonl.zst").read_bytes())
    assert zstandard.get_frame_parameters(bytes(data)).has_checksum
    told = 0
    places = range(20, len(data), max(len(data) // 40, 1))
    for at in places:
        data[at] ^= 1
        try:
            zstandard.ZstdDecompressor().decompressobj().decompress(bytes(data))
        except zstandard.ZstdError:
            told += 1
        data[at] ^= 1
    assert told == len(places)
