"""The example documents of the formats, and how to read or serve them.

``documents/`` holds one document for each example in the formats reference. They speak of
https://garden.example/; served on a loopback server they speak of that server instead.
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
    """The whole garden on a loopback server."""
    for file in DOCUMENTS.iterdir():
        server.site[f"/{file.name}"] = example(file.name).replace(SITE, server.url)
