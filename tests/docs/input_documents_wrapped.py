"""The documents of those rows of ``what-counts.md`` in which other content wraps the document.

The second part of ``input_documents.py``.
"""

from __future__ import annotations

import gzip
import html
import json
import zlib
from typing import Final

from tests.docs.inputs import DECLARATION, A, B, Input, Served, entry, kind
from tests.parse.reading import SM, atom, u, urlset

TWO: Final = urlset(u(A), u(B), namespaces=SM)
GZIPPED: Final = gzip.compress(TWO.encode())
MIB: Final = 1024 * 1024
EMPTY_ENTRY: Final = len(u(B, "<x></x>"))


def raw_deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush()


WRAPPED: Final[dict[str, Input]] = {
    "a document escaped as HTML: `&lt;urlset`": html.escape(DECLARATION + TWO),
    "an escaped document in `<pre>`": f"<pre>{html.escape(TWO)}</pre>",
    "an escaped document in the `<string` of a web service": (
        f'{DECLARATION}<string xmlns="http://h/">{html.escape(DECLARATION + TWO)}</string>'
    ),
    "a document in CDATA: `<![CDATA[<urlset`": f"<string><![CDATA[{TWO}]]></string>",
    'a document as a JSON string: `"<urlset`': json.dumps(TWO).replace("/", "\\/"),
    "a SOAP envelope: `<soap:Body>`": (
        f'<soap:Envelope xmlns:soap="http://h/"><soap:Body>{TWO}</soap:Body></soap:Envelope>'
    ),
    "another element around the root: `<response>`": f"<response>{TWO}</response>",
    "a Markdown code fence: `~~~xml`": f"~~~xml\n{DECLARATION}{TWO}\n~~~\n",
    "spaces in tags: `< urlset`": TWO.replace("<", "< ").replace(">", " >"),
    "`<loc>` elements without anything around them": (f"<loc>{A}</loc>\n<loc>{B}</loc>", kind),
    "a script's warning before the URLs: `<b>Warning</b>`": (
        f"<br />\n<b>Warning</b>: x in <b>y.php</b> on line <b>3</b><br />\n{A}\n{B}\n"
    ),
    "a control character in a URL": f"{A}\n{B[:-1]}\x08{B[-1]}\n",
    "quotes around the URLs": f'"{A}"\n\u201c{B}\u201d\n',
    "brackets around the URLs: `<http://h/a>`": f"<{A}>\n({B})\n",
    "raw deflate": raw_deflate(TWO.encode()),
    "raw deflate under `Content-Encoding: deflate`": Served(
        "/s.xml", raw_deflate(TWO.encode()), {"Content-Encoding": "deflate"}
    ),
    "gzip after a byte order mark": b"\xef\xbb\xbf" + GZIPPED,
    "gzip after 3,000 spaces": b" \r\n" * 1000 + GZIPPED,
    "gzip after a script's warning: `Warning: x`": b"Warning: x\n" + GZIPPED,
    "the HTTP charset `utf-16le` and a first character that isn't ASCII": Served(
        "/s.txt",
        f"é\n{A}\n{B}\n".encode("utf-16-le"),
        {"Content-Type": "text/plain; charset=utf-16le"},
    ),
    "UTF-32 without a byte order mark": urlset(u("http://h/é")).encode("utf-32-le"),
    "an entry of 1 MiB": urlset(u(A), u(B, f"<x>{'y' * (MIB - EMPTY_ENTRY)}</x>")),
    "an entry of 1 MiB and a byte": urlset(u(A), u(B, f"<x>{'y' * (MIB - EMPTY_ENTRY + 1)}</x>")),
    '`<` in an attribute: `title="1<2"`': atom(
        entry(f'<title>T</title><link title="1<2" href="{A}"/>')
    ),
}
