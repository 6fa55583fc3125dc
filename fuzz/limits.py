"""Limits on the size of an input, and on the time and memory that reading it takes."""

from typing import Final

INPUT: Final = 4096
"""In bytes: small inputs find the same faults in less time."""
DECOMPRESSED: Final = 256 * 1024
"""The limit on a decompressed document, in bytes."""
SECONDS_AN_INPUT: Final = 10
MEMORY_MIB: Final = 1024
