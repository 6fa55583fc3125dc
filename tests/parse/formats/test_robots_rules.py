"""Rules of robots.txt: equal to protego on drawn files, and linear on hostile ones."""

import pickle
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from tests.speed import Stopwatch
from usp._parse.formats.robots_rules import MAX_ROBOTS_BYTES, parse_robots_rules, read_robots_rules
from usp._parse.source import Source

PIECES = (
    "/",
    "a",
    "b",
    "$",
    "index.html",
    "?",
    "=",
    "&",
    "%2F",
    "%2a",
    "%41",
    "%c3%a9",
    "é",
    "//",
    "%",
    ".",
)
AGENTS = ("*", "bot", "Googlebot", "my-bot", "goo*gle", "b", "googlebot-news", "")

paths = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
patterns = st.lists(st.sampled_from((*PIECES, "*")), max_size=7).map("".join)
rules = st.builds(
    "{}{}".format,
    st.sampled_from(("Disallow: ", "Allow: ", "allow ", "disallow:", "Disalow: /", "Allow: /")),
    patterns,
)
names = st.builds(
    "{}{}".format,
    st.sampled_from(("User-agent: ", "user agent ", "Useragent:")),
    st.sampled_from(AGENTS),
)
others = st.sampled_from(
    (
        *("Crawl-delay: 1", "Crawl-delay: 2.5", "crawl delay: x", "Crawl-delay: -1", "Foo: bar"),
        *("Sitemap: https://example.org/s.xml", "Host: example.org", "nonsense", "", "# comment"),
        *("Disallow: /x # comment", "Allow: https://example.org/x", "Foo:bar"),
    )
)
files = st.lists(st.one_of(names, rules, rules, others), max_size=14).map("\n".join)


@given(files, st.lists(paths, min_size=1, max_size=5))
def test_rules_are_those_of_protego(text: str, drawn: list[str]) -> None:
    known = Protego.parse(text)
    for agent in ("Googlebot", "mybot", "my-bot/1.0", "x"):
        ours = parse_robots_rules(text, agent)
        assert ours.crawl_delay == known.crawl_delay(agent)
        again = pickle.loads(pickle.dumps(ours))
        for path in drawn:
            url = f"https://example.org/{path}"
            assert ours.allows(url) == known.can_fetch(url, agent), (agent, url)
            assert again.rule_for(url) == ours.rule_for(url)


def test_rules_are_those_of_protego_on_real_files(corpus: Path) -> None:
    compared = 0
    for file in sorted((corpus / "robots").iterdir()):
        text = file.read_bytes()[:MAX_ROBOTS_BYTES].decode("utf-8", "replace")
        known = Protego.parse(text)
        for agent in ("Googlebot", "anybot"):
            ours = parse_robots_rules(text, agent)
            listed = [line.partition(":")[2].strip() for line in text.splitlines()[:200]]
            for path in {p.replace("*", "x").replace("$", "") for p in listed if p[:1] == "/"}:
                url = f"https://example.org{path}"
                assert ours.allows(url) == known.can_fetch(url, agent), (file.name, url)
                compared += 1
    assert compared > 1000


@pytest.mark.parametrize(
    ("text", "delay", "signal"),
    [
        ("User-agent: *\nContent-Signal: search=yes\n", None, "search=yes"),
        ("User-agent: *\nContent-Signal: a=yes\nContent-signal:b=no", None, "a=yes, b=no"),
        ("Content-Signal: search=yes\nUser-agent: *\nCrawl-delay: 1", 1.0, None),
        ("User-agent: x\nContent-Signal: search=yes\nUser-agent: *\nDisallow:", None, None),
        ("User-agent: bot\nUser-agent: *\nCrawl-delay: 3\nContent-Signal: a=no", 3.0, "a=no"),
        ("User-agent: *\nCrawl-delay: inf", None, None),
    ],
)
def test_delays_and_signals_belong_to_groups(
    text: str, delay: float | None, signal: str | None
) -> None:
    found = parse_robots_rules(text, "bot")
    assert (found.crawl_delay, found.content_signal) == (delay, signal)


