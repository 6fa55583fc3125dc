"""One target in one process: fuzzed by atheris, else by the plain mutator, within limits.

Not to be called by hand: ``python -m fuzz`` starts it. The last line it prints says how far it
came; a status other than 0 says that something was found and saved.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from fuzz import limits, mutate
from fuzz.seeds import DICTIONARY, seeds_for


def main() -> None:
    """Do what ``python -m fuzz`` asks."""
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
        print("it holds")
    elif options.shrink:
        smaller = mutate.shrink(check_of(options.target), options.shrink.read_bytes())
        options.shrink.write_bytes(smaller)
    else:
        {"atheris": with_atheris, "random": at_random}[options.engine](options)


def check_of(target: str) -> mutate.Check:
    """Return what is called with each input."""
    check: mutate.Check = import_module("fuzz.targets").TARGETS[target]
    return check


def at_random(options: argparse.Namespace) -> None:
    """Fuzz with the plain mutator."""
    found = mutate.search(
        check_of(options.target), seeds_for(options.target), options.seconds, options.seed
    )
    if found.failure is None:
        print(f"{found.inputs:,} inputs in {options.seconds} s (random): nothing found")
        return
    name = f"{options.target}-{hashlib.sha256(found.data).hexdigest()[:16]}"
    (options.found / name).write_bytes(found.data)
    raise found.failure


def with_atheris(options: argparse.Namespace) -> None:
    """Fuzz with libFuzzer, which watches the coverage of our own code and never returns."""
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
