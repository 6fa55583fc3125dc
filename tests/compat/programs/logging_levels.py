"""A program that records the library's log: which logger logs what, at which level."""

import json
import logging

import requests_mock

from usp.tree import sitemap_tree_for_homepage

SITE = "https://logged.example"


class Notes(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


def loudest(path: str) -> str:
    """The highest level at which a record names this URL."""
    levels = [r.levelno for r in notes.records if f"{SITE}/{path}" in r.getMessage()]
    return logging.getLevelName(max(levels, default=logging.NOTSET))


notes = Notes()
logger = logging.getLogger("usp")
logger.setLevel(logging.DEBUG)
logger.addHandler(notes)

with requests_mock.Mocker() as mock:
    mock.get(requests_mock.ANY, status_code=404, reason="Not Found")
    mock.get(f"{SITE}/robots.txt", text=f"Sitemap: {SITE}/declared.xml")
    sitemap_tree_for_homepage(SITE)

print(
    json.dumps(
        {
            "all loggers are below usp": all(r.name.startswith("usp.") for r in notes.records),
            "a missing known path": loudest("sitemap-news.xml"),
            "a missing declared sitemap is a warning at least": loudest("declared.xml")
            in {"WARNING", "ERROR"},
            "something was said": bool(notes.records),
        }
    )
)
