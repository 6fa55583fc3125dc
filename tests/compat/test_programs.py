"""Programs written for 1.8.1 run unchanged, and print what they printed there.

``programs/`` holds the programs, ``data/`` what 1.8.1 made them print (see ``record.py``), and
``corrections.py`` the few places where that was wrong. The wording of a reason is free but for the
phrases that programs look for (``PHRASES``), so only those are compared.

Rules of this room: each program runs as a process of its own, as its user would run it.
"""

from __future__ import annotations

import copy
import json
import re
import sys
from typing import Any

import pytest

from tests.compat.corrections import CORRECTIONS, Correction
from tests.compat.record import DATA, PROGRAMS, run

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
            *way, last = row.place
            holder = facts
            for key in way:
                holder = holder[key]
            holder[last] = row.value
    return facts


class FreeWording:
    """Equal to any text."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str | FreeWording)

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "(free wording)"


def plain_reasons(facts: Any) -> Any:
    """The same facts, each reason cut down to the phrase in it that programs rely on."""
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


def phrase(reason: str) -> str | FreeWording:
    found = PHRASES.search(reason)
    return found[0] if found else FreeWording()


@pytest.mark.parametrize("name", NAMES)
def test_a_program_for_1_8_1_prints_the_same(name: str) -> None:
    printed = json.loads(run(sys.executable, PROGRAMS / f"{name}.py"))
    assert plain_reasons(printed) == plain_reasons(corrected(name))


@pytest.mark.parametrize("row", CORRECTIONS, ids=lambda row: f"{row.program}:{row.place[-1]}")
def test_a_correction_corrects_something(row: Correction) -> None:
    *way, last = row.place
    holder = copy.deepcopy(recorded(row.program))
    for key in way:
        holder = holder[key]
    there = holder.get(last) if isinstance(holder, dict) else holder[last]
    assert there != row.value
    assert row.reason


def test_every_program_has_its_recording() -> None:
    assert {file.stem for file in DATA.glob("*.json")} == {*NAMES, "pickled"}
