"""Messages of scripts among lines, and lines that are glued: no stump of a URL is given as one."""

from __future__ import annotations

from typing import Final

import pytest

from tests.cost import assert_linear, cost
from tests.parse.reading import Reading, read
from usp._parse.document import Source, inspect

ROBOTS: Final = "http://h/robots.txt"
A, B, C = "http://h/a", "http://h/b", "http://h/c"
HTML: Final = "<br />\n<b>Warning</b>:  x in <b>/w/s.php</b> on line <b>2</b><br />\n"
TEXT: Final = "\nWarning: Undefined variable $x in /w/s.php on line 12\n"
FATAL_HTML: Final = (
    "<br />\n<b>Fatal error</b>:  Uncaught Error: x in /w/s.php:3\nStack trace:\n#0 {main}\n"
    "  thrown in <b>/w/s.php</b> on line <b>3</b><br />\n"
)
FATAL: Final = "\nPHP Fatal error:  Maximum execution time in /w/s.php on line 3\n"
UNCAUGHT: Final = "\nFatal error: Uncaught Error: x in /w/s.php:3\nStack trace:\n#0 {main}\n"


def codes(found: Reading) -> list[str]:
    return [problem.code for problem in found.problems]


def read_everywhere(document: str, url: str | None = None) -> Reading:
    """The document, which is read alike wherever its chunks end."""
    data = document.encode()
    found = read(data, url=url)
    for at in range(1, len(data), 3):
        assert read(data[:at], data[at:], url=url) == found
    return found


@pytest.mark.parametrize(
    ("before", "after"),
    [("http://h/", "b\n"), (B, "\n"), (B, ""), (f"{B}\n", ""), ("", f"{B}\n"), (B, f"{C}\n")],
)
@pytest.mark.parametrize("message", [HTML, HTML + HTML, HTML.replace("<br />\n<b>", "<br /><b>")])
def test_a_message_in_html_is_removed_from_a_line(message: str, before: str, after: str) -> None:
    text = read_everywhere(f"{A}\n{before}{message}{after}{C}\n")
    assert text.urls == [A, B, C]
    assert text.complete
    assert set(codes(text)) & {"SM309", "SM311"}
    prefix = f"Sitemap: {A}\nSitemap: "
    robots = f"{prefix}{before}{message}{after}".replace(f"{C}\n", f"Sitemap: {C}\n")
    found = read_everywhere(robots, ROBOTS)
    assert found.urls[:2] == [A, B]
    assert found.complete
    assert "SM607" in codes(found)


@pytest.mark.parametrize("message", [TEXT, TEXT + TEXT])
def test_a_url_is_skipped_where_the_next_line_may_be_its_rest(message: str) -> None:
    text = read_everywhere(f"{A}\nhttp://h/{message}b\n{C}\n")
    assert text.urls == [A, C]
    assert not text.complete
    assert [(p.code, p.line) for p in text.problems if p.code == "SM209"] == [("SM209", 2)]
    robots = read_everywhere(f"Sitemap: {A}\nSitemap: http://h/{message}b\nSitemap: {C}\n", ROBOTS)
    assert robots.urls == [A, C]
    assert [(p.code, p.line) for p in robots.problems] == [("SM209", 2)]


@pytest.mark.parametrize(
    "between", [TEXT, f"\n{TEXT}", f"{TEXT}\n", f"\n{TEXT}{TEXT}", "\nNotice: x\n"]
)
def test_a_message_with_a_line_of_its_own_costs_no_url(between: str) -> None:
    text = read_everywhere(f"{A}{between}{B}\n{C}\n")
    assert text.urls == [A, B, C]
    assert codes(text) == ["SM309"]
    robots = read_everywhere(f"Sitemap: {A}{between}Sitemap: {B}\n", ROBOTS)
    assert robots.urls == [A, B]
    assert robots.complete


@pytest.mark.parametrize("message", [HTML, TEXT, TEXT + TEXT])
def test_a_message_between_a_key_and_its_url_is_removed(message: str) -> None:
    found = read_everywhere(f"User-agent: *\nSitemap: {message}{A}\nSitemap: {B}\n", ROBOTS)
    assert found.urls == [A, B]
    assert found.complete
    assert ("SM607", 2) in [(problem.code, problem.line) for problem in found.problems]


