"""JSON from outside: whatever is wrong with it is a ``ValueError``; and JSON as output."""

import json
from pathlib import Path

import pytest

from tests.package_files import FILES, PACKAGE
from usp._check.baseline import Baseline
from usp._display import one_line
from usp._json import json_text, parse_json
from usp.exceptions import UsageError

DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    "text", ["", "{", "[" * 100_000, DEEP, DEEP.encode(), "1" * 5_000, b"\xff"]
)
def test_what_is_no_json_that_can_be_read_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_json(text)


def test_json_that_is_written_controls_no_terminal_and_means_the_same() -> None:
    value = {"url": "http://h/é\x1b\x7f\x9b\u2028\u202e\n", "more": [1]}
    assert one_line(json_text(value)) == json_text(value)
    assert "é" in json_text(value)
    assert json.loads(json_text(value, indent=2)) == value


def test_a_baseline_that_is_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    (tmp_path / "known.json").write_text(DEEP)
    with pytest.raises(UsageError, match="is not JSON: it is nested too deeply"):
        Baseline.read(tmp_path / "known.json")


def test_json_from_outside_is_read_by_one_function() -> None:
    reading = {
        str(file.relative_to(PACKAGE))
        for file in FILES
        if "json.load" in file.read_text(encoding="utf-8")
    }
    assert reading == {"_json.py"}
