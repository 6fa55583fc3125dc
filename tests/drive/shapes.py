"""What a tree comes to: everything that a user can see of it, for comparing two of them."""

from usp.objects.sitemap import AbstractSitemap, IndexWebsiteSitemap, InvalidSitemap


def shape(sitemap: AbstractSitemap) -> object:
    """All of a tree, as a value that can be compared."""
    reason = (sitemap.reason, sitemap.code) if isinstance(sitemap, InvalidSitemap) else None
    told = sitemap.tried if isinstance(sitemap, IndexWebsiteSitemap) else None
    outcome = sitemap.outcome if isinstance(sitemap, IndexWebsiteSitemap) else None
    return (
        type(sitemap).__name__,
        sitemap.url,
        reason,
        outcome,
        told,
        [page.to_dict(extended=True) for page in sitemap.pages],
        [*map(shape, sitemap.sub_sitemaps)],
    )
