"""The parts that pages of a report are made of: sections, commands, tables, rankings."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from usp._report.charts import share_bar
from usp._report.figures import Ranking
from usp._report.markup import Html, Parts, html, tag

ROOM: Final[Mapping[str, int]] = {
    "findings": 400_000,
    "icicle": 400_000,
    "folders": 200_000,
    "examples": 100_000,
    "sites": 500_000,
    "sitemaps": 700_000,
    "URLs": 200_000,
}
"""How many characters each list of a page has at most: all together less than 3 MB."""
ROWS: Final = 20
"""How many rows of a table are shown at a time."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table."""

    content: Parts
    value: float | None = None
    """By which it is sorted, if it is a number."""


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a column."""

    title: str
    class_: str = ""
    """``num`` for numbers, ``url`` for long texts, ``wide`` for bars, ``minor`` for what is left
    out where there is little room."""


NUMBER: Final = "num"


def number(value: float | None, text: str | None = None) -> Cell:
    """Return a cell with a number; empty where there is none."""
    if value is None:
        return Cell("")
    return Cell(f"{value:,}" if text is None else text, value)


def section(name: str, title: str, *body: Parts) -> Html:
    """Return a section of the page."""
    heading = tag("h2", title, id=f"{name}-title")
    return tag("section", heading, body, id=name, aria_labelledby=f"{name}-title")


def command_line(command: str, id: str | None = None) -> Html:
    """Return the command that gives the rows of a figure, with a button to copy it."""
    if not command:
        return Html()
    button = tag("button", "Copy", type="button", class_="copy", aria_label="Copy this command")
    return tag("p", tag("code", command, id=id), button, class_="command")


def copy_button(command: str, name: str) -> Html:
    """Return a button that copies the command for the rows of one name."""
    if not command:
        return Html()
    return tag(
        "button",
        "Copy",
        type="button",
        class_="copy",
        data_copy=command,
        title=command,
        aria_label=f"Copy the command for {name}",
    )


def badge(word: str) -> Html:
    """Return a word with the colour of its meaning."""
    known = word if word.isalpha() else None
    return tag("span", word, class_=f"badge {known}" if known else "badge")


def link(url: str) -> Parts:
    """Return a URL that can be followed, if it is one of the web and whole."""
    if url.startswith(("https://", "http://")) and not url.endswith("…"):
        return tag("a", url, href=url)
    return url


def fitting(noun: str, parts: Iterable[Html]) -> list[Html]:
    """Return the first parts of a list, as many as there is room for."""
    room = ROOM[noun]
    taken = []
    for part in parts:
        room -= len(part)
        if room < 0:
            break
        taken.append(part)
    return taken


def table(
    noun: str,
    total: int,
    order: str,
    heads: Sequence[Head],
    rows: Iterable[Sequence[Cell]],
    shown: int = ROWS,
) -> Html:
    """Return a table that sorts, searches and pages, and that scrolls where it is too wide.

    :param noun: what its rows are, in the plural; it has a room.
    :param total: how many of them there are in all.
    :param order: in which order they are, in words.
    :param shown: how many rows are shown at a time.
    """
    columns = tag(
        "tr", (tag("th", head.title, scope="col", class_=head.class_ or None) for head in heads)
    )
    lines = fitting(noun, (tag("tr", map(_cell, row, heads, range(len(heads)))) for row in rows))
    which = f"{len(lines):,} of {total:,} {noun}" if len(lines) < total else f"All {noun}"
    caption = f"{which}, {order}"
    made = tag(
        "table",
        tag("caption", caption),
        tag("thead", columns),
        tag("tbody", lines),
    )
    return tag(
        "div", made, class_="scroll", tabindex=0, role="region", aria_label=caption,
        data_table=shown,
    )  # fmt: skip


def _cell(cell: Cell, head: Head, column: int) -> Html:
    value = None if cell.value is None else f"{cell.value:g}" if cell.value % 1 else int(cell.value)
    if column == 0:
        return tag("th", cell.content, scope="row", class_=head.class_ or None, data_v=value)
    return tag("td", cell.content, class_=head.class_ or None, data_v=value)


def ranking(
    title: str,
    noun: str,
    ranked: Ranking,
    *,
    command: str = "",
    command_of: Callable[[str], str] | None = None,
    note: str = "",
) -> Html:
    """Return the most frequent names with a bar each; nothing if there are none.

    :param noun: what is counted, in the plural.
    :param command: what gives the rows of all.
    :param command_of: what gives those of one name.
    """
    if not ranked.top:
        return Html()
    most = max(count for _, count in ranked.top)
    rows = [
        _ranked(name, times, most, copy_button(command_of(name), name) if command_of else None)
        for name, times in ranked.top
    ]
    if ranked.others:
        text = f"{ranked.others:,} more"
        rows.append(_ranked(text, ranked.others_count, most, Html() if command_of else None))
    head = tag(
        "tr",
        tag("th", tag("span", title, class_="hidden-text"), scope="col"),
        tag("th", noun, scope="col", class_=NUMBER),
        tag("th", tag("span", "share", class_="hidden-text"), scope="col"),
        tag("th", tag("span", "command", class_="hidden-text"), scope="col")
        if command_of
        else None,
    )
    body = tag("table", tag("thead", head), tag("tbody", rows), class_="ranked")
    return tag(
        "figure",
        tag("h3", title),
        tag("p", note, class_="muted") if note else None,
        body,
        command_line(command or (command_of(ranked.top[0][0]) if command_of else "")),
    )


def _ranked(name: str, times: int, most: int, button: Html | None) -> Html:
    return tag(
        "tr",
        tag("th", name, scope="row", class_="name"),
        tag("td", f"{times:,}", class_=NUMBER),
        tag("td", share_bar(times, most), class_="wide"),
        None if button is None else tag("td", button),
    )


def listed(ranked: Ranking) -> str:
    """Return names and how often each occurs, on one line."""
    return ", ".join(f"{times:,} {name}" for name, times in ranked.top)


def behind(title: str, heads: tuple[str, str], rows: Iterable[tuple[str, int]]) -> Html:
    """Return the numbers behind a chart, which are shown on request."""
    lines = (
        tag("tr", tag("th", name, scope="row"), tag("td", f"{value:,}", class_=NUMBER))
        for name, value in rows
    )
    head = tag(
        "tr", tag("th", heads[0], scope="col"), tag("th", heads[1], scope="col", class_=NUMBER)
    )
    made = tag("table", tag("caption", title), tag("thead", head), tag("tbody", lines))
    return tag("details", tag("summary", "Numbers of this chart"), made, class_="behind")


def joined(*parts: Parts) -> Html:
    """Return parts with a space between those that are there."""
    written = [html(part) for part in parts]
    return Html(" ".join(part for part in written if part))
