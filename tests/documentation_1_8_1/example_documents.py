"""One example document for each format in the documentation of 1.8.1, to read or to serve.

The documents in ``documents/`` contain URLs of https://garden.example/. A loopback server serves
them with its own URL in place of that.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.server import LoopbackServer

DOCUMENTS: Final = Path(__file__).resolve().parent / "documents"
SITE: Final = "https://garden.example/"


def example(name: str) -> str:
    return (DOCUMENTS / name).read_text(encoding="utf-8")


def serve_all(server: LoopbackServer) -> None:
    """Serve all example documents on a loopback server."""
    for file in DOCUMENTS.iterdir():
        server.site[f"/{file.name}"] = example(file.name).replace(SITE, server.url)
