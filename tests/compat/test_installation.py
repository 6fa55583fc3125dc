"""ultimate-sitemap-parser beside ours: a warning where files are mixed, none for the shim.

The quick tests put the package into a directory with the metadata of other distributions. The
thorough ones use real wheels in a real virtualenv; they need a package index and the sources.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

import usp

ROOT = Path(__file__).parents[2]
PACKAGE = Path(usp.__file__).parent
REAL = "ultimate_sitemap_parser-1.8.1.dist-info"
SHIM = f"ultimate_sitemap_parser-1.8.1+usp.{usp.__version__}.dist-info"
REQUIRED = "ultimate-sitemap-parser==1.8.1"
PIP = ("-m", "pip", "--disable-pip-version-check", "--no-color")


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def warnings(self) -> list[str]:
        return [line for line in self.err.splitlines() if "ultimate-sitemap-parser" in line]


def run(python: str | Path, *arguments: str, folder: Path, site: Path | None = None) -> Ended:
    """Run Python in a folder; ``site`` is all that it finds beside its own installation."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(python), *arguments],
        capture_output=True,
        text=True,
        env=environment | ({"PYTHONPATH": str(site)} if site else {}),
        cwd=folder,
        timeout=300,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def site_with(folder: Path, *metadata: str) -> Path:
    """A directory like site-packages, with our package and the metadata of others."""
    (folder / "usp").symlink_to(PACKAGE, target_is_directory=True)
    for name in metadata:
        (folder / name).mkdir()
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", [REAL, "ultimate_sitemap_parser-0.5-py3.11.egg-info"])
def test_a_mixed_installation_warns_once_in_one_line(tmp_path: Path, name: str) -> None:
    site = site_with(tmp_path, name)
    program = "import usp, usp.tree, usp.stream, usp.aio; usp.iter_pages; print(usp.__file__)"
    ended = run(sys.executable, "-c", program, folder=tmp_path, site=site)
    assert (ended.code, ended.out) == (0, f"{site / 'usp' / '__init__.py'}\n")
    (line,) = ended.err.splitlines()
    assert line.startswith(f"{site / name}:1: RuntimeWarning: ultimate-sitemap-parser ")
    assert "pip uninstall ultimate-sitemap-parser" in line
    assert "pip install --force-reinstall --no-deps PATH" in line


@pytest.mark.parametrize("metadata", [(), (SHIM,), ("ultimate_sitemap-2.0.dist-info",)])
def test_nothing_else_warns(tmp_path: Path, metadata: tuple[str, ...]) -> None:
    site = site_with(tmp_path, *metadata)
    ended = run(sys.executable, "-c", "import usp.tree", folder=tmp_path, site=site)
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.slow
def test_the_command_warns_once_and_not_for_the_shim(tmp_path: Path) -> None:
    site = site_with(tmp_path, SHIM)
    assert run(sys.executable, "-m", "usp", "demo", folder=tmp_path, site=site).warnings == []
    (site / REAL).mkdir()
    ended = run(sys.executable, "-m", "usp", "demo", folder=tmp_path, site=site)
    assert ended.code == 0
    assert len(ended.warnings) == len(ended.err.splitlines()) == 1


def test_the_warning_can_be_filtered(tmp_path: Path) -> None:
    site = site_with(tmp_path, REAL)
    quiet = ("-W", "ignore::RuntimeWarning:usp", "-c", "import usp.tree")
    assert run(sys.executable, *quiet, folder=tmp_path, site=site).err == ""


