"""Processes that start with their imports done.

Most of the CPU time of a short program is the import of what it needs. So one process, for each
kind of program, imports that once, and forks a process for each run, which then does what Python's
command line says: ``-m module``, ``-c code`` or a file, with its arguments. It is a process of its
own like any other: its memory, CPU time, limits, files and exit belong to it alone.

Not for programs whose start is tested, and not with environment variables that Python reads when it
starts (``starts_alike``): those need a new process. Where processes can't fork, each one is new.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from types import ModuleType
from typing import Final

CAN_FORK: Final = hasattr(os, "fork") and hasattr(socket, "send_fds")
TIMEOUT: Final = 110
"""Seconds for one run: less than a test may take."""
_PROJECT: Final = Path(__file__).resolve().parent.parent
_LIMIT: Final = 'ulimit -f {}; exec "$@"'


_READ_AT_START: Final = ("PYTHON", "LC_", "LANG", "TZ")


def starts_alike(variables: Iterable[str]) -> bool:
    """Return whether Python reads none of these variables when it starts."""
    return not any(name.startswith(_READ_AT_START) for name in variables)


@dataclass
class WarmPython:
    """An interpreter with these options, in which these modules are imported already."""

    modules: tuple[str, ...]
    options: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that Python reads when it starts."""
    _server: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _socket: socket.socket | None = field(default=None, init=False)

    def run(
        self,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        cwd: Path = _PROJECT,
        max_blocks: int | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run Python with these arguments in this folder, without input.

        It may write files of at most ``max_blocks`` blocks of 512 bytes, as after ``ulimit -f``.
        """
        variables = {**(os.environ if env is None else env), **self.environment}
        if not CAN_FORK:
            limit = () if max_blocks is None else ("/bin/sh", "-c", _LIMIT.format(max_blocks), "sh")
            return subprocess.run(
                [*limit, sys.executable, *self.options, *arguments],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                cwd=cwd,
                env=variables,
                timeout=TIMEOUT,
            )
        with ExitStack() as files:
            request = files.enter_context(TemporaryFile())
            request.write(json.dumps([arguments, variables, str(cwd), max_blocks]).encode())
            request.seek(0)
            pipes = [os.pipe(), os.pipe()]
            for end, _ in pipes:
                files.callback(os.close, end)
            try:
                connection = self._fork(request.fileno(), *(end for _, end in pipes))
            finally:
                for _, end in pipes:
                    os.close(end)
            ended = self._outcome(connection, *(end for end, _ in pipes))
            return subprocess.CompletedProcess(arguments, *ended)

    def _fork(self, *files: int) -> socket.socket:
        connection = self._socket or self._start()
        socket.send_fds(connection, [b"+"], files)
        return connection

    def _outcome(self, connection: socket.socket, out: int, err: int) -> tuple[int, bytes, bytes]:
        """Wait for the end of the process; return its exit code and what it has written."""
        written = {out: bytearray(), err: bytearray()}
        until = time.monotonic() + TIMEOUT
        try:
            with selectors.DefaultSelector() as waiting:
                for end in written:
                    waiting.register(end, selectors.EVENT_READ)
                while waiting.get_map() and time.monotonic() < until:
                    for key, _ in waiting.select(1):
                        data = os.read(key.fd, 1 << 16)
                        written[key.fd] += data
                        if not data:
                            waiting.unregister(key.fd)
            return int(connection.recv(16)), bytes(written[out]), bytes(written[err])
        except BaseException:  # the time limit of the test, too
            self.stop()
            raise

    def _start(self) -> socket.socket:
        self._socket, theirs = socket.socketpair()
        self._socket.settimeout(TIMEOUT)
        with theirs:
            serve = ("-m", "tests.warm", str(theirs.fileno()))
            self._server = subprocess.Popen(
                [sys.executable, *self.options, *serve, *self.modules],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,  # as each run has: Python prepares for it when it starts
                stderr=subprocess.PIPE,
                cwd=_PROJECT,
                env={**os.environ, **self.environment},
                start_new_session=True,
            )
        atexit.register(self.stop)
        return self._socket

    def stop(self) -> None:
        """End the process that forks, and the one that it has forked."""
        if self._server is not None and self._socket is not None:
            atexit.unregister(self.stop)
            self._socket.close()
            os.killpg(self._server.pid, signal.SIGKILL)
            self._server.communicate()
            self._server = self._socket = None


def _serve(connection: socket.socket) -> list[str]:
    """Fork for each request; return, in the new process only, its arguments."""
    while True:
        _, files, _, _ = socket.recv_fds(connection, 1, 3)
        if not files:
            sys.exit()
        process = os.fork()
        if not process:
            break
        for file in files:
            os.close(file)
        connection.sendall(b"%d" % os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
    connection.close()
    request, out, err = files
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.close(out)
    os.close(err)
    with os.fdopen(request, "rb") as opened:
        arguments, variables, folder, max_blocks = json.load(opened)
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    sys.path[0] = folder
    if max_blocks is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (512 * max_blocks, resource.RLIM_INFINITY))
    return list(arguments)


def _be(arguments: list[str]) -> None:
    """Do what Python does with these arguments."""
    match arguments:
        case ["-m", module, *rest]:
            sys.argv = ["-m", *rest]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case ["-c", code, *rest]:
            sys.argv = ["-c", *rest]
            main = sys.modules["__main__"] = ModuleType("__main__")
            exec(compile(code, "<string>", "exec"), vars(main))  # noqa: S102 -- as Python does
        case [file, *rest]:
            sys.argv = [file, *rest]
            sys.path[0] = str(Path(file).resolve().parent)
            runpy.run_path(file, run_name="__main__")


def _main() -> None:
    connection = socket.socket(fileno=int(sys.argv[1]))
    for module in sys.argv[2:]:
        import_module(module)
    gc.collect()
    gc.freeze()  # or each process would copy all memory when it looks for garbage, and at its end
    arguments = _serve(connection)
    code = 0
    try:
        _be(arguments)
    except SystemExit as end:
        if isinstance(end.code, str):  # Python prints it
            raise
        code = end.code or 0
        end.__traceback__ = None
    _end(code)


def _end(code: int) -> None:
    """End this process as Python does, but leave the modules that were there before as they are.

    To take them apart costs most of the time of a short run: each page of memory is copied first.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    if (main := vars(sys.modules["__main__"])) is not globals():
        main.clear()
    gc.collect()  # reports what was left open, in development mode
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        code = code or 120
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    _main()
