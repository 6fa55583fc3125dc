"""The process that is measured: started by ``sides.py`` in the interpreter of one side.

It imports the jobs it is told to, says when it is ready, takes one job a line (JSON: its name and
its arguments) and answers each with one line.

Rules of this room (``bench/jobs``): run as a file, so that nothing of this project is imported but
the jobs and what the interpreter has installed; ``both.py`` has only names that 1.8.1 has too; no
clock runs while a file is opened; a job answers with plain values.
"""

import json
import logging
import sys
from importlib import import_module
from pathlib import Path


def main(address_space: int, modules: list[str]) -> None:
    """Bound the address space where asked to, and work."""
    if address_space:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
    logging.disable()
    sys.path.append(str(Path(__file__).parents[2]))  # where usp itself isn't
    found = [import_module(f"bench.jobs.{module}") for module in modules]
    jobs = {name: job for module in found for name, job in module.JOBS.items()}
    print("ready", flush=True)
    for line in sys.stdin:
        name, arguments = json.loads(line)
        try:
            answer = jobs[name](*arguments)
        except Exception as error:  # noqa: BLE001 -- whatever ends a job is a result
            answer = {"error": type(error).__name__}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
