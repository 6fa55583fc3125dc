"""Generates ``reference/rules.md`` from the table of rules: ``python -m tests.docs.rule_page``.

What the table knows is taken from the table; the sentences around it are here.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from usp._check.rules import BLOCKS, Rule
from usp._check.table import RULES

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "reference" / "rules.md"

_INTRO: Final = """\
<!-- Generated from src/usp/_check/rows_*.py. Don't edit this page: edit the rows, then run
     `python -m tests.docs.rule_page`. tests/docs/test_rule_page.py compares the two. -->
# Rules of `usp check`

Every rule: what it finds, how serious that is for a search engine, whose rule it is, what it must
see, and how to fix it. [Checking sitemaps](check.md) explains the command; `usp rule SM350` prints
one rule.

A code never changes its meaning. Codes up to 49 of a block are also [problems](problems.md) of
parsing: there, the severity says whether something was lost; here, what an engine makes of it.
Codes from 50 on are found by `usp check` alone, and so are SM8 and SM9.
"""


def render() -> str:
    """The page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield _INTRO.rstrip()
    for prefix, title in BLOCKS.items():
        rules = [rule for code, rule in RULES.items() if code.startswith(prefix)]
        yield from ("", f"## {prefix} {title}")
        for rule in rules:
            yield from _section(rule)


def _section(rule: Rule) -> Iterator[str]:
    yield from ("", f"### {rule.code} {rule.name}", "")
    facts = [f"**{rule.severity}**"]
    facts.append(f"authority: {rule.authority}")
    facts.append(f"needs {' and '.join(rule.needs)}")
    if rule.engine:
        facts.append(f"only with `--engine {rule.engine}`")
    yield "; ".join(facts) + "."
    if rule.authority_names:
        yield f"Other names: {', '.join(rule.authority_names)}."
    yield ""
    yield _escaped(rule.condition)
    yield ""
    yield f"- Example: `{rule.example}`"
    yield f"- What to do: {_escaped(rule.fix)}"


def _escaped(text: str) -> str:
    """A text whose tags are shown."""
    return text.replace("<", "&lt;")


def main() -> None:
    """Write the page."""
    PAGE.write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
