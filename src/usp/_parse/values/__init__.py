"""Conversion of texts to values: one file per kind of value, and the caches they share.

A text that is no such value gives None: nothing here raises or guesses. Nothing here knows which
element a text came from; that is for ``formats``.
"""
