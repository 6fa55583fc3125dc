"""The helper with which tests hold CPU time and memory."""

import pytest

from tests.cost import assert_linear, cost

MIB = 1024 * 1024


def grow(size: int, power: int) -> None:
    for _ in range(size**power):
        pass


def fill(size: int) -> None:
    assert len(bytearray(size)) == size


def never_end() -> None:
    while True:
        pass


def test_time_and_memory_of_a_call_are_measured() -> None:
    assert cost(grow, 1_000_000, 1).seconds > 0.005
    assert 45 * MIB < cost(fill, 50 * MIB).memory < 60 * MIB


def test_a_call_that_does_not_end_fails() -> None:
    with pytest.raises(pytest.fail.Exception, match="takes more than 1 s"):
        cost(never_end, seconds=1)


def test_a_call_that_takes_too_much_memory_fails() -> None:
    with pytest.raises(pytest.fail.Exception, match="MemoryError"):
        cost(fill, 900 * MIB, memory_mib=800)


def test_linear_growth_passes_and_quadratic_growth_fails() -> None:
    assert assert_linear(grow, 4_000_000, 1).seconds > 0.02
    with pytest.raises(AssertionError, match="for twice the size"):
        assert_linear(grow, 2500, 2)
