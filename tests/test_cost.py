"""The helper with which tests hold CPU time and memory."""

from contextlib import nullcontext

import pytest

from tests.cost import NOISE, Cost, assert_linear, cost, steady_growth
from tests.speed import Stopwatch

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


def test_linear_growth_passes() -> None:
    assert assert_linear(grow, 6_000_000, 1).seconds > 2 * NOISE


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("attempt", range(4))
def test_quadratic_growth_fails_each_time(attempt: int) -> None:
    with pytest.raises(AssertionError, match="for twice the size"):
        assert_linear(grow, 2500 + attempt, 2)


DISTURBED: dict[str, tuple[list[float], bool]] = {
    # Seconds for a size and for twice the size, in the order of the measurements; and the result.
    "at once": ([1, 2], True),
    "the third time": ([1, 4, 1, 3, 0.9, 2.1], True),
    "a short time first": ([1, 9, 1.1, 2, 1, 1], True),
    "never": ([1, 4, 1, 4, 1, 4], False),
    "never, much disturbed": ([1.3, 5, 3, 4, 2, 9], False),
    "never, and short": ([0.01, 0.14], True),
}


@pytest.mark.parametrize("case", DISTURBED)
def test_the_least_of_some_measurements_counts(case: str) -> None:
    times, linear = DISTURBED[case]
    rest = iter(times)
    with nullcontext() if linear else pytest.raises(AssertionError, match="for twice the size"):
        steady_growth(lambda _: Cost(next(rest), 0), 1, case)


def test_seconds_are_those_of_a_nominal_machine() -> None:
    # 0.12 s there, with Python 3.11.
    assert 0.04 < cost(grow, 10_000_000, 1).seconds < 0.4


def measure_within() -> None:
    with Stopwatch() as outer:
        grow(1_000_000, 1)
        with Stopwatch() as inner:
            grow(1_000_000, 1)
    assert inner.seconds < outer.seconds < 4 * inner.seconds


def test_a_part_of_a_call_can_be_measured() -> None:
    assert cost(measure_within).seconds > 0.005


def recurse(depth: int = 0) -> int:
    try:
        return recurse(depth + 1)
    except RecursionError:
        return depth


def recurse_often() -> None:
    for _ in range(300):
        assert recurse() > 500


def test_a_recursion_without_end_is_measured_like_any_other() -> None:
    assert cost(recurse_often).seconds > 0.005
