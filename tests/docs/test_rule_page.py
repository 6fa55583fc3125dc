"""``rules.md`` is what ``rule_page.py`` generates, with every rule."""

import re

from tests.docs.rule_page import PAGE, render
from usp._check.table import RULES

SECTION = re.compile(r"^### (SM\d{3}) (.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)


def test_the_page_is_generated_from_the_table() -> None:
    hint = "run: python -m tests.docs.rule_page"
    assert PAGE.read_text(encoding="utf-8") == render(), hint


def test_every_rule_has_its_section() -> None:
    sections = dict(SECTION.findall(render()))
    assert list(sections) == list(RULES)
