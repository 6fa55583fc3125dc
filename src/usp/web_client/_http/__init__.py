"""What our clients share: settings, defaults, credentials, address guard, encodings, errors.

Values and small functions. Nothing here opens a connection or relies on undocumented parts of a
library; that is for the adapters ``_requests`` and ``_aiohttp``.
"""
