"""One target in one process: fuzzed with atheris or with random mutation, within limits.

``python -m fuzz`` starts it. The last line of its output is a summary; an exit status other than 0
means that an input failed and was saved.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from itertools import repeat
from pathlib import Path

from fuzz import limits, mutate
from fuzz.seeds import DICTIONARY, seeds_for

GROWTH = "growth"


def main() -> None:
    """Run one worker."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--target", required=True)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--found", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", default="atheris" if find_spec("atheris") else "random")
    parser.add_argument("--replay", type=Path)
    parser.add_argument("--shrink", type=Path)
    options = parser.parse_args()
    if options.replay:
        check_of(options.target)(options.replay.read_bytes())
        print("the input passes")
    elif options.shrink:
        smaller = mutate.shrink(check_of(options.target), options.shrink.read_bytes())
        options.shrink.write_bytes(smaller)
    else:
        # Instrumented code takes longer: growth is measured without.
        engine = "random" if options.target == GROWTH else options.engine
        {"atheris": with_atheris, "random": at_random}[engine](options)


def check_of(target: str) -> mutate.Check:
    """Return the function that checks an input."""
    check: mutate.Check = import_module("fuzz.targets").TARGETS[target]
    return check


def at_random(options: argparse.Namespace) -> None:
    """Fuzz with random mutation, or with what a target draws itself."""
    rng = random.Random(options.seed)  # noqa: S311 -- not for secrets
    check = check_of(options.target)
    drawn: Iterator[bytes]
    if options.target == GROWTH:
        growth = import_module("fuzz.growth")
        drawn = map(growth.draw, repeat(rng))
        check = growth.kept_if_killed(check, options.found / f"{GROWTH}-endless-{options.seed}")
    else:
        drawn = mutate.mutations(seeds_for(options.target), rng)
    result = mutate.search(check, drawn, options.seconds)
    if result.failure is None:
        print(f"{result.inputs:,} inputs in {options.seconds} s (random): no failure")
        return
    name = f"{options.target}-{hashlib.sha256(result.data).hexdigest()[:16]}"
    (options.found / name).write_bytes(result.data)
    raise result.failure


def with_atheris(options: argparse.Namespace) -> None:
    """Fuzz with libFuzzer, which follows the coverage of our code and never returns."""
    atheris = import_module("atheris")
    with atheris.instrument_imports(include=["usp"]):
        check = check_of(options.target)
    folder = Path(tempfile.mkdtemp(prefix="usp-fuzz-"))
    for number, seed in enumerate(seeds_for(options.target)):
        (folder / str(number)).write_bytes(seed)
    dictionary = folder.with_suffix(".dict")
    dictionary.write_text(DICTIONARY, encoding="ascii")
    settings = {
        "max_total_time": options.seconds,
        "max_len": limits.INPUT,
        "timeout": limits.SECONDS_AN_INPUT,
        "rss_limit_mb": limits.MEMORY_MIB,
        "seed": options.seed,
        "dict": dictionary,
        "artifact_prefix": f"{options.found}/{options.target}-",
        "print_final_stats": 0,
    }
    atheris.Setup(
        [sys.argv[0], *(f"-{name}={value}" for name, value in settings.items()), str(folder)],
        check,
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
