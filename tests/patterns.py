"""Every regular expression of the package, and the strings that cost each one the most.

The attack strings are derived from the parsed pattern: in front of each unbounded repeat stands
what leads to it, the repeat itself is filled with each kind of character or group that the pattern
tells apart, and what follows makes the match fail. A pattern whose cost grows faster than its text
is found that way, also where only its search is slow: ``\\s++x`` looks at a run of blanks once from
each of them.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import signal
import sys
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]
from types import FrameType
from typing import Any, Final

Pattern = re.Pattern[Any]
Use = Callable[[Pattern, Any], object]
Parts = tuple[str, str, str, str]
"""What stands first, what is repeated, what follows, and how it ends."""

USES: Final[dict[str, Use]] = {
    "match": lambda pattern, text: pattern.match(text),
    "fullmatch": lambda pattern, text: pattern.fullmatch(text),
    "search": lambda pattern, text: pattern.search(text),
    "finditer": lambda pattern, text: deque(pattern.finditer(text), 0),
}
AS_FINDITER: Final = ("findall", "finditer", "split", "sub", "subn")
"""Methods that search the whole text for one match after another."""
FIRST_LENGTH: Final = 4_000
SUSPICIOUS: Final = 0.006
"""CPU seconds for a string of the first length, from which a pattern is measured for growth."""
LENGTH: Final = 10_000
GROWTH: Final = 2.9
"""How much twice the text may cost."""
NOTICEABLE: Final = 0.1
"""CPU seconds; what takes less is not compared: a shared machine is half as fast at times."""
TOO_LONG: Final = 0.2
"""CPU seconds after which one search is ended."""
LARGE: Final = 64
"""A repeat of at most so many is bounded; it can't grow with the text."""
COMMON: Final = " \t\n\r\x0b\x00!\"#&'()*+,-./059:;<=>?@AZ[\\]^_`az{|}~\x7f\xa0\xe9\xff"
ENDS: Final = ("", "\x00", "\n!")
REPEATS: Final = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)
ATOMS: Final = (_constants.LITERAL, _constants.NOT_LITERAL, _constants.IN, _constants.ANY)
ASSERTIONS: Final = (_constants.ASSERT, _constants.ASSERT_NOT)


# What leads to each repeat


def groups_of(operation: Any, value: Any) -> list[Any]:
    """The patterns inside of an operation, alternatives or not."""
    if operation in REPEATS:
        return [value[2]]
    if operation is _constants.BRANCH:
        return list(value[1])
    if operation is _constants.SUBPATTERN:
        return [value[3]]
    if operation is _constants.ATOMIC_GROUP:
        return [value]
    if operation in ASSERTIONS:
        return [value[1]]
    return []


def atoms_in(parsed: Any) -> Iterator[Any]:
    for operation, value in parsed:
        if operation in ATOMS:
            yield operation, value
        for inner in groups_of(operation, value):
            yield from atoms_in(inner)


def characters_in(parsed: Any) -> Iterator[str]:
    """The characters that a pattern names, and the neighbours of its ranges."""
    for operation, value in atoms_in(parsed):
        for kind, inside in value if operation is _constants.IN else [(operation, value)]:
            if kind in {_constants.LITERAL, _constants.NOT_LITERAL}:
                yield chr(inside)
            elif kind is _constants.RANGE:
                yield from map(chr, inside)


class Alphabet:
    """The kinds of characters that a pattern tells apart, with one character for each."""

    def __init__(self, parsed: Any, flags: int, *, binary: bool) -> None:
        self._flags = flags
        self._binary = binary
        self._compiled: dict[str, Pattern] = {}
        atoms = list(atoms_in(parsed))
        kinds: dict[tuple[bool, ...], str] = {}
        for character in dict.fromkeys((*"aA0", *COMMON, *characters_in(parsed))):
            if not binary or ord(character) < 0x100:
                signature = tuple(self.matches(atom, character) for atom in atoms)
                # The anchors of a line tell a line break from any other character.
                kinds.setdefault((*signature, character == "\n"), character)
        self.characters = list(kinds.values())

    def matches(self, atom: Any, character: str) -> bool:
        key = repr(atom)
        if key not in self._compiled:
            state = _parser.State()
            state.flags = self._flags
            self._compiled[key] = _compiler.compile(_parser.SubPattern(state, [atom]), self._flags)
            # A compiled form has no text to tell its type from, so bytes are given as they are.
        text: Any = character.encode("latin-1") if self._binary else character
        try:
            return self._compiled[key].fullmatch(text) is not None
        except TypeError:
            return self._compiled[key].fullmatch(character) is not None

    def one(self, atom: Any) -> str:
        return next((known for known in self.characters if self.matches(atom, known)), "")


