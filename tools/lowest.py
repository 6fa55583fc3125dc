"""Print the lowest versions of the dependencies that pyproject.toml allows, as constraints."""

import re
import sys
import tomllib
from pathlib import Path

REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)\s*>=\s*(?P<version>[\w.]+)")


def main() -> None:
    """Print one constraint per line."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project.get("optional-dependencies", {}).values()
    for requirement in [*project["dependencies"], *(one for extra in extras for one in extra)]:
        if found := REQUIREMENT.match(requirement):
            sys.stdout.write(f"{found['name']}=={found['version']}\n")


if __name__ == "__main__":
    main()
