"""The audit of sitemaps."""
