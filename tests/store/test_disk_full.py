"""A temporary directory that is full or missing: one clear error, and no document is lost."""

import sys
from pathlib import Path

import pytest

from tests.cli.command import WARM as WARM_COMMAND
from tests.cli.command import Finished, environment
from tests.server import LoopbackServer, urlset
from tests.store.crawling_programs import (
    PAGES,
    PROGRAMS,
    PYTHON,
    command,
    serve_large_site,
)
from tests.warm import WarmPython

WARM = WarmPython(("usp.aio", "usp.tree"), PYTHON[1:3])
MESSAGE = "Data can't be kept in a temporary file"
ADVICE = "Set TMPDIR to a directory that has room."
SET_TEMPORARY_DIRECTORY = "import sys, tempfile; tempfile.tempdir = sys.argv[2]; "

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limits of this kind")


def run(line: list[str], folder: Path, *, max_blocks: int | None = None) -> Finished:
    """Run a program that may write files of at most so many blocks of 512 bytes."""
    python = next(warm for warm in (WARM, WARM_COMMAND) if tuple(line[1:3]) == warm.options)
    env = environment({"TMPDIR": str(folder)})
    done = python.run(*line[3:], env=env, max_blocks=max_blocks)
    return Finished(done.returncode, done.stdout.decode(), done.stderr.decode())


def error_of(program: Finished) -> str:
    """Return the last line on stderr of a program that failed: the error."""
    assert (program.code, program.out) == (1, "")
    assert "ResourceWarning" not in program.err
    assert "Exception ignored" not in program.err
    return program.err.splitlines()[-1]


@posix
@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_full_disk_raises_a_storage_error(
    server: LoopbackServer, tmp_path: Path, program: str
) -> None:
    serve_large_site(server, complete=True)
    error = error_of(run(command(program, server.url), tmp_path, max_blocks=100))
    reason = "File too large"  # the error of a limit; a full disk has "No space left on device"
    assert error == f"usp.exceptions.StorageError: {MESSAGE} in {tmp_path}: {reason}. {ADVICE}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@posix
def test_the_command_reports_a_full_disk_in_one_line(
    server: LoopbackServer, tmp_path: Path
) -> None:
    serve_large_site(server, complete=True)
    finished = run(command("command", server.url), tmp_path, max_blocks=100)
    assert (finished.code, finished.out) == (3, "")
    assert finished.err == f"usp: error: {MESSAGE} in {tmp_path}: File too large. {ADVICE}\n"


@posix
def test_a_local_file_too_large_for_memory_and_disk_raises_a_storage_error(tmp_path: Path) -> None:
    file = tmp_path / "sitemap.xml"
    file.write_bytes(urlset(*(f"https://example.org/{n}" for n in range(PAGES))))
    error = error_of(run(command("stream", str(file)), tmp_path, max_blocks=100))
    assert error.startswith(f"usp.exceptions.StorageError: {MESSAGE} in {tmp_path}")


@posix
@pytest.mark.parametrize("program", PROGRAMS)
def test_no_usable_temporary_directory_raises_a_storage_error(
    server: LoopbackServer, tmp_path: Path, program: str
) -> None:
    """No byte can be written anywhere, so Python accepts none of its candidates."""
    serve_large_site(server, complete=True)
    error = error_of(run(command(program, server.url), tmp_path, max_blocks=0))
    assert error.startswith(f"usp.exceptions.StorageError: {MESSAGE}: No usable temporary")
    assert error.endswith(ADVICE)


@pytest.mark.parametrize("name", ["missing", "file"])
@pytest.mark.parametrize("program", ["tree", "stream"])
def test_a_temporary_directory_that_is_missing_or_a_file_raises_a_storage_error(
    server: LoopbackServer, tmp_path: Path, program: str, name: str
) -> None:
    serve_large_site(server, complete=True)
    (tmp_path / "file").touch()
    line = [*PYTHON, SET_TEMPORARY_DIRECTORY + PROGRAMS[program], server.url, str(tmp_path / name)]
    error = error_of(run(line, tmp_path))
    assert error.startswith(f"usp.exceptions.StorageError: {MESSAGE} in {tmp_path / name}: ")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", PROGRAMS)
def test_small_documents_need_no_disk(server: LoopbackServer, tmp_path: Path, program: str) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(*(server.at(f"/{n}") for n in range(100)))
    line = [
        *PYTHON,
        SET_TEMPORARY_DIRECTORY + PROGRAMS[program],
        server.url,
        str(tmp_path / "missing"),
    ]
    assert run(line, tmp_path) == Finished(0, "100\n", "")


def test_a_document_from_a_string_needs_no_disk(tmp_path: Path) -> None:
    program = (
        f"{SET_TEMPORARY_DIRECTORY}import usp; "
        "text = '\\n'.join(f'https://example.org/{n}' for n in range(50_000)); "
        "print(sum(1 for _ in usp.parse(text).all_pages()), len(list("
        "usp.sitemap_from_str(text.encode()).all_pages())))"
    )
    line = [*PYTHON, program, "", str(tmp_path / "missing")]
    assert run(line, tmp_path) == Finished(0, "50000 50000\n", "")


def test_if_tmpdir_is_missing_another_directory_is_used(
    server: LoopbackServer, tmp_path: Path
) -> None:
    serve_large_site(server, complete=True)
    finished = run(command("tree", server.url), tmp_path / "missing")
    assert (finished.code, finished.out) == (0, f"{PAGES + 1}\n")
    assert not (tmp_path / "missing").exists()
