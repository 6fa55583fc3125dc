"""How findings are given to CI services: annotations of GitHub, JUnit, SARIF."""

from collections import defaultdict
from collections.abc import Iterator
from html import escape
from pathlib import PurePath
from typing import Any, Final

from usp._check.findings import Finding, FindingExample
from usp._check.rules import BLOCKS, CheckSeverity
from usp._check.table import RULES
from usp._check.url_key import url_key
from usp._display import one_line, shown_url
from usp._json import json_text
from usp._quantities import count
from usp._version import __version__
from usp.cli._check_formats import THE_SITE, CheckReport, place

_MAX_ANNOTATIONS: Final = 10
"""GitHub shows ten annotations of each level for a step."""
_LEVELS: Final = {
    CheckSeverity.ERROR: "error",
    CheckSeverity.WARNING: "warning",
    CheckSeverity.INFO: "notice",
    CheckSeverity.UNDECIDED: "notice",
}
_SARIF_LEVELS: Final = {
    CheckSeverity.ERROR: "error",
    CheckSeverity.WARNING: "warning",
    CheckSeverity.INFO: "note",
    CheckSeverity.UNDECIDED: "none",
}
_SARIF_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_PROPERTY: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})
_MESSAGE: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})


def github_lines(made: CheckReport) -> Iterator[str]:
    """Yield an annotation for each rule, the worst first, as many as GitHub shows."""
    shown_of: defaultdict[str, int] = defaultdict(int)
    for _, code, found in made.by_rule():
        level = _LEVELS[found[0].severity]
        shown_of[level] += 1
        if shown_of[level] <= _MAX_ANNOTATIONS:
            yield _annotation(made, level, code, found)


def _annotation(made: CheckReport, level: str, code: str, found: list[Finding]) -> str:
    rule, first = RULES[code], found[0]
    example = first.examples[0]
    times = sum(finding.count for finding in found)
    where = shown_url(first.sitemap_url or THE_SITE)
    message = f"{rule.condition} {count(times, 'time')}, first in {where}"
    message = f"{message}: {place(example)}. {rule.fix}"
    properties = [f"title={f'{code} {rule.name}'.translate(_PROPERTY)}"]
    if file := _file(made, first, example):
        properties.insert(0, f"file={file.translate(_PROPERTY)}")
        properties.insert(1, f"line={example.line or 1}")
    return f"::{level} {','.join(properties)}::{one_line(message).translate(_MESSAGE)}"


def junit_lines(made: CheckReport) -> Iterator[str]:
    """Yield a test suite: a case for each sitemap and block of rules."""
    cases: dict[tuple[str, str], list[Finding]] = {
        (sitemap, block): [] for sitemap in sorted(made.checked) for block in BLOCKS
    }
    for finding in made.findings:
        where = finding.sitemap_url or THE_SITE
        cases.setdefault((where, finding.code[:3]), []).append(finding)
    failures = {key: [one for one in found if str(one.severity) in made.failing]
                for key, found in cases.items()}  # fmt: skip
    skipped = {
        key: [one for one in found if one.severity is CheckSeverity.UNDECIDED]
        for key, found in cases.items()
    }
    failed = sum(map(bool, failures.values()))
    undecided = sum(bool(skipped[key]) and not failures[key] for key in cases)
    counts = f'tests="{len(cases)}" failures="{failed}" errors="0" skipped="{undecided}"'
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="usp check" {counts}>'
    yield f'<testsuite name="{_xml(shown_url(made.source))}" {counts}>'
    for key in sorted(cases):
        sitemap, block = key
        title = (
            f'<testcase classname="{_xml(shown_url(sitemap))}" name="{block} {_xml(BLOCKS[block])}"'
        )
        content = [*_elements("failure", failures[key])] or [*_elements("skipped", skipped[key])]
        yield from (f"{title}>", *content, "</testcase>") if content else (f"{title}/>",)
    yield from ("</testsuite>", "</testsuites>")


def _elements(name: str, findings: list[Finding]) -> Iterator[str]:
    """Yield the one element that says what is wrong with a case."""
    if findings:
        message = ", ".join(f"{one.code} {one.name} ({one.count:,})" for one in findings)
        lines = [f"{one.code}: {place(example)}" for one in findings for example in one.examples]
        yield f'<{name} message="{_xml(message)}">{_xml(chr(10).join(lines), lines=True)}</{name}>'


def _xml(text: str, *, lines: bool = False) -> str:
    """Return a text, which has no credentials, without characters that XML can't contain."""
    parts = text.split("\n") if lines else [text]
    return escape("\n".join(map(one_line, parts)))


def sarif_lines(made: CheckReport) -> Iterator[str]:
    """Yield a log in SARIF 2.1.0: the examples of findings in files."""
    located = [
        (finding, example, file)
        for finding in made.findings
        for example in finding.examples
        if (file := _file(made, finding, example))
    ]
    codes = sorted({finding.code for finding, _, _ in located})
    results = [_result(*one) for one in located]
    driver = {
        "name": "usp check",
        "semanticVersion": __version__,
        "rules": [_sarif_rule(code) for code in codes],
    }
    log = {
        "$schema": _SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    yield json_text(log, indent=2)


def _sarif_rule(code: str) -> dict[str, Any]:
    rule = RULES[code]
    return {
        "id": code,
        "name": rule.name,
        "shortDescription": {"text": rule.condition},
        "help": {"text": rule.fix},
        "defaultConfiguration": {"level": _SARIF_LEVELS[rule.severity]},
    }


def _file(made: CheckReport, finding: Finding, example: FindingExample) -> str | None:
    """Return the file to change: the sitemap, or else the page, as it lies in a folder."""
    return made.file_of(finding.sitemap_url or (example.url if made.folder else None))


def _result(finding: Finding, example: FindingExample, file: str) -> dict[str, Any]:
    path = PurePath(file).as_posix()
    key = url_key(example.url) if example.url else ""
    location = {
        "artifactLocation": {"uri": path},
        "region": {"startLine": example.line or 1},
    }
    return {
        "ruleId": finding.code,
        "level": _SARIF_LEVELS[finding.severity],
        "message": {"text": f"{finding.message} {place(example)}"},
        "locations": [{"physicalLocation": location}],
        # Not the line: it changes with every entry before it.
        "partialFingerprints": {"usp/v1": f"{finding.code}:{path}:{key}"},
    }
