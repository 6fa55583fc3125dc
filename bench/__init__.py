"""Measurements; see README.md beside this file."""
