"""An export is there whole or not at all, and takes the place of another only if it is told to."""

import gzip
import json
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import repeat
from pathlib import Path
from threading import Barrier

import pytest

from tests.export.killed import POINTS
from tests.export.readers import READERS, read_csv, read_jsonl, read_sqlite
from tests.export.rows import Drawing, python_rows
from tests.export.writing import write
from usp._export.target import ExportTarget
from usp._tables.batch import Batch
from usp._tables.schema import PAGE_PARTS, TABLES
from usp.exceptions import StorageError, UsageError

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork and no SIGKILL")
KINDS = {
    "text": "x.csv new x.jsonl.zst new x.tsv.gz replace x.csv append x.jsonl.gz append",
    "databases": "x.db new x.db replace x.db append",
    "Arrow": "x.parquet new x.arrow replace out/ new out/ replace",
}
EVERY_FORMAT = ("x.csv", "x.tsv.gz", "x.jsonl.zst", "x.parquet", "x.arrow", "x.db", "out/")


def sites(seed: int, rows: int = 3) -> Batch:
    return Drawing(seed).batch(TABLES["sites"], rows)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.slow
@POSIX
@pytest.mark.sampled(2)
@pytest.mark.parametrize("kinds", KINDS)
def test_a_killed_export_leaves_no_half_file_and_the_next_one_removes_the_rest(
    kinds: str, tmp_path: Path
) -> None:
    if kinds == "Arrow":
        pytest.importorskip("pyarrow")
    arguments = KINDS[kinds].split()
    command = [sys.executable, "-m", "tests.export.killed", str(tmp_path), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == len(arguments) / 2
    assert len(POINTS) == 10
    for results in map(json.loads, lines):
        assert [point for point, *_ in results] == list(POINTS)
        assert {state for _, state, *_ in results} == {"before", "whole"}
        assert all(left for point, _, left, _ in results if isinstance(point, int))
        assert [beside for *_, beside in results] == [[]] * 10


class _StoppedError(Exception):
    pass


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_an_export_that_ends_early_leaves_nothing(name: str, tmp_path: Path) -> None:
    def batches() -> Iterator[Batch]:
        yield sites(1)
        raise _StoppedError

    with pytest.raises(_StoppedError):
        write(f"{tmp_path}/{name}", batches(), tables=[TABLES["sites"]])
    assert names_in(tmp_path) == []


@POSIX
def test_an_export_leaves_the_files_of_another_that_is_still_running(tmp_path: Path) -> None:
    def batches() -> Iterator[Batch]:
        yield sites(1)
        before = names_in(tmp_path)
        write(tmp_path / "other.csv", [sites(2)])
        assert names_in(tmp_path) == [*before, "other.csv"]

    write(tmp_path / "x.csv", batches(), tables=[TABLES["sites"]])
    assert names_in(tmp_path) == ["other.csv", "x.csv"]


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_a_file_that_exists_is_only_replaced_on_demand(name: str, tmp_path: Path) -> None:
    path = f"{tmp_path}/{name}"
    write(path, [sites(1)])
    with pytest.raises(UsageError, match="exists already: use replace=True"):
        write(path, [sites(2)])
    write(path, [sites(2)], replaces=True)
    write(f"{tmp_path}/again-{name}", [sites(2)])
    first, second = tmp_path / name, tmp_path / f"again-{name}"
    if first.is_dir():
        first, second = first / "sites.parquet", second / "sites.parquet"
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl.gz", "x.db"])
def test_a_file_that_appears_meanwhile_is_not_replaced(name: str, tmp_path: Path) -> None:
    path = tmp_path / name

    def batches() -> Iterator[Batch]:
        yield sites(1)
        path.write_text("mine")

    with pytest.raises(StorageError, match="another program has written it meanwhile"):
        write(str(path), batches(), tables=[TABLES["sites"]])
    assert path.read_text() == "mine"
    assert names_in(tmp_path) == [name]


def test_rows_that_another_export_appends_meanwhile_are_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    write(str(path), [sites(1)], tables=[TABLES["sites"]])

    def batches() -> Iterator[Batch]:
        yield sites(2)
        write(str(path), [sites(3)], tables=[TABLES["sites"]], append=True)

    with pytest.raises(StorageError, match="another program has written it meanwhile"):
        write(str(path), batches(), tables=[TABLES["sites"]], append=True)
    assert len(read_csv(path)) == 1 + 6
    assert names_in(tmp_path) == ["x.csv"]


def count_written(path: Path, exports: int, *, append: bool = False) -> int:
    """Write to one file in as many threads, which end at one moment; return how many succeed."""
    together = Barrier(exports)

    def batches() -> Iterator[Batch]:
        yield sites(2)
        together.wait()

    def error_of(_: int) -> str:
        try:
            write(str(path), batches(), tables=[TABLES["sites"]], append=append)
        except StorageError as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(exports) as threads:
        errors = list(threads.map(error_of, range(exports)))
    assert all("another program has written it meanwhile" in error for error in errors if error)
    return errors.count("")


@POSIX
@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz"])
def test_no_rows_are_lost_that_several_exports_append_at_one_moment(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    write(str(path), [sites(1)], tables=[TABLES["sites"]])
    rows = 3
    for _ in range(12):
        written = count_written(path, 3, append=True)
        assert written >= 1
        rows += 3 * written
        assert len(read_jsonl(path, TABLES["sites"])) == rows
    assert names_in(tmp_path) == [name]


@POSIX
@pytest.mark.parametrize("name", ["x.csv", "x.db"])
def test_one_of_several_exports_that_make_a_file_at_one_moment_succeeds(
    name: str, tmp_path: Path
) -> None:
    for number in range(12):
        assert count_written(tmp_path / f"{number}-{name}", 3) == 1


@POSIX
def test_processes_that_list_pages_into_one_file_at_one_moment_lose_none(tmp_path: Path) -> None:
    (tmp_path / "s.xml").write_text("<urlset><url><loc>http://h.example/1</loc></url></urlset>")
    words = ["ls", "s.xml", "-f", "pages", "-o", "pages.txt", "--append", "-q"]
    command = [sys.executable, "-m", "usp", *words]
    succeeded = 0
    for _ in range(3):
        started = [subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE) for _ in "ab"]
        for process in started:
            _, message = process.communicate()
            assert process.returncode == 0 or b"another program has written it" in message
            succeeded += process.returncode == 0
    assert len((tmp_path / "pages.txt").read_text().splitlines()) == succeeded


@pytest.mark.slow
@POSIX
def test_a_folder_that_another_program_has_locked_is_written_all_the_same(tmp_path: Path) -> None:
    import fcntl

    held = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        write(str(tmp_path / "x.csv"), [sites(1)], tables=[TABLES["sites"]])
    finally:
        os.close(held)
    assert len(read_csv(tmp_path / "x.csv")) == 1 + 3


def test_a_folder_keeps_what_else_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    write(tmp_path, [sites(1)], format="csv")
    assert names_in(tmp_path) == ["notes.txt", "sites.csv"]


@POSIX
def test_a_replaced_file_keeps_its_permissions_and_a_link_to_it(tmp_path: Path) -> None:
    write(tmp_path / "x.csv", [sites(1)])
    (tmp_path / "x.csv").chmod(0o600)
    (tmp_path / "link.csv").symlink_to("x.csv")
    write(tmp_path / "link.csv", [sites(2)], replaces=True)
    assert (tmp_path / "link.csv").is_symlink()
    assert stat.S_IMODE((tmp_path / "x.csv").stat().st_mode) == 0o600
    assert len(read_csv(tmp_path / "x.csv")) == 4


# Appending


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.csv.gz", "x.tsv.zst"])
def test_appended_rows_follow_without_a_second_header(name: str, tmp_path: Path) -> None:
    delimiter = "\t" if "tsv" in name else ","
    write(tmp_path / name, [sites(1)], append=True)  # nothing is there yet
    first = read_csv(tmp_path / name, delimiter)
    write(tmp_path / name, [sites(2)], append=True, bom=True)
    write(tmp_path / f"other-{name}", [sites(2)])
    second = read_csv(tmp_path / f"other-{name}", delimiter)
    assert read_csv(tmp_path / name, delimiter) == first + second[1:]


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz", "x.jsonl.zst"])
def test_appended_json_lines_follow(name: str, tmp_path: Path) -> None:
    batches = [sites(1), sites(2)]
    for batch in batches:
        write(tmp_path / name, [batch], append=True)
    expected = [row for batch in batches for row in python_rows(batch)]
    assert read_jsonl(tmp_path / name, TABLES["sites"]) == expected


def test_pages_appended_to_a_database_get_ids_of_their_own(tmp_path: Path) -> None:
    batches = [Drawing(seed).site(4, ExportTarget.of("x.db", None)) for seed in (1, 2)]
    for site in batches:
        write(tmp_path / "x.db", site, append=True)
    for name in ("sites", *PAGE_PARTS):
        written = [batch for site in batches for batch in site if batch.table.name == name]
        rows = [row for batch in written for row in python_rows(batch)]
        assert read_sqlite(tmp_path / "x.db", TABLES[name]) == rows
    with closing(sqlite3.connect(tmp_path / "x.db")) as database:
        assert database.execute("SELECT min(id), max(id), count(*) FROM pages").fetchone() == (
            1,
            8,
            8,
        )
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x.jsonl", "x.db"])
def test_rows_with_other_columns_are_not_appended(name: str, tmp_path: Path) -> None:
    table = TABLES["sites"].only(["site", "outcome"])
    write(tmp_path / name, [Batch.of_rows(table, [{"site": "a"}])])
    before = (tmp_path / name).read_bytes()
    with pytest.raises(UsageError, match="columns"):
        write(tmp_path / name, [sites(1)], append=True)
    assert (tmp_path / name).read_bytes() == before
    assert names_in(tmp_path) == [name]


@pytest.mark.parametrize("name", ["x.csv.gz", "x.csv.zst", "x.jsonl", "x.db"])
def test_nothing_is_appended_to_a_file_of_something_else(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("a shopping list\n" * 100)
    with pytest.raises(UsageError):
        write(tmp_path / name, [sites(1)], append=True)
    assert (tmp_path / name).read_text() == "a shopping list\n" * 100


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow", "out/"])
def test_formats_that_have_an_end_take_no_more_rows(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Nothing can be appended"):
        write(f"{tmp_path}/{name}", [sites(1)], append=True)


def test_an_empty_file_counts_as_none_when_rows_are_appended(tmp_path: Path) -> None:
    (tmp_path / "x.csv").touch()
    write(tmp_path / "x.csv", [sites(1)], append=True)
    assert read_csv(tmp_path / "x.csv")[0][0] == "site"


# Databases


def test_a_database_in_use_is_not_replaced(tmp_path: Path) -> None:
    write(tmp_path / "x.db", [sites(1)])
    with closing(sqlite3.connect(tmp_path / "x.db", isolation_level=None)) as user:
        user.execute("PRAGMA journal_mode = WAL")
        user.execute("UPDATE sites SET outcome = 'mine'")
        user.execute("BEGIN")
        user.execute("SELECT * FROM sites").fetchone()
        with pytest.raises(StorageError, match="locked"):
            write(tmp_path / "x.db", [sites(2)], replaces=True)
        assert {row[0] for row in user.execute("SELECT outcome FROM sites")} == {"mine"}
    write(tmp_path / "x.db", [sites(2)], replaces=True)
    assert read_sqlite(tmp_path / "x.db", TABLES["sites"]) == python_rows(sites(2))
    assert names_in(tmp_path) == ["x.db"]


@pytest.mark.parametrize("append", [False, True])
def test_a_journal_of_a_database_that_is_gone_is_not_played_into_a_new_one(
    append: bool, tmp_path: Path
) -> None:
    (tmp_path / "x.db-journal").write_bytes(b"pages of another database")
    with pytest.raises(UsageError, match=r"x\.db-journal is left of a database"):
        write(tmp_path / "x.db", [sites(1)], append=append)
    assert names_in(tmp_path) == ["x.db-journal"]
    (tmp_path / "x.db-journal").write_bytes(b"")  # SQLite ignores one without content
    write(tmp_path / "x.db", [sites(1)], append=append)
    assert read_sqlite(tmp_path / "x.db", TABLES["sites"]) == python_rows(sites(1))


def test_only_a_database_has_files_of_sqlite_beside_it(tmp_path: Path) -> None:
    write(tmp_path / "x.csv", [sites(1)])
    (tmp_path / "x.csv-wal").touch()
    write(tmp_path / "x.csv", [sites(2)], replaces=True)
    assert names_in(tmp_path) == ["x.csv", "x.csv-wal"]


# Disks


@pytest.mark.parametrize("name", EVERY_FORMAT)
@POSIX
def test_a_full_disk_is_one_clear_error_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    import resource

    batches = repeat(Drawing(1).batch(TABLES["problems"], 2000))  # until the disk is full
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, limits[1]))
    try:
        with pytest.raises(StorageError, match=r"cannot write .+: .+"):
            write(f"{tmp_path}/{name}", batches, tables=[TABLES["problems"]])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert names_in(tmp_path) == []


@POSIX
@pytest.mark.skipif(os.name == "nt" or os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_an_error_of_the_caller(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UsageError, match="cannot write"):
        write(tmp_path / "x.csv", [sites(1)])


def test_a_missing_folder_is_an_error_of_the_caller(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot write .+: No such file"):
        write(tmp_path / "missing" / "x.csv", [sites(1)])


@POSIX
def test_a_named_pipe_gets_the_rows_as_they_come(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reading = subprocess.Popen(
        [sys.executable, "-c", f"print(open({str(tmp_path / 'pipe')!r}).read())"],
        stdout=subprocess.PIPE,
        text=True,
    )
    write(tmp_path / "pipe", [sites(1)], format="jsonl")
    out, _ = reading.communicate(timeout=20)
    assert [json.loads(line)["site"] for line in out.split("\n")[:3]] == list(
        sites(1).columns["site"]
    )
    assert names_in(tmp_path) == ["pipe"]


def test_the_same_rows_make_the_same_file(tmp_path: Path) -> None:
    for name in ("a.csv.gz", "b.csv.gz"):
        write(tmp_path / name, [sites(1)])
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()).startswith(b"site,")
    assert set(READERS)  # every format has a reader
