"""Drivers: they carry requests from the crawl core to a client, and results back.

Drivers do the I/O and decide nothing. Only the caller's thread or task touches the core, so it
needs no locks, and callbacks run there.

- ``run``: chooses the driver; ``threads``, ``inline``, ``aio``: drivers; ``steps``: shared steps;
- ``time_limit``: whether to go on reading; ``off_loop``: long work beside the event loop;
- ``fetch``: one request, from the client to the stored and inspected document;
- ``page_filter``: selection and limits in a stream; ``bounded_tasks``: many sites in asyncio;
- ``events``: events for observers, and the one module in which a crawl logs.
"""
