"""Stretches: many entries, split together into their shapes and their texts, and made into rows.

Where all entries of a stretch have one shape, each text stands at the same distance from the last
one of its kind. So a column of texts is a slice with a step.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import repeat

from usp._parse.pattern.fits import ABSENT, Fit
from usp._parse.pattern.layout import Row
from usp._parse.pattern.shape import MARKED, TAG, replace_sections, split_attributes
from usp._parse.pattern.text_conversion import convert_texts
from usp._parse.pattern.unsafe import has_bad_reference
from usp._parse.xml.boundaries import EntryBoundaries


@dataclass(frozen=True, slots=True)
class Stretch:
    """The parts of consecutive entries."""

    shapes: list[str]
    texts: list[str]
    """What is before each tag, as it is written."""
    values: list[str]
    """The values of attributes."""
    sections: list[str]
    """The CDATA sections, to which the texts refer."""
    is_literal: bool
    """Whether the texts are what expat gives."""

    def rows(self, fits: list[Fit]) -> list[Row]:
        """Return the rows of the first entries; none if a text stands where there must be none."""
        first, count = fits[0], len(fits)
        if fits.count(first) == count:
            gaps, read = self._uniform_gaps(first, count), partial(self._uniform, first, count)
        else:
            gaps, read = self._gaps(fits), partial(self._mixed, fits)
        return [] if "".join(gaps).strip() else read()

    def _uniform_gaps(self, fit: Fit, count: int) -> Iterable[str]:
        texts, end = self.texts, count * fit.length
        return ["".join(texts[at : end : fit.length]) for at in fit.gap_texts]

    def _gaps(self, fits: list[Fit]) -> Iterable[str]:
        texts, at = self.texts, 0
        found: list[str] = []
        for fit in fits:
            end = at + fit.length
            found += fit.gaps(texts[at:end])
            at = end
        return found

    def _converted(self, texts: list[str]) -> list[str]:
        return texts if self.is_literal else convert_texts(texts, self.sections)

    def _uniform(self, fit: Fit, count: int) -> list[Row]:
        length, end = fit.length, count * fit.length
        columns: list[Iterable[str | None]] = []
        for at in fit.row_texts:
            if at < 0:
                columns.append(repeat(ABSENT[at], count))
                continue
            columns.append(
                self._converted(
                    self.texts[at:end:length]
                    if at < length
                    else self.values[at - length : count * fit.values : fit.values]
                )
            )
        return list(zip(*columns, strict=True))

    def _mixed(self, fits: list[Fit]) -> list[Row]:
        texts, values = self._converted(self.texts), self.values
        if any(fit.reads_values for fit in set(fits)):
            values = self._converted(values)
        rows: list[Row] = []
        text = value = 0
        for fit in fits:
            own: list[str | None] = texts[text : text + fit.length]  # type: ignore[assignment]
            text += fit.length
            if fit.values:
                own += values[value : value + fit.values]
                value += fit.values
            own += ABSENT
            rows.append(fit.row(own))
        return rows


def split_stretch(
    written: str,
    end_tag: str,
    boundaries: EntryBoundaries,
    *,
    has_sections: bool,
    has_references: bool,
) -> Stretch | None:
    """Split entries, the last of which ends where the text does; None if they can't be split.

    The arguments tell what there may be in the block that they are in.
    """
    sections: list[str] = []
    whole = written
    if has_sections and "!" in written:
        replaced = replace_sections(written, sections, boundaries)
        if replaced is None:
            return None
        written = replaced
    marked = written.replace("<", MARKED)
    parts = marked.split(">")
    tags = len(marked) - len(written)
    has_references = has_references and ("&" in written or "\r" in written)
    # Also where nobody reads it, a bad reference is a fault.
    if len(parts) != 2 * tags + 1 or (has_references and has_bad_reference(written)):
        return None
    shape = "".join(parts[1::2])
    values: list[str] = []
    if "=" in shape:
        split = split_attributes(shape)
        if split is None:
            return None
        shape, values = split
    # Each "<" begins a tag: none is in a text, nor in a value.
    if shape.count(TAG) != tags:
        return None
    shapes = _shapes(shape, end_tag)
    if not shapes or (whole is not written and whole.count(end_tag) != len(shapes)):
        return None
    is_literal = whole is written and not has_references
    return Stretch(shapes, parts[::2], values, sections, is_literal)


def _shapes(shape: str, end_tag: str) -> list[str]:
    """Return the shapes of the entries; empty if an end tag isn't that of its start tag.

    Their names agree in upper and lower case, too.
    """
    name, between = end_tag[2:-1], f"{TAG}{end_tag[1:-1]}{TAG}"
    shapes = f"{shape[1:]}{TAG}".split(between)
    is_whole = not shapes.pop() and shape.startswith(name, 1)
    return shapes if is_whole and shape.count(between + name) == len(shapes) - 1 else []
