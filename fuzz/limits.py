"""How large an input may be, and what reading it may cost."""

from typing import Final

INPUT: Final = 4096
"""Bytes: small inputs find the same faults in less time."""
UNPACKED: Final = 256 * 1024
"""The ceiling that readers are given: so much may come out of an input."""
SECONDS_AN_INPUT: Final = 10
MEMORY_MIB: Final = 1024
