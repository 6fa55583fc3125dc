"""Programs written for 1.8.1 run unchanged, and print what they printed there.

``programs/`` holds the programs, ``data/`` what they print with 1.8.1 (see ``record.py``), and
``corrections.py`` the values that are wrong there. Of the text of a reason only the phrases that
programs look for are compared (``PHRASES``). Each program runs in a process of its own, which
imports the package as a user's process does.
"""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest

from tests.compat.corrections import CORRECTIONS, Correction
from tests.compat.record import DATA, ENVIRONMENT, PROGRAMS
from tests.warm import WarmPython

WARM = WarmPython(
    ("http.server", "requests_cache", "requests_mock", "unittest.mock", "dateutil.parser"),
    environment=ENVIRONMENT,
)
"""With nothing of the package: which of its modules a program imports is a part of the test."""
NAMES = sorted(program.stem for program in PROGRAMS.glob("*.py"))
PHRASES = re.compile(
    r"Unable to fetch sitemap from \S+: .+"
    r"|Recursion detected in URL \S+"
    r"|Recursion detected when \S+ redirected to \S+"
    r"|^made so$"
)


def recorded(name: str) -> Any:
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


def corrected(name: str) -> Any:
    facts = recorded(name)
    for row in CORRECTIONS:
        if row.program == name:
            *keys, last = row.path
            holder = facts
            for key in keys:
                holder = holder[key]
            holder[last] = row.value
    return facts


class AnyText:
    """Equal to any text."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str | AnyText)

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "(any text)"


def plain_reasons(facts: Any) -> Any:
    """The same facts, each reason reduced to the phrase in it that programs rely on."""
    match facts:
        case dict():
            return {
                key: phrase(value) if key == "reason" else plain_reasons(value)
                for key, value in facts.items()
            }
        case list():
            return [plain_reasons(value) for value in facts]
        case _:
            return facts


def phrase(reason: str) -> str | AnyText:
    found = PHRASES.search(reason)
    return found[0] if found else AnyText()


@pytest.mark.parametrize("name", NAMES)
def test_a_program_for_1_8_1_prints_the_same(name: str) -> None:
    done = WARM.run(str(PROGRAMS / f"{name}.py"))
    assert done.returncode == 0, done.stderr.decode()
    printed = json.loads(done.stdout)
    assert plain_reasons(printed) == plain_reasons(corrected(name))


@pytest.mark.parametrize(
    "row", CORRECTIONS, ids=lambda row: f"{row.program}:{':'.join(map(str, row.path))}"
)
def test_a_correction_corrects_something(row: Correction) -> None:
    *keys, last = row.path
    holder = copy.deepcopy(recorded(row.program))
    for key in keys:
        holder = holder[key]
    there = holder.get(last) if isinstance(holder, dict) else holder[last]
    assert there != row.value
    assert row.reason


def test_every_program_has_its_recording() -> None:
    assert {file.stem for file in DATA.glob("*.json")} == {*NAMES, "pickled"}
