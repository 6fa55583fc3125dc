"""What to do next.

Rules of the room: what is fetched, and what stands where in the tree, is decided here and nowhere
else. Nothing here waits, opens, prints or asks the time: ``now`` is an argument. Answers may come
in any order; the tree has the declared one.
"""

# Where ultimate-sitemap-parser has overwritten usp/__init__.py, this is what can still warn.
from usp import _installation as _installation
