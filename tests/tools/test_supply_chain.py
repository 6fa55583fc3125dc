"""The wheel: two builds have one hash, its SBOM is valid, its dependencies have good licences."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from email.message import Message
from importlib.metadata import Distribution
from pathlib import Path

import pytest

from tools.dependencies import dependencies, licence_of
from tools.sbom import sbom_of

PROJECT = Path(__file__).resolve().parents[2]
NOT_BUILT = shutil.ignore_patterns(
    *(".git", ".venv*", "build", "dist", "__pycache__", ".*_cache", ".hypothesis", "results")
)


def built_in(folder: Path, *, mask: int) -> Path:
    """Build the wheel of a copy of the project, with other times, permissions and places."""
    copy = folder / "project"
    shutil.copytree(PROJECT, copy, ignore=NOT_BUILT, copy_function=shutil.copyfile)
    previous = os.umask(mask)
    try:
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
            cwd=copy,
            check=True,
            capture_output=True,
        )
    finally:
        os.umask(previous)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return (
        built_in(tmp_path_factory.mktemp("first"), mask=0o022),
        built_in(tmp_path_factory.mktemp("second"), mask=0o077),
    )


@pytest.mark.slow
def test_two_builds_have_one_hash(wheels: tuple[Path, Path]) -> None:
    first, second = (hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in wheels)
    assert first == second


@pytest.mark.slow
def test_the_sbom_is_valid_and_the_same_for_the_same_wheel(wheels: tuple[Path, Path]) -> None:
    first, second = map(sbom_of, wheels)
    assert first == second
    # An import of seconds, which only this test needs.
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(first) is None


def test_the_sbom_names_the_wheel_and_everything_that_it_depends_on(
    wheels: tuple[Path, Path],
) -> None:
    bom = json.loads(sbom_of(wheels[0]))
    root = bom["metadata"]["component"]
    assert root["hashes"][0]["content"] == hashlib.sha256(wheels[0].read_bytes()).hexdigest()
    scopes = {component["name"]: component["scope"] for component in bom["components"]}
    assert {"requests", "urllib3", "certifi"} <= {n for n, s in scopes.items() if s == "required"}
    assert {"aiohttp", "pyarrow", "rich"} <= {n for n, s in scopes.items() if s == "optional"}
    direct = next(one for one in bom["dependencies"] if one["ref"] == root["bom-ref"])
    assert "pkg:pypi/certifi" not in {ref.partition("@")[0] for ref in direct["dependsOn"]}


@pytest.mark.parametrize("dependency", dependencies(), ids=lambda one: one.name)
def test_every_dependency_may_be_used_by_a_program_under_any_licence(dependency: object) -> None:
    assert getattr(dependency, "is_accepted", False), dependency


class Stated(Distribution):
    """A distribution that has only metadata."""

    def __init__(self, **fields: str) -> None:
        self._fields = fields

    @property
    def metadata(self) -> Message:  # type: ignore[override]  # what importlib gives is a Message
        message = Message()
        for name, value in self._fields.items():
            message[name.replace("_", "-")] = value
        return message

    def read_text(self, filename: str) -> str | None:
        return None

    def locate_file(self, path: object) -> Path:
        return Path(str(path))


@pytest.mark.parametrize(
    ("stated", "licence"),
    [
        (Stated(License_Expression="MIT", License="GPL"), "MIT"),
        (Stated(License="Apache 2.0"), "Apache-2.0"),
        (Stated(License="A text\nof many lines"), ""),
        (Stated(Classifier="License :: OSI Approved :: MIT License"), "MIT"),
        (Stated(Name="Jinja2", License="BSD License"), "BSD-3-Clause"),
        (Stated(Name="another", License="BSD"), ""),
        (Stated(), ""),
    ],
)
def test_the_licence_is_what_the_metadata_state(stated: Stated, licence: str) -> None:
    assert licence_of(stated) == licence