def test_modules_of_ours_warn_where_the_first_file_is_theirs(tmp_path: Path) -> None:
    (tmp_path / "usp").mkdir()
    for file in PACKAGE.iterdir():
        if file.name != "__pycache__":
            (tmp_path / "usp" / file.name).symlink_to(file)
    (tmp_path / "usp" / "__init__.py").unlink()
    (tmp_path / "usp" / "__init__.py").write_text("__version__ = '1.8.1'\n")
    (tmp_path / REAL).mkdir()
    ended = run(sys.executable, "-c", "import usp.stream", folder=tmp_path, site=tmp_path)
    assert (ended.code, len(ended.warnings)) == (0, 1)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our wheel, the shim's, and that of a package that requires ultimate-sitemap-parser."""
    if not (ROOT / "shim" / "pyproject.toml").is_file():
        pytest.skip("there are no sources to build wheels from")
    folder = tmp_path_factory.mktemp("wheels")
    index = run(
        sys.executable, *PIP, "download", "-q", "--no-deps", REQUIRED, "hatchling>=1.27",
        "-d", str(folder / "downloaded"), folder=folder,
    )  # fmt: skip
    if index.code:
        pytest.skip("the package index can't be reached")
    built = run(
        sys.executable, *PIP, "wheel", "-q", "--no-deps", "-w", str(folder), str(ROOT),
        str(ROOT / "shim"), folder=folder,
    )  # fmt: skip
    assert built.code == 0, built.err
    info = "needs_it-1.0.dist-info"
    with zipfile.ZipFile(folder / "needs_it-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(
            f"{info}/METADATA",
            f"Metadata-Version: 2.1\nName: needs-it\nVersion: 1.0\nRequires-Dist: {REQUIRED}\n",
        )
        wheel.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: by hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr(f"{info}/RECORD", "")
    return folder


@dataclass(frozen=True)
class Environment:
    """A virtualenv in which wheels are installed with pip."""

    folder: Path
    wheels: Path

    @property
    def python(self) -> Path:
        return self.folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"

    def wheel(self, name: str) -> str:
        return str(next(self.wheels.glob(f"{name}-*.whl")))

    def pip(self, *arguments: str) -> str:
        ended = run(
            sys.executable, *PIP, "--python", str(self.python), *arguments, folder=self.folder
        )
        assert ended.code == 0, ended.err
        return ended.out

    def run(self, program: str) -> Ended:
        return run(self.python, "-c", program, folder=self.folder)


@pytest.fixture
def environment(tmp_path: Path, wheels: Path) -> Environment:
    venv.create(tmp_path / "env")
    return Environment(tmp_path / "env", wheels)


VERSION = "import usp, usp.stream; print(usp.__version__)"


@pytest.mark.thorough
def test_the_shim_satisfies_a_package_that_requires_the_other(environment: Environment) -> None:
    ours, shim, needs = map(environment.wheel, ("usp", "ultimate_sitemap_parser", "needs_it"))
    with zipfile.ZipFile(shim) as archive:
        assert all(".dist-info/" in name for name in archive.namelist())
    environment.pip("install", "-q", ours, shim)
    environment.pip("install", "-q", needs)
    assert "No broken requirements" in environment.pip("check")
    assert environment.run(VERSION) == Ended(0, f"{usp.__version__}\n", "")
    environment.pip("uninstall", "-q", "--yes", "ultimate-sitemap-parser")
    assert environment.run(VERSION) == Ended(0, f"{usp.__version__}\n", "")


@pytest.mark.thorough
def test_real_installations_in_both_orders(environment: Environment) -> None:
    ours = environment.wheel("usp")
    theirs = str(next((environment.wheels / "downloaded").glob("ultimate_sitemap_parser-*.whl")))
    environment.pip("install", "-q", ours)
    environment.pip("install", "-q", "--no-deps", theirs)
    overwritten = environment.run(VERSION)
    assert overwritten.code == 1  # no module of ours works with their exceptions
    assert len(overwritten.warnings) == 1
    environment.pip("install", "-q", "--force-reinstall", "--no-deps", ours)
    restored = environment.run(VERSION)
    assert (restored.code, restored.out) == (0, f"{usp.__version__}\n")
    assert len(restored.warnings) == 1
    # What the warning says to do.
    environment.pip("uninstall", "-q", "--yes", "ultimate-sitemap-parser")
    assert environment.run(VERSION).code == 1  # pip has removed what both have
    environment.pip("install", "-q", "--force-reinstall", "--no-deps", ours)
    assert environment.run(VERSION) == Ended(0, f"{usp.__version__}\n", "")
