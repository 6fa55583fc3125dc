"""What a crawl requested and received."""

from dataclasses import dataclass

from usp._crawl.messages import FetchFailed, TruncatedBody
from usp._parse import Document


@dataclass(slots=True)
class CrawlTraffic:
    """What a crawl requested and received so far."""

    requests: int = 0
    """Retries are included."""
    bytes_received: int = 0
    """The bytes of all bodies, before decompression."""

    def add(self, result: Document | TruncatedBody | FetchFailed) -> None:
        """Count the bytes that a request brought."""
        document = result.document if isinstance(result, TruncatedBody) else result
        self.bytes_received += document.fetch_info.bytes_received or 0