@dataclass
class Attack:
    """The strings for one pattern."""

    alphabet: Alphabet
    generous: bool
    """Whether what is optional is there, in what leads to a repeat."""
    strings: dict[Parts, None] = field(default_factory=dict)

    def sample(self, parsed: Any) -> str:
        """A short string that the pattern matches, assertions aside."""
        return "".join(self._sample(operation, value) for operation, value in parsed)

    def _sample(self, operation: Any, value: Any) -> str:
        if operation in ATOMS:
            return self.alphabet.one((operation, value))
        if operation in REPEATS:
            least, most, body = value
            times: int = max(least, min(most, self.generous))
            return self.sample(body) * times
        if operation in ASSERTIONS:
            return ""
        return next((self.sample(inner) for inner in groups_of(operation, value)), "")

    def walk(self, parsed: Any, before: str, after: str = "") -> None:
        """Note the strings for each repeat, given what stands before and after the pattern."""
        operations = list(parsed)
        for index, (operation, value) in enumerate(operations):
            rest = self.sample(operations[index + 1 :]) + after
            if operation in REPEATS and value[1] > LARGE:
                self._pump(value[2], before, rest)
            for inner in groups_of(operation, value):
                self.walk(inner, before, rest)
            before += self._sample(operation, value)

    def _pump(self, body: Any, before: str, after: str) -> None:
        atoms = list(atoms_in(body))
        words = [
            known
            for known in self.alphabet.characters
            if any(self.alphabet.matches(atom, known) for atom in atoms)
        ]
        words += [self.sample(body), *map(self.sample, alternatives(body))]
        for word in filter(None, words):
            for end in (*ENDS, after[:-1]):
                self.strings[before, word, "", end] = None
                if before:
                    self.strings["", before + word, "", end] = None
                if after:
                    self.strings["", before + word + after[:-1], "", end] = None
                    self.strings["", word, after, end] = None


def alternatives(parsed: Any) -> Iterator[Any]:
    for operation, value in parsed:
        inside = groups_of(operation, value)
        if operation is _constants.BRANCH:
            yield from inside
        for inner in inside:
            yield from alternatives(inner)


def attack_strings(pattern: Pattern) -> Iterator[Callable[[int], Any]]:
    """Functions that return a hostile text of a length."""
    binary = isinstance(pattern.pattern, bytes)
    parsed = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    alphabet = Alphabet(parsed, pattern.flags, binary=binary)
    strings: dict[Parts, None] = {}
    for generous in (False, True):
        attack = Attack(alphabet, generous)
        attack.walk(parsed, "")
        strings |= attack.strings
    for before, word, then, end in strings:

        def text(
            length: int, before: str = before, word: str = word, then: str = then, end: str = end
        ) -> Any:
            written = before + word * (length // len(word)) + then + end
            return written.encode("latin-1", "replace") if binary else written

        yield text


# Cost


class _TooLongError(Exception):
    pass


@contextmanager
def cpu_limit() -> Iterator[None]:
    """Let the timer of CPU time raise; the engine looks for signals while it searches."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise _TooLongError

    previous = signal.signal(signal.SIGVTALRM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGVTALRM, previous)


def cost(use: Use, pattern: Pattern, text: Any) -> float:
    """Return the CPU time of a search, at most ``TOO_LONG``."""
    began = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, TOO_LONG)
        use(pattern, text)
        return time.process_time() - began
    except _TooLongError:
        return TOO_LONG
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


@cpu_limit()
def superlinear(pattern: Pattern, uses: Iterable[str]) -> str | None:
    """The first text for which the pattern costs more than its length, if there is one."""
    for text in attack_strings(pattern):
        for name in uses:
            use = USES[name]
            hostile = text(FIRST_LENGTH)
            if cost(use, pattern, hostile) < SUSPICIOUS:
                continue
            once, twice = (
                min(cost(use, pattern, text(n)) for _ in "12") for n in (LENGTH, 2 * LENGTH)
            )
            if twice >= TOO_LONG or (twice > NOTICEABLE and twice > GROWTH * once):
                return f"{name} {hostile[:40]!r}...{hostile[-12:]!r}: {once:.3f} s, {twice:.3f} s"
    return None


# The patterns of the package


@dataclass(frozen=True)
class Call:
    """One call of a function of ``re`` in the source of the package."""

    file: Path
    line: int
    function: str
    literal: str | bytes | None
    """The pattern, if it is written in the call."""
    flags: int
    uses: frozenset[str]
    """The methods of the pattern that the package calls; all, where that isn't visible."""


@dataclass
class _Names(ast.NodeVisitor):
    """The variables of one file that hold patterns, and the methods that are called on names."""

    variables: dict[ast.AST, str] = field(default_factory=dict)
    methods: dict[ast.AST, str] = field(default_factory=dict)
    """The method that is taken from a call: ``re.compile(...).fullmatch``."""
    called: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    handed_on: set[str] = field(default_factory=set)
    """Names that are used without a method, so that any method may be called elsewhere."""
    calls: list[ast.Call] = field(default_factory=list)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if isinstance(node.target, ast.Name) and node.value is not None:
            self.variables[node.value] = node.target.id
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.variables[node.value] = target.id
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.handed_on.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        owner = node.value
        if isinstance(owner, ast.Call):
            self.methods[owner] = node.attr
        elif isinstance(owner, ast.Name | ast.Attribute):
            name = owner.id if isinstance(owner, ast.Name) else owner.attr
            self.called[name].add(node.attr)
        if not isinstance(owner, ast.Name):
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        match node.func:
            case ast.Attribute(value=ast.Name(id="re"), attr=name) if hasattr(re, name):
                if name not in {"escape", "purge"}:
                    self.calls.append(node)
        self.generic_visit(node)


def calls_in(files: Iterable[Path]) -> Iterator[Call]:
    """Every call of a function of ``re``, with the uses of the pattern that it makes."""
    names: dict[Path, _Names] = {}
    for file in files:
        names[file] = _Names()
        names[file].visit(ast.parse(file.read_text(encoding="utf-8")))
    for file, found in names.items():
        for node in found.calls:
            assert isinstance(node.func, ast.Attribute)
            yield Call(
                file,
                node.lineno,
                node.func.attr,
                _literal(node.args[0]),
                0 if len(node.args) < 2 else _flags(node),
                _uses(node, found, names.values()),
            )


def _literal(node: ast.expr) -> Any:
    return node.value if isinstance(node, ast.Constant) else None


def _flags(node: ast.Call) -> int:
    named = [part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)]
    return sum({flag.value for name in named if (flag := re.RegexFlag.__members__.get(name))})


