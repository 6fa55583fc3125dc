"""A temporary directory that is full, or not there: one clear error, and never a lost document."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.cli.command import TIMEOUT, Finished, environment
from tests.server import LoopbackServer, urlset
from tests.store.programs import PAGES, PYTHON, WAYS, command, large_site

NO_ROOM = "A large document can't be kept in a temporary file"
ADVICE = "Set TMPDIR to a directory that has room."
MISSING = "import tempfile; tempfile.tempdir = sys.argv[2]; "

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limits of this kind")


def ended(line: list[str], folder: Path, *, blocks: int | None = None) -> Finished:
    """Run a program that may write files of so many blocks of 512 bytes only."""
    if blocks is not None:
        line = ["/bin/sh", "-c", f'ulimit -f {blocks}; exec "$@"', "sh", *line]
    env = environment({"TMPDIR": str(folder)})
    done = subprocess.run(line, capture_output=True, check=False, env=env, timeout=TIMEOUT)
    return Finished(done.returncode, done.stdout.decode(), done.stderr.decode())


def error_of(program: Finished) -> str:
    """The last line of what a program said: the error itself."""
    assert (program.code, program.out) == (1, "")
    assert "ResourceWarning" not in program.err
    assert "Exception ignored" not in program.err
    return program.err.splitlines()[-1]


@posix
@pytest.mark.parametrize("way", WAYS)
def test_a_disk_that_gets_full_is_said(server: LoopbackServer, tmp_path: Path, way: str) -> None:
    large_site(server, ends=True)
    found = error_of(ended(command(way, server.url), tmp_path, blocks=100))
    reason = "File too large"  # what a limit says in place of "No space left on device"
    assert found == f"usp.exceptions.StorageError: {NO_ROOM} in {tmp_path}: {reason}. {ADVICE}"
    assert list(tmp_path.iterdir()) == []


@posix
def test_the_command_says_so_in_one_line(server: LoopbackServer, tmp_path: Path) -> None:
    large_site(server, ends=True)
    found = ended(command("command", server.url), tmp_path, blocks=100)
    assert (found.code, found.out) == (3, "")
    assert found.err == f"usp: error: {NO_ROOM} in {tmp_path}: File too large. {ADVICE}\n"


@posix
def test_a_file_too_large_to_rest_in_memory(tmp_path: Path) -> None:
    file = tmp_path / "sitemap.xml"
    file.write_bytes(urlset(*(f"https://example.org/{n}" for n in range(PAGES))))
    found = error_of(ended(command("stream", str(file)), tmp_path, blocks=100))
    assert found.startswith(f"usp.exceptions.StorageError: {NO_ROOM} in {tmp_path}")


@posix
@pytest.mark.parametrize("way", WAYS)
def test_no_temporary_directory_at_all(server: LoopbackServer, tmp_path: Path, way: str) -> None:
    """Not a byte can be written anywhere, so Python finds none of its usual places fit."""
    large_site(server, ends=True)
    found = error_of(ended(command(way, server.url), tmp_path, blocks=0))
    assert found.startswith(f"usp.exceptions.StorageError: {NO_ROOM}: No usable temporary")
    assert found.endswith(ADVICE)


@pytest.mark.parametrize("place", ["missing", "file"])
@pytest.mark.parametrize("way", ["tree", "stream"])
def test_a_directory_that_went_away(
    server: LoopbackServer, tmp_path: Path, way: str, place: str
) -> None:
    large_site(server, ends=True)
    (tmp_path / "file").touch()
    program = f"import sys; {MISSING}{WAYS[way]}"
    line = [*PYTHON, program, server.url, str(tmp_path / place)]
    found = error_of(ended(line, tmp_path))
    assert found.startswith(f"usp.exceptions.StorageError: {NO_ROOM} in {tmp_path / place}: ")


@pytest.mark.parametrize("way", WAYS)
def test_small_documents_need_no_disk(server: LoopbackServer, tmp_path: Path, way: str) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(*(server.at(f"/{n}") for n in range(100)))
    program = f"import sys; {MISSING}{WAYS[way]}"
    line = [*PYTHON, program, server.url, str(tmp_path / "missing")]
    assert ended(line, tmp_path) == Finished(0, "100\n", "")


def test_a_document_at_hand_needs_no_disk(tmp_path: Path) -> None:
    program = (
        f"import sys; {MISSING}import usp; "
        "text = '\\n'.join(f'https://example.org/{n}' for n in range(50_000)); "
        "print(sum(1 for _ in usp.parse(text).all_pages()), len(list("
        "usp.sitemap_from_str(text.encode()).all_pages())))"
    )
    line = [*PYTHON, program, "", str(tmp_path / "missing")]
    assert ended(line, tmp_path) == Finished(0, "50000 50000\n", "")


def test_where_tmpdir_is_wrong_python_finds_another_place(
    server: LoopbackServer, tmp_path: Path
) -> None:
    large_site(server, ends=True)
    found = ended(command("tree", server.url), tmp_path / "missing")
    assert (found.code, found.out) == (0, f"{PAGES + 1}\n")
    assert tempfile.gettempdir() != str(tmp_path / "missing")
