"""Documents in which usp finds less than another reader, and why that is right."""

from __future__ import annotations

from typing import Final

NO_TEXT: Final = "the missing items have neither title nor description, so they are skipped"
EMPTY: Final = "a declaration without URL, which the reference counts"

EXPLAINED: Final[dict[str, str]] = {
    "feeds/0029.xml": NO_TEXT,
    "feeds/0071.xml": NO_TEXT,
    "feeds/0072.xml": NO_TEXT,
    "feeds/0219.xml": NO_TEXT,
    "feeds/0224.xml": NO_TEXT,
    "robots/0305.txt": EMPTY,
}

REPEATED: Final = "entries repeat the URL of a page with other videos; the first entry is used"

EXPLAINED_VIDEOS: Final[dict[str, str]] = {
    "xml/0125.xml": REPEATED,
    "xml/0259.xml": REPEATED,
}

OF_VIDEOS: Final = "the reference counts publication dates, and these belong to videos"
NO_TITLE: Final = "one story has an empty title, so it is skipped"

EXPLAINED_NEWS: Final[dict[str, str]] = {
    **dict.fromkeys(
        [f"xml/{number}.xml" for number in ("0124", "0125", "0161", "0162", "0222")], OF_VIDEOS
    ),
    **dict.fromkeys([f"xml/{number}.xml" for number in ("0252", "0256", "0259")], OF_VIDEOS),
    "xml/0246.xml": NO_TITLE,
}
