"""Rules that need more than a document: what trips each of them, and what is just inside."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import usp
from tests.check.documents import NAMESPACES, NOW
from tests.check.source_pairs import (
    BASE,
    EARLIER_PAIRS,
    FOLDER_PAIRS,
    PAGE_PAIRS,
    Files,
    page,
)
from tests.server import Answer, LoopbackServer, Plain


def severities(source: Any, code: str, **options: Any) -> list[str]:
    """How serious what one rule finds is."""
    chosen: dict[str, Any] = {"select": [code], "now": NOW, "max_attempts": 1, **options}
    with usp.check(source, **chosen) as stream:
        return [str(finding.severity) for finding in stream]


def urlset(server: LoopbackServer, paths: Sequence[str], fields: str) -> str:
    entries = "".join(f"<url><loc>{server.at(path)}</loc>{fields}</url>" for path in paths)
    return f"<urlset {NAMESPACES}>{entries}</urlset>"


def at_server(server: LoopbackServer, answer: Plain) -> Plain:
    """An answer with the URL of the server."""
    if not isinstance(answer, Answer) or not isinstance(answer.body, str):
        return answer
    return Answer(answer.status, answer.body.replace("{at}", server.url), answer.headers)


@pytest.mark.parametrize("code", PAGE_PAIRS)
def test_one_live_page_trips_the_rule_and_one_just_inside_does_not(
    code: str, server: LoopbackServer
) -> None:
    pair = PAGE_PAIRS[code]
    server.robots("/sitemap.xml")
    fields = pair.entry.replace("{at}", server.url)
    server.site["/sitemap.xml"] = urlset(server, ["/page"], fields)
    for which, answer in enumerate((pair.wrong, pair.right)):
        server.site["/page"] = at_server(server, answer)
        server.site |= {path: answers[which] for path, answers in pair.others.items()}
        found = severities(server.url, code, live="all")
        assert found == ([] if which else [pair.severity])


def folder_of(folder: Path, files: Files) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("code", FOLDER_PAIRS)
def test_one_folder_trips_the_rule_and_one_just_inside_does_not(code: str, tmp_path: Path) -> None:
    wrong, right, severity = FOLDER_PAIRS[code]
    assert severities(folder_of(tmp_path / "wrong", wrong), code, base_url=BASE) == [severity]
    assert severities(folder_of(tmp_path / "right", right), code, base_url=BASE) == []


@pytest.mark.parametrize("code", EARLIER_PAIRS)
def test_one_change_trips_the_rule_and_one_just_inside_does_not(
    code: str, server: LoopbackServer, tmp_path: Path
) -> None:
    pair = EARLIER_PAIRS[code]
    state = tmp_path / "site.db"
    server.robots("/sitemap.xml")
    dated = "<lastmod>2020-01-01</lastmod>"
    server.site["/sitemap.xml"] = urlset(server, pair.before, dated)
    with usp.sync(server.url, state=state) as changes:
        assert list(changes) == []
    options: dict[str, Any] = {"live": "all"} if pair.live else {}
    server.site |= {f"/p{number}": page() for number in range(3)} if pair.live else {}
    later = (pair.wrong, pair.wrong_date), (pair.right, "2020-01-01")
    for which, (paths, date) in enumerate(later):
        body = 404 if paths is None else urlset(server, paths, f"<lastmod>{date}</lastmod>")
        server.site["/sitemap.xml"] = body
        server.site |= {path: answers[which] for path, answers in (pair.live or {}).items()}
        found = severities(server.url, code, state=state, **options)
        assert found == ([] if which else [pair.severity])
