"""Pictures of the terminal: commands are run in a pseudo-terminal, and what they print is drawn.

The demo site stands for a website, under the name ``example.org``; durations are those of a fast
one, so that two builds draw the same. The pictures are SVG without scripts and without fonts from
elsewhere.
"""

import fcntl
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from usp.cli._demo_site import DemoSite

COLUMNS: Final = 100
SITE: Final = "https://example.org/"

COMMANDS: Final = {
    "ls": "usp ls example.org -f pages --no-known --exclude-sitemaps 'archive|feeds'",
    "find": "usp find example.org --no-known --shallow",
    "export": "usp export example.org -o pages.csv",
    "check": "usp check example.org --select SM1,SM5 --now 2026-11-17",
    "rule": "usp rule SM451",
    "sync": "usp sync example.org --state site.db --emit-initial --emit added --include /20",
}
"""The pictures, and the command of each."""

_DURATION: Final = re.compile(r"\b\d+(?:\.\d+)? s\b")
_FONTS: Final = re.compile(r"@font-face\s*{[^}]*}")


def pictures(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the SVG of each picture; commands write their files into the folder."""
    with DemoSite() as site:
        for name, command in COMMANDS.items():
            printed = run(command.replace("example.org", site.url), folder)
            shown = _DURATION.sub("0.1 s", printed.replace(site.url, SITE))
            yield name, drawn(command, shown)


def run(command: str, folder: Path) -> str:
    """Return what a command prints to a terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
    process = subprocess.Popen(
        [sys.executable, "-m", *shlex.split(command)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        env=environment,
    )
    os.close(theirs)
    printed = b"".join(_until_closed(ours))
    process.wait()
    return printed.decode().replace("\r\n", "\n")


def _until_closed(terminal: int) -> Iterator[bytes]:
    try:
        while chunk := os.read(terminal, 1 << 16):
            yield chunk
    except OSError:  # Linux: the other end is closed
        pass
    finally:
        os.close(terminal)


def drawn(command: str, printed: str) -> str:
    """Return a picture of a terminal in which a command was run."""
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
    console.print(f"[bold green]$[/] [bold]{command}[/]", highlight=False)
    console.print(Text.from_ansi(printed.rstrip()))
    svg = console.export_svg(title=command, theme=MONOKAI, unique_id="terminal")
    return _FONTS.sub("", svg).replace("Fira Code", "ui-monospace")
