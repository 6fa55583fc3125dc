"""A tree as a value, with everything that a user can see of it, so that two can be compared."""

from usp.objects.sitemap import AbstractSitemap, IndexWebsiteSitemap, InvalidSitemap


def shape(sitemap: AbstractSitemap) -> object:
    """Return a tree as a value that can be compared."""
    reason = (sitemap.reason, sitemap.code) if isinstance(sitemap, InvalidSitemap) else None
    tried = sitemap.tried if isinstance(sitemap, IndexWebsiteSitemap) else None
    outcome = sitemap.outcome if isinstance(sitemap, IndexWebsiteSitemap) else None
    return (
        type(sitemap).__name__,
        sitemap.url,
        reason,
        outcome,
        tried,
        [page.to_dict(extended=True) for page in sitemap.pages],
        [*map(shape, sitemap.sub_sitemaps)],
    )
