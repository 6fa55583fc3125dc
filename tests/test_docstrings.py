"""What several functions take is explained once, and added to the docstring of each."""

import usp
import usp.bulk
from usp._docstrings import explains, explains_fields


class Choices:
    """What can be chosen.

    :param depth: how deep.
        It has two lines.
    :param width: how wide.
    """


def test_lines_are_added_before_a_line_or_at_the_end() -> None:
    @explains("\n    :param shared: by all.\n        In two lines.", ":raises")
    def with_errors() -> None:
        """Do it.

        :param own: its own.
        :raises ValueError: if it is wrong.
        """

    assert with_errors.__doc__ == (
        "Do it.\n\n:param own: its own.\n:param shared: by all.\n    In two lines."
        "\n:raises ValueError: if it is wrong."
    )

    @explains(":param shared: by all.", ":raises")
    def without_errors() -> None:
        """Do it."""

    assert without_errors.__doc__ == "Do it.\n\n:param shared: by all."


def test_the_fields_of_a_class_are_added() -> None:
    @explains_fields(Choices, "What you can choose")
    def choose() -> None:
        """Choose."""

    assert choose.__doc__ == (
        "Choose.\n\nWhat you can choose:\n\n:param depth: how deep.\n    It has two lines."
        "\n:param width: how wide."
    )


def test_all_lines_of_a_docstring_have_the_same_margin() -> None:
    for function in (usp.iter_pages, usp.sync, usp.check, usp.to_arrow, usp.bulk.crawl):
        lines = (function.__doc__ or "").splitlines()
        params = [line for line in lines if line.lstrip().startswith(":param")]
        assert len(params) > 4
        assert all(line.startswith(":param") for line in params)
