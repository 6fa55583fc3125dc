"""What the tests read out of a page: its elements, its commands."""

import shlex
from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass(slots=True)
class Element:
    """An element, with the text in it."""

    name: str
    attributes: dict[str, str | None]
    text: str = ""


@dataclass(slots=True)
class _Reader(HTMLParser):
    elements: list[Element] = field(default_factory=list)
    _open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        HTMLParser.__init__(self)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs))
        self.elements.append(element)
        if tag not in {"meta", "input", "br"}:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop().name == tag

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    def close(self) -> None:
        HTMLParser.close(self)
        assert self._open == []


def elements_of(page: str, name: str = "") -> list[Element]:
    """The elements of a name, or all; the page must be well-formed."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return [element for element in reader.elements if element.name == name or not name]


def commands_of(page: str) -> list[list[str]]:
    """The commands of a page, each as the words that a shell makes of it."""
    shown = [element.text for element in elements_of(page, "code")]
    copied = [one.attributes.get("data-copy") for one in elements_of(page, "button")]
    return [shlex.split(text) for text in (*shown, *filter(None, copied))]
