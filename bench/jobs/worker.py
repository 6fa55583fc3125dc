"""The measured process: ``implementations.py`` starts it in the interpreter of an implementation.

It imports the given job modules, prints ``ready``, reads one job per line (JSON: name and
arguments) and prints one line with the result of each.

It runs as a file, so that only the jobs and the packages of the interpreter are imported.
``common.py`` uses only names that 1.8.1 has, too. Files are opened before the clock starts. Results
are plain values.
"""

import json
import logging
import sys
from importlib import import_module
from pathlib import Path


def main(address_space: int, modules: list[str]) -> None:
    """Limit the address space if requested, then run jobs until standard input is closed."""
    if address_space:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
    logging.disable()
    sys.path.append(
        str(Path(__file__).parents[2])
    )  # the root of the project, which doesn't contain usp itself
    found = [import_module(f"bench.jobs.{module}") for module in modules]
    jobs = {name: job for module in found for name, job in module.JOBS.items()}
    print("ready", flush=True)
    for line in sys.stdin:
        name, arguments = json.loads(line)
        try:
            result = jobs[name](*arguments)
        except Exception as error:  # noqa: BLE001 -- an exception is a result, too
            result = {"error": type(error).__name__}
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
