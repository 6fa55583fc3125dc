"""Makes ``docs/problems.md`` from the table of codes: ``python -m tests.docs.problem_page``.

It stands beside the test that compares page and table, so that both are there wherever the tests
run. Rules of this room: what the table knows is taken from the table, and the words around it are
written here; a code without a block has no place on the page, so the test fails.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from usp._parse.diagnostics import KEPT_OF_A_CODE, KEPT_PROBLEMS
from usp.objects.problem import CODES, Severity

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "problems.md"

BLOCKS: Final = {
    "SM1": ("Transport", "What went wrong on the way to the document."),
    "SM2": ("Document", "What is wrong with the document as a whole, or with its markup."),
    "SM3": ("URLs", "What is wrong with an address."),
    "SM4": ("Values", "Dates, priorities, frequencies, and what is said twice."),
    "SM5": ("Extensions", "Stories, images, alternates and the items of feeds."),
    "SM6": ("Discovery and tree", "How documents lead to one another."),
    "SM7": ("Limits and policy", "Where reading stopped on purpose."),
}
"""The blocks of the namespace, by how their codes begin."""

SEVERITIES: Final = {
    Severity.ERROR: "something of the document was lost, so `complete` is false",
    Severity.WARNING: "nothing that could be understood was lost, but other readers may stumble",
    Severity.INFO: "worth knowing, and nothing more",
}

_TAG: Final = re.compile(r"</?[a-z:]+>")

_INTRO: Final = f"""\
<!-- Made from the table in src/usp/objects/problem.py. Don't edit this page: edit the table, then
     run `python -m tests.docs.problem_page`. tests/docs/test_problem_page.py compares the two. -->
# Problems

What a site does wrong raises no exception and costs no more than itself. It is recorded: each
sitemap has its `problems`, each with a code that never changes its meaning, and a place.
[What counts as a sitemap here](what-counts.md) says what is mended, and how.

```python
from usp.tree import sitemap_from_str

sitemap = sitemap_from_str(\"\"\"\\
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>https://example.org/?a=1&b=2</loc></url>
<url><loc>https://example.org/news</loc><lastmod>yesterday</lastmod></url>
<url><lastmod>2024-05-01</lastmod></url>
</urlset>\"\"\")

for problem in sitemap.problems:
    print(problem.line, problem.code, problem.severity, problem.name)
print(len(sitemap.pages), sitemap.complete)
```

```text
2 SM208 warning entry-mended
3 SM401 warning bad-date
4 SM301 warning no-loc
2 True
```

| attribute | what it says |
|---|---|
| `sitemap.problems` | all that is wrong with this document, in its order |
| `sitemap.complete` | whether nothing of this document was lost: no problem is an error |
| `sitemap.tree_complete` | the same of this document and all below it |
| `InvalidSitemap.code` | why a sitemap could not be had at all; `reason` says it in words |
| `problem.code`, `problem.name` | which problem it is, for programs and for people |
| `problem.severity` | `error`, `warning` or `info`, see below |
| `problem.message` | what was found, in words that may change |
| `problem.line` | the line, counted from 1; `None` where there is no such place |
| `problem.offset` | the byte in the unpacked document, counted from 0; `None` likewise |

Problems are found by reading: asking for `problems` or `complete` reads the document, values and
all, if nobody has asked before. What was found is bounded_cache.

Of one document the first {KEPT_PROBLEMS} problems are kept, and at most {KEPT_OF_A_CODE} of one \
code, so that a fault in every
entry neither fills the memory nor hides the others. If there were more, the last problem is
`SM702`, which says how many. `complete` takes them all into account.

"""


def render() -> str:
    """Return the page."""
    severities = [f"- `{severity}`: {meaning}." for severity, meaning in SEVERITIES.items()]
    blocks = (line for block in BLOCKS for line in _block(block))
    return _INTRO + "\n".join([*severities, *blocks]) + "\n"


def _block(block: str) -> Iterator[str]:
    title, sentence = BLOCKS[block]
    yield from ("", f"## {block}: {title}", "", sentence, "")
    yield "| code | name | severity | what it means | whose rule | what to do about it |"
    yield "|---|---|---|---|---|---|"
    for code, row in CODES.items():
        if code.startswith(block):
            meaning, mend = _shown(row.meaning), _shown(row.mend)
            yield f"| {code} | `{row.name}` | {row.severity} | {meaning} | {row.rule} | {mend} |"


def _shown(sentence: str) -> str:
    """Return a sentence as Markdown, in which a bare tag would vanish."""
    return _TAG.sub(r"`\g<0>`", sentence).replace("|", r"\|")


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
