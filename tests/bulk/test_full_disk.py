"""A disk without room: one clear error, whatever needed the room, and whoever runs the shard."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.bulk.sites import USER_AGENT
from tests.cli.command import USP, environment
from tests.server import LoopbackServer, urlset

PAGES = 9000
SHARD = """
import asyncio, sys
from usp.bulk import crawl_shard
from usp.exceptions import StorageError
try:
    crawl_shard(sys.argv[2:], sys.argv[1], user_agent="b/1 (+https://example.org/bot)",
                client_settings={"private_addresses": "allow"})
except StorageError as error:
    print("StorageError:", error)
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="has no limit on the size of files")


def limited(blocks: int, *line: str) -> subprocess.CompletedProcess[str]:
    """Run a process whose files have at most so many blocks of 512 bytes."""
    return subprocess.run(
        ["/bin/sh", "-c", f'ulimit -f {blocks}; exec "$@"', "sh", *line],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def serve(server: LoopbackServer) -> None:
    server.robots("sitemap.xml")
    server.site["/sitemap.xml"] = urlset(*(server.at(f"page/{n}") for n in range(PAGES)))


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [8, 100, 300])
def test_no_room_for_a_document_is_one_line_of_the_command(
    server: LoopbackServer, tmp_path: Path, blocks: int
) -> None:
    with LoopbackServer() as other:
        for each in (server, other):
            serve(each)
        listed, out = tmp_path / "list.txt", tmp_path / "out"
        listed.write_text(f"{server.url}\n{other.url}\n")
        options = ("--shards", "1", "--workers", "1", "--allow-private")
        ended = limited(
            blocks, *USP, "crawl", str(listed), "-o", str(out), *options, "--user-agent", USER_AGENT
        )
    assert ended.returncode == 3
    assert ended.stderr.count("\n") == 1, ended.stderr
    assert ended.stderr.startswith("usp: error: ")
    assert "File too large" in ended.stderr
    assert list(out.glob("*/*.parquet")) == []


@pytest.mark.slow
def test_no_room_for_a_document_is_a_storage_error_of_a_shard(
    server: LoopbackServer, tmp_path: Path
) -> None:
    serve(server)
    ended = limited(100, sys.executable, "-c", SHARD, str(tmp_path), server.url)
    assert ended.stderr == ""
    assert ended.stdout.startswith("StorageError: ")
