"""The source of a document: its bytes, and what is known of them from outside."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from usp._display import without_credentials
from usp._parse.input.buffers import EncodedText, encode_text
from usp._parse.input.decompress import MAX_DOCUMENT_BYTES

_SMALL: Final = 256 * 1024
"""A text with fewer characters is encoded at once."""


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of a document as they came, and what is known of them from outside."""

    chunks: Iterable[bytes]
    """Any number of times: a list of chunks, or something that reads a file anew."""
    url: str | None = None
    """The URL after redirects; relative URLs are resolved against it."""
    declared_url: str | None = None
    charset: str | None = None
    """The charset in the HTTP header."""
    limit: int = MAX_DOCUMENT_BYTES
    truncated: str = ""
    """Why the connection ended in the middle of the body, if it did."""
    link_header: str | None = None
    """The ``Link`` header, for a homepage."""
    extensions: bool = False
    """Whether pages keep unknown elements."""
    expat_only: bool = False
    """Use the expat reader alone, and check every entry in full: slower, and the same result."""

    def __post_init__(self) -> None:
        # A URL that is resolved against them must not inherit the user and password.
        if self.url:
            object.__setattr__(self, "url", without_credentials(self.url))
        if self.declared_url:
            object.__setattr__(self, "declared_url", without_credentials(self.declared_url))

    @classmethod
    def of(cls, content: str | bytes, url: str | None = None) -> "Source":
        """Return the source of a document; a str is taken as it is, whatever it declares."""
        if isinstance(content, bytes):
            return cls([content], url)
        small = len(content) < _SMALL
        chunks = [encode_text(content)] if small else EncodedText(content)
        return cls(chunks, url, charset="utf-8")

    @property
    def urls(self) -> tuple[str, ...]:
        """The URLs of the document: after redirects, and as declared."""
        return tuple(filter(None, (self.url, self.declared_url)))
