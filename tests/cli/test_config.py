"""Options from ``usp.toml`` and ``pyproject.toml``."""

from pathlib import Path

import pytest

from usp.cli.cli import main, parse_args
from usp.exceptions import UsageError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An inner folder, which is the current one."""
    inner = tmp_path / "project" / "inner"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    return inner


ABSENT = {"command", "source", "format", "config", "configured"}


def options(*arguments: str) -> dict[str, object]:
    """The options of ``usp ls`` that have a value, beside those of the format and the file."""
    args, _ = parse_args(["ls", "example.org", *arguments])
    return {
        name: value
        for name, value in vars(args).items()
        if value is not None and name not in ABSENT
    }


def test_options_of_both_files_are_read(folder: Path) -> None:
    (folder / "usp.toml").write_text(
        'limit = 3\nsince = 2026-01-02\nno-robots = true\nheader = ["A: b", "C: d"]\n'
        'include = "x"\ntimeout = 1.5\nhomepage = false\nkind = ["news"]\nverbose = 1\n'
    )
    found = options()
    assert str(found.pop("since")) == "2026-01-02"
    expected = {
        "limit": 3, "no_robots": True, "header": ["A: b", "C: d"], "include": ["x"],
        "timeout": 1.5, "homepage": False, "kind": ["news"], "verbose": 1,
    }  # fmt: skip
    assert found == expected
    (folder / "usp.toml").unlink()
    (folder / "pyproject.toml").write_text("[tool.usp]\nlimit = 4\n[tool.other]\nlimit = 5\n")
    assert options() == {"limit": 4}


@pytest.mark.parametrize(
    "content",
    [
        "[tool.usp.ls]\nlimit = 2",
        "[ \"tool\" . 'usp' ]\nlimit = 2",
        "[tool]\nusp = {limit = 2}",
        '[tool]\n"usp".limit = 2',
        "tool = {usp = {limit = 2}}",
        '"tool".usp.limit = 2',
        '["t\\u006fol".usp]\nlimit = 2',
        '[tool."\\u0075sp"]\nlimit = 2',
    ],
)
def test_the_table_of_a_project_is_found_however_it_is_written(folder: Path, content: str) -> None:
    (folder / "pyproject.toml").write_text(content)
    assert options() == {"limit": 2}


def test_a_project_that_says_nothing_about_usp_is_not_parsed(folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[project]\nname = "usp"\n[tool.other]\nlimit =\n')
    assert options() == {}


def test_the_nearest_file_counts_and_usp_toml_goes_first(folder: Path) -> None:
    (folder.parent / "usp.toml").write_text("limit = 1\n")
    (folder / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert options() == {"limit": 1}, "a pyproject.toml without the table doesn't count"
    (folder / "pyproject.toml").write_text("[tool.usp]\nlimit = 2\n")
    assert options() == {"limit": 2}
    (folder / "usp.toml").write_text("limit = 3\n")
    assert options() == {"limit": 3}


@pytest.mark.parametrize(
    ("written", "typed", "found"),
    [
        ("append = true", ["--replace"], {"replace": True}),
        ("replace = true", ["--append"], {"append": True}),
        ('replay = "x.warc.gz"', ["--record", "y.warc.gz"], {"record": "y.warc.gz"}),
    ],
)
def test_a_typed_option_goes_before_its_opposite_in_the_file(
    folder: Path, written: str, typed: list[str], found: dict[str, object]
) -> None:
    (folder / "usp.toml").write_text(f"{written}\n[ls]\n{written}\n")
    assert options(*typed) == found


def test_the_command_line_goes_before_the_file(folder: Path) -> None:
    (folder / "usp.toml").write_text(
        'limit = 1\nhomepage = true\nheader = ["A: b"]\nformat = "pages"\n'
    )
    given = options("--limit", "9", "--no-homepage", "-H", "C: d")
    assert given == {"limit": 9, "homepage": False, "header": ["C: d"]}
    args, _ = parse_args(["ls", "example.org"])
    assert args.format == "pages"
    assert options("--no-config") == {"no_config": True}


@pytest.mark.parametrize(
    ("command", "configured", "typed", "format"),
    [
        ("export", "csv", ["-o", "a.jsonl"], None),
        ("export", "csv", ["-o", "a.jsonl", "-f", "tsv"], "tsv"),
        ("export", "csv", ["-o", "a.gz"], "csv"),
        ("export", "csv", ["-o", "folder.jsonl/"], "csv"),
        ("export", "csv", ["-o", "-"], "csv"),
        ("export", "csv", [], "csv"),
        ("report", "markdown", ["-o", "a.html"], None),
        ("report", "markdown", ["-o", "a.txt"], "markdown"),
    ],
)
def test_the_suffix_of_a_typed_file_goes_before_the_format_of_the_config(
    folder: Path, command: str, configured: str, typed: list[str], format: str | None
) -> None:
    (folder / "usp.toml").write_text(f'[{command}]\nformat = "{configured}"\n')
    args, _ = parse_args([command, "example.org", *typed])
    assert args.format == format


@pytest.mark.parametrize(
    ("text", "arguments", "format"),
    [
        ('format = "pages"', ["export", "S", "-o", "-", "-f", "csv"], "csv"),
        ('format = "pages"', ["export", "S", "-o", "x.csv"], None),
        ('format = "pages"', ["check", "S", "--format", "json"], "json"),
        ('format = "pages"\n[export]\nformat = "tsv"', ["export", "S", "-o", "-"], "tsv"),
        ('format = "pages"', ["ls", "S"], "pages"),
        ('format = "sarif"', ["ls", "S", "-f", "csv"], "csv"),
    ],
)
def test_a_general_value_need_not_suit_a_command_that_does_not_use_it(
    folder: Path, text: str, arguments: list[str], format: str | None
) -> None:
    (folder / "usp.toml").write_text(text)
    args, _ = parse_args(arguments)
    assert args.format == format


def test_a_general_value_may_be_for_options_that_a_command_does_not_have(folder: Path) -> None:
    (folder / "usp.toml").write_text('format = "pages"\n')
    args, _ = parse_args(["crawl", "list.txt", "-o", "out"])
    assert args.output == "out"


@pytest.mark.parametrize("typed", ["export S -o -", "export S -o - -f csv", "crawl S -o x"])
def test_a_general_value_that_no_command_takes_is_a_mistake(folder: Path, typed: str) -> None:
    (folder / "usp.toml").write_text('format = "page"\n')
    with pytest.raises(UsageError, match=r"^usp.toml: format must be one of"):
        parse_args(typed.split())


def test_files_that_a_config_names_are_found_beside_it(folder: Path, tmp_path: Path) -> None:
    config = folder.parent / "usp.toml"
    config.write_text(
        f"header = ['A: b', '@secrets/headers', '@{tmp_path}/h']\nrecord = 'site.warc.gz'\n"
        "[export]\noutput = 'tables/'\nfrom = '-'\n"
        "[crawl]\nheader = '@h'\noutput = 's3://bucket/crawl'\nprevious = 'last'\n"
    )
    assert options() == {
        "header": ["A: b", "@../secrets/headers", f"@{tmp_path}/h"],
        "record": "../site.warc.gz",
    }
    exported, _ = parse_args(["export", "example.org"])
    assert (exported.output, getattr(exported, "from")) == ("../tables/", "-")
    crawled, _ = parse_args(["crawl", "list.txt"])
    assert (crawled.header, crawled.output) == (["@../h"], "s3://bucket/crawl")
    assert crawled.previous == "../last"
    named, _ = parse_args(["export", "example.org", "--config", str(config), "-o", "x.csv"])
    assert (named.record, named.output) == (f"{folder.parent}/site.warc.gz", "x.csv")
    config.rename(folder / "usp.toml")
    assert options()["record"] == "site.warc.gz", "as it is written, if the file is right here"


def test_a_table_of_a_command_is_for_that_command(folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool.usp]\nlimit = 1\n[tool.usp.ls]\nlimit = 2\n")
    assert options() == {"limit": 2}


def test_a_file_can_be_named(folder: Path, tmp_path: Path) -> None:
    (folder / "usp.toml").write_text("limit = 1\n")
    other = tmp_path / "other.toml"
    other.write_text("limit = 2\n")
    assert options("--config", str(other))["limit"] == 2


def test_a_command_without_options_reads_no_file(folder: Path) -> None:
    (folder / "usp.toml").write_text("nonsense")
    args, _ = parse_args(["demo"])
    assert args.command.name == "demo"


WRONG = [
    ("limt = 3", "limt is no option (did you mean 'limit'?)"),
    ("config = 'x'", "config is no option"),
    ("max_seconds = 3", "max_seconds is no option (did you mean 'max-seconds'?)"),
    ("limit = '3'", "limit must be an integer, not '3'"),
    ("limit = true", "limit must be an integer, not True"),
    ("no-robots = 1", "no-robots must be true or false, not 1"),
    ("header = [1]", "header must be a text or a list of texts, not [1]"),
    ("kind = 3", "kind must be names with commas between, or a list of them, not 3"),
    ("format = 'page'", "format must be one of"),
    ("delay = inf", "delay must be a finite number, not inf"),
    ("since = 3", "since must be a date, a time or a duration"),
    ("[lss]\nlimit = 3", "lss is no command (did you mean 'ls'?)"),
    ("[demo]\nlimit = 3", "demo is no command"),
    ("[ls]\nlimt = 3", "ls.limt is no option (did you mean 'limit'?)"),
]


@pytest.mark.parametrize(("text", "message"), WRONG, ids=[text for text, _ in WRONG])
def test_a_mistake_is_one_line_with_file_and_key(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    (folder / "usp.toml").write_text(text)
    with pytest.raises(SystemExit) as ended:
        main(["ls", "http://127.0.0.1:9/"])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"usp: error: usp.toml: {message}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"limit =", "usp.toml is not valid TOML: "),
        (b"limit = " + b"[" * 5_000, "usp.toml is not valid TOML: it is nested too deeply"),
        (b"\xff", "usp.toml is not valid TOML: "),
        (None, "cannot read usp.toml: "),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, message: str
) -> None:
    if content is not None:
        (folder / "usp.toml").write_bytes(content)
    with pytest.raises(SystemExit) as ended:
        main(["ls", "http://127.0.0.1:9/", "--config", "usp.toml"])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"usp: error: {message}")


def test_the_key_of_a_pyproject_is_named_in_full(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder.parent / "pyproject.toml").write_text("[tool.usp.ls]\nlimit = 'x'\n")
    with pytest.raises(SystemExit):
        main(["ls", "http://127.0.0.1:9/"])
    expected = "usp: error: ../pyproject.toml: tool.usp.ls.limit must be an integer, not 'x'\n"
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("limit = -1", "usp.toml: limit must be an integer, at least 1, not -1."),
        ('include = "("', "usp.toml: include must be a regular expression or several: "),
        ('header = ["@nope"]', "usp.toml: header: cannot read "),
        ("[ls]\ntimeout = -1", "usp.toml: ls.timeout must be a number, at least "),
    ],
)
def test_a_wrong_value_is_told_with_file_and_key_wherever_it_is_checked(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    (folder / "usp.toml").write_text(f"{text}\n")
    with pytest.raises(SystemExit, match="2"):
        main(["ls", "http://127.0.0.1:9/"])
    err = capsys.readouterr().err
    assert err.startswith(f"usp: error: {message}")
    assert err.count("\n") == 1


FILE_ERROR = "No such file or directory"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[export]\ncolumns = "foo"', "export.columns: 'foo' is no column of pages; it has "),
        ('[export]\ncolumns = ["url", "url"]', "export.columns must be names of columns, each "),
        ("[export]\ncolumns = []", "export.columns must be names of columns, each once, not []."),
        ('[export]\ntable = "foo"', "export.table: 'foo' is no table; the tables are "),
        ('[export]\ntable = ["pages", "sites"]', "export.table: the format csv has one table; "),
        ('[export]\nbom = true\noutput = "x.jsonl"', "export.bom is for csv and tsv, not for "),
        ('output = "no/x.csv"', "output: cannot write {folder}/no/x.csv: " + FILE_ERROR),
        ('record = "no/x.warc.gz"', "record: cannot write no/x.warc.gz: " + FILE_ERROR),
        ('replay = "none"', "replay: none can't be read: " + FILE_ERROR),
        ('log-file = "no/x"', "log-file: cannot write no/x: " + FILE_ERROR),
        ('[export]\nfrom = "none"', "export.from: cannot read none: " + FILE_ERROR),
    ],
)
def test_a_wrong_value_for_an_export_is_told_with_file_and_key(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    (folder / "usp.toml").write_text(f"{text}\n")
    output = [] if "output" in text else ["-o", "x.csv"]
    with pytest.raises(SystemExit, match="2"):
        main(["export", "http://127.0.0.1:9/", *output])
    err = capsys.readouterr().err
    assert err.startswith(f"usp: error: usp.toml: {message.format(folder=folder.resolve())}")
    assert err.count("\n") == 1


def test_a_general_value_that_no_command_takes_is_told_with_what_any_of_them_takes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "usp.toml").write_text('format = "foo"\n')
    with pytest.raises(SystemExit, match="2"):
        main(["export", "http://127.0.0.1:9/", "-o", "q.csv"])
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("usp: error: usp.toml: format must be one of tabtree, ")
    assert {"parquet,", "sarif,", "markdown,"} <= set(line.split())


def test_what_is_typed_is_told_as_the_option(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "usp.toml").write_text("limit = 5\n")
    with pytest.raises(SystemExit, match="2"):
        main(["ls", "http://127.0.0.1:9/", "--limit", "-1"])
    assert capsys.readouterr().err.startswith("usp: error: --limit must be ")


def test_a_tool_that_is_no_table_is_a_mistake(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "pyproject.toml").write_text("[tool]\nusp = 3\n")
    with pytest.raises(SystemExit, match="2"):
        main(["ls", "http://127.0.0.1:9/"])
    assert capsys.readouterr().err.endswith("pyproject.toml: tool.usp must be a table of options\n")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no such device")
def test_a_config_without_end_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["ls", "http://127.0.0.1:9/", "--config", "/dev/zero"])
    assert "/dev/zero is no config file: it has more than a million" in capsys.readouterr().err
