"""The growth target of ``fuzz/``: it finds what it is there for, and a sample of it passes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from fuzz import growth
from fuzz.growth_tokens import TOKENS

PROJECT = Path(__file__).resolve().parent.parent.parent


def recipe(*parts: bytes) -> bytes:
    """A recipe of one token for each part of the document; an empty part has none."""
    return b"\0\0" + b"\xff".join(bytes([TOKENS.index(part)]) if part else b"" for part in parts)


@pytest.mark.slow
@pytest.mark.parametrize("size", [8, pytest.param(100, marks=pytest.mark.thorough)])
def test_a_sample_of_drawn_documents_is_read_in_linear_time(size: int) -> None:
    rng = Random(1)  # noqa: S311 -- not for secrets
    for _ in range(size):
        growth.growth(growth.draw(rng))


def test_a_document_has_the_parts_of_its_recipe_in_any_size() -> None:
    drawn = growth.Recipe.of(recipe(b"<urlset>", b"<a@>", b"</a@>", b"</urlset>"))
    assert drawn.document(24) == b"<urlset><a0><a1><a2></a0></a1></urlset>"
    assert 990 < len(drawn.document(1000)) < 1020
    assert "repeated=b'<a@>'" in str(drawn)


def test_every_byte_sequence_is_a_recipe() -> None:
    for data in (b"", b"\0", b"\xff" * 9, bytes(range(256))):
        assert isinstance(growth.Recipe.of(data).document(100), bytes)


TIMES: dict[str, tuple[Callable[[float], float], str]] = {
    # Seconds for a size, in shares of the largest one, and what is found.
    "linear": (lambda size: size, ""),
    "linear, twice from the full size on": (lambda size: size * (0.5 if size < 1 else 1), ""),
    "quadratic, and short": (lambda size: 0.2 * size**2, ""),
    "quadratic": (lambda size: 0.5 * size**2, "0.12 s for half, 0.50 s for 160000 bytes"),
    "long only for a small document": (
        lambda size: 1.6 if size < 0.5 else 0.1,
        "1.60 s for 40000 bytes",
    ),
    "linear, and long": (lambda size: 1.6 * size, "1.60 s for 160000 bytes"),
}


@pytest.mark.parametrize("kind", TIMES)
def test_too_much_growth_and_too_much_time_are_found(kind: str) -> None:
    seconds, expected = TIMES[kind]
    assert growth.finding_of(lambda size: seconds(size / growth.SIZE)) == expected


def test_a_disturbed_measurement_is_repeated() -> None:
    measured = iter([0.1, 9, 0.4, 0.2])
    assert growth.finding_of(lambda _: next(measured)) == ""


@pytest.mark.slow
def test_an_input_that_does_not_end_is_kept(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from fuzz import growth, limits\n"
        "limits.SECONDS_AN_INPUT = 1\n"
        "def check(data):\n    while True: pass\n"
        "growth.kept_if_killed(check, Path(sys.argv[1]))(b'recipe')"
    )
    kept = tmp_path / "growth-endless"
    done = subprocess.run([sys.executable, "-c", program, kept], cwd=PROJECT, check=False)
    assert done.returncode < 0
    assert kept.read_bytes() == b"recipe"
