"""Exports are read again, whatever their format: every value of every table."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.export.rows import Drawing
from tests.export.writing import write
from usp import diff
from usp._export.target import ExportTarget
from usp._inputs.kinds import InputKind
from usp._inputs.listing import open_listing
from usp._tables.batch import Batch
from usp._tables.schema import PAGE_PARTS, TABLES, Column, ColumnType
from usp.exceptions import UsageError
from usp.objects.outcome import Outcome

FILES = {
    "rows.csv": InputKind.DELIMITED,
    "rows.csv.gz": InputKind.DELIMITED,
    "rows.tsv.zst": InputKind.DELIMITED,
    "rows.jsonl": InputKind.JSON_LINES,
    "rows.jsonl.zst": InputKind.JSON_LINES,
    "rows.parquet": InputKind.PARQUET,
    "rows.arrow": InputKind.ARROW,
    "rows.db": InputKind.DATABASE,
}


def drawn(name: str, lengths: tuple[int, ...] = (40, 1, 7)) -> list[Batch]:
    drawing = Drawing(len(name))
    batches = [drawing.batch(TABLES[name], length) for length in lengths]
    if name != "pages":
        return batches
    urls = {"url": [f"https://example.org/{at}" for at in range(max(lengths))]}
    return [
        Batch(one.table, {**one.columns, "url": urls["url"][: one.length]}, one.length)
        for one in batches
    ]


def read(path: Path, table: str) -> list[dict[str, Any]]:
    with open_listing(path, table) as listing:
        return [
            dict(zip(batch.table.names, row, strict=True)) for batch in listing for row in batch
        ]


def uncompress(path: Path) -> None:
    """Write a file of Parquet or Arrow again, with its texts as they are."""
    if path.suffix == ".parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(parquet.read_table(path), path, compression="none")
    elif path.suffix == ".arrow":
        ipc = pytest.importorskip("pyarrow.ipc")
        with ipc.open_file(path) as file:
            rows = file.read_all()
        with ipc.new_file(path, rows.schema) as file:
            file.write_table(rows)


def expected(batches: list[Batch], kind: InputKind) -> list[dict[str, Any]]:
    """The rows as such a file can have them."""
    return [
        {
            column.name: as_kept(column, value, kind)
            for column, value in zip(batch.table, row, strict=True)
            if kind is not InputKind.DELIMITED or column.name not in PAGE_PARTS
        }
        for batch in batches
        for row in batch
    ]


def as_kept(column: Column, value: Any, kind: InputKind) -> Any:
    """A value as such a file can have it: in CSV, an empty text and an absent one are the same."""
    is_json = column.type is ColumnType.ROWS
    if kind is InputKind.DELIMITED and value in ("", []) and not is_json:
        return None
    return value


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("table", ["pages", "sitemaps", "problems", "sites", "videos"])
def test_every_value_comes_back(name: str, table: str, tmp_path: Path) -> None:
    batches, kind = drawn(table), FILES[name]
    write(tmp_path / name, batches)
    with open_listing(tmp_path / name) as listing:
        assert listing.kind is kind
    assert read(tmp_path / name, table) == expected(batches, kind)


@pytest.mark.parametrize("form", ["csv", "jsonl.gz", "parquet", "arrow"])
def test_a_folder_has_its_tables(form: str, tmp_path: Path) -> None:
    folder = f"{tmp_path}/out/"
    drawing, target = Drawing(7), ExportTarget.of(folder, form)
    batches = drawing.site(9, target)
    write(folder, batches, format=form)
    kind = InputKind.DELIMITED if form == "csv" else InputKind.PARQUET
    for batch in batches:
        found = read(tmp_path / "out", batch.table.name)
        assert found == expected([batch], kind)
    with open_listing(tmp_path / "out") as listing:
        assert listing.kind is InputKind.FOLDER
        assert set(listing.tables) == {batch.table.name for batch in batches}


def test_one_file_of_json_lines_has_several_tables(tmp_path: Path) -> None:
    batches = [*drawn("pages"), *drawn("problems")]
    write(tmp_path / "all.jsonl", batches)
    assert read(tmp_path / "all.jsonl", "problems") == expected(drawn("problems"), InputKind.ARROW)


@pytest.mark.parametrize("name", FILES)
def test_only_the_wanted_columns_are_read_that_the_file_has(name: str, tmp_path: Path) -> None:
    table = TABLES["pages"].only(["lastmod", "url"])
    write(tmp_path / name, [Batch(table, {"lastmod": [1, None], "url": ["/a", "/b"]}, 2)])
    with open_listing(tmp_path / name, columns=["url", "title", "lastmod"]) as listing:
        (batch,) = listing
    assert batch.table.names == ("url", "lastmod")
    assert list(batch) == [("/a", 1), ("/b", None)]


def test_a_database_and_a_folder_say_whether_all_was_read(tmp_path: Path) -> None:
    table = TABLES["sites"].only(["site", "complete"])
    for name, complete in (("whole.db", [True, True]), ("partial.db", [True, False])):
        write(tmp_path / name, [Batch(table, {"site": ["a", "b"], "complete": complete}, 2)])
    with open_listing(tmp_path / "whole.db") as listing:
        assert listing.outcome is Outcome.FOUND
    with open_listing(tmp_path / "partial.db") as listing:
        assert listing.outcome is Outcome.PARTIAL
    write(tmp_path / "pages.csv", drawn("pages"))
    with open_listing(tmp_path / "pages.csv") as listing:
        assert listing.outcome is None


def crawl_folder(folder: Path, parts: int, done: int) -> None:
    for number in range(parts):
        for table in ("pages", "sites"):
            (folder / table).mkdir(parents=True, exist_ok=True)
            urls = [f"https://{number}.example/{page}" for page in range(3)]
            chosen = TABLES[table].only(["url"] if table == "pages" else ["site", "complete"])
            values: dict[str, list[Any]] = {"url": urls, "site": urls, "complete": [True] * 3}
            columns = {name: values[name] for name in chosen.names}
            write(folder / table / f"part-{number:05}.parquet", [Batch(chosen, columns, 3)])
    (folder / "_done").mkdir()
    for number in range(done):
        (folder / "_done" / f"{number:05}.json").write_text("{}")


def test_a_table_of_a_folder_may_have_columns_of_its_own(tmp_path: Path) -> None:
    rows = "site,line,complete\nhttps://example.org/,1,true\n"
    (tmp_path / "sites.csv").write_text(rows, encoding="utf-8")
    assert read(tmp_path, "sites") == [{"site": "https://example.org/", "complete": True}]
    with open_listing(tmp_path, "sites") as listing:
        assert listing.outcome is Outcome.FOUND


def test_a_crawl_has_the_parts_that_are_done(tmp_path: Path) -> None:
    crawl_folder(tmp_path / "all", parts=3, done=3)
    crawl_folder(tmp_path / "some", parts=3, done=2)
    assert len(read(tmp_path / "all", "pages")) == 9
    assert len(read(tmp_path / "some", "pages")) == 6
    with open_listing(tmp_path / "all") as listing:
        assert listing.outcome is Outcome.FOUND
    with open_listing(tmp_path / "some") as listing:
        assert listing.outcome is Outcome.PARTIAL
    (tmp_path / "all" / "_crawl.json").write_text('{"shards": 4}')
    with open_listing(tmp_path / "all") as listing:
        assert listing.outcome is Outcome.PARTIAL


def test_a_table_of_a_crawl_may_have_columns_of_its_own(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    write(tmp_path / "sites.parquet", drawn("sites"))
    made = parquet.read_table(tmp_path / "sites.parquet")
    rows = read(tmp_path / "sites.parquet", "sites")
    more = made.append_column("line", [list(range(made.num_rows))])
    parquet.write_table(more, tmp_path / "sites.parquet")
    assert read(tmp_path, "sites") == rows


@pytest.mark.parametrize("name", ["rows.csv.gz", "rows.jsonl.zst"])
def test_a_compressed_file_that_was_cut_off_is_no_shorter_table(name: str, tmp_path: Path) -> None:
    write(tmp_path / name, drawn("pages", (500,)))
    data = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(data[: len(data) // 2])
    with pytest.raises(UsageError, match="can't be read: its end is missing"):
        read(tmp_path / name, "pages")


@pytest.mark.parametrize("name", ["rows.parquet", "rows.arrow", "rows.db"])
def test_a_binary_file_that_was_cut_off_is_refused(name: str, tmp_path: Path) -> None:
    write(tmp_path / name, drawn("pages", (500,)))
    data = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(data[: len(data) // 2])
    with pytest.raises(UsageError, match="can't be read"):
        read(tmp_path / name, "pages")


DAMAGE = [(b"images", b"\xedmages"), (b"url", b"u\xff\xfe"), (b"https://e", b"https:\xff/e")]


@pytest.mark.parametrize("name", ["rows.parquet", "rows.arrow", "rows.db"])
@pytest.mark.parametrize(("word", "damaged"), DAMAGE)
def test_text_of_a_binary_file_that_is_no_utf_8_is_one_clear_error(
    name: str, word: bytes, damaged: bytes, tmp_path: Path
) -> None:
    write(tmp_path / name, drawn("pages", (500,)))
    uncompress(tmp_path / name)
    data = (tmp_path / name).read_bytes()
    assert word in data
    (tmp_path / name).write_bytes(data.replace(word, damaged))
    with pytest.raises(UsageError) as raised:
        read(tmp_path / name, "pages")
    assert "\n" not in str(raised.value)


def test_a_database_whose_schema_is_damaged_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "rows.db"
    write(path, drawn("pages", (5,)))
    data = path.read_bytes()
    at = data.index(b"CREATE ")
    refused = 0
    for shift in range(60):
        path.write_bytes(data[: at + shift] + b"\x84" + data[at + shift + 1 :])
        try:
            list(diff(path, path))
        except UsageError as error:  # not every name is needed
            refused += "\n" not in str(error)
    assert refused > 20


def test_json_that_is_broken_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"url": "https://example.org/"}\n{"url": \n', encoding="utf-8")
    with pytest.raises(UsageError, match="line 2 is no JSON"):
        read(path, "pages")


def test_json_that_is_nested_too_deeply_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    depth = 100_000  # a thousand are too many for some versions of Python only
    deep = "[" * depth + "]" * depth
    for number, before in enumerate(("", '{"url": "https://example.org/"}\n'), 1):
        path.write_text(f'{before}{{"url": "https://example.org/2", "x": {deep}}}\n')
        with pytest.raises(UsageError, match=f"line {number}: it is nested too deeply"):
            read(path, "pages")


def test_json_with_a_number_that_python_does_not_read_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"url": "https://example.org/2", "x": {"1" * 50_000}}}\n')
    with pytest.raises(UsageError, match="line 1: it has a number that is too long"):
        read(path, "pages")


@pytest.mark.parametrize("value", [5, True, 1e300, 10**30, "x", [5], [[]], [{"a": 1}], {"a": 1}])
def test_a_value_of_another_type_is_absent(value: object, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    for column in ("lastmod", "images", "news_keywords", "priority", "title"):
        path.write_text(json.dumps({"url": "https://example.org/", column: value}))
        (row,) = read(path, "pages")
        assert row["url"] == "https://example.org/"
        assert list(diff(path, path)) == []


def test_the_members_of_an_appended_file_are_all_read(tmp_path: Path) -> None:
    rows = [json.dumps({"url": f"https://example.org/{at}"}) + "\n" for at in range(2)]
    (tmp_path / "rows.jsonl.gz").write_bytes(b"".join(gzip.compress(row.encode()) for row in rows))
    assert [row["url"][-1] for row in read(tmp_path / "rows.jsonl.gz", "pages")] == ["0", "1"]


def test_what_is_no_export_is_refused_in_one_line(tmp_path: Path) -> None:
    import sqlite3

    (tmp_path / "folder").mkdir()
    foreign = sqlite3.connect(tmp_path / "foreign.db")
    foreign.execute("CREATE TABLE pages (url TEXT)")
    foreign.close()
    for name, reason in {"folder": "folder without tables", "foreign.db": "not written"}.items():
        with pytest.raises(UsageError, match=reason):
            open_listing(tmp_path / name)
