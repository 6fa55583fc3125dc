"""The table of rules: whole, well-formed, and with the severities that engines give."""

import re

from usp._check.rules import BLOCKS, CheckSeverity
from usp._check.table import RULES
from usp.objects.problem import CODES

NAMES = [rule.name for rule in RULES.values()]


def test_codes_and_names_are_well_formed_and_unique() -> None:
    assert [code for code in RULES if not re.fullmatch(r"SM[1-9]\d\d", code)] == []
    assert list(RULES) == sorted(RULES)
    assert {code[:3] for code in RULES} == BLOCKS.keys()
    assert [name for name in NAMES if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)] == []
    assert len(set(NAMES)) == len(NAMES)


def test_every_code_of_parsing_is_a_rule_and_check_has_its_own_codes() -> None:
    assert RULES.keys() > CODES.keys()
    own = RULES.keys() - CODES.keys()
    assert [code for code in own if int(code[3:]) < 50 and code[2] not in "89"] == []


def test_no_cell_of_a_row_is_empty() -> None:
    texts = {
        rule.code: (rule.condition, rule.authority, rule.fix, rule.example)
        for rule in RULES.values()
    }
    assert [code for code, cells in texts.items() if not all(cells)] == []
    assert [rule.code for rule in RULES.values() if not rule.needs] == []


def test_conditions_and_fixes_are_sentences() -> None:
    texts = [text for rule in RULES.values() for text in (rule.condition, rule.fix)]
    assert [text for text in texts if not text.endswith((".", '"'))] == []


def test_what_engines_refuse_is_an_error_though_the_parser_repairs_it() -> None:
    errors = {"SM205", "SM208", "SM212", "SM219", "SM301", "SM302", "SM401", "SM404", "SM506"}
    assert {RULES[code].severity for code in errors} == {CheckSeverity.ERROR}
    assert RULES["SM305"].severity is RULES["SM307"].severity is CheckSeverity.WARNING


def test_limits_of_the_program_are_never_a_finding_about_the_site() -> None:
    limits = [code for code in CODES if code.startswith("SM7")]
    assert {RULES[code].severity for code in limits} == {CheckSeverity.UNDECIDED}
