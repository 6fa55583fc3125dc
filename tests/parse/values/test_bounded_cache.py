"""What is remembered of documents is bounded in number and in length."""

from collections import Counter

from usp._parse import BoundedLookup, bounded_cache


def test_short_texts_are_looked_up_once_and_long_ones_each_time() -> None:
    asked: Counter[str] = Counter()

    @bounded_cache(10, 3)
    def look_up(text: str) -> int:
        asked[text] += 1
        return len(text)

    assert [look_up(text) for text in ("abc", "abcd") * 2] == [3, 4, 3, 4]
    assert asked == {"abc": 1, "abcd": 2}


def test_a_tuple_is_measured_by_what_is_in_it() -> None:
    asked: Counter[tuple[str, ...]] = Counter()

    @bounded_cache(10, 3, length=lambda given: sum(map(len, given)))
    def look_up(given: tuple[str, ...]) -> int:
        asked[given] += 1
        return len(given)

    assert [look_up(given) for given in (("a", "bc"), ("abcd",)) * 2] == [2, 1, 2, 1]
    assert asked == {("a", "bc"): 1, ("abcd",): 2}


def test_a_lookup_is_emptied_when_it_is_full_and_keeps_no_long_text() -> None:
    lookup = BoundedLookup(str.upper, 2, 3)
    assert [lookup[text] for text in ("a", "long", "b", "a")] == ["A", "LONG", "B", "A"]
    assert set(lookup) == {"a", "b"}
    assert lookup["c"] == "C"
    assert set(lookup) == {"c"}
