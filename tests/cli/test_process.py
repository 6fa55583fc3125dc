"""The command as a process: closed pipes, Ctrl-C, imported modules."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.command import USP, run, search_path, start
from tests.server import LoopbackServer, index, stall, urlset

MANY = 50_000
LIGHT = {
    *("usp._display", "usp._own_process", "usp._installation", "usp._validate", "usp._version"),
    "usp.exceptions",
}
SCRIPT = (str(Path(sys.executable).with_name("usp")),)

no_sigint_on_windows = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no SIGINT for one process"
)


def test_a_pipe_that_is_closed_early_is_not_an_error(server: LoopbackServer) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(*(server.at(f"/page/{n}") for n in range(MANY)))
    with start("ls", server.url, "-k", "-f", "pages") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().decode() == f"{server.at('/page/0')}\n"
        process.stdout.close()
        assert process.stderr.read().decode() == ""
    assert process.returncode == 0


def test_a_pipe_that_was_closed_before_is_not_an_error() -> None:
    with start("--version") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read().decode() == ""
    assert process.returncode == 0


@no_sigint_on_windows
@pytest.mark.parametrize("stalled", ["/robots.txt", "/a.xml", "/sitemap.xml"])
def test_ctrl_c_stops_at_once_without_output(server: LoopbackServer, stalled: str) -> None:
    server.robots("/i.xml")
    server.site |= {"/i.xml": index(server.at("/a.xml")), "/a.xml": urlset(server.at("/one"))}
    server.site[stalled] = stall
    with start("ls", server.url) as process:
        while stalled not in server.requested:
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
    assert process.returncode == 130
    assert (out.decode(), err.decode()) == ("", "")


@no_sigint_on_windows
@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
@pytest.mark.parametrize(
    "command",
    [
        ("export", "-o", "x.db"),
        ("export", "-o", "x.parquet"),
        ("ls", "--record", "x.warc.gz"),
    ],
    ids=["export to a database", "export to Parquet", "recording"],
)
def test_a_command_that_is_ended_leaves_no_scratch_folder_behind(
    server: LoopbackServer, tmp_path: Path, command: tuple[str, ...], how: int, code: int
) -> None:
    server.robots("/a.xml", "/b.xml")
    server.site |= {"/a.xml": urlset(server.at("/one")), "/b.xml": stall}
    *words, name = command
    with start(*words, str(tmp_path / name), server.url) as process:
        while not ("/b.xml" in server.requested and any(tmp_path.iterdir())):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(how)
        out, err = process.communicate(timeout=10)
    assert (process.returncode, out.decode(), err.decode()) == (code, "", "")
    assert not list(tmp_path.glob(".usp-part-*"))


@no_sigint_on_windows
def test_a_process_that_ignores_sigterm_goes_on_ignoring_it(server: LoopbackServer) -> None:
    server.site["/robots.txt"] = stall
    ignoring = "import signal, runpy; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    program = (sys.executable, "-c", f"{ignoring}; runpy.run_module('usp', run_name='__main__')")
    with start("ls", server.url, program=program) as process:
        while "/robots.txt" not in server.requested:
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
    assert process.returncode == 130


@pytest.mark.sampled(5)
@no_sigint_on_windows
@pytest.mark.parametrize("program", [USP, SCRIPT], ids=["module", "script"])
@pytest.mark.parametrize("command", [("ls", "http://127.0.0.1:9/"), ("demo",)], ids=["ls", "demo"])
@pytest.mark.parametrize("slow", ["argparse", "logging", "requests"])
def test_ctrl_c_works_while_modules_are_imported(
    tmp_path: Path, program: tuple[str, ...], command: tuple[str, ...], slow: str
) -> None:
    started = tmp_path / "began"
    stalling = f"import time\nopen({str(started)!r}, 'w').close()\ntime.sleep(60)\n"
    (tmp_path / f"{slow}.py").write_text(stalling)
    with start(*command, program=program, env={"PYTHONPATH": search_path(tmp_path)}) as process:
        while not started.exists():
            assert process.poll() is None
            time.sleep(0.02)
        time.sleep(0.1)  # it sleeps now; a signal while a file is closed could be ignored
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
    assert (process.returncode, out.decode(), err.decode()) == (130, "", "")


def test_an_export_to_parquet_imports_nothing_that_it_does_not_need(
    server: LoopbackServer, tmp_path: Path
) -> None:
    pytest.importorskip("pyarrow")
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(server.at("/one"))
    ended = run(
        *(sys.executable, "-X", "importtime", "-m", "usp"),
        *("export", server.url, "-k", "-o", str(tmp_path / "pages.parquet")),
    )
    assert ended.code == 0, ended.err
    loaded = {line.rpartition("|")[2].strip() for line in ended.err.splitlines()}
    assert "pyarrow.lib" in loaded
    # Where one is looked for, its name is there; if it were found, its parts were as well.
    unneeded = ("numpy.", "pandas.", "charset_normalizer.", "chardet.")
    assert not any(name.startswith(unneeded) for name in loaded)
    messages = [line for line in ended.err.splitlines() if not line.startswith("import time")]
    assert len(messages) == 1, messages  # what came of it, and no warning


def test_version_imports_no_network_module() -> None:
    ended = run(sys.executable, "-X", "importtime", "-m", "usp", "--version")
    loaded = {line.rpartition("|")[2].strip() for line in ended.err.splitlines()}
    assert "usp.cli.cli" in loaded
    assert not loaded & {"requests", "urllib3", "dateutil", "http", "logging", "socket"}
    ours = {name for name in loaded if name.startswith("usp.")}
    assert {name for name in ours if not name.startswith("usp.cli")} <= LIGHT


@pytest.mark.skipif(sys.platform != "linux", reason="chosen on Linux only")
@pytest.mark.parametrize(("chosen", "used"), [(None, "system"), ("mimalloc", "mimalloc")])
def test_arrow_takes_the_memory_of_a_command_from_the_system(chosen: str | None, used: str) -> None:
    pytest.importorskip("pyarrow")
    code = (
        "from usp._own_process import prepare_libraries; prepare_libraries(); "
        "import pyarrow; print(pyarrow.default_memory_pool().backend_name)"
    )
    name = "ARROW_DEFAULT_MEMORY_POOL"
    environment = {key: value for key, value in os.environ.items() if key != name}
    if chosen:
        environment[name] = chosen
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert ended.stdout == f"{used}\n"
