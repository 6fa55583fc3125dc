"""What asks the web: abstract clients for users to implement, and ours on requests and aiohttp."""


def __getattr__(name: str) -> object:
    if name != "requests_client":  # in 1.8.1 it is there as soon as usp.tree is imported
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return import_module("usp.web_client.requests_client")
