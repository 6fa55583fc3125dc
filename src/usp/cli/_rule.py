"""``usp rule``: explains a rule of ``usp check``, or lists those with a prefix."""

import argparse
import textwrap
from collections.abc import Iterator
from typing import Final

from usp._check.rules import Rule
from usp._check.table import RULES
from usp._validate import hint
from usp.cli._exit import Exit
from usp.exceptions import UsageError

_WIDTH: Final = 80


def run(args: argparse.Namespace) -> Exit:
    """Print what is known of a rule."""
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


def _listed(rule: Rule) -> str:
    return f"{rule.code}  {rule.severity:9}  {rule.name}"


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


def _field(name: str, text: str) -> Iterator[str]:
    if text:
        indent = " " * 13
        yield from textwrap.wrap(
            f"{name + ':':13}{text}", _WIDTH, subsequent_indent=indent, break_long_words=False
        )
