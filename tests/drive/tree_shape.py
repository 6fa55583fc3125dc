"""The shape of a tree: everything that a user can see of it, for comparing two trees."""

from usp.objects.sitemap import AbstractSitemap, IndexWebsiteSitemap, InvalidSitemap


def shape(sitemap: AbstractSitemap) -> object:
    """Return all of a tree as a value that can be compared."""
    reason = (sitemap.reason, sitemap.code) if isinstance(sitemap, InvalidSitemap) else None
    tried = sitemap.tried if isinstance(sitemap, IndexWebsiteSitemap) else None
    outcome = sitemap.outcome if isinstance(sitemap, IndexWebsiteSitemap) else None
    return (
        type(sitemap).__name__,
        sitemap.url,
        reason,
        outcome,
        tried,
        [page.to_dict() for page in sitemap.pages],
        [*map(shape, sitemap.sub_sitemaps)],
    )
