"""A page for each code: what it means as a problem of parsing, and as a rule of ``usp check``.

The facts come from ``usp.objects.problem.CODES`` and the table of rules; the sentences are here.
"""

import re
from collections.abc import Iterator
from typing import Final

from usp._check import rule_modules
from usp._check.rules import BLOCKS, Rule
from usp._check.table import RULES
from usp.objects.problem import CODES, Code, Severity

INDEX: Final = "reference/codes.md"
FOLDER: Final = "reference/codes"

_NOT_IN_THE_MENU: Final = "---\norphan: true\n---\n"
"""For Sphinx: a menu with hundreds of codes would be in the way, and slow to make."""
_LOST: Final = {
    Severity.ERROR: "part of the document was lost, so `complete` is False",
    Severity.WARNING: "nothing readable was lost, but other parsers may fail",
    Severity.INFO: "nothing was lost, and other parsers are not affected",
}
_MARKUP: Final = re.compile(r"([<>*_`\[\]|])")

_INDEX: Final = """\
# Codes

Every code has a page: what it means, whose rule it is, an example, and how to fix it. A code never
changes its meaning. `usp rule CODE` prints the same in a terminal.

[Problems](problems.md) explains what a problem of parsing is, [Checking sitemaps](check.md) what
a finding is. The same texts on one page each: [problems](problems.md), [rules](rules.md).
"""


def pages() -> dict[str, str]:
    """Return a page for each code, and their index, by their paths in the site."""
    rule_modules.load()
    codes = sorted(RULES.keys() | CODES.keys())
    made = {f"{FOLDER}/{code}.md": "\n".join(_page(code)) + "\n" for code in codes}
    return {INDEX: "\n".join(_index(codes)) + "\n", **made}


def _index(codes: list[str]) -> Iterator[str]:
    yield _INDEX.rstrip()
    for prefix, title in BLOCKS.items():
        yield from ("", f"## {prefix}: {title}", "")
        yield "| code | name | found by | what it means |"
        yield "|---|---|---|---|"
        for code in codes:
            if code.startswith(prefix):
                link, meaning = f"[{code}](codes/{code}.md)", _shown(_meaning(code))
                yield f"| {link} | `{_name(code)}` | {_finders(code)} | {meaning} |"


def _name(code: str) -> str:
    return RULES[code].name if code in RULES else CODES[code].name


def _meaning(code: str) -> str:
    return RULES[code].condition if code in RULES else CODES[code].meaning


def _finders(code: str) -> str:
    if code in CODES:
        return "parsing and `usp check`" if code in RULES else "parsing"
    return "`usp check`"


def _page(code: str) -> Iterator[str]:
    yield _NOT_IN_THE_MENU
    yield f"# {code} {_name(code)}"
    yield from ("", _shown(_meaning(code)))
    if code in RULES:
        yield from _as_rule(RULES[code])
    if code in CODES:
        yield from _as_problem(CODES[code])
    yield from ("", f"All codes: [by block](../codes.md). In a terminal: `usp rule {code}`.")


def _as_rule(rule: Rule) -> Iterator[str]:
    yield from ("", f"**Example:** `{rule.example}`", "", f"**What to do:** {_shown(rule.fix)}")
    yield from ("", "## As a finding of `usp check`", "")
    yield "| | |"
    yield "|---|---|"
    yield f"| severity | {rule.severity} |"
    yield f"| authority | {_shown(rule.authority)} |"
    if rule.authority_names:
        yield f"| other names | {_shown(', '.join(rule.authority_names))} |"
    yield f"| needs | {' and '.join(rule.needs)} |"
    if rule.engine:
        yield f"| only with | `--engine {rule.engine}` |"
    yield f"| to leave it out | `usp check SOURCE --ignore {rule.code}` |"


def _as_problem(code: Code) -> Iterator[str]:
    yield from ("", "## As a problem of parsing", "")
    lost = _LOST[code.severity]
    yield f"`Problem.name` is `{code.name}`. The severity is **{code.severity}**: {lost}."
    yield from ("", f"{_shown(code.meaning)} Specification: {_shown(code.rule)}.")
    yield from ("", f"**How to fix it:** {_shown(code.fix)}")


def _shown(text: str) -> str:
    """Return a text whose marks are shown and not obeyed."""
    return _MARKUP.sub(r"\\\1", text)
