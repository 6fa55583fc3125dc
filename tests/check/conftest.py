"""Fixtures of tests that reach a server through a client of ours."""

from tests.client_fixtures import certificate, secure

__all__ = ["certificate", "secure"]
