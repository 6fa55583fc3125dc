"""The rescue lane: reading one entry that is not XML.

The entry is cut into tags and text by what they look like, and the same builder is told of them.
A bare ``&`` stays, control characters go, HTML's entities are understood, a tag that is never
closed ends where the next field of its group begins, and a stray end tag is ignored.
"""

import re
from typing import Final

from usp._parse.builder import Builder
from usp._parse.values import decode_entities, drop_controls

_TOKEN: Final = re.compile(
    rb"<!--.*?(?:-->|\Z)"
    rb"|<!\[CDATA\[(?P<cdata>.*?)(?:\]\]>|\Z)"
    rb"|<[?!][^<>]*>"
    rb"|<(?P<slash>/?)(?P<name>[A-Za-z_][\w.:-]*)"
    # A tag that never ends is ended by the next one; "<" in a text has no blank after the word.
    rb"""(?P<attributes>(?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+(?=>)|[^<>]*+(?=>)|\s[^<>]*+(?=<|\Z))>?""",
    re.DOTALL,
)
_ATTRIBUTE: Final = re.compile(
    r"""([A-Za-z_][\w.:-]*)\s*=\s*(?:"([^"]*)"?|'([^']*)'?|([^\s"'>]+))"""
)


def read_damaged(entry: bytes, builder: Builder) -> None:
    """Tell the builder what the entry says."""
    open_names: list[str] = []
    at = 0
    for token in _TOKEN.finditer(entry):
        if token.start() > at:
            builder.text(_character_data(entry[at : token.start()]))
        at = token.end()
        if token["cdata"] is not None:
            builder.text(drop_controls(token["cdata"].decode("utf-8", "replace")))
        elif token["name"] is not None:
            name = token["name"].decode("utf-8", "replace")
            if token["slash"]:
                _close(name, open_names, builder)
            else:
                _open(name, token["attributes"], open_names, builder)
    builder.text(_character_data(entry[at:]))
    for _ in open_names:
        builder.end()


def _character_data(data: bytes) -> str:
    return decode_entities(drop_controls(data.decode("utf-8", "replace")))


def _open(name: str, attributes: bytes, open_names: list[str], builder: Builder) -> None:
    if builder.ends_text(name) and open_names:
        open_names.pop()
        builder.end()
    written = attributes.decode("utf-8", "replace")
    builder.start(
        name,
        {
            key: decode_entities(drop_controls(double or single or plain))
            for key, double, single, plain in _ATTRIBUTE.findall(written)
        },
    )
    if written.rstrip().endswith("/"):
        builder.end()
    else:
        open_names.append(name)


def _close(name: str, open_names: list[str], builder: Builder) -> None:
    wanted = name.lower()
    if wanted not in (known.lower() for known in open_names):
        return  # a stray end tag
    while True:
        closed = open_names.pop()
        builder.end()
        if closed.lower() == wanted:
            return
