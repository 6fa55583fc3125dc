"""Pictures of the terminal, and what a built page would load."""

import re
from pathlib import Path

import pytest

from tools.site.external import loaded_from_elsewhere

terminal = pytest.importorskip("tools.site.terminal", reason="there is no pseudo-terminal here")
DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_a_command_is_drawn_with_what_it_prints_to_a_terminal(tmp_path: Path) -> None:
    printed = terminal.run("usp rule SM451", tmp_path)
    svg = terminal.drawn("usp rule SM451", printed)
    assert "SM451" in svg
    assert "date-form" in svg
    (tmp_path / "picture.svg").write_text(svg, encoding="utf-8")
    assert list(loaded_from_elsewhere(tmp_path)) == []


def test_every_picture_is_on_a_page() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md"))
    assert set(re.findall(r"_static/terminal/(\w+)\.svg", text)) == set(terminal.COMMANDS)


def test_a_picture_is_the_same_each_time() -> None:
    assert terminal.drawn("usp x", "\x1b[31mred\x1b[0m") == terminal.drawn(
        "usp x", "\x1b[31mred\x1b[0m"
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.html", "<script src='//cdn.example/x.js'></script>"),
        ("a.html", "<link rel=stylesheet href='https://fonts.example/x.css'>"),
        ("a.html", "<style>@import 'https://fonts.example/x.css';</style>"),
        ("a.html", "<p style=\"background: url('http://x.example/y.png')\">"),
        ("a.svg", "<svg><image xlink:href='https://x.example/y.png'/></svg>"),
        ("a.css", "@font-face { src: url(https://fonts.example/x.woff2) }"),
    ],
)
def test_what_a_browser_would_load_from_elsewhere_is_found(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    (found,) = loaded_from_elsewhere(tmp_path)
    assert found.startswith(f"{name}: ")


def test_links_and_own_files_are_no_loading(tmp_path: Path) -> None:
    page = (
        "<a href='https://example.org/'>x</a><img src='_static/a.png'><script src='a.js'></script>"
    )
    (tmp_path / "a.html").write_text(page, encoding="utf-8")
    assert list(loaded_from_elsewhere(tmp_path)) == []
