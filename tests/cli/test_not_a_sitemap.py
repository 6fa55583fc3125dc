"""Files that are no sitemaps, given to what reads sitemaps: one clear line."""

import asyncio
import os
import re
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import usp as package
from tests.cli.command import redirected, usp
from tests.server import LoopbackServer, urlset
from usp import aio
from usp.exceptions import UsageError
from usp.web_client.recording import RecordingWebClient

WORDS = {
    "warc": "is a recording, not a sitemap: .*--replay",
    "warc.gz": "is a recording, not a sitemap: .*--replay",
    "db": "is an SQLite database, not a sitemap: usp check, diff and report read it",
    "parquet": "is a Parquet file, not a sitemap: ",
    "arrow": "is an Arrow file, not a sitemap: ",
}
FUNCTIONS: dict[str, Callable[[str], Any]] = {
    "sitemap_tree": package.sitemap_tree,
    "iter_pages": package.iter_pages,
    "find": package.find,
    "to_arrow": package.to_arrow,
    "record_batches": lambda source: list(package.record_batches(source)),
    "export": lambda source: package.export(source, f"{source}.csv"),
    "sync": lambda source: package.sync(source, state=f"{source}.state"),
    "aio.sitemap_tree": lambda source: asyncio.run(aio.sitemap_tree(source)),
}


@pytest.fixture
def file(server: LoopbackServer, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """A file of a kind, under a name that doesn't say so."""
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(server.at("/1"))
    path = tmp_path / f"file.{request.param}"
    if request.param.startswith("warc"):
        with closing(RecordingWebClient(path)) as client:
            package.sitemap_tree(server.url, web_client=client)
    else:
        package.export(server.url, path)
    server.requests.clear()
    return str(path.rename(tmp_path / "pages.xml"))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("file", "words"), WORDS.items(), indirect=["file"], ids=WORDS)
def test_no_command_reads_it_as_a_sitemap(
    file: str, words: str, server: LoopbackServer, tmp_path: Path
) -> None:
    output = str(tmp_path / "made")
    for command in (
        ("ls", file),
        ("ls", file, "-f", "pages"),
        ("ls", file, "-f", "csv"),
        ("find", file),
        ("export", file, "-f", "csv", "-o", output),
        ("sync", file, "--state", output),
    ):
        done = usp(*command)
        assert (done.code, done.out, len(done.messages)) == (2, "", 1), done
        assert re.search(words, done.err)
    assert server.requested == []
    assert [path.name for path in tmp_path.iterdir()] == ["pages.xml"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("call", FUNCTIONS.values(), ids=FUNCTIONS)
@pytest.mark.parametrize(("file", "words"), WORDS.items(), indirect=["file"], ids=WORDS)
def test_no_function_reads_it_as_a_sitemap(
    call: Callable[[str], object], file: str, words: str, server: LoopbackServer
) -> None:
    with pytest.raises(UsageError, match=words):
        call(file)
    assert server.requested == []


@pytest.mark.parametrize("file", ["warc.gz"], indirect=True)
def test_what_comes_by_a_pipe_is_told_as_well(file: str, tmp_path: Path) -> None:
    done = redirected(f"< {file}", "ls", "-")
    assert (done.code, len(done.messages)) == (2, 1)
    assert "- is a recording" in done.err
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(Path(file).read_bytes()))
    writer.start()
    with pytest.raises(UsageError, match="is a recording"):
        package.sitemap_tree(pipe)
    writer.join()


@pytest.mark.parametrize("file", ["warc.gz"], indirect=True)
def test_commands_that_take_recordings_replay_it(file: str, server: LoopbackServer) -> None:
    assert "1 sitemap checked" in usp("check", file).out
    assert usp("diff", file, file, "--exit-code").code == 0
    assert server.requested == []
