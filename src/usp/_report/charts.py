"""Charts as inline SVG.

Widths are percentages and texts have their own size, so that a chart fits any screen without
scaling its texts. Colours are classes of the style sheet. Each chart has its numbers in words and,
for who can't see it, as a table.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log10
from typing import Final

from usp._report.markup import Html, tag

HEIGHT: Final = 180
_TOP: Final = 12
_BOTTOM: Final = 24
_GAP: Final = 0.18
"""The part of a column's width that is left free."""
_TICKS: Final = 4


@dataclass(frozen=True, slots=True)
class ChartColumn:
    """One column of a chart."""

    label: str
    """What it is, in words: ``November 2026``."""
    value: int
    tick: str = ""
    """What is written below it, if anything."""
    is_minor: bool = False
    """Whether its tick is left out where there is little room."""


def column_chart(columns: Sequence[ChartColumn], noun: str, summary: str) -> Html:
    """Return a chart with a column for each value, and an axis at each side.

    :param noun: what is counted, in the plural.
    :param summary: what the chart shows, for who can't see it.
    """
    most = max((column.value for column in columns), default=0)
    step = _tick_step(most)
    top = step * max(ceil(most / step), 1)
    marks = range(0, top + 1, step)
    axis = [
        tag("text", _short(mark), x="100%", dx=-8, y=_y(mark, top), dy="0.32em", text_anchor="end")
        for mark in marks
    ]
    lines = [
        tag("line", x1="0", x2="100%", y1=_y(mark, top), y2=_y(mark, top), class_="grid")
        for mark in marks
    ]
    plot = [
        _column(number, len(columns), column, top, noun) for number, column in enumerate(columns)
    ]
    return tag(
        "div",
        tag("svg", axis, class_="axis", height=HEIGHT, width="3.25rem", aria_hidden="true"),
        tag("svg", lines, plot, class_="plot", height=HEIGHT, role="img", aria_label=summary),
        class_="chart",
    )


def _y(value: int, top: int) -> str:
    room = HEIGHT - _TOP - _BOTTOM
    return f"{HEIGHT - _BOTTOM - room * value / top:.1f}"


def _column(number: int, columns: int, column: ChartColumn, top: int, noun: str) -> Html:
    slot = 100 / columns
    room = HEIGHT - _TOP - _BOTTOM
    height = max(room * column.value / top, 1.5) if column.value else 0
    bar = tag(
        "rect",
        tag("title", f"{column.label}: {column.value:,} {noun}"),
        x=f"{number * slot + slot * _GAP / 2:.3f}%",
        width=f"{slot * (1 - _GAP):.3f}%",
        y=f"{HEIGHT - _BOTTOM - height:.1f}",
        height=f"{height:.1f}",
        class_="bar",
    )  # fmt: skip
    if not column.tick:
        return bar if column.value else Html()
    anchor = "start" if number < columns / 20 else "end" if number > columns * 0.95 else "middle"
    text = tag(
        "text",
        column.tick,
        x=f"{(number + 0.5) * slot:.3f}%",
        y=HEIGHT - 7,
        text_anchor=anchor,
        class_="minor" if column.is_minor else None,
    )
    return Html(bar + text) if column.value else text


def share_bar(value: int, largest: int) -> Html:
    """Return a bar whose length is a part of the largest one."""
    share = 100 * value / largest if largest else 0
    rect = tag("rect", width=f"{share:.2f}%", height="100%", class_="bar", rx=1)
    return tag("svg", rect, class_="share", aria_hidden="true")


def _tick_step(most: int) -> int:
    """Return the round number that is between two ticks, so that there are few of them."""
    power = int(10 ** int(log10(max(most / _TICKS, 1))))
    steps = (power * factor // 2 for factor in (2, 4, 5, 10, 20) if power * factor % 2 == 0)
    return next(step for step in steps if step * _TICKS >= most)


def _short(number: int) -> str:
    """Return a number for an axis: ``1.5M``, ``20k``, ``800``."""
    for size, unit in ((1_000_000_000, "B"), (1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return str(number)
