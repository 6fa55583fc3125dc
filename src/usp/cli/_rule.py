"""``usp rule``: explains a rule of ``usp check``, or lists those with a prefix."""

import argparse
import textwrap
from collections.abc import Iterator
from typing import Final

from usp._check import rule_modules
from usp._check.registry import CHECKED
from usp._check.rules import Rule
from usp._check.table import RULES
from usp.cli._exit import Exit
from usp.cli._options import hint
from usp.exceptions import UsageError
from usp.objects.problem import CODES

_WIDTH: Final = 80
_NOT_CHECKED: Final = "no: this version of usp does not check it yet"


def run(args: argparse.Namespace) -> Exit:
    """Print what is known of a rule."""
    rule_modules.load()
    code = args.code.upper()
    found = [RULES[code]] if code in RULES else _with_prefix(code)
    if not found:
        raise UsageError(f"there is no rule {args.code!r}{hint(code, RULES)}")
    lines = _explained(found[0]) if len(found) == 1 else map(_listed, found)
    for line in lines:
        print(line)
    return Exit.DONE


def _with_prefix(prefix: str) -> list[Rule]:
    return [rule for code, rule in RULES.items() if prefix == "ALL" or code.startswith(prefix)]


def is_checked(code: str) -> bool:
    """Tell whether something checks a code: parsing does, or a rule."""
    return code in CODES or code in CHECKED


def _listed(rule: Rule) -> str:
    mark = "" if is_checked(rule.code) else " (not checked yet)"
    return f"{rule.code}  {rule.severity:9}  {rule.name}{mark}"


def _explained(rule: Rule) -> Iterator[str]:
    yield f"{rule.code} {rule.name} ({rule.severity})"
    yield ""
    yield from textwrap.wrap(rule.condition, _WIDTH)
    yield ""
    yield from _field("What to do", rule.fix)
    yield from _field("Example", rule.example)
    yield from _field("Whose rule", rule.authority)
    yield from _field("Other names", ", ".join(rule.authority_names))
    yield from _field("Needs", ", ".join(rule.needs))
    yield from _field("Only with", f"--engine {rule.engine}" if rule.engine else "")
    yield from _field("Checked", "" if is_checked(rule.code) else _NOT_CHECKED)


def _field(name: str, text: str) -> Iterator[str]:
    if text:
        indent = " " * 13
        yield from textwrap.wrap(
            f"{name + ':':13}{text}", _WIDTH, subsequent_indent=indent, break_long_words=False
        )
