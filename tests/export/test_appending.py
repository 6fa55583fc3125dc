"""What rows are appended to: files that were left open or damaged, databases of part of a site."""

import gzip
import os
import sqlite3
import sys
import tracemalloc
from contextlib import closing
from pathlib import Path

import pytest

import usp
from tests.cli.command import WARM, environment
from tests.cli.command import usp as run_usp
from tests.export.readers import read_csv, read_jsonl, text_of
from tests.export.rows import Drawing, python_rows
from tests.export.writing import write
from tests.server import LoopbackServer, urlset
from usp._export.compression import COMPRESSIONS
from usp._tables.batch import Batch
from usp._tables.schema import TABLES
from usp.exceptions import StorageError, UsageError

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limits of this kind")


def sites(seed: int, rows: int = 3) -> Batch:
    return Drawing(seed).batch(TABLES["sites"], rows)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def rewrite(path: Path, text: str) -> None:
    """Write another text to a file, compressed as its name says."""
    data = text.encode()
    compression = COMPRESSIONS.get(path.suffix)
    if compression:
        compressor = compression.compressor()
        data = compressor.compress(data) + compressor.flush()
    path.write_bytes(data)


def leave_open(path: Path) -> None:
    """Take the end of the last line away, as an editor would."""
    rewrite(path, text_of(path).rstrip("\r\n"))


