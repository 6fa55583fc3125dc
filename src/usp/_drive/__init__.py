"""What waits.

Rules of the room: drivers carry requests from the crawl machine to a client and answers back; they
never decide. Only the owner's thread touches the machine. ``report`` is the one node that logs.
"""
