"""The documents behind those rows of ``docs/what-counts.md`` where something stands around it all.

Rules of this room: those of ``given_documents.py``, from which this was split off.
"""

from __future__ import annotations

import gzip
import html
import json
import zlib
from typing import Final

from tests.docs.given import DECLARATION, A, B, Given, Served, entry, kind
from tests.parse.reading import SM, atom, u, urlset

TWO: Final = urlset(u(A), u(B), namespaces=SM)
PACKED: Final = gzip.compress(TWO.encode())
MIB: Final = 1024 * 1024
SHELL: Final = len(u(B, "<x></x>"))


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


AROUND_ALL: Final[dict[str, Given]] = {
    "a document escaped as HTML: `&lt;urlset`": html.escape(DECLARATION + TWO),
    "the same in `<pre>`": f"<pre>{html.escape(TWO)}</pre>",
    "the same in the `<string` of a web service": (
        f'{DECLARATION}<string xmlns="http://h/">{html.escape(DECLARATION + TWO)}</string>'
    ),
    "a document in CDATA: `<![CDATA[<urlset`": f"<string><![CDATA[{TWO}]]></string>",
    'a document as a string of JSON: `"<urlset`': json.dumps(TWO).replace("/", "\\/"),
    "an envelope of SOAP: `<soap:Body>`": (
        f'<soap:Envelope xmlns:soap="http://h/"><soap:Body>{TWO}</soap:Body></soap:Envelope>'
    ),
    "another element around it: `<response>`": f"<response>{TWO}</response>",
    "the marks of Markdown: `~~~xml`": f"~~~xml\n{DECLARATION}{TWO}\n~~~\n",
    "blanks in tags: `< urlset`": TWO.replace("<", "< ").replace(">", " >"),
    "nothing around the `<loc>`": (f"<loc>{A}</loc>\n<loc>{B}</loc>", kind),
    "a script's warning before the URLs: `<b>Warning</b>`": (
        f"<br />\n<b>Warning</b>: x in <b>y.php</b> on line <b>3</b><br />\n{A}\n{B}\n"
    ),
    "quotes around the URLs": f'"{A}"\n\u201c{B}\u201d\n',
    "brackets around the URLs: `<http://h/a>`": f"<{A}>\n({B})\n",
    "raw deflate": raw_deflate(TWO.encode()),
    "raw deflate under `Content-Encoding: deflate`": Served(
        "/s.xml", raw_deflate(TWO.encode()), {"Content-Encoding": "deflate"}
    ),
    "gzip after a byte order mark": b"\xef\xbb\xbf" + PACKED,
    "gzip after 3,000 blanks": b" \r\n" * 1000 + PACKED,
    "gzip after a script's warning: `Warning: x`": b"Warning: x\n" + PACKED,
    "the HTTP charset `utf-16le` and a first letter that isn't ASCII": Served(
        "/s.txt",
        f"é\n{A}\n{B}\n".encode("utf-16-le"),
        {"Content-Type": "text/plain; charset=utf-16le"},
    ),
    "UTF-32 without a mark": urlset(u("http://h/é")).encode("utf-32-le"),
    "an entry of 1 MiB": urlset(u(A), u(B, f"<x>{'y' * (MIB - SHELL)}</x>")),
    "an entry of 1 MiB and a byte": urlset(u(A), u(B, f"<x>{'y' * (MIB - SHELL + 1)}</x>")),
    '`<` in an attribute: `title="1<2"`': atom(
        entry(f'<title>T</title><link title="1<2" href="{A}"/>')
    ),
}
