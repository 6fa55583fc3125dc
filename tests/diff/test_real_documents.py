"""Real sitemaps and their exports are the same, value by value, whatever the format."""

from pathlib import Path

import pytest

import usp

DOCUMENTS = 20
MAX_BYTES = 500_000


def urlsets(corpus: Path) -> list[Path]:
    """Some documents with pages: an index would be followed to the network."""
    files = sorted(path for path in corpus.rglob("*") if path.is_file())
    heads = ((path, path.read_bytes()[:2000]) for path in files if path.stat().st_size < MAX_BYTES)
    found = [path for path, head in heads if b"<urlset" in head or b"<rss" in head]
    return found[:: max(1, len(found) // DOCUMENTS)][:DOCUMENTS]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "arrow", "db"])
def test_a_document_and_its_export_are_the_same(suffix: str, corpus: Path, tmp_path: Path) -> None:
    compared = 0
    for number, document in enumerate(urlsets(corpus)):
        exported = tmp_path / f"{number}.{suffix}"
        if not usp.export(document, exported).rows["pages"]:
            continue
        with usp.diff(document, exported) as found:
            assert list(found) == [], document
        compared += found.same
    assert compared > 1000
