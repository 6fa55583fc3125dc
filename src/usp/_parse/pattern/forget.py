"""Forgets what was learned from documents: for tests of what must not depend on it."""

from usp._parse.pattern.exact import forget_exact_patterns
from usp._parse.pattern.familiar import forget_familiar
from usp._parse.pattern.head import forget_heads
from usp._parse.pattern.known_patterns import forget_known
from usp._parse.pattern.layouts import forget_layouts
from usp._parse.xml.namespaces import forget_names


def forget_patterns() -> None:
    """Forget everything: what is read next starts as in a new process."""
    forget_exact_patterns()
    forget_familiar()
    forget_heads()
    forget_known()
    forget_layouts()
    forget_names()
