"""A build fails on what a reader would stumble over: dead links, and pages in no menu."""

import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
INDEX = """\
# Home

[a page](page.md) [no page](lost.md) [no heading](page.md#lost) [a heading](page.md#part-one)

```{toctree}
page
```
"""


def test_dead_links_and_pages_without_a_menu_are_reported(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "_static").mkdir(parents=True)
    for name in ("conf.py", "search_order.js"):
        shutil.copy(PROJECT / "docs" / name, source)
    (source / "index.md").write_text(INDEX, "utf-8")
    (source / "page.md").write_text("# Page\n\n## Part one\n\nwith --since\n", "utf-8")
    (source / "alone.md").write_text("# Alone\n", "utf-8")
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", *("-W", "--keep-going", "-q"), source, tmp_path / "html"],
        cwd=PROJECT,
        env={"PYTHONPATH": str(PROJECT), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 1
    assert "'lost.md'" in built.stderr
    assert "'lost'" in built.stderr
    assert "alone.md: WARNING: document isn't included in any toctree" in built.stderr
    assert "part-one" not in built.stderr
    assert "with --since" in (tmp_path / "html" / "page.html").read_text("utf-8")  # no dash
