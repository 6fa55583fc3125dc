"""Values out of a fixed set of words: yes and no, change frequencies, ``allow`` and ``deny``."""

from collections.abc import Callable
from typing import Final

from usp._parse.values.bounded_cache import bounded_cache
from usp._parse.values.text import clean_text
from usp.objects.page import SitemapPageChangeFrequency

_BOOLEANS: Final = {
    **dict.fromkeys(("yes", "true", "1", "y"), True),
    **dict.fromkeys(("no", "false", "0", "n"), False),
}
_FREQUENCIES: Final = {item.value: item for item in SitemapPageChangeFrequency}


def parse_boolean(text: str) -> bool | None:
    """Return True for yes, False for no, None for anything else."""
    return _BOOLEANS.get(clean_text(text).lower())


def one_of(*words: str) -> Callable[[str], str | None]:
    """Return a function that parses one of these words, in any case, to lower case."""
    return lambda text: word if (word := clean_text(text).lower()) in words else None


@bounded_cache(1024)
def parse_change_frequency(text: str) -> SitemapPageChangeFrequency | None:
    """Return the frequency; None for an empty text, and ALWAYS for an unknown word, as in 1.8.1."""
    word = clean_text(text).lower()
    return _FREQUENCIES.get(word, SitemapPageChangeFrequency.ALWAYS) if word else None


@bounded_cache(1024)
def change_frequency_word(text: str) -> str | None:
    """Return one of the seven change frequencies; None for anything else."""
    word = clean_text(text).lower()
    return word if word in _FREQUENCIES else None


def is_change_frequency(text: str) -> bool:
    """Tell whether the text is one of the seven change frequencies."""
    return change_frequency_word(text) is not None
