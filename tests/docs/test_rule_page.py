"""``rules.md`` is what ``rule_page.py`` generates, and claims no rule that nothing checks."""

import re

from tests.docs.rule_page import NOT_CHECKED, PAGE, render
from usp._check.registry import CHECKED
from usp._check.table import RULES
from usp.objects.problem import CODES

SECTION = re.compile(r"^### (SM\d{3}) (.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)


def test_the_page_is_generated_from_the_table() -> None:
    hint = "run: python -m tests.docs.rule_page"
    assert PAGE.read_text(encoding="utf-8") == render(), hint


def test_every_rule_has_its_section_and_says_whether_it_is_checked() -> None:
    sections = dict(SECTION.findall(render()))
    assert list(sections) == list(RULES)
    unchecked = {code for code, text in sections.items() if NOT_CHECKED in text}
    assert unchecked == RULES.keys() - CODES.keys() - CHECKED