@pytest.mark.parametrize(
    "name", ["x.csv", "x.csv.gz", "x.csv.zst", "x.jsonl", "x.jsonl.gz", "x.jsonl.zst"]
)
def test_a_last_line_that_was_left_open_is_ended_first(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    write(path, [sites(1)])
    leave_open(path)
    write(path, [sites(2)], append=True)
    write(path, [sites(3)], append=True)
    batches = [sites(seed) for seed in (1, 2, 3)]
    if "jsonl" in name:
        expected = [row for batch in batches for row in python_rows(batch)]
        assert read_jsonl(path, TABLES["sites"]) == expected
    else:
        assert [row[0] for row in read_csv(path)][1:] == [
            site or "" for batch in batches for site in batch.columns["site"]
        ]


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz"])
def test_nothing_is_appended_behind_half_an_object(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    write(path, [sites(1)])
    cut = text_of(path)[:-15]
    rewrite(path, cut)
    with pytest.raises(UsageError, match="it ends inside of a row"):
        write(path, [sites(2)], append=True)
    assert text_of(path) == cut


@pytest.mark.parametrize("name", ["x.csv.gz", "x.jsonl.zst"])
@pytest.mark.parametrize("fault", ["cut", "flipped"])
def test_nothing_is_appended_to_a_damaged_file(
    name: str, fault: str, server: LoopbackServer, tmp_path: Path
) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(*(server.at(f"/{at}") for at in range(500)))
    path = tmp_path / name
    usp.export(server.url, path)
    data = path.read_bytes()
    # What is flipped is a bit of the checksum.
    data = data[:-30] if fault == "cut" else data[:-2] + bytes([data[-2] ^ 1]) + data[-1:]
    path.write_bytes(data)
    server.requests.clear()
    with pytest.raises(UsageError, match=r"Nothing can be appended|doesn't have the columns"):
        usp.export(server.url, path, append=True)
    assert (server.requested, path.read_bytes(), names_in(tmp_path)) == ([], data, [name])


@pytest.fixture
def headlines(server: LoopbackServer) -> LoopbackServer:
    """A site whose only title has quotes and a line end."""
    server.robots("/news.rss")
    title = 'The "first"\nline'
    item = f"<item><link>{server.at('/1')}</link><title><![CDATA[{title}]]></title></item>"
    server.site["/news.rss"] = f"<rss><channel>{item}</channel></rss>"
    return server


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.csv.gz", "x.tsv.zst"])
def test_nothing_is_appended_to_a_cell_that_was_left_open(
    name: str, headlines: LoopbackServer, tmp_path: Path
) -> None:
    """Rows would be part of the cell, and lost: no reader of CSV would find them."""
    path = tmp_path / name
    usp.export(headlines.url, path)
    text = text_of(path)
    assert '"The ""first""' in text
    rewrite(path, text[: text.index("line")])
    before = path.read_bytes()
    headlines.requests.clear()
    with pytest.raises(UsageError, match=r"Nothing can be appended to .+: it ends inside of"):
        usp.export(headlines.url, path, append=True)
    assert (headlines.requested, path.read_bytes(), names_in(tmp_path)) == ([], before, [name])
    rewrite(path, text)
    usp.export(headlines.url, path, append=True)
    assert text_of(path).count("line") == 2


@pytest.mark.parametrize("name", ["x.csv", "x.tsv"])
def test_nothing_is_appended_to_lines_that_end_in_another_way(
    name: str, headlines: LoopbackServer, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(b"url,lastmod\rx,y\r")
    with pytest.raises(UsageError, match="doesn't have the columns of the rows"):
        usp.export(headlines.url, path, append=True)
    assert path.read_bytes() == b"url,lastmod\rx,y\r"


def test_ls_appends_nothing_to_a_cell_that_was_left_open(
    headlines: LoopbackServer, tmp_path: Path
) -> None:
    path = tmp_path / "x.csv"
    arguments = ["ls", headlines.url, "-k", "-f", "csv", "-o", str(path), "--append"]
    assert run_usp(*arguments).code == 0
    before = path.read_bytes()[: path.read_bytes().index(b"line")]
    path.write_bytes(before)
    headlines.requests.clear()
    ended = run_usp(*arguments)
    assert (ended.code, headlines.requested, path.read_bytes()) == (2, [], before)
    assert ended.err == (
        f"usp: error: Nothing can be appended to {path}: it ends inside of a cell, whose second "
        "quote is missing.\n"
    )


def test_a_long_file_is_looked_through_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    write(path, [sites(1)])
    rewrite(path, text_of(path) + f'"{"x" * 5_000_000}')
    tracemalloc.start()
    with pytest.raises(UsageError, match="inside of a cell"):
        write(path, [sites(2)], append=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_members_of_gzip_without_rows_are_no_open_line(tmp_path: Path) -> None:
    path = tmp_path / "x.csv.gz"
    write(path, [sites(1)])
    path.write_bytes(path.read_bytes() + gzip.compress(b""))
    write(path, [sites(2)], append=True)
    assert len(read_csv(path)) == 7


# Databases


@pytest.fixture
def pictures(server: LoopbackServer) -> LoopbackServer:
    image = "<image:image><image:loc>{}</image:loc></image:image>"
    pages = "".join(
        f"<url><loc>{server.at(f'/{at}')}</loc>{image.format(server.at(f'/{at}.png'))}</url>"
        for at in range(2)
    )
    space = 'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
    server.robots("/a.xml")
    server.site["/a.xml"] = f"<urlset {space}>{pages}</urlset>"
    return server


def count(path: Path, table: str) -> int:
    with closing(sqlite3.connect(path)) as database:
        (number,) = database.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 -- a name of this file
        return int(number)


def test_part_of_a_site_is_appended_where_it_was_written_alone(
    pictures: LoopbackServer, tmp_path: Path
) -> None:
    path = tmp_path / "x.db"
    for _ in range(2):
        usp.export(pictures.url, path, table="images", append=True)
    usp.export(pictures.url, path, table="sites", append=True)
    assert (count(path, "images"), count(path, "sites")) == (4, 1)


@pytest.mark.parametrize(
    ("first", "then", "message"),
    [
        ("images", None, "has images without pages: they can be appended alone only"),
        (None, "images", "has images that belong to its pages: they can be appended with pages"),
    ],
)
def test_what_belongs_to_pages_is_not_mixed_with_what_does_not(
    first: str | None,
    then: str | None,
    message: str,
    pictures: LoopbackServer,
    tmp_path: Path,
) -> None:
    path = tmp_path / "x.db"
    usp.export(pictures.url, path, table=first)
    before = path.read_bytes()
    pictures.requests.clear()
    with pytest.raises(UsageError, match=message):
        usp.export(pictures.url, path, table=then, append=True)
    assert (pictures.requested, path.read_bytes(), names_in(tmp_path)) == ([], before, ["x.db"])


@pytest.mark.slow
def test_a_database_in_use_is_no_wrong_argument(pictures: LoopbackServer, tmp_path: Path) -> None:
    """The same command works as soon as the other program is done."""
    path = tmp_path / "x.db"
    usp.export(pictures.url, path)
    pictures.requests.clear()
    with closing(sqlite3.connect(path, isolation_level=None)) as user:
        user.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match=r"cannot write .+x\.db: database is locked"):
            usp.export(pictures.url, path, append=True)
    assert pictures.requested == []
    usp.export(pictures.url, path, append=True)
    assert count(path, "pages") == 4


@POSIX
def test_nothing_is_fetched_for_a_database_that_can_only_be_read(
    pictures: LoopbackServer, tmp_path: Path
) -> None:
    path = tmp_path / "x.db"
    usp.export(pictures.url, path)
    path.chmod(0o444)
    if os.access(path, os.W_OK):
        pytest.skip("this user may write every file")
    pictures.requests.clear()
    with pytest.raises(UsageError, match=r"cannot write .+: attempt to write a readonly"):
        usp.export(pictures.url, path, append=True)
    assert pictures.requested == []


@POSIX
def test_a_full_disk_leaves_the_database_of_before(tmp_path: Path) -> None:
    """SQLite can't undo it on the same connection: what is left would be half of a database."""
    path, folder = tmp_path / "x.db", tmp_path / "from"
    folder.mkdir()
    small, large = folder / "small.xml", folder / "large.xml"
    small.write_bytes(urlset("http://h.example/1"))
    large.write_bytes(urlset(*(f"http://h.example/{at:0500}" for at in range(2_000))))
    usp.export(small, path)
    before = path.read_bytes()
    done = WARM.run(
        *("-m", "usp", "export", *[str(large)] * 8, "-o", str(path), "--append"),
        env=environment(),
        max_blocks=8_000,  # the rows are twice as much
    )
    assert (done.returncode, done.stderr.decode().count("\n")) == (3, 1)
    assert done.stderr.decode().startswith(f"usp: error: cannot write {path}: ")
    assert names_in(tmp_path) == ["from", "x.db"], "no journal is left"
    assert path.read_bytes() == before