@pytest.mark.parametrize("message", [FATAL_HTML, FATAL, UNCAUGHT])
@pytest.mark.parametrize("is_between", [False, True])
def test_an_error_that_ends_the_script_ends_the_list(message: str, *, is_between: bool) -> None:
    end = f"\n{message}" if is_between else message
    kept = [A, B] if is_between else [A]
    for document, url in (
        (f"{A}\n{B}{end}", None),
        (f"Sitemap: {A}\nSitemap: {B}{end}", ROBOTS),
    ):
        found = read_everywhere(document, url)
        assert found.urls == kept
        assert not found.complete
        assert "SM209" in codes(found)


@pytest.mark.slow
def test_a_stump_at_the_end_of_many_lines_is_skipped() -> None:
    lines = "".join(f"http://h/{number}\n" for number in range(280))
    for count in range(1, 600):  # wherever the pieces end that are read at once
        found = read(f"{lines}http://h/{'x' * count}\nhttp://h/{TEXT}b\n{C}\n".encode())
        assert not found.complete
        assert found.urls[-2:] == [f"http://h/{'x' * count}", C]


@pytest.mark.slow
def test_of_a_url_that_is_repeated_the_first_is_listed() -> None:
    lines = "".join(f"http://h/{number}\n" for number in range(350))
    for count in range(1, 600, 3):
        odd = f'"{A}"\n# {"x" * count}\n"http://h/7"\n'  # the last one before many plain ones
        found = read(f"{odd}{lines}".encode())
        assert found.urls[:3] == [A, "http://h/7", "http://h/0"]
        assert found.urls.count("http://h/7") == 1


def test_a_page_that_is_like_a_stump_is_listed() -> None:
    assert read(f"{A}\nhttp://h/{TEXT}b\n{C}\nhttp://h/\n".encode()).urls == [A, C, "http://h/"]


@pytest.mark.parametrize(
    ("line", "urls"),
    [
        ("Sitemap: http://h/aUser-agent: *", [A]),
        ("Sitemap: http://h/aUser-agent:*", [A]),
        ("Sitemap: http://h/aDisallow: /x", [A]),
        ("Sitemap: http://h/aAllow: /x", [A]),
        ("Sitemap: http://h/aHost: h", [A]),
        ("Sitemap: http://h/aCrawl-delay: 10", [A]),
        ("Sitemap: http://h/aSitemap: http://h/b", [A, B]),
        ("Sitemap:http://h/aSitemap:http://h/b", [A, B]),
        ("Sitemap: http://h/aUser-agent: *Sitemap: http://h/b", [A, B]),
        ("Disallow: /xSitemap: http://h/b", [B]),
        ("User-agent: *Sitemap: http://h/b", [B]),
        ('{"error":"x"}Sitemap: http://h/b', [B]),
    ],
)
def test_a_line_of_robots_txt_that_is_glued_to_another_is_read(line: str, urls: list[str]) -> None:
    found = read_everywhere(f"User-agent: *\nDisallow:\n{line}\nDisallow: /y\n", ROBOTS)
    assert found.urls == urls
    assert [(problem.code, problem.line) for problem in found.problems] == [("SM607", 3)]


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:8080/s.xml",
        "http://h/wiki/Sitemap:Main",
        "http://h/?p=sitemap:xml",
        "http://h/shallow:/x",
        "http://h/a?host:x",
        "http://h/a?u=http://h/b",
    ],
)
def test_a_url_may_contain_the_words_of_robots_txt(url: str) -> None:
    found = read(f"User-agent: *\nSitemap: {url}\n".encode(), url=ROBOTS)
    assert found.urls == [url]
    assert not found.problems


@pytest.mark.parametrize("line", ["# x}Sitemap: http://h/a", "XMLSitemap: http://h/a"])
def test_comments_and_other_keys_are_no_sitemap_lines(line: str) -> None:
    assert not read(f"{line}\n".encode(), url=ROBOTS).urls


@pytest.mark.parametrize("count", [1, 3])
def test_control_characters_in_a_sitemap_line_are_told(count: int) -> None:
    found = read(b"Sitemap: http://h/" + bytes(count) + b"a\n", url=ROBOTS)
    assert found.urls == [A]
    assert codes(found) == ["SM307"]


