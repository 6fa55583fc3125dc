"""Generates ``problems.md`` from the table of codes: ``python -m tests.docs.problem_page``.

What the table knows is taken from the table; the sentences around it are here. A code outside of
``BLOCKS`` has no section on the page, so ``test_problem_page.py`` fails.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from usp._parse.diagnostics import KEPT_OF_A_CODE, KEPT_PROBLEMS
from usp.objects.problem import CODES, Severity

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "reference" / "problems.md"

BLOCKS: Final = {
    "SM1": ("Transport", "The document could not be fetched, or not all of it."),
    "SM2": ("Document", "The document as a whole, its encoding, compression or markup."),
    "SM3": ("URLs", "The URLs that the document lists."),
    "SM4": ("Values", "Dates, priorities, frequencies, numbers and repeated fields."),
    "SM5": ("Extensions", "News stories, images, videos, links and the items of feeds."),
    "SM6": ("Discovery and tree", "How sitemaps refer to one another."),
    "SM7": ("Limits and policy", "Limits that stopped reading or crawling."),
}
"""Title and first sentence of each block of codes, by the prefix of its codes."""

SEVERITIES: Final = {
    Severity.ERROR: "part of the document was lost, so `complete` is False",
    Severity.WARNING: "nothing readable was lost, but other parsers may fail",
    Severity.INFO: "nothing was lost, and other parsers are not affected",
}

_TAG: Final = re.compile(r"</?[a-z:]+>")

_INTRO: Final = f"""\
<!-- Generated from src/usp/objects/problem.py. Don't edit this page: edit the table, then
     run `python -m tests.docs.problem_page`. tests/docs/test_problem_page.py compares the two. -->
# Problems

A problem is something wrong with a document: malformed XML, a truncated body, a bad date. Problems
are data, not exceptions. The parser repairs or skips the damaged part, records a `Problem` with a
code and a position, and goes on. [What is repaired](../explanation/what-counts.md) has an
example of each.

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
2 SM208 warning entry-repaired
3 SM401 warning bad-date
4 SM301 warning no-loc
2 True
```

| attribute | what it is |
|---|---|
| `sitemap.problems` | the problems of this document, in document order |
| `sitemap.complete` | True if no problem of this document is an error: nothing was lost |
| `sitemap.tree_complete` | the same for this document and all sitemaps below it |
| `tree.problems`, `pages.problems` | of the root of a tree, or of a stream: why the crawl is not \
[complete](crawling.md#outcome), with `problem.sitemap_url` |
| `InvalidSitemap.code` | the problem code of a sitemap that could not be fetched or parsed; \
`reason` is the text |
| `problem.code`, `problem.name` | the code and its name; neither changes its meaning |
| `problem.severity` | a `Severity`: `error`, `warning` or `info`, see [below](#severity) |
| `problem.message` | a description in words; the words may change between versions |
| `problem.line` | the line number, from 1; None if the position is not known |
| `problem.offset` | the byte offset in the decompressed document, in its own encoding, \
from 0; None if not known. After bytes that are invalid in the encoding (SM212) it may be off by a \
few bytes |
| `problem.sitemap_url` | the sitemap, in the problems of a crawl; None in those of a sitemap |

The tables below are in `usp.objects.problem.CODES` as well: by code, a `Code` with `name`, \
`severity`,
`meaning`, `rule` and `fix`.

## Cost

An iteration over the pages of a tree doesn't look for problems: that would take about a fifth more
time, and most programs want pages alone. `problems` parses the document once more, without making
pages; the result is cached. `complete` costs nothing after an iteration to the end. Streams can't
read a document again: they collect problems as they go, and so do tables with problems.

The first {KEPT_PROBLEMS} problems of a document are kept, errors before others, and at most \
{KEPT_OF_A_CODE} of one code. If there were more, the
last problem is `SM702`, with their number. `complete` takes all of them into account.

## Severity

"""


def render() -> str:
    """Return the page."""
    severities = [f"- `{severity}`: {meaning}." for severity, meaning in SEVERITIES.items()]
    blocks = (line for block in BLOCKS for line in _block(block))
    return _INTRO + "\n".join([*severities, *blocks]) + "\n"


def _block(block: str) -> Iterator[str]:
    title, sentence = BLOCKS[block]
    yield from ("", f"## {block}: {title}", "", sentence, "")
    yield "| code | name | severity | what it means | specification | how to fix it |"
    yield "|---|---|---|---|---|---|"
    for code, row in CODES.items():
        if code.startswith(block):
            meaning, fix = _shown(row.meaning), _shown(row.fix)
            yield f"| {code} | `{row.name}` | {row.severity} | {meaning} | {row.rule} | {fix} |"


def _shown(sentence: str) -> str:
    """Return a sentence as Markdown; a bare tag would not be displayed."""
    return _TAG.sub(r"`\g<0>`", sentence).replace("|", r"\|")


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
