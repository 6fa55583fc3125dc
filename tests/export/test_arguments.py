"""Wrong arguments of exports, missing libraries, and outcomes of the library functions."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import usp
from tests.server import LoopbackServer, urlset
from usp._export.formats import FORMATS
from usp._export.plan import overall
from usp.cli._export_options import EXPORT_FORMATS
from usp.exceptions import UsageError
from usp.objects.outcome import Outcome

UNREACHABLE = "http://127.0.0.1:9/"
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other rules for names")


@POSIX
@pytest.mark.parametrize("more", [{}, {"replace": True}, {"append": True}])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("file.csv/x.csv", "Not a directory"),
        ("file.csv/", "Not a directory"),
        ("x" * 300 + ".csv", "File name too long"),
        ("loop.csv", "Too many levels of symbolic links"),
        ("out/", "it is a folder"),
    ],
)
def test_a_path_where_no_file_can_be_is_a_usage_error_before_anything_is_fetched(
    name: str, message: str, more: dict[str, Any], server: LoopbackServer, tmp_path: Path
) -> None:
    (tmp_path / "file.csv").touch()
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    (tmp_path / "out" / "pages.csv").mkdir(parents=True)
    form = "csv" if name.endswith("/") else None
    with pytest.raises(UsageError, match=f"cannot write .+: {message}"):
        usp.export(server.url, f"{tmp_path}/{name}", table="pages", format=form, **more)
    assert server.requested == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file.csv", "loop.csv", "out"]


@POSIX
@pytest.mark.parametrize("name", ["closed/x.csv", "unread.csv", "unread.db"])
def test_a_path_that_needs_a_permission_is_a_usage_error(
    name: str, server: LoopbackServer, tmp_path: Path
) -> None:
    (tmp_path / "unread.csv").write_text("url\n")
    (tmp_path / "unread.db").write_text("x")
    (tmp_path / "closed").mkdir()
    for path in tmp_path.iterdir():
        path.chmod(0)
    if os.access(tmp_path / "unread.csv", os.R_OK):
        pytest.skip("this user may read every file")
    try:
        with pytest.raises(
            UsageError, match=r"cannot write .+: (Permission denied|unable to open)"
        ):
            usp.export(server.url, tmp_path / name, append=True)
    finally:
        (tmp_path / "closed").chmod(0o700)
    assert server.requested == []


@pytest.fixture
def site(server: LoopbackServer) -> str:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset("http://h.example/1")
    return server.url


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": "x"}, "says no format"),
        ({"path": "x.xlsx"}, "the formats are csv, tsv, jsonl, parquet, arrow, db"),
        ({"path": "x", "format": "excel"}, "'excel' is no format"),
        ({"path": "-"}, "Standard output needs a format"),
        ({"path": "-", "format": "db"}, "can't be written to a stream"),
        ({"path": "out/", "format": "db"}, "A database is one file"),
        ({"path": "x.parquet.gz"}, "can't be compressed"),
        (
            {"path": "x.csv", "table": "page"},
            r"'page' is no table \(did you mean 'pages'\?\); the tables are pages",
        ),
        (
            {"path": "x.csv", "columns": ["lastmodd"]},
            r"'lastmodd' is no column of pages \(did you mean 'lastmod'\?\); it has site",
        ),
        ({"path": "x.csv", "table": "all"}, "has one table"),
        ({"path": "x.csv", "table": ["pages", "sites"]}, "has one table"),
        ({"path": "x.csv", "columns": ["nope"]}, "'nope' is no column of pages"),
        ({"path": "x.db", "columns": ["url"]}, "columns: they are chosen of one table"),
        ({"path": "x.csv", "replace": True, "append": True}, "exclude each other"),
        ({"path": "x.csv", "bom": "yes"}, "bom must be True or False"),
        ({"path": 7}, "path must be"),
        ({"path": "x\0.csv"}, "path must be the name of a file"),
        ({"path": "x.csv", "since": "yesterday"}, "since must be"),
        ({"path": "x.csv", "sinse": "48h"}, "sinse"),
    ],
)
def test_a_wrong_argument_is_one_clear_error_before_anything_is_written(
    arguments: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = arguments.pop("path")
    with pytest.raises((UsageError, TypeError), match=message):
        usp.export(UNREACHABLE, path, **arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_tree_takes_no_keywords_of_a_crawl(tmp_path: Path) -> None:
    tree = usp.sitemap_from_str(urlset("http://h.example/"))
    with pytest.raises(UsageError, match="since is no keyword for a tree"):
        usp.export(tree, tmp_path / "x.csv", since="48h")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("foo bar", "neither a URL, nor a domain, nor a file"),
        ("missing.xml", "missing.xml can't be read: No such file"),
        (Path(), "can't be read: Is a directory"),
        (Path("pages.db"), "is an SQLite database, not a sitemap"),
        (None, "source must be a URL, a domain or a file"),
    ],
)
def test_every_source_is_checked_before_the_first_is_fetched(
    server: LoopbackServer,
    site: str,
    wrong: Any,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    usp.export(site, "pages.db")
    server.requests.clear()
    for sources in ([site, wrong], (one for one in (site, wrong))):
        with pytest.raises(UsageError, match=message):
            usp.export(sources, "x.csv")
    with pytest.raises(UsageError, match=message):
        usp.record_batches([site, wrong])
    assert server.requested == []
    assert [path.name for path in tmp_path.iterdir()] == ["pages.db"]


def test_no_source_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no source"):
        usp.export([], tmp_path / "x.csv")


def test_nothing_is_written_if_no_source_could_be_read(site: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    usp.export(site, path)
    before = path.read_bytes()
    result = usp.export(UNREACHABLE, path, replace=True)
    assert (result.outcome, result.files, result.rows) == (Outcome.UNREACHABLE, (), {"pages": 0})
    assert path.read_bytes() == before
    tried = usp.export(UNREACHABLE, path, replace=True, table="attempts")
    assert (tried.files, tried.rows["attempts"] > 0) == ((path,), True)


@pytest.mark.parametrize(
    ("outcomes", "together"),
    [
        ("found found", "found"),
        ("found none", "partial"),
        ("partial unreachable", "partial"),
        ("none blocked", "none"),
        ("blocked blocked", "blocked"),
        ("blocked unreachable", "unreachable"),
    ],
)
def test_several_outcomes_together(outcomes: str, together: str) -> None:
    assert overall([Outcome(name) for name in outcomes.split()]) is Outcome(together)


def test_the_command_knows_the_formats_of_the_library() -> None:
    assert tuple(FORMATS) == EXPORT_FORMATS


TABLES = 'the extra tables installs: in a clone of usp, run pip install ".[tables]"'
INSTALL = "is not installed: pip install {}"
PROGRAM = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {module!r}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Missing())
import usp
tree = usp.sitemap_from_str("http://h.example/")
try:
    {call}
except usp.exceptions.MissingExtraError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("module", "call", "what", "remedy"),
    [
        ("pyarrow", "usp.to_arrow(tree)", "to_arrow()", TABLES),
        ("pyarrow", "usp.to_polars(tree)", "to_polars()", TABLES),
        ("pyarrow", "usp.export(tree, 'x.parquet')", "Parquet", TABLES),
        ("pandas", "usp.to_pandas(tree)", "to_pandas()", INSTALL.format("pandas")),
        ("polars", "usp.to_polars(tree)", "to_polars()", INSTALL.format("polars")),
        pytest.param(
            *("zstandard", "usp.export(tree, 'x.csv.zst')", "A .zst file", TABLES),
            marks=pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python has zstd itself"),
        ),
    ],
)
def test_a_missing_library_is_one_line_that_says_what_to_install(
    module: str, call: str, what: str, remedy: str, tmp_path: Path
) -> None:
    message = f"{what} needs {module}, which {remedy}"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(module=module, call=call)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=dict(os.environ),
    )
    assert (done.stdout, done.stderr) == (f"{message}\n", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", ["ImportError", "ValueError", "AttributeError", "RuntimeError"])
def test_a_library_that_is_broken_is_one_line(error: str, tmp_path: Path) -> None:
    (tmp_path / "pyarrow").mkdir()
    (tmp_path / "pyarrow" / "__init__.py").write_text(f"raise {error}('libarrow.so is missing')")
    (tmp_path / "urls.txt").write_text("http://h.example/1\n")
    done = subprocess.run(
        [sys.executable, "-m", "usp", "export", "urls.txt", "-o", "x.parquet"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    message = "Parquet needs pyarrow, which can't be imported: libarrow.so is missing"
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, f"usp: error: {message}")
    assert not (tmp_path / "x.parquet").exists()


def test_importing_the_package_and_writing_csv_loads_no_library_of_tables(tmp_path: Path) -> None:
    program = (
        "import sys, usp; usp.export(usp.sitemap_from_str('http://h.example/'), 'x.csv'); "
        "usp.export(usp.sitemap_from_str('http://h.example/'), 'x.db'); "
        "print({'pyarrow', 'pandas', 'polars', 'numpy', 'zstandard'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout == "set()\n"


def test_what_is_no_name_of_a_table_is_a_wrong_argument(site: str) -> None:
    wrong: Any = []
    with pytest.raises(UsageError, match="table must be the name of a table"):
        usp.to_arrow(site, table=wrong)


def test_bytes_are_no_source() -> None:
    with pytest.raises(UsageError, match=r"source must be a source or several, not b's\.xml'"):
        usp.record_batches(b"s.xml")  # type: ignore[arg-type]