def test_only_the_first_part_of_a_long_file_is_read() -> None:
    text = b"User-agent: *\n" + b"#" * MAX_ROBOTS_BYTES + b"\nDisallow: /"
    assert read_robots_rules(Source([text]), "bot").allows("https://example.org/")
    text = b"User-agent: *\nDisallow: /\n" + b"#" * MAX_ROBOTS_BYTES
    assert not read_robots_rules(Source([text]), "bot").allows("https://example.org/")


def test_any_bytes_are_read() -> None:
    for data in (
        b"",
        b"\xff\xfe",
        b"\x00" * 100,
        b"\x1f\x8b broken",
        "User-agent: *".encode("utf-16"),
    ):
        assert read_robots_rules(Source([data]), "bot").allows("https://example.org/")


GROUP = "User-agent: *\n"
HOSTILE = {
    "many wildcards": GROUP + "Disallow: /" + "*a" * 250_000,
    "many patterns": GROUP + "Disallow: /*a*a*a*b\n" * 25_000,
    "nested prefixes": GROUP + "".join(f"Disallow: /{'a' * n}\n" for n in range(1000)),
    "many agents": "".join(f"User-agent: {n:x}\n" for n in range(15_000))
    + "Disallow: /\n" * 20_000,
    "a long agent": f"User-agent: {'a' * 500_000}\nDisallow: /",
    "escapes": GROUP + "Disallow: /" + "%41" * 160_000,
    "no line breaks": "Disallow " * 60_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_take_no_longer(name: str) -> None:
    text = HOSTILE[name][:MAX_ROBOTS_BYTES]
    with Stopwatch() as watch:
        found = parse_robots_rules(text, "a" * 100)
        for _ in range(3):
            found.allows(f"https://example.org/{'a' * 2000}")
    assert watch.seconds < 2  # at most a sixth of it


MANY = {
    "at the end": "/*x{}",
    "before what all have": "/a{}*/index.html",
    "an end": "/some{}.html$",
    "a parameter": "/*?id={}$",
    "a part of the path": "/*title-{}/",
}


@pytest.mark.parametrize("pattern", MANY.values(), ids=MANY)
def test_very_many_wildcards_cost_no_more_for_each_url(pattern: str) -> None:
    urls = [f"https://h.example/category/some-title-{n}/index.html?id={n}x" for n in range(500)]

    def cost(count: int) -> float:
        written = "".join(f"Disallow: {pattern.format(n)}\n" for n in range(count))
        found = parse_robots_rules(GROUP + written, "bot")
        best = float("inf")
        for _ in range(3):
            started = time.process_time()
            refused = sum(not found.allows(url) for url in urls)
            best = min(best, time.process_time() - started)
        assert refused == (min(count, len(urls)) if pattern == MANY["a part of the path"] else 0)
        return best

    assert cost(20_000) < 20 * cost(100)  # three times as much; two hundred times, one by one


@given(files, st.lists(paths, min_size=1, max_size=5))
def test_rules_are_those_of_protego_among_very_many(text: str, drawn: list[str]) -> None:
    very_many = "".join(f"Disallow: /*other-{n}\n" for n in range(200))
    text = f"{GROUP}{very_many}{text}"
    known, ours = Protego.parse(text), parse_robots_rules(text, "mybot")
    for path in drawn:
        url = f"https://example.org/{path}"
        assert ours.allows(url) == known.can_fetch(url, "mybot")


def test_a_url_is_judged_in_microseconds() -> None:
    text = GROUP + "".join(f"Disallow: /path-{n}/\n" for n in range(280))
    found = parse_robots_rules(text + "".join(f"Disallow: /*w{n}*/x\n" for n in range(20)), "bot")
    urls = [f"https://www.example.org/category/some-title-{n}/page.html" for n in range(5000)]
    best = float("inf")
    for _ in range(3):
        with Stopwatch() as watch:
            assert all(map(found.allows, urls))
        best = min(best, watch.seconds)
    assert best / len(urls) < 10e-6  # 2 microseconds or 3