def _uses(node: ast.Call, here: _Names, everywhere: Iterable[_Names]) -> frozenset[str]:
    function = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    name = here.variables.get(node, "")
    if function != "compile":
        methods = {function}
    elif node in here.methods:
        methods = {here.methods[node]}
    else:
        files = [here] if name.startswith("_") else everywhere
        methods = {method for file in files if name for method in file.called.get(name, ())}
        if any(name in file.handed_on for file in files):
            methods = set()
    uses = {"finditer" if method in AS_FINDITER else method for method in methods} & USES.keys()
    return frozenset(uses or USES)


def collect(package: str, also: Callable[[], object]) -> dict[tuple[Path, int], list[Pattern]]:
    """Import all modules of a package, and return every pattern that it compiles, by its call."""
    compiled: dict[tuple[Path, int], list[Pattern]] = defaultdict(list)
    compile_: Any = vars(re)["_compile"]

    def note(pattern: Any, flags: int) -> Pattern:
        result: Pattern = compile_(pattern, flags)
        frame = sys._getframe(2)  # that of the caller of re.compile()
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] == package:
            compiled[Path(frame.f_code.co_filename), frame.f_lineno].append(result)
        return result

    vars(re)["_compile"] = note
    try:
        found = importlib.import_module(package)
        for module in pkgutil.walk_packages(found.__path__, f"{package}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
        also()
    finally:
        vars(re)["_compile"] = compile_
    return compiled


def _later_patterns() -> None:
    """Make the patterns that are compiled when a document is read."""
    quick_check = importlib.import_module("usp._parse.quick_check")
    for test in vars(quick_check).values():
        if isinstance(test, quick_check._PatternTest):
            assert test.is_good is not test.all_are_good
    plain = importlib.import_module("usp._parse.values.plain")
    assert not plain.are_plain_urls(["http://h.example/é", "é", "e"])
    assert not plain.are_plain_urls(["http://h.example/", "e"])
    grammar = importlib.import_module("usp._parse.xml.grammar")
    boundaries = importlib.import_module("usp._parse.xml.boundaries")
    for table in grammar.GRAMMARS.values():
        boundaries.boundaries_for(table)


@dataclass
class Found:
    """What a check of the package's patterns has found."""

    slow: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    """The files with a call that makes a pattern which isn't known before a document is read."""
    checked: int = 0


def check(part: int, parts: int) -> Found:
    """Check a share of the package's patterns, in an interpreter that hasn't imported it yet."""
    compiled = collect("usp", _later_patterns)
    package = Path(importlib.import_module("usp").__file__ or "").parent
    calls = sorted(calls_in(package.rglob("*.py")), key=lambda call: (call.file, call.line))
    found = Found()
    for number, call in enumerate(calls):
        patterns = compiled.get((call.file, call.line), [])
        if not patterns and call.literal is not None:
            patterns = [re.compile(call.literal, call.flags)]
        name = call.file.relative_to(package).as_posix()
        if not patterns:
            found.unseen.append(name)
        if number % parts == part:
            for pattern in {(made.pattern, made.flags): made for made in patterns}.values():
                found.checked += 1
                if slow := superlinear(pattern, sorted(call.uses)):
                    found.slow.append(f"{name}:{call.line}: {slow}")
    return found
