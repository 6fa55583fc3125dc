"""Drivers: they carry requests from the crawl core to a client, and results back.

Drivers do the I/O and decide nothing. Only the caller's thread or task touches the core, so it
needs no locks, and callbacks run there. ``events`` is the one module in which a crawl logs.
"""