@pytest.mark.parametrize("lines", [0, 500])
def test_two_urls_without_a_line_break_are_kept_as_written_with_an_error(lines: int) -> None:
    before = "".join(f"http://h/{number}\n" for number in range(lines))
    found = read(f"{before}{B}{C}\nhttp://h/d\n".encode())
    assert found.urls[lines:] == [f"{B}{C}", "http://h/d"]
    assert [(problem.code, problem.line) for problem in found.problems] == [("SM209", lines + 1)]
    assert not found.complete


@pytest.mark.parametrize("before", ["/", "?u=", "?u=1&v=", "/:", "/-", "/%20"])
def test_a_url_may_contain_another_one(before: str) -> None:
    found = read(f"{A}\n{B}{before}{C}\n".encode())
    assert found.urls == [A, f"{B}{before}{C}"]
    assert found.complete


@pytest.mark.parametrize("kind", ["PHP Fatal error:  ", "Fatal error: "])
def test_an_error_of_several_lines_after_a_url_interrupts_it(kind: str) -> None:
    error = f"{kind}Uncaught Error: f() in /w/s.php:3\nStack trace:\n#0 {{main}}\n"
    text = read_everywhere(f"{A}\n{B}{error}")
    assert text.urls == [A]
    assert "SM209" in codes(text)
    robots = read_everywhere(f"Sitemap: {A}\nSitemap: {B}{error}", ROBOTS)
    assert robots.urls == [A]
    assert codes(robots) == ["SM209"]
    for cut in ("h", "http", "https:/"):
        assert read_everywhere(f"Sitemap: {A}\nSitemap: {cut}{error}", ROBOTS).urls == [A]
        assert "SM209" in codes(read_everywhere(f"{A}\n{cut}{error}"))
    comment = read_everywhere(f"Sitemap: {A}\n# {B}# {kind}is a title\n", ROBOTS)
    assert comment.complete


@pytest.mark.parametrize("cut", ["S", "Site", "site-m", "Sitemap"])
@pytest.mark.parametrize("page", [FATAL_HTML, FATAL, "<html><head></head></html>\n"])
def test_what_interrupts_the_key_of_a_sitemap_is_an_error(cut: str, page: str) -> None:
    found = read_everywhere(f"Sitemap: {A}\n{cut}{page}: {B}\n", ROBOTS)
    assert found.urls == [A]
    assert "SM209" in codes(found)


@pytest.mark.parametrize("cut", ["S", "Site", "Sitemap"])
@pytest.mark.parametrize("message", [HTML, TEXT])
def test_a_message_in_the_key_of_a_sitemap_is_removed(cut: str, message: str) -> None:
    rest = "Sitemap"[len(cut) :]
    found = read_everywhere(f"Sitemap: {A}\n{cut}{message}{rest}: {B}\n", ROBOTS)
    assert found.urls == [A, B]
    assert found.complete


@pytest.mark.parametrize("cut", ["h", "http", "https:", "https:/"])
def test_a_message_in_the_scheme_of_a_url_is_removed(cut: str) -> None:
    rest = "https://h/b"[len(cut) :] if cut != "http" else "://h/b"
    found = read_everywhere(f"{A}\n{cut}{HTML}{rest}\n{C}\n")
    assert found.urls == [A, f"{cut}{rest}", C]
    assert found.complete


@pytest.mark.parametrize("cut", ["h", "htt", "https", "http:", "https://"])
def test_a_text_that_ends_in_the_scheme_of_a_url_is_cut_off(cut: str) -> None:
    found = read_everywhere(f"{A}\n{cut}")
    assert found.urls == [A]
    assert not found.complete
    assert read_everywhere(f"{A}\n{cut}x").complete


ONE_LINE: Final = "<br /><b>Warning</b>: x on line 3"


