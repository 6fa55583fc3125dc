"""What rules about the whole site are made with."""

from dataclasses import dataclass, field

from usp._check.check_time import GoOn, always
from usp._check.facts import CheckOptions
from usp._check.site_robots import SiteRobots


@dataclass(frozen=True, slots=True)
class SiteFacts:
    """What a check knows before it begins."""

    options: CheckOptions
    robots: SiteRobots = field(default_factory=lambda: SiteRobots(()))
    go_on: GoOn = always
    """Raises ``TimeoutError`` once the time of the check is up. A rule asks it wherever it looks at
    more than one entry."""
