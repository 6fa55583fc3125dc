"""Rules about images: SM560 to SM562."""

from collections.abc import Iterator
from typing import Final

from usp._check.facts import EntryFacts
from usp._check.findings import Occurrence
from usp._check.origins import host_of
from usp._check.registry import entry_rule

MAX_IMAGES: Final = 1000
_DROPPED: Final = frozenset(
    f"image:{name}" for name in ("caption", "geo_location", "title", "license")
)


@entry_rule("SM560", "SM561", "SM562", prefix="image:")
def images(facts: EntryFacts) -> Iterator[Occurrence]:
    """Look at the images of an entry."""
    entry = facts.entry
    count = len(entry.shape.at.get("image:image", ()))
    if count > MAX_IMAGES:
        yield facts.occurrence("SM560", f"{count:,} images")
    if dropped := sorted(entry.shape.at.keys() & _DROPPED):
        yield facts.occurrence("SM561", ", ".join(f"<{name}>" for name in dropped))
    own = host_of(entry.url or "")
    others = {host_of(url) for url in entry.texts("image:loc")} - {own, ""}
    if own and others:
        yield facts.occurrence("SM562", f"images on {', '.join(sorted(others)[:3])}")
