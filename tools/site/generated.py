"""The pages that are made from tables when the site is built; none of them is committed."""

from tools.site import api, codes, commands, defaults


def generated_pages() -> dict[str, str]:
    """Return all of them by their path in the site."""
    return api.pages() | codes.pages() | commands.pages() | defaults.pages()
