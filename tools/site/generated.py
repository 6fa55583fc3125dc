"""The pages that are made from tables when the site is built; none of them is committed."""

from tools.site import api, codes, commands, defaults, licences


def generated_pages() -> dict[str, str]:
    """Return all of them by their path in the site."""
    makers = (api, codes, commands, defaults, licences)
    return {place: text for maker in makers for place, text in maker.pages().items()}
