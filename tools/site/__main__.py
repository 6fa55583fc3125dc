"""``make docs``: builds the site. Warnings are errors, and nothing may be loaded from elsewhere."""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from sphinx.cmd.build import main as sphinx_build

from tools.site.external import loaded_from_elsewhere
from tools.site.generated import generated_pages
from tools.site.stage import with_contents, written_pages
from tools.site.terminal import pictures

PROJECT: Final = Path(__file__).resolve().parents[2]
BUILD: Final = PROJECT / "build" / "docs"


def write_source(source: Path) -> None:
    """Write what Sphinx reads; a file that is as it was keeps its time, and is not built again."""
    pages = written_pages(PROJECT) | generated_pages()
    files = {place: with_contents(place, text).encode() for place, text in pages.items()}
    for file in (PROJECT / "docs").rglob("*"):
        if file.is_file() and file.suffix in {".css", ".js", ".png", ".py", ".svg"}:
            files[file.relative_to(PROJECT / "docs").as_posix()] = file.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        for name, svg in pictures(Path(folder)):
            files[f"_static/terminal/{name}.svg"] = svg.encode()
    for file in source.rglob("*"):
        if file.is_file() and file.relative_to(source).as_posix() not in files:
            file.unlink()
    for place, data in files.items():
        path = source / place
        if not path.exists() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def main() -> int:
    """Build the site into ``build/docs/html``."""
    source, site = BUILD / "source", BUILD / "html"
    write_source(source)
    shutil.rmtree(site, ignore_errors=True)
    code = sphinx_build(
        [
            *("-E", "-W", "-n", "--keep-going", "-q", "-j", "auto", "-b", "html"),
            *("-d", str(BUILD / "doctrees"), str(source), str(site)),
        ]
    )
    if code:
        return code
    loaded = list(loaded_from_elsewhere(site))
    for line in loaded:
        sys.stderr.write(f"loaded from elsewhere: {line}\n")
    sys.stdout.write(f"{site / 'index.html'}\n")
    return 1 if loaded else 0


if __name__ == "__main__":
    sys.exit(main())
