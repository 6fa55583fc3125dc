"""robots.txt: the rules for one agent (RFC 9309), compiled so that a URL is judged in microseconds.

Which sitemaps it declares is in ``robots``. Tolerances are those of other parsers: misspelled
fields, a space in place of the colon, wildcards in the name of an agent. Both the paths of rules
and those of URLs are compared in one percent-encoded form. Time is linear in the length of
robots.txt, and for each URL in the number of rules whose text it has (``robots_wildcards``);
patterns are matched by searching for their parts, so no pattern takes longer.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from urllib.parse import quote

from usp._parse.diagnostics import Diagnostics
from usp._parse.formats.robots_wildcards import Wildcard, Wildcards
from usp._parse.input.chunks import take_head
from usp._parse.input.decode import Utf8Document
from usp._parse.input.decompress import decompress
from usp._parse.source import Source
from usp.objects.robots import RobotsRule

MAX_ROBOTS_BYTES: Final = 500 * 1024
"""How much of robots.txt is read: RFC 9309 2.5 asks for that much at least."""

_AGENT: Final = "agent"
_ALLOW: Final = "allow"
_DISALLOW: Final = "disallow"
_DELAY: Final = "delay"
_SIGNAL: Final = "signal"
_SITE: Final = "site"
_FIELDS: Final = {
    "user-agent": _AGENT,
    "useragent": _AGENT,
    "user agent": _AGENT,
    "allow": _ALLOW,
    "disallow": _DISALLOW,
    "dissallow": _DISALLOW,
    "dissalow": _DISALLOW,
    "disalow": _DISALLOW,
    "diasllow": _DISALLOW,
    "disallaw": _DISALLOW,
    "crawl-delay": _DELAY,
    "crawl delay": _DELAY,
    "content-signal": _SIGNAL,
    # Lines about the whole site belong to no group, and end none.
    "sitemap": _SITE,
    "sitemaps": _SITE,
    "site-map": _SITE,
    "host": _SITE,
}
"""What each field means; another one ends the names of a group, and means nothing."""
_OTHER: Final = "other"
_MAX_SIGNAL: Final = 500
_INDEX: Final = "index.html"
_ROBOTS_PATH: Final = "/robots.txt"
_PLAIN_URL: Final = re.compile(r"https?://[^/?#\s]++(/(?!/)[A-Za-z0-9_.~/=-]*+)").fullmatch
"""A URL whose path is in the compared form already, as nearly all are."""
_ESCAPE: Final = re.compile(rb"%([0-9A-Fa-f]{2})")
_KEPT_ESCAPES: Final = frozenset(b"/%*")
_SAFE: Final = "/%="
_URL: Final = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*+:)?//[^/?#]*+(?P<path>[^#]*+)")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.~/%=-]")


def _escaper(also_safe: str) -> Callable[[re.Match[str]], str]:
    """Return what makes the escape of an ASCII character, as a function for ``re.sub``."""
    table = {chr(code): f"%{code:02X}" for code in range(128)}
    table.update(zip(also_safe, also_safe, strict=True))
    return lambda match: table[match[0]]


_ESCAPED: Final = {also_safe: _escaper(also_safe) for also_safe in ("", "*")}
_NAME_CHARACTER: Final = re.compile(r"[^\W_]|[-_]")


class _Line(NamedTuple):
    number: int
    meaning: str
    value: str


@dataclass(slots=True, eq=False)
class _Group:
    """A group of lines, and the agents that it is for."""

    agents: dict[str, None] = field(default_factory=dict)
    lines: list[_Line] = field(default_factory=list)


class RobotsRules:
    """The rules of one agent."""

    __slots__ = (
        "_parents",
        "_prefixes",
        "_rules",
        "_wildcards",
        "content_signal",
        "crawl_delay",
    )

    def __init__(
        self,
        rules: Iterable[RobotsRule] = (),
        crawl_delay: float | None = None,
        content_signal: str | None = None,
    ) -> None:
        self.crawl_delay = crawl_delay
        self.content_signal = content_signal
        prefixes: dict[str, RobotsRule] = {}
        wildcards: dict[str, RobotsRule] = {}
        for pattern, rule in _patterns(rules):
            known = wildcards if "*" in pattern or pattern.endswith("$") else prefixes
            if pattern not in known or (rule.allows and not known[pattern].allows):
                known[pattern] = rule
        self._wildcards = Wildcards(Wildcard.of(*each) for each in wildcards.items())
        self._prefixes = sorted(prefixes)
        self._rules = [prefixes[prefix] for prefix in self._prefixes]
        self._parents = _parents(self._prefixes)

    def __reduce__(self) -> tuple[type["RobotsRules"], tuple[object, ...]]:
        return type(self), (self.rules, self.crawl_delay, self.content_signal)

    @property
    def rules(self) -> tuple[RobotsRule, ...]:
        """The lines that can decide."""
        return tuple(dict.fromkeys([*self._rules, *self._wildcards.rules]))

    def allows(self, url: str) -> bool:
        """Tell whether a URL may be fetched."""
        rule = self.rule_for(url)
        return rule is None or rule.allows

    def rule_for(self, url: str) -> RobotsRule | None:
        """Return the line that decides about a URL; None if none does, so that it is allowed."""
        return self.rule_for_path(compared_path(url))

    def rule_for_path(self, path: str) -> RobotsRule | None:
        """Do the same for a path in the compared form, which several agents share."""
        if path == _ROBOTS_PATH:
            return None  # RFC 9309 2.2.2: implicitly allowed
        # Patterns that begin the path stand before it; each of them begins the longest.
        at = bisect_right(self._prefixes, path) - 1
        while at >= 0 and not path.startswith(self._prefixes[at]):
            at = self._parents[at]
        found, priority = (self._rules[at], len(self._prefixes[at])) if at >= 0 else (None, 0)
        for each in self._wildcards.that_may_match(path):
            if each.priority < priority:
                break
            if each.matches(path):
                if found and priority == each.priority and found.allows:
                    return found
                return each.rule
        return found


def parse_robots_rules(text: str, agent: str) -> RobotsRules:
    """Return what a robots.txt says to an agent; nothing in it raises."""
    name = agent.strip().lower()
    groups = list(_groups(_lines(text)))
    agents = dict.fromkeys(each for group in groups for each in group.agents)
    best = max(agents, key=lambda named: _specificity(named, name), default="")
    if not best or not _specificity(best, name):
        return EVERYTHING_ALLOWED
    lines = [line for group in groups if best in group.agents for line in group.lines]
    delays = [seconds for line in lines if (seconds := _delay(line)) is not None]
    signals = [" ".join(line.value.split()) for line in lines if line.meaning == _SIGNAL]
    return RobotsRules(
        [
            RobotsRule(line.meaning == _ALLOW, line.value, line.number)
            for line in lines
            if line.meaning in {_ALLOW, _DISALLOW}
        ],
        delays[-1] if delays else None,
        ", ".join(signals)[:_MAX_SIGNAL] or None,
    )


def read_robots_rules(source: Source, agent: str) -> RobotsRules:
    """Return what a robots.txt says to an agent, as far as it is read."""
    unpacked = decompress(source.chunks, Diagnostics(), MAX_ROBOTS_BYTES)
    head, _ = take_head(Utf8Document(unpacked, Diagnostics(), source.charset), MAX_ROBOTS_BYTES)
    return parse_robots_rules(head.decode("utf-8", "replace"), agent)


def _groups(lines: Iterable[_Line]) -> Iterator[_Group]:
    """Yield the groups; several may name one agent, and all of those count (RFC 9309 2.2.1)."""
    group = _Group()
    names_follow = True
    for line in lines:
        if line.meaning == _AGENT:
            if not names_follow:
                yield group
                group = _Group()
            names_follow = True
            agent = line.value.lower()
            named = (agent,) if agent == "*" else (agent, agent.replace("*", ""))
            group.agents.update(dict.fromkeys(filter(None, named)))
        elif line.meaning != _SITE:
            names_follow = False
            if line.value:
                group.lines.append(line)
    yield group


def _lines(text: str) -> Iterator[_Line]:
    """Yield the lines that have a field, with its meaning."""
    for number, written in enumerate(text.splitlines(), 1):
        line = written.partition("#")[0].strip()
        name, colon, value = line.partition(":")
        meaning = _FIELDS.get(name.strip().lower()) if colon else None
        if meaning is not None:
            yield _Line(number, meaning, value.strip())
            continue
        if not colon or (value and not value[0].isspace()):
            words = line.split(None, 2)
            for count in (1, 2):  # "Disallow /x", "User agent *"
                field_name = " ".join(words[:count]).lower()
                meaning = _FIELDS.get(field_name)
                if meaning is not None:
                    rest = line.split(None, count)[count:]
                    yield _Line(number, meaning, " ".join(rest[0].split()) if rest else "")
                    break
        if meaning is None and colon:
            yield _Line(number, _OTHER, "")


def _delay(line: _Line) -> float | None:
    """Return the seconds of a ``Crawl-delay`` line, if it is one and has some."""
    if line.meaning != _DELAY:
        return None
    try:
        seconds = float(line.value)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _specificity(named: str, agent: str) -> int:
    """Return how well a group fits an agent: the length of the name; 0 if it doesn't.

    The name must begin at the beginning of a word: ``bot`` is not the agent ``mybot``.
    """
    if named == "*":
        return 1
    at = agent.find(named)
    while at > 0 and _NAME_CHARACTER.match(agent[at - 1]):
        at = agent.find(named, at + 1)
    return len(named) if at >= 0 else 0


def _patterns(rules: Iterable[RobotsRule]) -> Iterator[tuple[str, RobotsRule]]:
    """Yield the patterns of rules in the compared form; some rules mean several.

    A dollar sign may be the end of the URL, or one that the URL has. Whoever allows an
    ``index.html`` allows its folder, too.
    """
    for rule in rules:
        written = rule.pattern
        if written.startswith(("https://", "http://")):  # by mistake; it matches no path
            written = f"/{written}"
        is_anchored = written.endswith("$")
        pattern = _compared(written.removesuffix("$"), "*") + "$" * is_anchored
        if is_anchored:
            yield _compared(written, "*"), rule
        if pattern:
            yield pattern, rule
        if rule.allows and pattern.endswith(f"/{_INDEX}"):
            yield f"{pattern.removesuffix(_INDEX)}$", rule


def _parents(prefixes: list[str]) -> list[int]:
    """Return, for each of the sorted prefixes, where the longest is that it begins with; or -1."""
    parents: list[int] = []
    for number, prefix in enumerate(prefixes):
        at = number - 1
        while at >= 0 and not prefix.startswith(prefixes[at]):
            at = parents[at]
        parents.append(at)
    return parents


def compared_path(url: str) -> str:
    """Return the path and query of a URL in the form in which they are compared."""
    plain = _PLAIN_URL(url)
    if plain:
        return plain[1]
    match = _URL.match(url)
    path = match["path"] if match else url.partition("#")[0]
    path = _compared(path)
    return path if path.startswith("/") else f"/{path}"


def _compared(text: str, also_safe: str = "") -> str:
    """Return a path with one spelling of each character (RFC 9309 2.2.2).

    Escapes are decoded and made anew, but for those of a slash, a percent sign, and a star, which
    is no wildcard then (RFC 9309 2.2.3).
    """
    if "%" in text:
        decoded = _ESCAPE.sub(_decode, text.encode("utf-8", "replace"))
        text = decoded.decode("utf-8", "replace")
    if text.isascii():
        return _UNSAFE.sub(_ESCAPED[also_safe], text)
    return quote(text, safe=_SAFE + also_safe, errors="replace")


def _decode(escape: re.Match[bytes]) -> bytes:
    byte = int(escape[1], 16)
    return b"%" + escape[1].upper() if byte in _KEPT_ESCAPES else bytes((byte,))


EVERYTHING_ALLOWED: Final = RobotsRules()
EVERYTHING_DISALLOWED: Final = RobotsRules([RobotsRule(allows=False, pattern="/", line=0)])
"""The rules of a host whose robots.txt can't be read (RFC 9309 2.3.1.4)."""
