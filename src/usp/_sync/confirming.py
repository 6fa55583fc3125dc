"""When a URL that is absent is gone: what this run has read, and for how long it could not read it.

What a run finds is in ``site_run``; what follows for a URL is decided in ``rules``.
"""

from dataclasses import dataclass

from usp._sync.schedule import LONGEST


@dataclass(frozen=True, slots=True)
class Confirming:
    """Which sitemaps confirm that a URL which they listed is gone."""

    listed: set[str]
    """All that are known."""
    unread: set[str]
    """Those that this run has not read whole."""
    is_structure_whole: bool
    """Whether everything that is known to list sitemaps was asked, and read whole."""
    may_hide_sitemaps: bool
    """Whether one that no run has read may list sitemaps: it did not answer, or broke off."""
    is_all_read: bool
    """Whether this run has read all sitemaps of the site whole that are there."""
    not_there_since: int | None
    """Since when the newest of the declared sitemaps is not there that no run has found there."""
    now: int

    def nowhere_else(self, at: int) -> bool:
        """Tell whether no other sitemap lists a URL that was found absent at a time.

        It may have moved to one that was not read: a new one that is declared before it is there,
        say, but not one that was not there either while the URL was still listed. And one that
        can't be read for a week doesn't keep it any longer, nor does a clock that was wrong.
        """
        none_is_new = self.not_there_since is None or self.not_there_since < at
        return (self.is_all_read and none_is_new) or self._is_long_ago(at)

    def by(self, sitemap_url: str, at: int) -> bool:
        """Tell whether a URL is gone, as does what listed it last, if it was absent at a time."""
        if sitemap_url in self.listed:
            return sitemap_url not in self.unread and self.nowhere_else(at)
        is_gone = not self.may_hide_sitemaps or self._is_long_ago(at)
        return self.is_structure_whole and is_gone and self.nowhere_else(at)

    def _is_long_ago(self, at: int) -> bool:
        return abs(self.now - at) >= LONGEST
