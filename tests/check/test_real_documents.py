"""Real documents as sites published them: a check of one never raises, and gives the same twice."""

from pathlib import Path

import pytest

from tests.check.documents import findings_of
from usp._check.table import RULES

SAMPLED = 25
"""One of so many is checked by default."""


def check_all(corpus: Path, folder: Path, step: int) -> int:
    files = sorted(
        file for kind in ("xml", "feeds", "text", "robots") for file in (corpus / kind).iterdir()
    )
    checked = files[::step]
    for file in checked:
        name = "robots.txt" if file.parent.name == "robots" else file.name
        found = findings_of(file.read_bytes(), folder, name)
        assert found == findings_of(file.read_bytes(), folder, name), file
        assert all(finding.code in RULES for finding in found), file
        assert all(finding.count >= len(finding.examples) > 0 for finding in found), file
    return len(checked)


@pytest.mark.slow
def test_a_sample_of_real_documents_is_checked_without_an_exception(
    corpus: Path, tmp_path: Path
) -> None:
    assert check_all(corpus, tmp_path, SAMPLED) > 30


@pytest.mark.thorough
def test_all_real_documents_are_checked_without_an_exception(corpus: Path, tmp_path: Path) -> None:
    assert check_all(corpus, tmp_path, 1) > 800
