"""Rules about images: SM560 to SM562."""

from collections.abc import Iterator
from typing import Final

from usp._check.facts import EntryFacts
from usp._check.findings import Occurrence
from usp._check.origins import host_of
from usp._check.registry import entry_rule

_PREFIX: Final = "image:"
MAX_IMAGES: Final = 1000
_DROPPED: Final = frozenset(
    f"image:{name}" for name in ("caption", "geo_location", "title", "license")
)


@entry_rule("SM560", "SM561", "SM562", extensions=True)
def images(facts: EntryFacts) -> Iterator[Occurrence]:
    """Look at the images of an entry."""
    entry = facts.entry
    if not entry.has(_PREFIX):
        return
    count = sum(key == "image:image" for key, _ in entry.record)
    if count > MAX_IMAGES:
        yield facts.occurrence("SM560", f"{count:,} images")
    if dropped := sorted({key for key, _ in entry.record} & _DROPPED):
        yield facts.occurrence("SM561", ", ".join(f"<{name}>" for name in dropped))
    own = host_of(entry.url or "")
    others = {host_of(url) for url in entry.texts("image:loc")} - {own, ""}
    if own and others:
        yield facts.occurrence("SM562", f"images on {', '.join(sorted(others)[:3])}")