@pytest.mark.parametrize(
    ("line", "urls"),
    [
        (f"{B}{ONE_LINE}{ONE_LINE}<br />c", [f"{B}c"]),
        (f"{B}{ONE_LINE * 300}<br />c", [f"{B}c"]),
        (f"{B}{ONE_LINE}<br />x{ONE_LINE}<br />c", [f"{B}xc"]),
        (f"http{ONE_LINE}{ONE_LINE}<br />://h/b", [B]),
    ],
)
def test_each_message_on_a_line_is_removed(line: str, urls: list[str]) -> None:
    text = read(f"{A}\n{line}\n{C}\n".encode())
    assert (text.urls, text.complete) == ([A, *urls, C], True)
    robots = read(f"Sitemap: {A}\nSitemap: {line}\nSitemap: {C}\n".encode(), url=ROBOTS)
    assert (robots.urls, robots.complete) == ([A, *urls, C], True)


@pytest.mark.parametrize("last", ["<b>Fatal error</b>: y on line 4<br />", "<b>Warning</b>: y"])
def test_a_message_on_a_line_after_which_nothing_is_known(last: str) -> None:
    line = f"{B}{ONE_LINE}<br />{last}"
    text = read_everywhere(f"{A}\n{line}\n{C}\n")
    assert (text.urls, text.complete) == ([A, C], False)
    robots = read(f"Sitemap: {A}\nSitemap: {line}\nSitemap: {C}\n".encode(), url=ROBOTS)
    assert (robots.urls, robots.complete) == ([A, C], False)


def test_messages_after_another_text_on_a_line() -> None:
    found = read(f"{A}{ONE_LINE}\n\nx{ONE_LINE}{ONE_LINE}\n{C}\n".encode())
    assert (found.urls, found.complete) == ([A, C], True)


def read_line_of_messages(size: int) -> None:
    lines = f"{B}{ONE_LINE * 1_500}<br />c\n" * (size // 50_000)
    read(lines.encode())


def test_many_messages_on_a_line_take_linear_time() -> None:
    assert assert_linear(read_line_of_messages, 1_000_000).seconds < 4


@pytest.mark.parametrize(
    ("message", "code", "count"), [("Warning: x on line 3\n", "SM309", 700), (HTML, "SM311", 1)]
)
def test_many_messages_are_all_told(message: str, code: str, count: int) -> None:
    document = f"{A}\n{B}{'' if message is HTML else chr(10)}{message * 700}{C}\n"
    found = read(document.encode())
    assert (found.urls, found.complete) == ([A, B, C], True)
    (problem,) = found.problems
    assert problem.code == code
    assert problem.line == (2 if message is HTML else 3)
    assert message is HTML or str(count) in problem.message


def read_messages(url: str, message: str, count: int) -> None:
    chunks = [url.encode(), *[message.encode() * 1_000] * (count // 1_000)]
    assert sum(1 for _ in inspect(Source(chunks, "http://h/s.txt")).pages) == 1


@pytest.mark.parametrize(
    ("url", "message"), [(f"{A}\n", "Warning: x on line 3\n"), (A, f"{ONE_LINE}\n")]
)
def test_messages_among_lines_take_little_memory(url: str, message: str) -> None:
    assert cost(read_messages, url, message, 100_000).memory < 4 << 20


@pytest.mark.parametrize(
    "kind", ["Fatal error", "Parse error", "Recoverable fatal error", "Catchable fatal error"]
)
def test_every_error_that_ends_a_script_ends_its_list(kind: str) -> None:
    text = f"{kind}: x in /w/s.php on line 3\n"
    html = f"<br />\n<b>{kind}</b>:  x in <b>/w/s.php</b> on line <b>3</b><br />\n"
    for message in (f"\n{text}", text, html):
        assert_cut(read_everywhere(f"{A}\n{B}{message}"), [A])
        assert_cut(read_everywhere(f"Sitemap: {A}\nSitemap: {B}{message}", ROBOTS), [A])


def assert_cut(found: Reading, urls: list[str]) -> None:
    assert found.urls == urls
    assert not found.complete
    assert "SM209" in codes(found)


@pytest.mark.parametrize("kind", ["Parse error", "Recoverable fatal error"])
def test_other_words_after_the_name_of_an_error_are_a_heading(kind: str) -> None:
    found = read_everywhere(f"{A}\n{kind}: how to fix it\n{B}\n")
    assert (found.urls, found.complete) == ([A, B], True)
