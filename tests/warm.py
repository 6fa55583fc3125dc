"""Processes that start with their imports done.

Most of the CPU time of a short program is the import of what it needs. So one process, for each
kind of program, imports that once, and forks a process for each run, which then does what Python's
command line says: ``-m module``, ``-c code`` or a file, with its arguments. It is a process of its
own like any other: its memory, CPU time, limits, files and exit belong to it alone.

Not for programs whose start is tested, and not with environment variables that Python reads when it
starts: those need a new process. Where processes can't fork, each one is new.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
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
        self, *arguments: str, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """Run Python with these arguments in the folder of the project, without input."""
        variables = {**(os.environ if env is None else env), **self.environment}
        if not CAN_FORK:
            return subprocess.run(
                [sys.executable, *self.options, *arguments],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                cwd=_PROJECT,
                env=variables,
                timeout=TIMEOUT,
            )
        with ExitStack() as files:
            request, out, err = (files.enter_context(TemporaryFile()) for _ in range(3))
            request.write(json.dumps([arguments, variables]).encode())
            request.seek(0)
            code = self._fork(request.fileno(), out.fileno(), err.fileno())
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(arguments, code, out.read(), err.read())

    def _fork(self, *files: int) -> int:
        connection = self._socket or self._start()
        try:
            socket.send_fds(connection, [b"+"], files)
            return int(connection.recv(16))
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
            self._server.wait()
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
        arguments, variables = json.load(opened)
    os.environ.clear()
    os.environ.update(variables)
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
    _be(_serve(connection))


if __name__ == "__main__":
    _main()
